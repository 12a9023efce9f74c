package sandbox

import (
	"io"

	"github.com/tetratelabs/wazero/experimental/sys"
	wsys "github.com/tetratelabs/wazero/sys"
	"golang.org/x/sys/unix"

	"stepbox.dev/host/stage"
)

// file is an open file. It stays what it is when its path is renamed or
// removed, and follows the content when another handle, in whatever process,
// copies it up.
type file struct {
	fs   *CallFS
	path string // when it was opened, for messages
	fd   int
	// What it is: a node, or what the sandbox has at lower. A node of that may
	// come later.
	id      stage.ID
	lower   string
	blob    stage.ID // what fd is; 0: the sandbox's own
	anon    bool     // the file is gone, and fd is content that nothing names
	scratch bool     // a file of /@tmp
	gen     uint64   // of the view when fd was checked
	ino     uint64

	read, write, append bool
	pos                 int64
	closed              bool
}

func (f *CallFS) newFile(h *file) *file {
	h.gen = f.v.gen()
	f.v.files[h] = struct{}{}
	return h
}

// closeFile closes a handle. The lock must be held.
func (v *View) closeFile(h *file) {
	if h.closed {
		return
	}
	h.closed = true
	unix.Close(h.fd)
	delete(v.files, h)
}

// begin locks the view and makes sure that fd is the current content.
func (h *file) begin(allowed bool) sys.Errno {
	h.fs.v.mu.Lock()
	if h.closed || !allowed {
		return sys.EBADF
	}
	h.fs.alive()
	if h.scratch || h.anon {
		return 0
	}
	if err := h.fs.v.refresh(); err != nil {
		return h.fs.failed(err)
	}
	if h.gen == h.fs.v.gen() {
		return 0
	}
	return h.recheck()
}

func (h *file) end() { h.fs.v.mu.Unlock() }

// recheck opens the content anew when another handle copied it up.
func (h *file) recheck() sys.Errno {
	v := h.fs.v
	n, gone := v.nodeOf(h)
	if n != nil && !gone && n.Blob != h.blob {
		fd, err := v.log.OpenBlob(n.Blob)
		if err != nil {
			return h.fs.failed(err)
		}
		h.become(fd, n.Blob)
	}
	h.gen = v.gen()
	return 0
}

// become makes fd the handle's content.
func (h *file) become(fd int, blob stage.ID) {
	unix.Close(h.fd)
	h.fd, h.blob = fd, blob
}

// Dev implements the same method as documented on sys.File
func (h *file) Dev() (uint64, sys.Errno) {
	if h.scratch {
		return tmpDevice, 0
	}
	return device, 0
}

// Ino implements the same method as documented on sys.File
func (h *file) Ino() (wsys.Inode, sys.Errno) { return h.ino, 0 }

// IsDir implements the same method as documented on sys.File
func (h *file) IsDir() (bool, sys.Errno) { return false, 0 }

// IsAppend implements the same method as documented on sys.File
func (h *file) IsAppend() bool { return h.append }

// SetAppend implements the same method as documented on sys.File
func (h *file) SetAppend(enable bool) sys.Errno {
	defer h.end()
	if errno := h.begin(true); errno != 0 {
		return errno
	}
	h.append = enable
	return 0
}

// Stat implements the same method as documented on sys.File
func (h *file) Stat() (wsys.Stat_t, sys.Errno) {
	defer h.end()
	if errno := h.begin(true); errno != 0 {
		return wsys.Stat_t{}, errno
	}
	var st unix.Stat_t
	if err := unix.Fstat(h.fd, &st); err != nil {
		return wsys.Stat_t{}, toErrno(err)
	}
	if h.scratch {
		return tmpStat(&st), 0
	}
	if n, _ := h.fs.v.nodeOf(h); n != nil && !h.anon {
		return nodeStat(n, &st), 0
	}
	return fromSystem(&st, h.ino), 0
}

// Read implements the same method as documented on sys.File
func (h *file) Read(buf []byte) (int, sys.Errno) {
	defer h.end()
	if errno := h.begin(h.read); errno != 0 {
		return 0, errno
	}
	n, errno := h.readAt(buf, h.pos)
	h.pos += int64(n)
	return n, errno
}

// Pread implements the same method as documented on sys.File
func (h *file) Pread(buf []byte, off int64) (int, sys.Errno) {
	defer h.end()
	if errno := h.begin(h.read); errno != 0 {
		return 0, errno
	}
	return h.readAt(buf, off)
}

func (h *file) readAt(buf []byte, off int64) (int, sys.Errno) {
	if off < 0 {
		return 0, sys.EINVAL
	}
	done := 0
	for done < len(buf) {
		n, err := unix.Pread(h.fd, buf[done:], off+int64(done))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return done, toErrno(err)
		}
		if n == 0 {
			break
		}
		done += n
	}
	return done, 0
}

