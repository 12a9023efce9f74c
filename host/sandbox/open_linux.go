package sandbox

import (
	"io/fs"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
	"golang.org/x/sys/unix"

	"stepbox.dev/abi"
	"stepbox.dev/host/stage"
)

// opening is how a guest wants to open a path.
type opening struct {
	path                                   string
	read, write, append, create, excl, cut bool
	folder, follow                         bool
}

// OpenFile implements the same method as documented on sys.FS. New files get
// their permissions when they are committed, so perm counts nothing, but for
// one thing: wazero sets times without following a link through a file that it
// opens with O_WRONLY and no permissions at all, as no guest's open does.
func (f *CallFS) OpenFile(path string, flag sys.Oflag, perm fs.FileMode) (sys.File, sys.Errno) {
	if flag == sys.O_WRONLY && perm == 0 {
		return f.openTimes(path)
	}
	o := opening{
		path:  path,
		read:  flag&sys.O_WRONLY == 0,
		write: flag&(sys.O_WRONLY|sys.O_RDWR) != 0, append: flag&sys.O_APPEND != 0,
		create: flag&sys.O_CREAT != 0, excl: flag&sys.O_EXCL != 0, cut: flag&sys.O_TRUNC != 0,
		folder: flag&sys.O_DIRECTORY != 0, follow: flag&sys.O_NOFOLLOW == 0 || strings.HasSuffix(path, "/"),
	}
	if o.create && o.excl {
		o.follow = false
	}
	switch a, rest := f.route(path); a {
	case inSkill:
		return f.openSkill(rest, o)
	case inTmp:
		return f.openTmp(rest, o)
	}
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	return f.open(o)
}

func (f *CallFS) open(o opening) (sys.File, sys.Errno) {
	// wazero opens the root before anything else, and panics when that fails:
	// the first time it is exempt from modes and caps. In mode none it lists
	// nothing.
	if isRoot(o.path) && !o.write && !o.cut && !o.create {
		if err := f.v.refresh(); err != nil {
			return nil, f.failed(err)
		}
		if f.rooted {
			if errno := f.roomToOpen(o.path); errno != 0 {
				return nil, errno
			}
		}
		f.rooted = true
		return f.newDir(&place{node: f.v.tree.Root(), exists: true}), 0
	}
	if errno := f.look("open", o.path); errno != 0 {
		return nil, errno
	}
	p, errno := f.v.walk(o.path, o.follow)
	if errno != 0 {
		return nil, f.reserved(errno, "create", o.path, o.create)
	}
	if !p.exists {
		return f.openMissing(&p, o)
	}
	if o.create && o.excl {
		return nil, sys.EEXIST
	}
	switch p.kind() {
	case stage.Folder:
		if o.write || o.cut || o.create {
			return nil, sys.EISDIR
		}
		if errno := f.roomToOpen(p.path); errno != 0 {
			return nil, errno
		}
		return f.newDir(&p), 0
	case stage.Link:
		if o.folder {
			return nil, sys.ENOTDIR
		}
		return nil, sys.ELOOP
	case stage.File:
		if o.folder || p.slash {
			return nil, sys.ENOTDIR
		}
		return f.openFile(&p, o)
	}
	return nil, sys.EPERM // a FIFO, a socket, a device: never touched
}

// reserved turns the ENOENT of a name that cannot be made into a denial.
func (f *CallFS) reserved(errno sys.Errno, op, path string, makes bool) sys.Errno {
	first, _, _ := strings.Cut(strings.TrimLeft(path, "/"), "/")
	if makes && errno == sys.ENOENT && stage.ReservedTop(first) {
		return f.deny(Denial{Op: op, Path: path})
	}
	return errno
}

