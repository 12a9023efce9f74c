package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// flushInput throws away what was typed and not read. When that does not work
// the answer is still the person's own.
func flushInput(f *os.File) {
	_ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}
