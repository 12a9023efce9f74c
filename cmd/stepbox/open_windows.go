package main

import "syscall"

// detached needs nothing here: programs do not die with a console they do not
// use.
func detached() *syscall.SysProcAttr { return nil }
