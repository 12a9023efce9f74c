package sandbox

import (
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"

	"stepbox.dev/abi"
	"stepbox.dev/host/stage"
)

// Utimens implements the same method as documented on sys.FS
func (f *CallFS) Utimens(path string, atim, mtim int64) sys.Errno {
	switch a, rest := f.route(path); a {
	case inSkill:
		return f.skillIsFixed("utimens", path)
	case inTmp:
		_, errno := f.v.statTmp(rest)
		return errno
	}
	return f.utimens(path, true, atim, mtim)
}

func (f *CallFS) utimens(path string, follow bool, atim, mtim int64) sys.Errno {
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	if errno := f.look("utimens", path); errno != 0 {
		return errno
	}
	p, errno := f.v.walk(path, follow || strings.HasSuffix(path, "/"))
	switch {
	case errno != 0:
		return errno
	case !p.exists:
		return sys.ENOENT
	case p.slash && p.kind() != stage.Folder:
		return sys.ENOTDIR
	case p.kind() == 0:
		return sys.EPERM // a FIFO, a socket, a device
	}
	if p.node != nil {
		return f.utimensOpen(p.node.ID, "", p.path, atim, mtim)
	}
	return f.utimensOpen(0, p.lower, p.path, atim, mtim)
}

// timesFile is what wazero opens to set the times of a file, a folder or a link
// itself.
type timesFile struct {
	sys.UnimplementedFile
	fs   *CallFS
	path string
}

func (f *CallFS) openTimes(path string) (sys.File, sys.Errno) {
	if a, _ := f.route(path); a != merged {
		return &timesFile{fs: f, path: path}, 0
	}
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	if errno := f.look("utimens", path); errno != 0 {
		return nil, errno
	}
	p, errno := f.v.walk(path, strings.HasSuffix(path, "/"))
	if errno == 0 && !p.exists {
		errno = sys.ENOENT
	}
	if errno != 0 {
		return nil, errno
	}
	return &timesFile{fs: f, path: path}, 0
}

// Utimens implements the same method as documented on sys.File
func (h *timesFile) Utimens(atim, mtim int64) sys.Errno {
	if a, _ := h.fs.route(h.path); a != merged {
		return h.fs.Utimens(h.path, atim, mtim)
	}
	return h.fs.utimens(h.path, false, atim, mtim)
}

// utimensOpen records times of a node, or of what the sandbox has at lower.
func (f *CallFS) utimensOpen(id stage.ID, lower, path string, atim, mtim int64) sys.Errno {
	if atim == sys.UTIME_OMIT && mtim == sys.UTIME_OMIT {
		return 0
	}
	node := func() (*stage.Node, bool) {
		if id != 0 {
			n := f.v.tree.Node(id)
			return n, n == nil || n.Dead
		}
		return f.v.lowerNode(lower)
	}
	n, gone := node()
	if gone {
		return 0 // nothing shows the times of what is gone
	}
	need := abi.ModeWrite
	if n != nil && !n.HasOrigin {
		need = abi.ModeCreate
	}
	if errno := f.need(need, "utimens", path); errno != 0 {
		return errno
	}
	return f.change(func() sys.Errno {
		n, gone := node()
		if gone {
			return 0
		}
		var effects []stage.Effect
		if n == nil {
			p := place{lower: lower}
			if err := f.v.statLower(lower, &p.st); err != nil {
				return toErrno(err)
			}
			parent, errno := f.nodeFor(lower)
			if errno != 0 {
				return errno
			}
			if n, effects, errno = f.define(parent, lower, p.kind()); errno != 0 {
				return errno
			}
		}
		times := stage.Effect{Op: stage.OpTimes, ID: n.ID, Atime: n.Atime, Mtime: n.Mtime}
		if atim != sys.UTIME_OMIT {
			times.Atime = atim
		}
		if mtim != sys.UTIME_OMIT {
			times.Mtime = mtim
		}
		if errno := f.take(n.ID, "utimens", path); errno != 0 {
			return errno
		}
		return f.apply(append(effects, times)...)
	})
}
