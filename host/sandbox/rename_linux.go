package sandbox

import (
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"

	"stepbox.dev/abi"
	"stepbox.dev/host/stage"
)

// Rename implements the same method as documented on sys.FS. It moves a node,
// so a folder of any size costs the same and no content is copied.
func (f *CallFS) Rename(from, to string) sys.Errno {
	fromArea, fromRest := f.route(from)
	toArea, toRest := f.route(to)
	switch {
	case fromArea == inSkill || toArea == inSkill:
		return f.skillIsFixed("rename", from)
	case fromArea == inTmp && toArea == inTmp:
		return f.renameTmp(fromRest, toRest)
	case fromArea == inTmp:
		return f.keepTmp(fromRest, to)
	case toArea == inTmp:
		return sys.ENOTSUP // wazero has no EXDEV
	}
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	if errno := f.look("rename", from); errno != 0 {
		return errno
	}
	r, errno := f.plan(from, to)
	if errno != 0 || r.same() {
		return errno
	}
	need := f.toChange(&r.from)
	if r.to.exists {
		need = max(need, f.toChange(&r.to))
	}
	if errno := f.need(need, "rename", r.from.path); errno != 0 {
		return errno
	}
	gen := f.v.gen()
	return f.change(func() sys.Errno {
		if f.v.gen() != gen {
			if r, errno = f.plan(from, to); errno != 0 || r.same() {
				return errno
			}
		}
		return f.move(r)
	})
}

// renaming is a rename whose rules hold.
type renaming struct{ from, to place }

// same reports whether both paths lead to one thing.
func (r *renaming) same() bool { return r.to.exists && r.from.path == r.to.path }

func (f *CallFS) plan(from, to string) (r renaming, errno sys.Errno) {
	if r.from, errno = f.v.walk(from, false); errno != 0 {
		return r, errno
	}
	if r.to, errno = f.v.walk(to, false); errno != 0 {
		return r, f.reserved(errno, "rename", to, true)
	}
	kind := r.from.kind()
	switch {
	case !r.from.exists:
		return r, sys.ENOENT
	case r.from.name == "" || r.to.name == "":
		return r, sys.EINVAL
	case (r.from.slash || r.to.slash) && kind != stage.Folder:
		return r, sys.ENOTDIR
	case kind == 0:
		return r, sys.EPERM // a FIFO, a socket, a device
	case kind == stage.Folder && strings.HasPrefix(r.to.path, r.from.path+"/"):
		return r, sys.EINVAL
	case !r.to.exists || r.same():
		return r, 0
	case strings.HasPrefix(r.from.path, r.to.path+"/"):
		return r, sys.ENOTEMPTY
	case kind == stage.Folder && r.to.kind() != stage.Folder:
		return r, sys.ENOTDIR
	case kind != stage.Folder && r.to.kind() == stage.Folder:
		return r, sys.EISDIR
	case kind == stage.Folder:
		return r, f.v.isEmpty(&r.to)
	}
	return r, 0
}

// move does a planned rename. The log is locked.
func (f *CallFS) move(r renaming) sys.Errno {
	if errno := f.roomToMove(&r); errno != 0 {
		return errno
	}
	if errno := f.takePlace(&r.from, "rename"); errno != 0 {
		return errno
	}
	if r.to.exists {
		if errno := f.takePlace(&r.to, "rename"); errno != 0 {
			return errno
		}
	}
	gen := f.v.gen()
	source, errno := f.parentNode(&r.from)
	if errno != 0 {
		return errno
	}
	// Making nodes for one way may have given the other one a node.
	if f.v.gen() != gen {
		if r.to, errno = f.v.walk(r.to.path, false); errno != 0 {
			return errno
		}
	}
	target, errno := f.parentNode(&r.to)
	if errno != 0 {
		return errno
	}
	id := f.v.tree.Last() + 1
	var effects []stage.Effect
	if r.from.node != nil {
		id = r.from.node.ID
	} else {
		effects = append(effects, stage.Effect{
			Op: stage.OpNode, ID: id, Kind: r.from.kind(), HasOrigin: true,
			Origin: stage.Origin{Path: r.from.lower, Dev: r.from.st.Dev, Ino: r.from.st.Ino},
		})
	}
	effects = append(effects,
		stage.Effect{Op: stage.OpEntry, Parent: source.ID, Name: r.from.name, Hides: r.from.hides},
		stage.Effect{Op: stage.OpEntry, Parent: target.ID, Name: r.to.name, ID: id, Hides: r.to.hides})
	return f.applyAndDrop(r.to.node, effects...)
}

// roomToMove checks the quotas for the new place, and for what a folder takes
// along when it goes deeper.
func (f *CallFS) roomToMove(r *renaming) sys.Errno {
	depth := strings.Count(r.to.path, "/")
	if depth <= strings.Count(r.from.path, "/") {
		depth = 0
	} else if r.from.kind() == stage.Folder {
		depth += 1 + height(r.from.node)
	}
	return f.roomForName(&r.to, "rename", depth)
}

// height is how many folders deep the known part of a node goes.
func height(n *stage.Node) int {
	deepest := 0
	if n == nil {
		return deepest
	}
	for _, e := range n.Entries {
		if e.Node != nil && e.Node.Kind == stage.Folder {
			deepest = max(deepest, 1+height(e.Node))
		}
	}
	return deepest
}

// keepTmp moves a file of /@tmp into the view by copying it: the two are apart.
func (f *CallFS) keepTmp(from, to string) sys.Errno {
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	h, errno := f.openTmpFile(from)
	if errno != 0 {
		return errno
	}
	defer f.v.closeFile(h)
	if errno := f.look("rename", to); errno != 0 {
		return errno
	}
	p, errno := f.v.walk(to, false)
	switch {
	case errno != 0:
		return f.reserved(errno, "rename", to, true)
	case p.exists && p.kind() == stage.Folder:
		return sys.EISDIR
	case p.slash:
		return sys.ENOTDIR
	case p.exists && p.kind() != stage.File:
		return sys.EPERM // a link, or what no guest may touch
	}
	need := abi.ModeCreate
	if p.exists {
		need = f.toChange(&p)
	}
	if errno := f.need(need, "rename", p.path); errno != 0 {
		return errno
	}
	if p.exists {
		errno = f.overwrite(&p, h)
	} else {
		errno = f.copyTo(to, h)
	}
	if errno != 0 {
		return errno
	}
	return f.v.unlinkTmp(from)
}

// overwrite gives what lies at a place the content of an open file.
func (f *CallFS) overwrite(p *place, from *file) sys.Errno {
	to, errno := f.openNow(p, opening{write: true})
	if errno != 0 {
		return errno
	}
	defer f.v.closeFile(to)
	size, errno := from.size()
	if errno != 0 {
		return errno
	}
	if errno := f.change(to.cut); errno != 0 {
		return errno
	}
	if errno := to.setSize(size); errno != 0 {
		return errno
	}
	if err := copyContent(to.fd, from.fd, size); err != nil {
		return f.failed(err)
	}
	return 0
}