func (f *CallFS) openMissing(p *place, o opening) (sys.File, sys.Errno) {
	switch {
	case !o.create:
		return nil, sys.ENOENT
	case o.folder || p.slash:
		return nil, sys.EISDIR
	}
	if errno := f.need(abi.ModeCreate, "create", p.path); errno != 0 {
		return nil, errno
	}
	if errno := f.roomToOpen(p.path); errno != 0 {
		return nil, errno
	}
	var h *file
	gen := f.v.gen()
	errno := f.change(func() (errno sys.Errno) {
		q := *p
		if f.v.gen() != gen { // nobody else changes it now
			q, errno = f.v.walk(o.path, o.follow)
		}
		switch {
		case errno != 0:
			return errno
		case q.exists && o.excl:
			return sys.EEXIST
		case q.exists && q.kind() != stage.File:
			return sys.EISDIR
		case q.exists:
			if h, errno = f.openNow(&q, o); errno != 0 || !o.cut {
				return errno
			}
			return h.cut()
		}
		h, errno = f.createNow(&q)
		return errno
	})
	if errno != 0 {
		if h != nil {
			f.v.closeFile(h)
		}
		return nil, errno
	}
	h.read, h.write, h.append = o.read, o.write, o.append
	return h, 0
}

// createNow makes an empty file at a free place. The log is locked.
func (f *CallFS) createNow(p *place) (*file, sys.Errno) {
	if errno := f.roomToMake(p, "create", false); errno != 0 {
		return nil, errno
	}
	parent, errno := f.parentNode(p)
	if errno != 0 {
		return nil, errno
	}
	id := f.v.tree.Last() + 1
	fd, err := f.v.log.CreateBlob(id + 1)
	if err != nil {
		return nil, f.failed(err)
	}
	errno = f.apply(
		stage.Effect{Op: stage.OpNode, ID: id, Kind: stage.File},
		stage.Effect{Op: stage.OpContent, ID: id, Blob: id + 1},
		stage.Effect{Op: stage.OpEntry, Parent: parent.ID, Name: p.name, ID: id, Hides: p.hides},
	)
	if errno != 0 {
		unix.Close(fd)
		f.v.log.RemoveBlob(id + 1)
		return nil, errno
	}
	if errno := f.made(id, "create", p.path); errno != 0 {
		unix.Close(fd)
		return nil, errno
	}
	return f.newFile(&file{fs: f, path: p.path, fd: fd, id: id, blob: id + 1, ino: uint64(id)}), 0
}

// openFile opens a file that is there.
func (f *CallFS) openFile(p *place, o opening) (sys.File, sys.Errno) {
	if o.write || o.cut {
		if errno := f.need(f.toChange(p), "write", p.path); errno != 0 {
			return nil, errno
		}
	}
	if errno := f.roomToOpen(p.path); errno != 0 {
		return nil, errno
	}
	h, errno := f.openNow(p, o)
	if errno != 0 {
		return nil, errno
	}
	if o.cut {
		if errno := f.change(h.cut); errno != 0 {
			f.v.closeFile(h)
			return nil, errno
		}
	}
	return h, 0
}

// toChange is the mode that changing what lies at a place takes.
func (f *CallFS) toChange(p *place) abi.Mode {
	if p.ours() {
		return abi.ModeCreate
	}
	return abi.ModeWrite
}

// openNow opens a file without changing it.
func (f *CallFS) openNow(p *place, o opening) (*file, sys.Errno) {
	h := &file{fs: f, path: p.path, read: o.read, write: o.write, append: o.append}
	var err error
	switch {
	case p.node != nil && p.node.Blob != 0:
		h.fd, err = f.v.log.OpenBlob(p.node.Blob)
		h.id, h.blob, h.lower, h.ino = p.node.ID, p.node.Blob, p.node.Origin.Path, nodeIno(p.node)
	default:
		h.lower = p.lower
		if p.node != nil {
			h.lower = p.node.Origin.Path
		}
		var st unix.Stat_t
		if h.fd, err = f.v.openLower(h.lower, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
			unix.Close(h.fd)
			err = unix.EISDIR
		}
		h.ino = lowerIno(h.lower)
	}
	if err != nil {
		return nil, toErrno(err)
	}
	return f.newFile(h), 0
}
