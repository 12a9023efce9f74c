//go:build unix

package store

import (
	"fmt"
	"os"
	"slices"
	"syscall"
)

const openPlain = syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_CLOEXEC

// closed reports a file that somebody else owns or may use.
func closed(info os.FileInfo, a access) error {
	if a == anybodyMayWrite {
		return nil
	}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok && int(sys.Uid) != os.Geteuid() {
		return &openToOthersError{fmt.Sprintf("user %d owns it", sys.Uid)}
	}
	if info.Mode().Perm()&os.FileMode(a) != 0 {
		return &openToOthersError{fmt.Sprintf("its mode is %s", info.Mode().Perm())}
	}
	return nil
}

// Shipped reports, as an error, what came with a program but could have been put
// there, or changed, by somebody else: by anybody, or by an owner who is neither
// this user, nor root, nor the owner of the program.
func Shipped(program os.FileInfo, paths ...string) error {
	owners := []int{os.Geteuid(), 0}
	if sys, ok := program.Sys().(*syscall.Stat_t); ok {
		owners = append(owners, int(sys.Uid))
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o002 != 0 {
			return fmt.Errorf("%q can be changed by anybody: its mode is %s", path, info.Mode().Perm())
		}
		if sys, ok := info.Sys().(*syscall.Stat_t); ok && !slices.Contains(owners, int(sys.Uid)) {
			return fmt.Errorf("%q is owned by user %d", path, sys.Uid)
		}
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
