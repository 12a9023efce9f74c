package sandbox

import (
	"errors"

	"github.com/tetratelabs/wazero/experimental/sys"
	"golang.org/x/sys/unix"
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

// openRead opens a regular file or a folder to read. Whatever else lies there
// is not touched: opening a FIFO or a device can act on it. Access times stay as
// they are where the system allows.
func openRead(dir int, path string, st *unix.Stat_t) (int, error) {
	if err := statBelow(dir, path, st); err != nil {
		return -1, err
	}
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
