package commit

import (
	"errors"
	"math"
	"os"
	"sort"
	"strings"

	"golang.org/x/sys/unix"
)

// root is an open folder below which every path is resolved without following
// a link, leaving the folder, or crossing into another mount. A folder that
// somebody swaps for a link in between is an error, never a way out.
type root struct {
	f   *os.File
	dev uint64
	// held are folders that stay open between hold and release, by path.
	held map[string]int
}

// openRoot opens a folder by its path, not following a link at its end.
func openRoot(path string) (*root, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	r := &root{f: os.NewFile(uintptr(fd), path)}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		r.close()
		return nil, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	r.dev = st.Dev
	return r, nil
}

func (r *root) close() {
	r.release()
	_ = r.f.Close()
}

// hold keeps the folders that paths are resolved through open until release or
// the next hold, at most maxHeld: that makes work on many paths several times
// faster. A folder that somebody moves meanwhile is followed for so long, so it
// is called again every few paths, and whenever a folder has moved.
func (r *root) hold() {
	if r.held == nil {
		r.held = make(map[string]int, maxHeld)
	}
	for path, fd := range r.held {
		_ = unix.Close(fd)
		delete(r.held, path)
	}
}

func (r *root) release() {
	for _, fd := range r.held {
		_ = unix.Close(fd)
	}
	r.held = nil
}

func (r *root) fd() int { return int(r.f.Fd()) }

// maxPath is below the kernel's limit for one path; longer ones are walked in
// pieces.
const maxPath = 4000

// open opens path below the root with the flags, in the jail's way.
func (r *root) open(path string, flags uint64) (int, error) {
	at, opened := r.fd(), false
	for {
		piece, rest := path, ""
		how := unix.OpenHow{
			Flags: flags | unix.O_CLOEXEC | unix.O_NOFOLLOW,
			Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS |
				unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV,
		}
		if len(path) > maxPath {
			cut := strings.LastIndexByte(path[:maxPath], '/')
			if cut <= 0 {
				return -1, unix.ENAMETOOLONG
			}
			piece, rest = path[:cut], path[cut+1:]
			how.Flags = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC
		}
		fd, err := openat2(at, piece, &how)
		if opened {
			_ = unix.Close(at)
		}
		if err != nil || rest == "" {
			return fd, err
		}
		at, opened, path = fd, true, rest
	}
}

// openat2 tries again when a rename elsewhere made the kernel lose its place.
func openat2(at int, path string, how *unix.OpenHow) (int, error) {
	for tries := 0; ; tries++ {
		fd, err := unix.Openat2(at, path, how)
		if (err == unix.EAGAIN || err == unix.EINTR) && tries < 100 {
			continue
		}
		return fd, err
	}
}

// parent opens the folder that holds path and returns its last name.
func (r *root) parent(path string) (fd int, name string, done func(), err error) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return r.fd(), path, func() {}, nil
	}
	if fd, ok := r.held[path[:i]]; ok {
		return fd, path[i+1:], func() {}, nil
	}
	fd, err = r.open(path[:i], unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return -1, "", nil, err
	}
	if r.held != nil && len(r.held) < maxHeld {
		r.held[path[:i]] = fd
		return fd, path[i+1:], func() {}, nil
	}
	return fd, path[i+1:], func() { _ = unix.Close(fd) }, nil
}

// stat looks at path itself; "" or "." is the root. Its device is 0 on the
// root's own file system: numbers of devices change when a machine starts again.
func (r *root) stat(path string) (identity, error) {
	var st unix.Stat_t
	if path == "" || path == "." {
		if err := unix.Fstat(r.fd(), &st); err != nil {
			return identity{}, err
		}
	} else {
		fd, name, done, err := r.parent(path)
		if err != nil {
			return identity{}, err
		}
		defer done()
		if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return identity{}, err
		}
	}
	id := identityOf(&st)
	if id.dev == r.dev {
		id.dev = 0
	}
	return id, nil
}

func identityOf(st *unix.Stat_t) identity {
	id := identity{
		kind: isOther, dev: st.Dev, ino: st.Ino, size: st.Size,
		mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(), atime: st.Atim.Nano(),
		mode: st.Mode & 0o7777, uid: st.Uid, gid: st.Gid, links: uint64(st.Nlink),
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		id.kind = isFile
	case unix.S_IFDIR:
		id.kind = isFolder
	case unix.S_IFLNK:
		id.kind = isLink
	}
	return id
}

