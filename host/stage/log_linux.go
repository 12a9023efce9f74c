package stage

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Log is the writing side of a stage. Several processes may hold one; each sees
// what the others finished after Refresh. A Log is not safe for concurrent use.
type Log struct {
	Tree *Tree
	// Gen grows whenever the tree changed.
	Gen   uint64
	fd    int
	blobs int
	size  int64 // bytes of the log that the tree holds
	limit int64 // MaxLog, but in tests
	buf   []byte
	used  used
}

// ErrFull says that a stage can take no more changes.
var ErrFull = errors.New("the stage is full")

// OpenLog opens the stage in a folder, making it when the folder is empty.
func OpenLog(dir *os.File) (*Log, error) {
	l := &Log{fd: -1, blobs: -1, limit: MaxLog}
	if err := l.open(int(dir.Fd())); err != nil {
		l.Close()
		return nil, fmt.Errorf("open stage: %w", err)
	}
	return l, nil
}

func (l *Log) open(dir int) (err error) {
	const nofollow = unix.O_NOFOLLOW | unix.O_CLOEXEC
	if l.fd, err = unix.Openat(dir, "log", unix.O_RDWR|unix.O_CREAT|nofollow, 0o600); err != nil {
		return err
	}
	if err = unix.Mkdirat(dir, "b", 0o700); err != nil && !errors.Is(err, unix.EEXIST) {
		return err
	}
	if l.blobs, err = unix.Openat(dir, "b", unix.O_RDONLY|unix.O_DIRECTORY|nofollow, 0); err != nil {
		return err
	}
	if err = l.flock(unix.F_WRLCK); err != nil {
		return err
	}
	defer l.flock(unix.F_UNLCK)
	if err = l.reload(); err != nil {
		return err
	}
	l.used, err = openUsed(dir, l.countBlobs)
	return err
}

// reload reads the whole log anew. What a killed writer left behind its last
// whole record is cut off. The lock must be held.
func (l *Log) reload() error {
	l.Tree, l.size = NewTree(), 0
	l.Gen++
	size, err := l.length()
	if err != nil {
		return err
	}
	if size < int64(len(header)) {
		if err := unix.Ftruncate(l.fd, 0); err != nil {
			return err
		}
		if _, err := unix.Pwrite(l.fd, []byte(header), 0); err != nil {
			return err
		}
		l.size = int64(len(header))
		return nil
	}
	head := make([]byte, len(header))
	if _, err := unix.Pread(l.fd, head, 0); err != nil {
		return err
	}
	if string(head) != header {
		return errors.New("no stepbox stage of version 1")
	}
	l.size = int64(len(header))
	if err := l.takeIn(size); !errors.Is(err, errTorn) {
		return err
	}
	return unix.Ftruncate(l.fd, l.size)
}

// Close releases what the log holds of the system.
func (l *Log) Close() {
	for _, fd := range []*int{&l.fd, &l.blobs} {
		if *fd >= 0 {
			unix.Close(*fd)
			*fd = -1
		}
	}
	l.used.close()
	l.used = used{}
}

// Refresh takes in what other processes appended. It costs one fstat when
// nothing is new.
func (l *Log) Refresh() error {
	size, err := l.length()
	if err != nil || size == l.size {
		return err
	}
	// Another process may be in the middle of a write: wait for it.
	if err := l.flock(unix.F_RDLCK); err != nil {
		return err
	}
	defer l.flock(unix.F_UNLCK)
	return l.refreshLocked()
}

func (l *Log) refreshLocked() error {
	size, err := l.length()
	if err != nil || size == l.size {
		return err
	}
	if size < l.size {
		return errors.New("the stage's log shrank")
	}
	return l.takeIn(size)
}

