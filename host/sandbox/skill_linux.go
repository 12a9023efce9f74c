package sandbox

import (
	"bytes"
	"io"
	"io/fs"
	"sort"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
	wsys "github.com/tetratelabs/wazero/sys"

	"stepbox.dev/abi"
)

// memDir is a folder of /@skill: files in memory, read-only.
type memDir struct {
	ino   uint64
	dirs  map[string]*memDir
	files map[string]*memData
}

type memData struct {
	ino     uint64
	content []byte
}

// inoSkill is where the inode numbers of /@skill begin: apart from those of
// nodes, below, and of the sandbox, above.
const inoSkill = 1 << 62

// newSkill builds the tree. Names that are no canonical path are left out, and
// a file in the place of a folder loses.
func newSkill(files map[string][]byte) *memDir {
	next := uint64(inoSkill)
	number := func() uint64 {
		next++
		return next
	}
	newDir := func() *memDir {
		return &memDir{ino: number(), dirs: map[string]*memDir{}, files: map[string]*memData{}}
	}
	root := newDir()
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if !fs.ValidPath(name) || name == "." || strings.IndexByte(name, 0) >= 0 {
			continue
		}
		d := root
		elems := strings.Split(name, "/")
		for _, e := range elems[:len(elems)-1] {
			if d.dirs[e] == nil {
				d.dirs[e] = newDir()
				delete(d.files, e)
			}
			d = d.dirs[e]
		}
		if last := elems[len(elems)-1]; d.dirs[last] == nil {
			d.files[last] = &memData{ino: number(), content: files[name]}
		}
	}
	return root
}

// find returns the folder or the file at a path.
func (d *memDir) find(path string) (*memDir, *memData, sys.Errno) {
	slash := strings.HasSuffix(path, "/")
	elems := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	for i, e := range elems {
		if e == "." {
			continue
		}
		if next := d.dirs[e]; next != nil {
			d = next
			continue
		}
		m := d.files[e]
		switch {
		case m == nil:
			return nil, nil, sys.ENOENT
		case i < len(elems)-1 || slash:
			return nil, nil, sys.ENOTDIR
		}
		return nil, m, 0
	}
	return d, nil, 0
}

func (d *memDir) stat(path string) (wsys.Stat_t, sys.Errno) {
	sub, m, errno := d.find(path)
	switch {
	case errno != 0:
		return wsys.Stat_t{}, errno
	case m != nil:
		return m.describe(), 0
	}
	return sub.describe(), 0
}

func (d *memDir) describe() wsys.Stat_t {
	return wsys.Stat_t{Dev: skillDevice, Ino: d.ino, Mode: fs.ModeDir | 0o555, Nlink: 1}
}

func (m *memData) describe() wsys.Stat_t {
	return wsys.Stat_t{Dev: skillDevice, Ino: m.ino, Mode: 0o444, Nlink: 1, Size: int64(len(m.content))}
}

// skillDevice is the device number that a guest sees for /@skill.
const skillDevice = 2

// openSkill opens a file or a folder of the skill.
func (f *CallFS) openSkill(path string, o opening) (sys.File, sys.Errno) {
	if o.write || o.cut {
		return nil, f.skillIsFixed("open", abi.SkillDir+"/"+path)
	}
	d, m, errno := f.v.skill.find(path)
	switch {
	case errno == sys.ENOENT && o.create:
		return nil, f.skillIsFixed("create", abi.SkillDir+"/"+path)
	case errno != 0:
		return nil, errno
	case m != nil && o.folder:
		return nil, sys.ENOTDIR
	}
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	if errno := f.roomToOpen(abi.SkillDir + "/" + path); errno != 0 {
		return nil, errno
	}
	f.v.skillOpen++
	if m == nil {
		return &memDirFile{d: d, closer: closer{v: f.v}}, 0
	}
	return &memFile{m: m, r: bytes.NewReader(m.content), closer: closer{v: f.v}}, 0
}

