//go:build unix

package worker

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

const (
	openDirectory = syscall.O_DIRECTORY | syscall.O_CLOEXEC
	openNoFollow  = syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_CLOEXEC
)

// private reports, as an error, a path that is not this user's own or that
// others can write to or read.
func private(path string) error {
	st, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if sys, ok := st.Sys().(*syscall.Stat_t); ok && int(sys.Uid) != os.Geteuid() {
		return fmt.Errorf("user %d owns it", sys.Uid)
	}
	if st.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("its mode is %s", st.Mode().Perm())
	}
	if st.Mode()&os.ModeSymlink != 0 {
		return errors.New("it is a link")
	}
	return nil
}

// socketPair makes a connected pair: ours, pollable, and the child's.
func socketPair() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, err
	}
	if err := syscall.SetNonblock(fds[0], true); err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "worker"), os.NewFile(uintptr(fds[1]), "host"), nil
}

// signal names the signal that ended the child, or is "".
func (p *process) signal() string {
	if p.cmd.ProcessState == nil {
		return ""
	}
	ws, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !ws.Signaled() {
		return ""
	}
	if ws.Signal() == syscall.SIGXCPU {
		return "SIGXCPU"
	}
	return ws.Signal().String()
}

// isSocket reports whether the descriptor is a socket.
func isSocket(fd int) bool {
	var st syscall.Stat_t
	return syscall.Fstat(fd, &st) == nil && st.Mode&syscall.S_IFMT == syscall.S_IFSOCK
}
