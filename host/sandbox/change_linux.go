package sandbox

import (
	"io/fs"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"

	"stepbox.dev/abi"
	"stepbox.dev/host/stage"
)

// Mkdir implements the same method as documented on sys.FS
func (f *CallFS) Mkdir(path string, _ fs.FileMode) sys.Errno {
	switch a, rest := f.route(path); a {
	case inSkill:
		return f.skillIsFixed("mkdir", path)
	case inTmp:
		return f.mkdirTmp(rest)
	}
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	if _, errno := f.free("mkdir", path, path); errno != 0 {
		return errno
	}
	return f.make("mkdir", strings.TrimRight(path, "/"), stage.Effect{Op: stage.OpNode, Kind: stage.Folder})
}

// free looks whether something can be made at a path, without making it.
func (f *CallFS) free(op, path, shown string) (place, sys.Errno) {
	if errno := f.look(op, path); errno != 0 {
		return place{}, errno
	}
	p, errno := f.v.walk(strings.TrimRight(path, "/"), false)
	if errno != 0 {
		return p, f.reserved(errno, op, path, true)
	}
	if p.exists {
		return p, sys.EEXIST
	}
	return p, f.need(abi.ModeCreate, op, shown)
}

// make gives a new node a place.
func (f *CallFS) make(op, path string, node stage.Effect) sys.Errno {
	return f.change(func() sys.Errno {
		p, errno := f.v.walk(path, false)
		if errno != 0 {
			return errno
		}
		if p.exists {
			return sys.EEXIST
		}
		if errno := f.roomToMake(&p, op, node.Kind == stage.Folder); errno != 0 {
			return errno
		}
		parent, errno := f.parentNode(&p)
		if errno != 0 {
			return errno
		}
		node.ID = f.v.tree.Last() + 1
		errno = f.apply(node, stage.Effect{Op: stage.OpEntry, Parent: parent.ID, Name: p.name, ID: node.ID, Hides: p.hides})
		if errno != 0 {
			return errno
		}
		return f.made(node.ID, op, p.path)
	})
}

// Symlink implements the same method as documented on sys.FS. A link that leads
// out of the view, or would once a folder in its target became a link, is
// refused.
func (f *CallFS) Symlink(target, path string) sys.Errno {
	target = strings.Clone(target) // wazero passes guest memory
	switch a, _ := f.route(path); a {
	case inSkill:
		return f.skillIsFixed("symlink", path)
	case inTmp:
		return sys.EPERM // scratch has no links
	}
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	p, errno := f.free("symlink", path, path)
	switch {
	case errno != 0:
		return errno
	case strings.HasSuffix(path, "/"):
		return sys.ENOENT
	case len(target) > stage.MaxTarget:
		return sys.ENAMETOOLONG
	}
	return f.symlink(&p, path, target)
}

func (f *CallFS) symlink(p *place, path, target string) sys.Errno {
	if _, _, errno := splitPath(target); errno != 0 || target == "" {
		return sys.EINVAL
	}
	folder, _ := stage.Split(p.path)
	if leadsOut(folder, target) {
		return f.deny(Denial{Op: "symlink", Path: p.path})
	}
	return f.make("symlink", path, stage.Effect{Op: stage.OpNode, Kind: stage.Link, Target: target})
}

// Link implements the same method as documented on sys.FS. The two names part
// at once: the new one is a copy, sharing its blocks where the file system can.
// A later write through one name never shows through the other, as the commit
// makes no hard links.
func (f *CallFS) Link(oldPath, newPath string) sys.Errno {
	if a, _ := f.route(oldPath); a != merged {
		return sys.EPERM
	}
	switch a, _ := f.route(newPath); a {
	case inSkill:
		return f.skillIsFixed("link", newPath)
	case inTmp:
		return sys.EPERM
	}
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	to, errno := f.free("link", newPath, newPath)
	if errno != 0 {
		return errno
	}
	if strings.HasSuffix(newPath, "/") {
		return sys.ENOENT
	}
	p, errno := f.v.walk(oldPath, strings.HasSuffix(oldPath, "/"))
	switch {
	case errno != 0:
		return errno
	case !p.exists:
		return sys.ENOENT
	case p.slash && p.kind() != stage.Folder:
		return sys.ENOTDIR
	case p.kind() == stage.Link:
		return f.linkLink(&p, &to, newPath)
	case p.kind() != stage.File:
		return sys.EPERM
	}
	if errno := f.roomToOpen(p.path); errno != 0 {
		return errno
	}
	from, errno := f.openNow(&p, opening{read: true})
	if errno != 0 {
		return errno
	}
	defer f.v.closeFile(from)
	return f.copyTo(newPath, from)
}

