//go:build !linux

package main

import "os"

// flushInput does nothing where typed input cannot be thrown away.
func flushInput(*os.File) {}
