//go:build stepbox_nowalls

package sandbox

import (
	"os"
	"slices"
	"strings"
)

// modesOn reports whether the view holds calls to their modes. In this test
// build, which is never released, STEPBOX_WALLS_OFF may list "modes": every
// call may then do everything, so that what the host holds can be tried alone.
func modesOn() bool {
	return !slices.Contains(strings.Split(os.Getenv("STEPBOX_WALLS_OFF"), ","), "modes")
}
