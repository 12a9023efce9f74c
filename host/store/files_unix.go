//go:build unix

package store

import (
	"fmt"
	"os"
	"syscall"
)

const openPlain = syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_CLOEXEC

// closed reports a file that somebody else owns or may use.
func closed(info os.FileInfo, a access) error {
	if a == anyAccess {
		return nil
	}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok && int(sys.Uid) != os.Geteuid() {
		return &openToOthersError{fmt.Sprintf("user %d owns it", sys.Uid), true}
	}
	if info.Mode().Perm()&os.FileMode(a) != 0 {
		return &openToOthersError{fmt.Sprintf("its mode is %s", info.Mode().Perm()), false}
	}
	return nil
}

// takeLock waits until no other process has the lock.
func takeLock(path string) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|openPlain, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, &os.PathError{Op: "lock", Path: path, Err: err}
	}
	return func() { f.Close() }, nil
}

// syncFolder makes a rename in a folder last.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