// closer counts one open file of the skill out.
type closer struct {
	v    *View
	done bool
}

func (c *closer) Close() sys.Errno {
	c.v.mu.Lock()
	defer c.v.mu.Unlock()
	if !c.done {
		c.done = true
		c.v.skillOpen--
	}
	return 0
}

// skillIsFixed refuses a change of the skill's own files.
func (f *CallFS) skillIsFixed(op, path string) sys.Errno {
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	return f.deny(Denial{Op: op, Path: path})
}

// memFile is an open file of the skill.
type memFile struct {
	sys.UnimplementedFile
	closer
	m *memData
	r *bytes.Reader
}

// Close implements the same method as documented on sys.File
func (h *memFile) Close() sys.Errno { return h.closer.Close() }

func (h *memFile) Dev() (uint64, sys.Errno)         { return skillDevice, 0 }
func (h *memFile) Ino() (wsys.Inode, sys.Errno)     { return h.m.ino, 0 }
func (h *memFile) IsDir() (bool, sys.Errno)         { return false, 0 }
func (h *memFile) SetAppend(bool) sys.Errno         { return 0 }
func (h *memFile) Stat() (wsys.Stat_t, sys.Errno)   { return h.m.describe(), 0 }
func (h *memFile) Write([]byte) (int, sys.Errno)    { return 0, sys.EBADF }
func (h *memFile) Truncate(int64) sys.Errno         { return sys.EBADF }
func (h *memFile) Utimens(int64, int64) sys.Errno   { return sys.EPERM }
func (h *memFile) Read(buf []byte) (int, sys.Errno) { return endless(h.r.Read(buf)) }

func (h *memFile) Pwrite([]byte, int64) (int, sys.Errno) { return 0, sys.EBADF }

func (h *memFile) Pread(buf []byte, off int64) (int, sys.Errno) {
	if off < 0 {
		return 0, sys.EINVAL
	}
	return endless(h.r.ReadAt(buf, off))
}

func (h *memFile) Seek(offset position, whence int) (int64, sys.Errno) {
	n, err := h.r.Seek(offset, whence)
	if err != nil {
		return 0, sys.EINVAL
	}
	return n, 0
}

// endless drops io.EOF, the only error of a bytes.Reader here.
func endless(n int, _ error) (int, sys.Errno) { return n, 0 }

// memDirFile is an open folder of the skill.
type memDirFile struct {
	sys.DirFile
	closer
	d     *memDir
	names []sys.Dirent
	taken bool
}

func (h *memDirFile) Dev() (uint64, sys.Errno)       { return skillDevice, 0 }
func (h *memDirFile) Ino() (wsys.Inode, sys.Errno)   { return h.d.ino, 0 }
func (h *memDirFile) Stat() (wsys.Stat_t, sys.Errno) { return h.d.describe(), 0 }
func (h *memDirFile) Sync() sys.Errno                { return 0 }
func (h *memDirFile) Datasync() sys.Errno            { return 0 }
func (h *memDirFile) Utimens(int64, int64) sys.Errno { return sys.EPERM }

func (h *memDirFile) Seek(offset position, whence int) (int64, sys.Errno) {
	if offset != 0 || whence != io.SeekStart {
		return 0, sys.EINVAL
	}
	h.names, h.taken = nil, false
	return 0, 0
}

func (h *memDirFile) Readdir(n int) ([]sys.Dirent, sys.Errno) {
	if !h.taken {
		for name, d := range h.d.dirs {
			h.names = append(h.names, sys.Dirent{Name: name, Ino: d.ino, Type: fs.ModeDir})
		}
		for name, m := range h.d.files {
			h.names = append(h.names, sys.Dirent{Name: name, Ino: m.ino})
		}
		sort.Slice(h.names, func(i, j int) bool { return h.names[i].Name < h.names[j].Name })
		h.taken = true
	}
	if n <= 0 || n > len(h.names) {
		n = len(h.names)
	}
	names := h.names[:n:n]
	h.names = h.names[n:]
	return names, 0
}