// takeIn applies the records between l.size and size.
func (l *Log) takeIn(size int64) error {
	if size > MaxLog {
		return fmt.Errorf("stage log of %d bytes: the format allows %d", size, MaxLog)
	}
	b := make([]byte, size-l.size)
	for have := 0; have < len(b); {
		n, err := unix.Pread(l.fd, b[have:], l.size+int64(have))
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		if err == nil && n == 0 {
			return errors.New("the stage's log shrank")
		}
		have += max(n, 0)
	}
	for len(b) > 0 {
		r, n, err := nextRecord(b)
		if err == nil {
			err = l.Tree.Apply(r)
		}
		if err != nil {
			return fmt.Errorf("stage log at byte %d: %w", l.size, err)
		}
		l.size += int64(n)
		l.Gen++
		b = b[n:]
	}
	return nil
}

// Lock begins a change: until Unlock no other process can append, and the tree
// holds all that they did.
func (l *Log) Lock() error {
	if err := l.flock(unix.F_WRLCK); err != nil {
		return err
	}
	if err := l.refreshLocked(); err != nil {
		l.flock(unix.F_UNLCK)
		return err
	}
	return nil
}

// Unlock ends what Lock began.
func (l *Log) Unlock() { l.flock(unix.F_UNLCK) }

// Append writes a record and applies it; the lock must be held. When it fails,
// the log and the tree are as before; nodes must then be looked up anew. It is
// ErrFull when the bounds of the format leave no room.
func (l *Log) Append(r Record) error {
	b, err := appendRecord(l.buf[:0], r)
	l.buf = b[:0]
	if err != nil {
		return err
	}
	if l.size+int64(len(b)) > l.limit || len(l.Tree.nodes)+len(r.Effects) > MaxNodes {
		return ErrFull
	}
	for done := 0; done < len(b); {
		n, err := unix.Pwrite(l.fd, b[done:], l.size+int64(done))
		if err != nil && !errors.Is(err, unix.EINTR) {
			return l.back(err)
		}
		done += max(n, 0)
	}
	if err := l.Tree.Apply(r); err != nil {
		return l.back(fmt.Errorf("stage refuses its own record: %w", err))
	}
	l.size += int64(len(b))
	l.Gen++
	return nil
}

// back cuts a failed record off and rebuilds the tree, because memory must not
// be ahead of the disk.
func (l *Log) back(cause error) error {
	if err := unix.Ftruncate(l.fd, l.size); err != nil {
		return errors.Join(cause, err)
	}
	if err := l.reload(); err != nil {
		return errors.Join(cause, err)
	}
	return cause
}

func (l *Log) length() (int64, error) {
	var st unix.Stat_t
	if err := unix.Fstat(l.fd, &st); err != nil {
		return 0, err
	}
	return st.Size, nil
}

// flock takes or drops an open-file-description lock: it belongs to this Log,
// not to the process, and goes when the process dies.
func (l *Log) flock(kind int16) error {
	lk := unix.Flock_t{Type: kind}
	for {
		err := unix.FcntlFlock(uintptr(l.fd), unix.F_OFD_SETLKW, &lk)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// CreateBlob makes the empty blob of a number. The record that names it comes
// after it has its content. What a failed record left under that number goes.
func (l *Log) CreateBlob(id ID) (fd int, err error) {
	const flags = unix.O_RDWR | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err = unix.Openat(l.blobs, BlobName(id), flags, 0o600)
	if errors.Is(err, unix.EEXIST) {
		if err = l.RemoveBlob(id); err == nil {
			fd, err = unix.Openat(l.blobs, BlobName(id), flags, 0o600)
		}
	}
	return fd, err
}

// OpenBlob opens a blob.
func (l *Log) OpenBlob(id ID) (fd int, err error) {
	return unix.Openat(l.blobs, BlobName(id), unix.O_RDWR|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

// StatBlob describes a blob.
func (l *Log) StatBlob(id ID, st *unix.Stat_t) error {
	return unix.Fstatat(l.blobs, BlobName(id), st, unix.AT_SYMLINK_NOFOLLOW)
}

// RemoveBlob removes a blob that no record names any more.
func (l *Log) RemoveBlob(id ID) error { return unix.Unlinkat(l.blobs, BlobName(id), 0) }
