//go:build !linux

package worker

import (
	"errors"
	"runtime"
	"time"
)

// wallRules say what a child needs in spite of its walls.
type wallRules struct {
	read   []string
	write  []string
	memory int64
	cpu    time.Duration
	files  uint64
}

// confine refuses: this system has no wall that stepbox knows how to build.
func confine(_ wallRules, missingOK bool) error {
	if missingOK {
		return nil
	}
	return errors.New("a worker cannot be confined on " + runtime.GOOS)
}

func closeInherited(int) error { return nil }
