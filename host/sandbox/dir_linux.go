package sandbox

import (
	"encoding/binary"
	"io"
	"io/fs"
	"sort"

	"github.com/tetratelabs/wazero/experimental/sys"
	wsys "github.com/tetratelabs/wazero/sys"
	"golang.org/x/sys/unix"

	"stepbox.dev/abi"
	"stepbox.dev/host/stage"
)

// dir is an open folder. Its listing is a snapshot, taken at the first Readdir
// after it was opened or rewound: entries that come and go meanwhile shift
// nothing.
type dir struct {
	sys.DirFile
	fs     *CallFS
	id     stage.ID // 0: what the sandbox has at lower, or a later node of that
	lower  string
	ino    uint64
	root   bool
	tmp    bool // a folder of /@tmp, where lower is
	names  []sys.Dirent
	taken  bool
	closed bool
}

func (f *CallFS) newDir(p *place) *dir {
	d := &dir{fs: f, lower: p.lower, root: p.name == ""}
	if p.node != nil {
		d.id, d.ino = p.node.ID, nodeIno(p.node)
	} else {
		d.ino = lowerIno(p.lower)
	}
	f.v.dirs[d] = struct{}{}
	return d
}

// begin locks the view.
func (d *dir) begin() sys.Errno {
	d.fs.v.mu.Lock()
	if d.closed {
		return sys.EBADF
	}
	if d.tmp {
		return 0
	}
	if err := d.fs.v.refresh(); err != nil {
		return d.fs.failed(err)
	}
	return 0
}

func (d *dir) end() { d.fs.v.mu.Unlock() }

// node returns the folder's node, nil when it has none, and whether it is gone.
func (d *dir) node() (*stage.Node, bool) {
	if d.id != 0 {
		n := d.fs.v.tree.Node(d.id)
		return n, n == nil || n.Dead
	}
	return d.fs.v.lowerNode(d.lower)
}

// Dev implements the same method as documented on sys.File
func (d *dir) Dev() (uint64, sys.Errno) {
	if d.tmp {
		return tmpDevice, 0
	}
	return device, 0
}

// Ino implements the same method as documented on sys.File
func (d *dir) Ino() (wsys.Inode, sys.Errno) { return d.ino, 0 }

// Stat implements the same method as documented on sys.File
func (d *dir) Stat() (wsys.Stat_t, sys.Errno) {
	defer d.end()
	if errno := d.begin(); errno != 0 {
		return wsys.Stat_t{}, errno
	}
	if d.tmp {
		return d.fs.v.statTmp(d.lower)
	}
	n, gone := d.node()
	if n != nil && !gone {
		return d.fs.v.statNode(n)
	}
	var st unix.Stat_t
	if n == nil && !gone {
		if err := d.fs.v.statLower(d.lower, &st); err != nil {
			return wsys.Stat_t{}, toErrno(err)
		}
	}
	s := fromSystem(&st, d.ino)
	s.Mode |= fs.ModeDir
	return s, 0
}

// Seek implements the same method as documented on sys.File
func (d *dir) Seek(offset position, whence int) (int64, sys.Errno) {
	defer d.end()
	if errno := d.begin(); errno != 0 {
		return 0, errno
	}
	if offset != 0 || whence != io.SeekStart {
		return 0, sys.EINVAL
	}
	d.names, d.taken = nil, false
	return 0, 0
}

// Readdir implements the same method as documented on sys.File. Fewer than n
// entries mean the end.
func (d *dir) Readdir(n int) ([]sys.Dirent, sys.Errno) {
	defer d.end()
	if errno := d.begin(); errno != 0 {
		return nil, errno
	}
	if !d.taken {
		names, errno := d.list()
		if errno != 0 {
			return nil, errno
		}
		d.names, d.taken = names, true
	}
	if n <= 0 || n > len(d.names) {
		n = len(d.names)
	}
	names := d.names[:n:n]
	d.names = d.names[n:]
	return names, 0
}

func (d *dir) list() (names []sys.Dirent, errno sys.Errno) {
	if d.root && d.fs.mode == abi.ModeNone {
		return nil, 0
	}
	if d.tmp {
		names, errno = d.fs.v.listTmp(d.lower)
	} else if n, gone := d.node(); !gone {
		names, errno = d.fs.v.list(n, d.lower)
	}
	sort.Slice(names, func(i, j int) bool { return names[i].Name < names[j].Name })
	return names, errno
}

