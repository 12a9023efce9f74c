//go:build unix

package hometest

import "golang.org/x/sys/unix"

// FIFO makes a FIFO at path: whoever opens it without care hangs. It fails
// where the system has none in its file systems.
func FIFO(path string) error { return unix.Mkfifo(path, 0o644) }
