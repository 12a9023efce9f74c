package sandbox

import (
	"strings"
	"unicode/utf8"

	"github.com/tetratelabs/wazero/experimental/sys"
	"golang.org/x/sys/unix"

	"stepbox.dev/host/stage"
)

// maxLinks is how many links one path may lead through.
const maxLinks = 40

// place is where a path leads in the view: to something, or to a free name in
// an existing folder.
type place struct {
	path   string      // without links on the way
	anchor *stage.Node // the deepest folder on the way that has a node
	parent *stage.Node // the folder it lies in; nil: that has no node, only the sandbox has it
	folder string      // path in the sandbox of the folder it lies in, when parent is nil
	name   string      // "" for the root
	node   *stage.Node // what lies there; nil: nothing, or something that only the sandbox has
	lower  string      // its path in the sandbox, when node is nil
	st     unix.Stat_t // what the sandbox has there, when node is nil
	exists bool
	hides  bool // the sandbox has something of its own under this name
	slash  bool // the path asked for a folder
}

// kind is what lies at the place.
func (p *place) kind() stage.Kind {
	switch {
	case p.node != nil:
		return p.node.Kind
	case p.st.Mode&unix.S_IFMT == unix.S_IFDIR:
		return stage.Folder
	case p.st.Mode&unix.S_IFMT == unix.S_IFLNK:
		return stage.Link
	case p.st.Mode&unix.S_IFMT == unix.S_IFREG:
		return stage.File
	}
	return 0 // a FIFO, a socket, a device
}

// ours reports whether the run made what lies there.
func (p *place) ours() bool { return p.node != nil && !p.node.HasOrigin }

// walker resolves one path.
type walker struct {
	*View
	elems  []string
	clean  string // the elements joined, when the guest's path was just that
	slash  bool
	follow bool // also a link at the end
	links  int
}

// walk finds a place. It follows links on the way, and one at the end when
// follow is set.
func (v *View) walk(path string, follow bool) (place, sys.Errno) {
	elems, slash, errno := splitPath(path)
	if errno != 0 {
		return place{}, errno
	}
	w := walker{View: v, elems: elems, slash: slash, follow: follow}
	if length := len(elems) - 1; length >= 0 { // spare the joining
		for _, e := range elems {
			length += len(e)
		}
		if at := strings.IndexByte(path, elems[0][0]); length == len(path)-at && !slash {
			w.clean = path[at:]
		}
	}
	for {
		p, again, errno := w.pass()
		if errno != 0 {
			return place{}, errno
		}
		if !again {
			p.slash = w.slash
			return p, 0
		}
	}
}

// splitPath returns the elements of a guest's path. wazero hands "/x" for what
// was opened at ".", so leading slashes count nothing.
func splitPath(path string) (elems []string, slash bool, errno sys.Errno) {
	if strings.IndexByte(path, 0) >= 0 || !utf8.ValidString(path) {
		return nil, false, sys.EINVAL
	}
	if len(path) > 1<<16 {
		return nil, false, sys.ENAMETOOLONG
	}
	elems = make([]string, 0, strings.Count(path, "/")+1)
	for rest := path; rest != ""; {
		var e string
		e, rest, _ = strings.Cut(rest, "/")
		if e != "" && e != "." {
			if len(e) > stage.MaxName {
				return nil, false, sys.ENAMETOOLONG
			}
			elems = append(elems, e)
		}
	}
	return elems, strings.HasSuffix(path, "/"), 0
}

// pass goes from the root towards the end, until it is there or the elements
// changed: at a link, or at "..", which only a link brings. Every element before
// the current one was seen to be a folder and no link.
func (w *walker) pass() (p place, again bool, errno sys.Errno) {
	n := w.tree.Root()
	for i, name := range w.elems {
		last := i == len(w.elems)-1
		if name == ".." {
			return p, true, w.up(i)
		}
		if n.ID == stage.Root && stage.ReservedTop(name) {
			return p, false, sys.ENOENT
		}
		e := n.Entries[name]
		if e == nil && n.HasOrigin && w.lower >= 0 {
			return w.below(n, i)
		}
		if e == nil || e.Node == nil {
			if !last {
				return p, false, sys.ENOENT
			}
			return place{path: w.path(len(w.elems)), anchor: n, parent: n, name: name, hides: e != nil}, false, 0
		}
		c := e.Node
		if c.Kind == stage.Link && (!last || w.follow) {
			target, errno := w.target(c)
			if errno != 0 {
				return p, false, errno
			}
			return p, true, w.splice(i, target)
		}
		if last {
			return place{
				path: w.path(len(w.elems)), anchor: n, parent: n, name: name, node: c, exists: true, hides: e.Hides,
			}, false, 0
		}
		if c.Kind != stage.Folder {
			return p, false, sys.ENOTDIR
		}
		n = c
	}
	return place{anchor: n, node: n, exists: true}, false, 0
}

