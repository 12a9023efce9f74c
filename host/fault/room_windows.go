package fault

import (
	"errors"

	"golang.org/x/sys/windows"
)

// NoRoom reports that nothing more can be written: the disk is full.
func NoRoom(err error) bool { return errors.Is(err, windows.ERROR_DISK_FULL) }
