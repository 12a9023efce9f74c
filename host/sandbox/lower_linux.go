package sandbox

import (
	"errors"
	"time"

	"github.com/tetratelabs/wazero/experimental/sys"
	"golang.org/x/sys/unix"

	"stepbox.dev/host/stage"
)

// resolve makes the kernel follow nothing and leave the folder by no way.
const resolve = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS

// openBelow opens a path below a folder. The path "" is the folder itself.
func openBelow(dir int, path string, flags int) (int, error) {
	if path == "" {
		path = "."
	}
	how := unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC | unix.O_NOFOLLOW), Resolve: resolve}
	if flags&unix.O_CREAT != 0 {
		how.Mode = 0o600
	}
	for {
		fd, err := unix.Openat2(dir, path, &how)
		// EAGAIN: somebody renames while the kernel looks.
		if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
			return fd, err
		}
	}
}

// statBelow describes what lies at a path below a folder, a link itself.
func statBelow(dir int, path string, st *unix.Stat_t) error {
	fd, err := openBelow(dir, path, unix.O_PATH)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Fstat(fd, st)
}

// nearTime is how long the view looks into a folder it has open without asking
// the kernel again whether the path still leads there. A folder that a person
// moves meanwhile answers that much longer; only what stat says comes from it.
const nearTime = 10 * time.Millisecond

// near is the folder in which the view looked last. It makes a stat as cheap at
// any depth as at the top.
type near struct {
	fd    int // -1: none
	path  string
	until time.Time
}

func (n *near) close() {
	if n.fd >= 0 {
		unix.Close(n.fd)
		n.fd = -1
	}
}

// statLower is statBelow for the sandbox.
func (v *View) statLower(path string, st *unix.Stat_t) error {
	dir, base := stage.Split(path)
	if base == "" {
		return unix.Fstat(v.lower, st)
	}
	if dir == "" {
		return unix.Fstatat(v.lower, base, st, unix.AT_SYMLINK_NOFOLLOW)
	}
	now := time.Now()
	if v.near.fd < 0 || v.near.path != dir || now.After(v.near.until) {
		v.near.close()
		fd, err := openBelow(v.lower, dir, unix.O_PATH|unix.O_DIRECTORY)
		if err != nil { // no folder: the whole path says best why
			return statBelow(v.lower, path, st)
		}
		v.near = near{fd: fd, path: dir, until: now.Add(nearTime)}
	}
	return unix.Fstatat(v.near.fd, base, st, unix.AT_SYMLINK_NOFOLLOW)
}

// openLower is openRead for the sandbox.
func (v *View) openLower(path string, st *unix.Stat_t) (int, error) {
	if err := v.statLower(path, st); err != nil {
		return -1, err
	}
	return openRead(v.lower, path, st)
}

// openRead opens a regular file or a folder to read, when st says that it is
// one. Whatever else lies there is not touched: opening a FIFO or a device can
// act on it. Access times stay as they are where the system allows.
func openRead(dir int, path string, st *unix.Stat_t) (int, error) {
	kind := st.Mode & unix.S_IFMT
	if kind != unix.S_IFREG && kind != unix.S_IFDIR {
		return -1, unix.EPERM
	}
	const flags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY
	fd, err := openBelow(dir, path, flags|unix.O_NOATIME)
	if errors.Is(err, unix.EPERM) { // a file of somebody else
		fd, err = openBelow(dir, path, flags)
	}
	if err != nil {
		return -1, err
	}
	// It may have been swapped meanwhile: what counts is what was opened.
	if err := unix.Fstat(fd, st); err != nil || st.Mode&unix.S_IFMT != kind {
		unix.Close(fd)
		return -1, unix.EPERM
	}
	return fd, nil
}

// readLink reads the link at a path below a folder.
func readLink(dir int, path string) (string, error) {
	fd, err := openBelow(dir, path, unix.O_PATH)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(fd, "", buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// toErrno is the errno for a guest.
func toErrno(err error) sys.Errno {
	if err == nil {
		return 0
	}
	var e unix.Errno
	if errors.As(err, &e) {
		if e == unix.EXDEV { // out of the folder, by a magic link or a swap
			return sys.EPERM
		}
		return sys.UnwrapOSError(e)
	}
	return sys.EIO
}
