package commit

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// statFile looks at an open file.
func statFile(f *os.File) (identity, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return identity{}, err
	}
	return identityOf(&st), nil
}

// noWriter makes sure that nobody can write to a file of the stage any more.
func noWriter(f *os.File) error {
	fd := f.Fd()
	for tries := 0; ; tries++ {
		// A read lease is refused while anybody has the file open for writing.
		// A child that was forked a moment ago holds it until its exec.
		_, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_RDLCK)
		if err == nil {
			_, _ = unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK)
		}
		if !errors.Is(err, unix.EAGAIN) {
			return nil
		}
		if tries == 20 {
			return errors.New("another process still writes to it")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// strip takes everything but content from a file of the stage: attributes could
// hold a list of other users or a capability.
func strip(f *os.File) error {
	fd := f.Fd()
	for _, name := range attributes(int(fd)) {
		if strings.HasPrefix(name, "security.") && name != "security.capability" {
			continue // labels that the system sets itself
		}
		if err := unix.Fremovexattr(int(fd), name); err != nil {
			return err
		}
	}
	return nil
}

// attributes lists the names of extended attributes; file systems that have
// none answer with an error that means none.
func attributes(fd int) []string {
	buf := make([]byte, 1<<16)
	n, err := unix.Flistxattr(fd, buf)
	if err != nil || n <= 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(buf[:n]), "\x00"), "\x00")
}

// adopt gives a file that replaces another its owner, its access list and its
// user attributes, and returns the mode it is to have. What the system does
// not allow is left out, never widened.
func (e *engine) adopt(f *os.File, over *item) (mode uint32) {
	was := &over.was
	mode = was.mode & 0o777 // new content inherits no setuid
	now, err := statFile(f)
	if err == nil && (now.uid != was.uid || now.gid != was.gid) {
		if f.Chown(int(was.uid), int(was.gid)) != nil && f.Chown(-1, int(was.gid)) != nil {
			mode &^= 0o070 // these bits were meant for another group
		}
	}
	old, err := e.box.openFile(over.from)
	if err != nil {
		return mode
	}
	defer old.Close()
	for _, name := range attributes(int(old.Fd())) {
		if !strings.HasPrefix(name, "user.") && name != aclAccess {
			continue
		}
		buf := make([]byte, 1<<16)
		if n, err := unix.Fgetxattr(int(old.Fd()), name, buf); err == nil {
			_ = unix.Fsetxattr(int(f.Fd()), name, buf[:n], 0)
		}
	}
	return mode
}

const (
	aclAccess  = "system.posix_acl_access"
	aclDefault = "system.posix_acl_default"
)

// legacy looks at what a folder hands on.
func (r *root) legacy(folder string) legacy {
	if folder == "" {
		folder = "."
	}
	fd, err := r.open(folder, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return legacy{}
	}
	defer unix.Close(fd)
	var l legacy
	var st unix.Stat_t
	if unix.Fstat(fd, &st) == nil && st.Mode&unix.S_ISGID != 0 {
		l.shared, l.gid = true, st.Gid
	}
	buf := make([]byte, 1<<16)
	if n, err := unix.Fgetxattr(fd, aclDefault, buf); err == nil && n > 0 {
		l.acl = buf[:n:n]
	}
	return l
}

// inherit gives a new object what the folder it will lie in hands on, as if it
// had been made there.
func (r *root) inherit(it *item, l legacy) error {
	if it.kind == isLink {
		if !l.shared {
			return nil
		}
		fd, name, done, err := r.parent(it.home)
		if err != nil {
			return err
		}
		defer done()
		return unix.Fchownat(fd, name, -1, int(l.gid), unix.AT_SYMLINK_NOFOLLOW)
	}
	fd, err := r.open(it.home, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	folder := it.kind == isFolder
	if l.shared {
		if err := unix.Fchown(fd, -1, int(l.gid)); err != nil {
			return err
		}
	}
	if folder { // where it was made may have handed something on
		_ = unix.Fremovexattr(fd, aclAccess)
		_ = unix.Fremovexattr(fd, aclDefault)
	}
	if l.acl != nil {
		err := unix.Fsetxattr(fd, aclAccess, l.acl, 0)
		if err == nil && folder {
			err = unix.Fsetxattr(fd, aclDefault, l.acl, 0)
		}
		if err != nil {
			return err
		}
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	mode := st.Mode & 0o777
	if l.acl != nil && !folder {
		mode &= 0o666 // the list decides instead of the umask
	}
	if folder && l.shared {
		mode |= unix.S_ISGID
	}
	if mode == st.Mode&0o7777 {
		return nil
	}
	return unix.Fchmod(fd, mode)
}

// setMode sets the mode of a folder that only this user can reach.
func (r *root) setMode(path string, mode uint32) error {
	fd, name, done, err := r.parent(path)
	if err != nil {
		return err
	}
	defer done()
	return unix.Fchmodat(fd, name, mode, 0)
}

func fileMode(mode uint32) fs.FileMode { return fs.FileMode(mode & 0o777) }

// blocks is what a file takes on disk, in bytes.
func blocks(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512
	}
	return info.Size()
}
