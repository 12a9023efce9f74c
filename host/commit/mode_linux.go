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

// sealFile makes sure that nobody can write to a file of the stage any more,
// and that it carries nothing but content: attributes could hold a list of
// other users or a capability.
func sealFile(f *os.File) error {
	fd := f.Fd()
	for tries := 0; ; tries++ {
		// A read lease is refused while anybody has the file open for writing.
		// A child that was forked a moment ago holds it until its exec.
		_, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_RDLCK)
		if err == nil {
			_, _ = unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK)
		}
		if !errors.Is(err, unix.EAGAIN) {
			break
		}
		if tries == 20 {
			return errors.New("another process still writes to it")
		}
		time.Sleep(5 * time.Millisecond)
	}
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
		if !strings.HasPrefix(name, "user.") && name != "system.posix_acl_access" {
			continue
		}
		buf := make([]byte, 1<<16)
		if n, err := unix.Fgetxattr(int(old.Fd()), name, buf); err == nil {
			_ = unix.Fsetxattr(int(f.Fd()), name, buf[:n], 0)
		}
	}
	return mode
}

// share gives a new object the group of the folder it will lie in, where that
// folder shares its group, and lets a new folder share it in turn.
func (r *root) share(it *item, groups map[string]uint32) error {
	gid, ok := groups[parentOf(it.to)]
	if !ok {
		return nil
	}
	fd, name, done, err := r.parent(it.home)
	if err != nil {
		return err
	}
	defer done()
	if err := unix.Fchownat(fd, name, -1, int(gid), unix.AT_SYMLINK_NOFOLLOW); err != nil || it.kind != isFolder {
		return err
	}
	id, err := r.stat(it.home)
	if err != nil {
		return err
	}
	return unix.Fchmodat(fd, name, id.mode|0o2000, 0)
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
