//go:build unix

package fault

import (
	"errors"
	"syscall"
)

// NoRoom reports that nothing more can be written: the disk or a quota is used
// up, or a limit on the size of files is reached.
func NoRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