// Seek implements the same method as documented on sys.File
func (h *file) Seek(offset position, whence int) (int64, sys.Errno) {
	defer h.end()
	if errno := h.begin(true); errno != 0 {
		return 0, errno
	}
	base := int64(0)
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		base = h.pos
	case io.SeekEnd:
		size, errno := h.size()
		if errno != 0 {
			return 0, errno
		}
		base = size
	default:
		return 0, sys.EINVAL
	}
	if offset > 0 && base+offset < base || base+offset < 0 {
		return 0, sys.EINVAL
	}
	h.pos = base + offset
	return h.pos, 0
}

func (h *file) size() (int64, sys.Errno) {
	var st unix.Stat_t
	if err := unix.Fstat(h.fd, &st); err != nil {
		return 0, toErrno(err)
	}
	return st.Size, 0
}

// Readdir implements the same method as documented on sys.File
func (h *file) Readdir(int) ([]sys.Dirent, sys.Errno) { return nil, sys.EBADF }

// Write implements the same method as documented on sys.File
func (h *file) Write(buf []byte) (int, sys.Errno) {
	defer h.end()
	if errno := h.begin(h.write || len(buf) == 0); errno != 0 {
		return 0, errno
	}
	n, errno := h.put(buf, h.pos, h.append)
	if errno != 0 {
		return n, errno
	}
	if h.pos += int64(n); h.append {
		h.pos, errno = h.size()
	}
	return n, errno
}

// Pwrite implements the same method as documented on sys.File. The kernel
// would append when the descriptor had O_APPEND; it never has.
func (h *file) Pwrite(buf []byte, off int64) (int, sys.Errno) {
	defer h.end()
	if errno := h.begin(h.write); errno != 0 {
		return 0, errno
	}
	if off < 0 {
		return 0, sys.EINVAL
	}
	return h.put(buf, off, false)
}

// put writes all of buf. Appending is one atomic operation of the kernel, or
// lines of parallel jobs would overwrite each other.
func (h *file) put(buf []byte, off int64, atEnd bool) (int, sys.Errno) {
	if len(buf) == 0 {
		return 0, 0
	}
	if errno := h.ready(whole); errno != 0 {
		return 0, errno
	}
	size, errno := h.size()
	if errno != 0 {
		return 0, errno
	}
	if atEnd {
		off = size
	}
	if off > off+int64(len(buf)) {
		return 0, sys.EINVAL
	}
	if errno := h.fs.roomToGrow(h, size, off+int64(len(buf))); errno != 0 {
		return 0, errno
	}
	done := 0
	for done < len(buf) {
		var n int
		var err error
		if atEnd {
			n, err = unix.Pwritev2(h.fd, [][]byte{buf[done:]}, 0, unix.RWF_APPEND)
		} else {
			n, err = unix.Pwrite(h.fd, buf[done:], off+int64(done))
		}
		if err != nil && err != unix.EINTR {
			return done, h.fs.failed(err)
		}
		done += max(n, 0)
	}
	h.fs.v.used.Add(max(0, off+int64(len(buf))-size))
	return done, 0
}

// Truncate implements the same method as documented on sys.File
func (h *file) Truncate(size int64) sys.Errno {
	defer h.end()
	if errno := h.begin(true); errno != 0 {
		return errno
	}
	if size < 0 || !h.write { // as ftruncate says
		return sys.EINVAL
	}
	return h.resize(size)
}

// cut empties a file that was opened to be written anew. The log is locked.
func (h *file) cut() sys.Errno {
	if errno := h.recheck(); errno != 0 {
		return errno
	}
	if errno := h.readyNow(0); errno != 0 {
		return errno
	}
	return h.setSize(0)
}

func (h *file) resize(size int64) sys.Errno {
	if errno := h.ready(size); errno != 0 {
		return errno
	}
	return h.setSize(size)
}

func (h *file) setSize(size int64) sys.Errno {
	old, errno := h.size()
	if errno != 0 {
		return errno
	}
	if errno := h.fs.roomToGrow(h, old, size); errno != 0 {
		return errno
	}
	if err := unix.Ftruncate(h.fd, size); err != nil {
		return h.fs.failed(err)
	}
	h.fs.v.used.Add(size - old)
	return 0
}

// Sync implements the same method as documented on sys.File. A stage is thrown
// away after a crash; the commit syncs what it keeps.
func (h *file) Sync() sys.Errno {
	defer h.end()
	return h.begin(true)
}

// Datasync implements the same method as documented on sys.File
func (h *file) Datasync() sys.Errno { return h.Sync() }

// Utimens implements the same method as documented on sys.File
func (h *file) Utimens(atim, mtim int64) sys.Errno {
	defer h.end()
	if errno := h.begin(true); errno != 0 {
		return errno
	}
	if h.scratch {
		return 0 // nothing sees the times of scratch
	}
	return h.fs.utimensOpen(h.id, h.lower, h.path, atim, mtim)
}

// Close implements the same method as documented on sys.File
func (h *file) Close() sys.Errno {
	h.fs.v.mu.Lock()
	defer h.fs.v.mu.Unlock()
	h.fs.v.closeFile(h)
	return 0
}

// position spells the offset of Seek for go vet, which takes any Seek(int64, int)
// for io.Seeker's; wazero's has an errno.
type position = int64
