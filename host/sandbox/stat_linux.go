package sandbox

import (
	"io/fs"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
	wsys "github.com/tetratelabs/wazero/sys"
	"golang.org/x/sys/unix"

	"stepbox.dev/abi"
	"stepbox.dev/host/stage"
)

// device is the one device number that a guest sees.
const device = 1

// Inode numbers come from where an object lay in the sandbox when the run
// began, or from its node's number when the run made it: so they stay through
// copy-up and rename, and hard links look apart, as a write parts them.
const inoLower = 1 << 63

// lowerIno is the number of what lay at a path of the sandbox (64-bit FNV-1a).
func lowerIno(path string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(path); i++ {
		h = (h ^ uint64(path[i])) * 1099511628211
	}
	return h | inoLower
}

func nodeIno(n *stage.Node) uint64 {
	if n.HasOrigin {
		return lowerIno(n.Origin.Path)
	}
	return uint64(n.ID)
}

// Lstat implements the same method as documented on sys.FS
func (f *CallFS) Lstat(path string) (wsys.Stat_t, sys.Errno) {
	return f.stat(path, strings.HasSuffix(path, "/"))
}

// Stat implements the same method as documented on sys.FS
func (f *CallFS) Stat(path string) (wsys.Stat_t, sys.Errno) { return f.stat(path, true) }

func (f *CallFS) stat(path string, follow bool) (wsys.Stat_t, sys.Errno) {
	switch a, rest := f.route(path); a {
	case inSkill:
		return f.v.skill.stat(rest)
	case inTmp:
		return f.v.statTmp(rest)
	}
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	if f.mode == abi.ModeNone && isRoot(path) {
		return wsys.Stat_t{Dev: device, Ino: lowerIno(""), Mode: fs.ModeDir | 0o755, Nlink: 1}, 0
	}
	if errno := f.look("stat", path); errno != 0 {
		return wsys.Stat_t{}, errno
	}
	p, errno := f.v.walk(path, follow)
	if errno != 0 {
		return wsys.Stat_t{}, errno
	}
	if !p.exists {
		return wsys.Stat_t{}, sys.ENOENT
	}
	if p.slash && p.kind() != stage.Folder {
		return wsys.Stat_t{}, sys.ENOTDIR
	}
	return f.v.statPlace(&p)
}

func isRoot(path string) bool { return strings.Trim(path, "./") == "" && !strings.Contains(path, "..") }

func (v *View) statPlace(p *place) (wsys.Stat_t, sys.Errno) {
	if p.node == nil {
		return fromSystem(&p.st, lowerIno(p.lower)), 0
	}
	return v.statNode(p.node)
}

func (v *View) statNode(n *stage.Node) (wsys.Stat_t, sys.Errno) {
	var st unix.Stat_t
	var err error
	switch {
	case n.Blob != 0:
		err = v.log.StatBlob(n.Blob, &st)
	case n.HasOrigin && v.lower >= 0:
		err = v.statLower(n.Origin.Path, &st)
	}
	if err != nil {
		return wsys.Stat_t{}, toErrno(err)
	}
	return nodeStat(n, &st), 0
}

// nodeStat is what a guest sees of a node whose content, or origin, is st.
func nodeStat(n *stage.Node, st *unix.Stat_t) wsys.Stat_t {
	s := fromSystem(st, nodeIno(n))
	if n.Kind == stage.File && n.Blob != 0 {
		s.Mode = 0o644
	}
	if !n.HasOrigin {
		switch n.Kind {
		case stage.Folder:
			s.Mode = fs.ModeDir | 0o755
		case stage.Link:
			s.Mode, s.Size = fs.ModeSymlink|0o777, int64(len(n.Target))
		}
	}
	if n.Changed != 0 && n.Kind != stage.File {
		s.Mtim, s.Ctim = n.Changed, n.Changed
		if s.Atim == 0 {
			s.Atim = n.Changed
		}
	}
	if n.Mtime != stage.Own {
		s.Mtim = n.Mtime
	}
	if n.Atime != stage.Own {
		s.Atim = n.Atime
	}
	return s
}

// fromSystem turns a system's description into a guest's. Every file shows one
// link.
func fromSystem(st *unix.Stat_t, ino uint64) wsys.Stat_t {
	return wsys.Stat_t{
		Dev: device, Ino: ino, Nlink: 1, Size: st.Size,
		Mode: fs.FileMode(st.Mode&0o777) | fileType(st.Mode),
		Atim: st.Atim.Nano(), Mtim: st.Mtim.Nano(), Ctim: st.Ctim.Nano(),
	}
}

func fileType(mode uint32) fs.FileMode {
	switch mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return fs.ModeDir
	case unix.S_IFLNK:
		return fs.ModeSymlink
	case unix.S_IFIFO:
		return fs.ModeNamedPipe
	case unix.S_IFSOCK:
		return fs.ModeSocket
	case unix.S_IFCHR:
		return fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFBLK:
		return fs.ModeDevice
	}
	return 0
}

// Readlink implements the same method as documented on sys.FS. Where a link
// leads out of the view its target is the person's business.
func (f *CallFS) Readlink(path string) (string, sys.Errno) {
	if a, _ := f.route(path); a != merged {
		return "", sys.EINVAL // no links there
	}
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	if errno := f.look("readlink", path); errno != 0 {
		return "", errno
	}
	p, errno := f.v.walk(path, strings.HasSuffix(path, "/"))
	switch {
	case errno != 0:
		return "", errno
	case !p.exists:
		return "", sys.ENOENT
	case p.kind() != stage.Link:
		return "", sys.EINVAL
	}
	if _, errno := f.v.walk(path, true); errno == sys.EPERM {
		return "", errno
	}
	if p.node != nil {
		return f.v.target(p.node)
	}
	target, err := readLink(f.v.lower, p.lower)
	return target, toErrno(err)
}
