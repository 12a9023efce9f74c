//go:build stepbox_nowalls

package worker

import (
	"errors"
	"os"
	"slices"
	"strings"
)

// In this test build, which is never released, the environment takes walls
// away, and reaches children for that.

// childEnv is what a child sees of the environment.
func childEnv() []string {
	return []string{"STEPBOX_WALLS_OFF=" + os.Getenv("STEPBOX_WALLS_OFF"),
		"STEPBOX_WALLS_MISSING=" + os.Getenv("STEPBOX_WALLS_MISSING")}
}

// wallMissing is the error of a wall that the test says this kernel lacks.
func wallMissing(name string) error {
	if os.Getenv("STEPBOX_WALLS_MISSING") == name {
		return errors.New("not there in this test")
	}
	return nil
}

// wallOn reports whether a wall is to be built. In this test build, which is
// never released, STEPBOX_WALLS_OFF lists walls to leave out, so that the ones
// that stay can be tried alone.
func wallOn(name string) bool {
	return !slices.Contains(strings.Split(os.Getenv("STEPBOX_WALLS_OFF"), ","), name)
}
