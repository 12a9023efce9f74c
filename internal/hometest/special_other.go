//go:build !unix

package hometest

import "errors"

// FIFO makes a FIFO at path: whoever opens it without care hangs. It fails
// where the system has none in its file systems.
func FIFO(string) error { return errors.ErrUnsupported }
