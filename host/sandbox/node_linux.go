package sandbox

import (
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"

	"stepbox.dev/host/stage"
)

// parentNode returns the node of the folder that a place lies in, making nodes
// for the sandbox's folders on the way. The log is locked.
func (f *CallFS) parentNode(p *place) (*stage.Node, sys.Errno) {
	if p.parent != nil {
		return p.parent, 0
	}
	return f.folderNode(p.anchor, p.folder)
}

// nodeFor returns the node of the folder in which the sandbox has a path.
func (f *CallFS) nodeFor(lower string) (*stage.Node, sys.Errno) {
	folder, _ := stage.Split(lower)
	for dir := folder; ; dir, _ = stage.Split(dir) {
		if n := f.v.tree.ByOrigin(dir); n != nil {
			return f.folderNode(n, folder)
		}
	}
}

// folderNode makes nodes in place from a folder of the sandbox that has one
// down to one that has none. They change nothing of what the view shows.
func (f *CallFS) folderNode(n *stage.Node, folder string) (*stage.Node, sys.Errno) {
	if folder == n.Origin.Path {
		return n, 0
	}
	rest := folder
	if n.Origin.Path != "" {
		rest = strings.TrimPrefix(folder, n.Origin.Path+"/")
	}
	var effects []stage.Effect
	id, at := n.ID, n.Origin.Path
	next := f.v.tree.Last()
	for _, name := range strings.Split(rest, "/") {
		next++
		at = stage.Join(at, name)
		origin, errno := f.v.origin(at, stage.Folder)
		if errno != 0 {
			return nil, errno
		}
		effects = append(effects,
			stage.Effect{Op: stage.OpNode, ID: next, Kind: stage.Folder, HasOrigin: true, Origin: origin},
			stage.Effect{Op: stage.OpEntry, Parent: id, Name: name, ID: next, Hides: true})
		id = next
	}
	if errno := f.apply(effects...); errno != 0 {
		return nil, errno
	}
	return f.v.tree.Node(id), 0
}

// origin describes what the sandbox has at a path, which must be of the kind.
func (v *View) origin(lower string, kind stage.Kind) (stage.Origin, sys.Errno) {
	p := place{lower: lower}
	if err := v.statLower(lower, &p.st); err != nil {
		return stage.Origin{}, toErrno(err)
	}
	if p.kind() != kind {
		return stage.Origin{}, sys.EIO // swapped meanwhile
	}
	return stage.Origin{Path: lower, Dev: p.st.Dev, Ino: p.st.Ino}, 0
}

// define returns the effects that give what the sandbox has at a path a node
// in its place, and that node as it will be. The log is locked.
func (f *CallFS) define(parent *stage.Node, lower string, kind stage.Kind) (*stage.Node, []stage.Effect, sys.Errno) {
	origin, errno := f.v.origin(lower, kind)
	if errno != 0 {
		return nil, nil, errno
	}
	_, name := stage.Split(lower)
	n := &stage.Node{
		ID: f.v.tree.Last() + 1, Kind: kind, HasOrigin: true, Origin: origin, Atime: stage.Own, Mtime: stage.Own,
	}
	return n, []stage.Effect{
		{Op: stage.OpNode, ID: n.ID, Kind: kind, HasOrigin: true, Origin: origin},
		{Op: stage.OpEntry, Parent: parent.ID, Name: name, ID: n.ID, Hides: true},
	}, 0
}

// roomToMake checks the quotas for a new file, folder or link.
func (f *CallFS) roomToMake(p *place, op string, folder bool) sys.Errno {
	if q := f.v.quota.Files; f.v.tree.Made() >= q {
		return f.deny(Denial{Op: op, Path: p.path, Quota: fmt.Sprintf("a run may make at most %d files and folders", q)})
	}
	depth := strings.Count(p.path, "/")
	if folder {
		depth++
	}
	return f.roomForName(p, op, depth)
}

// roomForName checks the quotas of a new name, with so many folders there.
func (f *CallFS) roomForName(p *place, op string, depth int) sys.Errno {
	if q := f.v.quota.NameBytes; len(p.name) > q {
		return f.deny(Denial{Op: op, Path: p.path, Quota: fmt.Sprintf("a name may have at most %d bytes", q)})
	}
	if q := f.v.quota.Depth; depth > q {
		return f.deny(Denial{Op: op, Path: p.path, Quota: fmt.Sprintf("folders may be at most %d deep", q)})
	}
	return 0
}

// roomToOpen checks the quota of open files.
func (f *CallFS) roomToOpen(path string) sys.Errno {
	if q := f.v.quota.OpenFiles; len(f.v.files)+len(f.v.dirs)+f.v.skillOpen >= q {
		return f.deny(Denial{Op: "open", Path: path, Quota: fmt.Sprintf("at most %d files may be open at once", q)})
	}
	return 0
}

// roomToGrow checks the quotas before a file goes from one size to another.
func (f *CallFS) roomToGrow(h *file, from, to int64) sys.Errno {
	q := f.v.quota
	switch {
	case to <= from:
		return 0
	case to > q.FileBytes:
		return f.deny(Denial{Op: "write", Path: h.path, Quota: fmt.Sprintf("a file may have at most %d bytes", q.FileBytes)})
	case f.v.used.Load()+to-from > q.Bytes:
		return f.deny(Denial{Op: "write", Path: h.path, Quota: fmt.Sprintf("a run may write at most %d bytes", q.Bytes)})
	}
	return 0
}