// list returns what a folder holds: n's entries and, where it has an origin,
// the sandbox's, or only the sandbox's at lower when n is nil.
func (v *View) list(n *stage.Node, lower string) (names []sys.Dirent, errno sys.Errno) {
	if n != nil {
		lower = n.Origin.Path
		for name, e := range n.Entries {
			if e.Node != nil {
				names = append(names, sys.Dirent{Name: name, Ino: nodeIno(e.Node), Type: nodeType(e.Node)})
			}
		}
		if !n.HasOrigin {
			return names, 0
		}
	}
	if v.lower < 0 {
		return names, 0
	}
	errno = v.listLower(lower, func(name string, kind fs.FileMode) bool {
		if n != nil && (n.Entries[name] != nil || n.ID == stage.Root && stage.ReservedTop(name)) {
			return true
		}
		names = append(names, sys.Dirent{Name: name, Ino: lowerIno(stage.Join(lower, name)), Type: kind})
		return true
	})
	return names, errno
}

func nodeType(n *stage.Node) fs.FileMode {
	switch n.Kind {
	case stage.Folder:
		return fs.ModeDir
	case stage.Link:
		return fs.ModeSymlink
	}
	return 0
}

// isEmpty is ENOTEMPTY when a folder holds something.
func (v *View) isEmpty(p *place) sys.Errno {
	lower := p.lower
	if n := p.node; n != nil {
		for _, e := range n.Entries {
			if e.Node != nil {
				return sys.ENOTEMPTY
			}
		}
		if !n.HasOrigin || v.lower < 0 {
			return 0
		}
		lower = n.Origin.Path
	}
	empty := true
	errno := v.listLower(lower, func(name string, _ fs.FileMode) bool {
		empty = p.node != nil && p.node.Entries[name] != nil
		return empty
	})
	if errno == 0 && !empty {
		return sys.ENOTEMPTY
	}
	return errno
}

// listLower calls each with what the sandbox has in a folder, until it says no.
func (v *View) listLower(path string, each func(name string, kind fs.FileMode) bool) sys.Errno {
	var st unix.Stat_t
	fd, err := v.openLower(path, &st)
	if err != nil {
		return toErrno(err)
	}
	defer unix.Close(fd)
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return sys.ENOTDIR
	}
	return v.listFolder(fd, each)
}

// listFolder is listLower for an open folder.
func (v *View) listFolder(fd int, each func(name string, kind fs.FileMode) bool) sys.Errno {
	if v.dents == nil {
		v.dents = make([]byte, 64<<10)
	}
	for {
		n, err := unix.Getdents(fd, v.dents)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return toErrno(err)
		}
		for b := v.dents[:n]; len(b) > direntName; {
			size := int(binary.NativeEndian.Uint16(b[16:]))
			name := b[direntName:size]
			for i, c := range name {
				if c == 0 {
					name = name[:i]
					break
				}
			}
			kind := direntType(fd, string(name), b[18])
			if s := string(name); s != "." && s != ".." && !each(s, kind) {
				return 0
			}
			b = b[size:]
		}
	}
}

// direntName is where the name starts in the kernel's linux_dirent64.
const direntName = 19

func direntType(dir int, name string, t byte) fs.FileMode {
	switch t {
	case unix.DT_REG:
		return 0
	case unix.DT_UNKNOWN: // some file systems do not say
		var st unix.Stat_t
		if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			return fileType(st.Mode)
		}
		return fs.ModeIrregular
	}
	return fileType(uint32(t) << 12)
}

// Sync implements the same method as documented on sys.File
func (d *dir) Sync() sys.Errno {
	defer d.end()
	return d.begin()
}

// Datasync implements the same method as documented on sys.File
func (d *dir) Datasync() sys.Errno { return d.Sync() }

// Utimens implements the same method as documented on sys.File
func (d *dir) Utimens(atim, mtim int64) sys.Errno {
	defer d.end()
	if errno := d.begin(); errno != 0 {
		return errno
	}
	if d.tmp {
		return 0 // nothing sees the times of scratch
	}
	return d.fs.utimensOpen(d.id, d.lower, d.lower, atim, mtim)
}

// Close implements the same method as documented on sys.File
func (d *dir) Close() sys.Errno {
	d.fs.v.mu.Lock()
	defer d.fs.v.mu.Unlock()
	d.closed = true
	delete(d.fs.v.dirs, d)
	return 0
}
