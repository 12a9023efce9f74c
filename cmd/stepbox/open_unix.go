//go:build unix

package main

import "syscall"

// detached puts a program into a session of its own: it must survive the
// terminal, and a ^C that is meant for stepbox.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
