//go:build !unix

package hometest

import "testing"

// special makes nothing: there is no FIFO in a folder here.
func special(testing.TB, Odd) {}
