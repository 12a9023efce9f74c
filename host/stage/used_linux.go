package stage

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// used is a number that all processes of a stage share: the bytes of its blobs,
// for the quota. It lies in a file of its own, mapped into each, since blobs
// grow without a record. The host counts for itself.
type used struct{ mem []byte }

const usedBytes = 8

// openUsed maps the number. The log must be locked: whoever comes first sets it
// to what count says.
func openUsed(dir int, count func() int64) (used, error) {
	fd, err := unix.Openat(dir, "used", unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return used{}, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return used{}, err
	}
	first := st.Size < usedBytes
	if first {
		// Written, not only cut to size: a full disk must say so here, not
		// with a signal at the first use.
		if _, err := unix.Pwrite(fd, make([]byte, usedBytes), 0); err != nil {
			return used{}, err
		}
	}
	mem, err := unix.Mmap(fd, 0, usedBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return used{}, err
	}
	u := used{mem}
	if first {
		u.number().Store(count())
	}
	return u, nil
}

func (u used) number() *atomic.Int64 { return (*atomic.Int64)(unsafe.Pointer(&u.mem[0])) }

func (u used) close() {
	if u.mem != nil {
		unix.Munmap(u.mem)
	}
}

// Used is the number of bytes of all blobs, shared by all processes. It is not
// valid after Close.
func (l *Log) Used() *atomic.Int64 { return l.used.number() }

// countBlobs adds up the blobs that the tree names.
func (l *Log) countBlobs() (sum int64) {
	for _, n := range l.Tree.nodes {
		var st unix.Stat_t
		if n.Blob != 0 && l.StatBlob(n.Blob, &st) == nil {
			sum += st.Size
		}
	}
	return sum
}