// linkLink makes a second link like the one at a place.
func (f *CallFS) linkLink(p, to *place, newPath string) sys.Errno {
	if p.node != nil {
		target, errno := f.v.target(p.node)
		if errno != 0 {
			return errno
		}
		return f.symlink(to, newPath, target)
	}
	target, err := readLink(f.v.lower, p.lower)
	if err != nil {
		return toErrno(err)
	}
	return f.symlink(to, newPath, target)
}

// copyTo makes a new file with the content of an open one.
func (f *CallFS) copyTo(path string, from *file) sys.Errno {
	return f.change(func() sys.Errno {
		q, errno := f.v.walk(path, false)
		if errno != 0 {
			return errno
		}
		if q.exists {
			return sys.EEXIST
		}
		size, errno := from.size()
		if errno != 0 {
			return errno
		}
		to, errno := f.createNow(&q)
		if errno != 0 {
			return errno
		}
		defer f.v.closeFile(to)
		if errno := f.roomToGrow(to, 0, size); errno != 0 {
			return f.undoCreate(&q, to, errno)
		}
		if err := copyContent(to.fd, from.fd, size); err != nil {
			return f.undoCreate(&q, to, f.failed(err))
		}
		f.v.used.Add(size)
		return 0
	})
}

// undoCreate takes back a file whose content could not be written.
func (f *CallFS) undoCreate(p *place, h *file, cause sys.Errno) sys.Errno {
	parent := f.v.tree.Node(h.id).Parent
	if errno := f.apply(
		stage.Effect{Op: stage.OpEntry, Parent: parent.ID, Name: p.name, Hides: p.hides},
		stage.Effect{Op: stage.OpDies, ID: h.id},
	); errno == 0 {
		f.v.log.RemoveBlob(h.blob)
	}
	return cause
}

// Unlink implements the same method as documented on sys.FS
func (f *CallFS) Unlink(path string) sys.Errno {
	switch a, rest := f.route(path); a {
	case inSkill:
		return f.skillIsFixed("unlink", path)
	case inTmp:
		return f.removeTmp(rest, false)
	}
	return f.remove("unlink", path, func(p *place) sys.Errno {
		if p.kind() == stage.Folder {
			return sys.EISDIR
		}
		if p.slash {
			return sys.ENOTDIR
		}
		return 0
	})
}

// Rmdir implements the same method as documented on sys.FS
func (f *CallFS) Rmdir(path string) sys.Errno {
	switch a, rest := f.route(path); a {
	case inSkill:
		return f.skillIsFixed("rmdir", path)
	case inTmp:
		return f.removeTmp(rest, true)
	}
	return f.remove("rmdir", path, func(p *place) sys.Errno {
		if p.kind() != stage.Folder {
			return sys.ENOTDIR
		}
		if p.name == "" {
			return sys.EINVAL
		}
		return f.v.isEmpty(p)
	})
}

// remove takes away what lies at a path when may allows it.
func (f *CallFS) remove(op, path string, may func(*place) sys.Errno) sys.Errno {
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	if errno := f.look(op, path); errno != 0 {
		return errno
	}
	find := func() (place, sys.Errno) {
		p, errno := f.v.walk(path, false)
		if errno == 0 && !p.exists {
			errno = sys.ENOENT
		}
		if errno == 0 {
			errno = may(&p)
		}
		return p, errno
	}
	p, errno := find()
	if errno != 0 {
		return errno
	}
	if errno := f.need(f.toChange(&p), op, p.path); errno != 0 {
		return errno
	}
	gen := f.v.gen()
	return f.change(func() sys.Errno {
		if f.v.gen() != gen {
			if p, errno = find(); errno != 0 {
				return errno
			}
		}
		if errno := f.takePlace(&p, op); errno != 0 {
			return errno
		}
		parent, errno := f.parentNode(&p)
		if errno != 0 {
			return errno
		}
		return f.applyAndDrop(p.node, stage.Effect{Op: stage.OpEntry, Parent: parent.ID, Name: p.name, Hides: p.hides})
	})
}

// applyAndDrop logs effects that take a node's place away, and its death; dead
// may be nil. Its blob goes after the record, and only when no sealed call
// needs it.
func (f *CallFS) applyAndDrop(dead *stage.Node, effects ...stage.Effect) sys.Errno {
	if dead == nil {
		return f.apply(effects...)
	}
	blob, call := dead.Blob, dead.BlobCall
	if errno := f.apply(append(effects, stage.Effect{Op: stage.OpDies, ID: dead.ID})...); errno != 0 {
		return errno
	}
	if blob != 0 && call == f.call {
		f.dropBlob(blob)
	}
	return 0
}