// below resolves the elements from i on, below a folder for which only the
// sandbox has an answer: in one call as far as no link lies on the way.
func (w *walker) below(n *stage.Node, i int) (p place, again bool, errno sys.Errno) {
	end := i
	for end < len(w.elems) && w.elems[end] != ".." {
		end++
	}
	last := end == len(w.elems)
	p = place{path: w.path(end), anchor: n, name: w.elems[end-1]}
	lower := p.path
	if i > 0 || n.Origin.Path != "" {
		lower = stage.Join(n.Origin.Path, strings.Join(w.elems[i:end], "/"))
	}
	p.lower = lower
	if end-1 == i {
		p.parent = n
	} else {
		p.folder, _ = stage.Split(lower)
	}
	err := w.statLower(lower, &p.st)
	switch {
	case err == unix.ELOOP:
		return p, true, w.firstLink(n, i, end)
	case err == unix.ENOENT && last && p.parent == nil:
		// A free name only when its folder is there.
		var st unix.Stat_t
		if err := w.statLower(p.folder, &st); err != nil {
			return p, false, toErrno(err)
		}
		if st.Mode&unix.S_IFMT != unix.S_IFDIR {
			return p, false, sys.ENOTDIR
		}
		return p, false, 0
	case err == unix.ENOENT && last:
		return p, false, 0
	case err != nil:
		return p, false, toErrno(err)
	}
	switch p.st.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		if !last || w.follow {
			return p, true, w.followLower(end-1, lower)
		}
	case unix.S_IFDIR:
		if !last {
			return p, true, w.up(end)
		}
	default:
		if !last {
			return p, false, sys.ENOTDIR
		}
	}
	p.exists, p.hides = true, true
	return p, false, 0
}

// firstLink finds the link that stopped below, and splices its target in.
func (w *walker) firstLink(n *stage.Node, i, end int) sys.Errno {
	lower := n.Origin.Path
	for k := i; k < end; k++ {
		lower = stage.Join(lower, w.elems[k])
		var st unix.Stat_t
		if err := w.statLower(lower, &st); err != nil {
			return toErrno(err)
		}
		if st.Mode&unix.S_IFMT == unix.S_IFLNK {
			return w.followLower(k, lower)
		}
	}
	// Swapped meanwhile: look again, but not for ever.
	if w.links++; w.links > maxLinks {
		return sys.ELOOP
	}
	return 0
}

func (w *walker) followLower(i int, lower string) sys.Errno {
	target, err := readLink(w.lower, lower)
	if err != nil {
		return toErrno(err)
	}
	return w.splice(i, target)
}

// target is what a link node says.
func (v *View) target(n *stage.Node) (string, sys.Errno) {
	if !n.HasOrigin {
		return n.Target, 0
	}
	target, err := readLink(v.lower, n.Origin.Path)
	return target, toErrno(err)
}

// splice puts a link's target in its place. A target that starts at the root of
// the machine leads out.
func (w *walker) splice(i int, target string) sys.Errno {
	if w.links++; w.links > maxLinks {
		return sys.ELOOP
	}
	if strings.HasPrefix(target, "/") {
		return sys.EPERM
	}
	elems, slash, errno := splitPath(target)
	if errno != 0 {
		return errno
	}
	if i == len(w.elems)-1 && slash {
		w.slash = true
	}
	w.clean = ""
	w.elems = append(append(append([]string{}, w.elems[:i]...), elems...), w.elems[i+1:]...)
	return 0
}

// up removes the ".." at i and the folder before it. At the root it leads out.
func (w *walker) up(i int) sys.Errno {
	if i == 0 {
		return sys.EPERM
	}
	w.clean = ""
	w.elems = append(append([]string{}, w.elems[:i-1]...), w.elems[i+1:]...)
	return 0
}

func (w *walker) path(n int) string {
	if n == len(w.elems) && w.clean != "" {
		return w.clean
	}
	return strings.Join(w.elems[:n], "/")
}

// leadsOut reports whether a link that lies in a folder of the view would lead
// out of it, now or after a folder on the way became a link: only a run of ".."
// at the start can be judged for good.
func leadsOut(folder, target string) bool {
	if strings.HasPrefix(target, "/") {
		return true
	}
	depth := 0
	if folder != "" {
		depth = strings.Count(folder, "/") + 1
	}
	leading := true
	for _, e := range strings.Split(target, "/") {
		switch {
		case e == ".." && leading:
			if depth--; depth < 0 {
				return true
			}
		case e == "..":
			return true
		case e != "" && e != ".":
			leading = false
		}
	}
	return false
}