// rename moves from below r to path below to; it never replaces anything. With
// exchange both must exist and trade places.
func (r *root) rename(from string, to *root, path string, exchange bool) error {
	a, aname, doneA, err := r.parent(from)
	if err != nil {
		return err
	}
	defer doneA()
	b, bname, doneB, err := to.parent(path)
	if err != nil {
		return err
	}
	defer doneB()
	flags := uint(unix.RENAME_NOREPLACE)
	if exchange {
		flags = unix.RENAME_EXCHANGE
	}
	return unix.Renameat2(a, aname, b, bname, flags)
}

// setTimes sets access and modification time of path itself.
func (r *root) setTimes(path string, atime, mtime int64) error {
	ts := []unix.Timespec{unix.NsecToTimespec(atime), unix.NsecToTimespec(mtime)}
	if path == "" || path == "." {
		// utimensat on the descriptor's own link in /proc would need /proc.
		return unix.UtimesNanoAt(r.fd(), ".", ts, 0)
	}
	fd, name, done, err := r.parent(path)
	if err != nil {
		return err
	}
	defer done()
	return unix.UtimesNanoAt(fd, name, ts, unix.AT_SYMLINK_NOFOLLOW)
}

// names lists a folder, sorted.
func (r *root) names(path string) ([]string, error) {
	if path == "" {
		path = "."
	}
	fd, err := r.open(path, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	names, err := f.Readdirnames(-1)
	sort.Strings(names)
	return names, err
}

// readlink reads a link's text.
func (r *root) readlink(path string) (string, error) {
	fd, name, done, err := r.parent(path)
	if err != nil {
		return "", err
	}
	defer done()
	buf := make([]byte, 4096)
	n, err := unix.Readlinkat(fd, name, buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// openFile opens a regular file below the root for the mode work on it. It
// cannot hang on a FIFO, and what is not a regular file is refused.
func (r *root) openFile(path string) (*os.File, error) {
	fd, err := r.open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		_ = unix.Close(fd)
		return nil, errors.Join(err, unix.EINVAL)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// nextData returns where a file has something other than a hole, from at on.
func nextData(f *os.File, at int64) int64 {
	next, err := unix.Seek(int(f.Fd()), at, unix.SEEK_DATA)
	switch {
	case err == unix.ENXIO: // only a hole
		return math.MaxInt64
	case err != nil: // a file system without holes
		return at
	}
	return next
}

// punch makes holes in a file where the file system can.
func (r *root) punch(path string, holes []span) error {
	fd, err := r.open(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for _, h := range holes {
		err := unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, h.at, h.bytes)
		switch err {
		case nil:
		case unix.EOPNOTSUPP, unix.ENOSYS:
			return nil
		default:
			return err
		}
	}
	return nil
}

// mkdir and symlink make a folder or a link below the root.
func (r *root) mkdir(path string, mode uint32) error {
	fd, name, done, err := r.parent(path)
	if err != nil {
		return err
	}
	defer done()
	return unix.Mkdirat(fd, name, mode)
}

func (r *root) symlink(text, path string) error {
	fd, name, done, err := r.parent(path)
	if err != nil {
		return err
	}
	defer done()
	return unix.Symlinkat(text, fd, name)
}

// remove removes a file, a link or an empty folder.
func (r *root) remove(path string) error {
	fd, name, done, err := r.parent(path)
	if err != nil {
		return err
	}
	defer done()
	err = unix.Unlinkat(fd, name, 0)
	if err == unix.EISDIR || err == unix.EPERM {
		err = unix.Unlinkat(fd, name, unix.AT_REMOVEDIR)
	}
	return err
}

// syncAll makes the whole file system durable.
func (r *root) syncAll() error { return unix.Syncfs(r.fd()) }

// syncOrdered makes every rename so far durable, also those in other folders.
// On ext4, xfs and tmpfs all of them are in one log, in order, so that syncing
// the last folder is enough; of others that is not known (btrfs logs a folder
// by itself).
func (r *root) syncOrdered() error {
	var st unix.Statfs_t
	if unix.Fstatfs(r.fd(), &st) == nil {
		switch st.Type {
		case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.TMPFS_MAGIC:
			return r.f.Sync()
		}
	}
	return r.syncAll()
}

// isMissing reports that a name is not there.
func isMissing(err error) bool { return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) }

// isTaken reports that a name is there already.
func isTaken(err error) bool { return errors.Is(err, unix.EEXIST) || errors.Is(err, unix.ENOTEMPTY) }

// errOtherMount is what the kernel answers at the border of a file system.
var errOtherMount error = unix.EXDEV

// isOtherMount reports that a rename cannot work between two places.
func isOtherMount(err error) bool { return errors.Is(err, unix.EXDEV) }

// isReadOnly reports that a place cannot be written.
func isReadOnly(err error) bool {
	return errors.Is(err, unix.EROFS) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM)
}
