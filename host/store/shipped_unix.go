//go:build unix

package store

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

const (
	groupMayWrite   os.FileMode = 0o020
	anybodyMayWrite os.FileMode = 0o002
)

// Shipped reports, as an error, what came with a program but could have been put
// there, or changed, by somebody else: by anybody, by an owner who is neither this
// user, nor root, nor the owner of the program, or by a group that has more than
// its owner in it. Who could have replaced the program itself is nobody else.
func Shipped(program string, paths ...string) error {
	owners, groups := []int{os.Geteuid(), 0}, []int{0}
	for _, path := range []string{program, filepath.Dir(program)} {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		sys, ok := info.Sys().(*syscall.Stat_t)
		if ok && path == program {
			owners = append(owners, int(sys.Uid))
		}
		if ok && info.Mode().Perm()&groupMayWrite != 0 && info.Mode()&os.ModeSticky == 0 {
			groups = append(groups, int(sys.Gid))
		}
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		mode := info.Mode().Perm()
		if mode&anybodyMayWrite != 0 {
			return fmt.Errorf("%q can be changed by anybody: its mode is %s", path, mode)
		}
		sys, ok := info.Sys().(*syscall.Stat_t)
		switch {
		case !ok:
		case !slices.Contains(owners, int(sys.Uid)):
			return fmt.Errorf("%q is owned by user %d", path, sys.Uid)
		case mode&groupMayWrite != 0 && !slices.Contains(groups, int(sys.Gid)) && !private(sys.Uid, sys.Gid):
			return fmt.Errorf("%q can be changed by group %d: its mode is %s", path, sys.Gid, mode)
		}
	}
	return nil
}

// private says that a group is the user's own, as many systems make one for each
// user: files are then writable to it by default, and it lets nobody in.
func private(uid, gid uint32) bool {
	u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10))
	if err != nil || u.Gid != strconv.FormatUint(uint64(gid), 10) {
		return false
	}
	g, err := user.LookupGroupId(u.Gid)
	return err == nil && g.Name == u.Username
}
