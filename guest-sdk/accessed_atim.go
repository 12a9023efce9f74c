//go:build linux || openbsd || dragonfly || solaris || illumos

package guest

import (
	"syscall"
	"time"
)

func accessed(sys any) (time.Time, bool) {
	if s, ok := sys.(*syscall.Stat_t); ok {
		return time.Unix(s.Atim.Unix()), true
	}
	return time.Time{}, false
}
