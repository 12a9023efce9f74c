package sandbox

import (
	"math"

	"github.com/tetratelabs/wazero/experimental/sys"
	"golang.org/x/sys/unix"

	"stepbox.dev/host/stage"
)

// whole asks for all of a file's content when it is copied.
const whole = math.MaxInt64

// nodeOf returns the node of an open file, nil when it has none, and whether
// the file is gone from the view.
func (v *View) nodeOf(h *file) (n *stage.Node, gone bool) {
	if h.id != 0 {
		n = v.tree.Node(h.id)
		return n, n == nil || n.Dead
	}
	return v.lowerNode(h.lower)
}

// lowerNode is nodeOf for what the sandbox had at a path.
func (v *View) lowerNode(lower string) (n *stage.Node, gone bool) {
	if n = v.tree.ByOrigin(lower); n != nil {
		return n, n.Dead
	}
	// Without a node it is where it was, unless a folder on the way says else.
	for path := lower; path != ""; {
		dir, base := stage.Split(path)
		if p := v.tree.ByOrigin(dir); p != nil {
			return nil, p.Dead || p.Entries[base] != nil
		}
		path = dir
	}
	return nil, false
}

// ready makes fd content that this call may change, keeping its first bytes.
func (h *file) ready(keep int64) sys.Errno {
	if h.scratch || h.anon {
		return 0
	}
	if n, gone := h.fs.v.nodeOf(h); n != nil && !gone && h.fs.settled(n) && h.fs.owns(n.ID) {
		return 0
	}
	return h.fs.change(func() sys.Errno {
		if errno := h.recheck(); errno != 0 {
			return errno
		}
		return h.readyNow(keep)
	})
}

// settled reports whether the content of a node is this call's own and has its
// own time: then writing needs no record.
func (f *CallFS) settled(n *stage.Node) bool {
	return n.Blob != 0 && n.BlobCall == f.call && n.Mtime == stage.Own
}

// readyNow is ready, with the log locked and fd current.
func (h *file) readyNow(keep int64) sys.Errno {
	f, v := h.fs, h.fs.v
	n, gone := v.nodeOf(h)
	if gone {
		return h.detach(keep)
	}
	if n != nil {
		if errno := f.take(n.ID, "write", h.path); errno != 0 {
			return errno
		}
	}
	if n != nil && f.settled(n) {
		return 0
	}
	var effects []stage.Effect
	if n == nil {
		p, errno := f.nodeFor(h.lower)
		if errno != 0 {
			return errno
		}
		if n, effects, errno = f.define(p, h.lower, stage.File); errno != 0 {
			return errno
		}
		if errno := f.take(n.ID, "write", h.path); errno != 0 {
			return errno
		}
	}
	if n.Mtime != stage.Own {
		effects = append(effects, stage.Effect{Op: stage.OpTimes, ID: n.ID, Atime: n.Atime, Mtime: stage.Own})
	}
	if n.Blob != 0 && n.BlobCall == f.call {
		return f.apply(effects...)
	}
	blob := max(v.tree.Last(), n.ID) + 1
	fd, errno := f.copyBlob(blob, h, keep)
	if errno != 0 {
		return errno
	}
	effects = append(effects, stage.Effect{Op: stage.OpContent, ID: n.ID, Blob: blob})
	if errno := f.apply(effects...); errno != 0 {
		unix.Close(fd)
		f.dropBlob(blob)
		return errno
	}
	h.become(fd, blob)
	h.gen = v.gen()
	return 0
}

// detach gives a file that is gone content that nothing names, shared by all
// its handles here.
func (h *file) detach(keep int64) sys.Errno {
	f, v := h.fs, h.fs.v
	if h.blob != 0 && h.ownDead() {
		h.anon = true
		return 0
	}
	blob := v.tree.Last() + 1
	fd, errno := f.copyBlob(blob, h, keep)
	if errno != 0 {
		return errno
	}
	v.log.RemoveBlob(blob)
	for o := range v.files {
		if o != h && h.same(o) && !o.anon && !o.scratch {
			if dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0); err == nil {
				o.become(dup, 0)
				o.anon = true
			}
		}
	}
	h.become(fd, 0)
	h.anon = true
	return 0
}

// same reports whether two handles are of one file.
func (h *file) same(o *file) bool {
	if h.lower != "" {
		return h.lower == o.lower
	}
	return h.id == o.id
}

// ownDead reports whether a gone file's content was this call's own: then no
// sealed call needs it as it is.
func (h *file) ownDead() bool {
	n := h.fs.v.tree.Node(h.id)
	return n != nil && n.BlobCall == h.fs.call
}

// copyBlob makes a blob with the first bytes of an open file.
func (f *CallFS) copyBlob(blob stage.ID, h *file, keep int64) (int, sys.Errno) {
	size, errno := h.size()
	if errno != 0 {
		return -1, errno
	}
	size = min(size, keep)
	if errno := f.roomToGrow(h, 0, size); errno != 0 {
		return -1, errno
	}
	fd, err := f.v.log.CreateBlob(blob)
	if err == nil {
		err = copyContent(fd, h.fd, size)
	}
	if err != nil {
		if fd >= 0 {
			unix.Close(fd)
			f.v.log.RemoveBlob(blob)
		}
		return -1, f.failed(err)
	}
	f.v.used.Add(size)
	return fd, 0
}

// copyContent copies the first size bytes, by sharing them where the file
// system can.
func copyContent(to, from int, size int64) error {
	if size == 0 {
		return nil
	}
	if unix.IoctlFileClone(to, from) == nil {
		return unix.Ftruncate(to, size)
	}
	var in, out int64
	for in < size {
		n, err := unix.CopyFileRange(from, &in, to, &out, int(min(size-in, 1<<30)), 0)
		if err == unix.EINTR {
			continue
		}
		if n == 0 && err == nil {
			return nil // it shrank meanwhile
		}
		if err == unix.ENOSPC || err == unix.EDQUOT {
			return err
		}
		if err != nil {
			return copyByHand(to, from, in, size)
		}
	}
	return nil
}

// copyByHand is for pairs of file systems between which the kernel does not
// copy.
func copyByHand(to, from int, at, size int64) error {
	buf := make([]byte, 1<<20)
	for at < size {
		n, err := unix.Pread(from, buf[:min(size-at, int64(len(buf)))], at)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return err
		}
		for w := 0; w < n; {
			m, err := unix.Pwrite(to, buf[w:n], at+int64(w))
			if err != nil && err != unix.EINTR {
				return err
			}
			w += max(m, 0)
		}
		at += int64(n)
	}
	return nil
}

// dropBlob removes a blob that no record needs, and its bytes from the count.
func (f *CallFS) dropBlob(id stage.ID) {
	var st unix.Stat_t
	if f.v.log.StatBlob(id, &st) == nil && f.v.log.RemoveBlob(id) == nil {
		f.v.used.Add(-st.Size)
	}
}
