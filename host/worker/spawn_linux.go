package worker

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// childCommand is this very executable, even when its file was replaced.
func childCommand(role string) *exec.Cmd {
	return &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{childName, role}, Dir: "/",
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	}
}

// spawner is a thread that starts every child and never ends before the
// process does. The kernel ties a child's death signal to the thread that
// started it, and Go ends and moves threads as it likes.
var spawner = sync.OnceValue(func() chan<- func() {
	jobs := make(chan func())
	go func() {
		runtime.LockOSThread()
		for job := range jobs {
			job()
		}
	}()
	return jobs
})

func startChild(cmd *exec.Cmd) error {
	done := make(chan error)
	spawner() <- func() { done <- cmd.Start() }
	return <-done
}
