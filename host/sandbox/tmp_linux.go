package sandbox

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
	wsys "github.com/tetratelabs/wazero/sys"
	"golang.org/x/sys/unix"

	"stepbox.dev/abi"
)

// /@tmp is a real folder that no stage knows. Guests can make no links there,
// so every path is resolved by the kernel alone. Its content counts against
// the quotas, and goes when the call ends.

// tmpDevice is the device number that a guest sees for /@tmp.
const tmpDevice = 3

// tmpPath checks a path below /@tmp.
func tmpPath(path string) (string, sys.Errno) {
	elems, _, errno := splitPath(path)
	for _, e := range elems {
		if e == ".." {
			return "", sys.EPERM
		}
	}
	return strings.Join(elems, "/"), errno
}

func (v *View) statTmp(path string) (wsys.Stat_t, sys.Errno) {
	path, errno := tmpPath(path)
	if errno != 0 {
		return wsys.Stat_t{}, errno
	}
	var st unix.Stat_t
	if err := statBelow(v.tmp, path, &st); err != nil {
		return wsys.Stat_t{}, toErrno(err)
	}
	return tmpStat(&st), 0
}

func tmpStat(st *unix.Stat_t) wsys.Stat_t {
	s := fromSystem(st, st.Ino)
	s.Dev = tmpDevice
	return s
}

func (f *CallFS) openTmp(rest string, o opening) (sys.File, sys.Errno) {
	path, errno := tmpPath(rest)
	if errno != 0 {
		return nil, errno
	}
	v := f.v
	v.mu.Lock()
	defer v.mu.Unlock()
	o.folder = o.folder || strings.HasSuffix(rest, "/")
	if errno := f.roomToOpen(abi.TmpDir + "/" + path); errno != 0 {
		return nil, errno
	}
	var st unix.Stat_t
	err := statBelow(v.tmp, path, &st)
	switch {
	case err == unix.ENOENT && o.create:
		if o.folder {
			return nil, sys.EISDIR
		}
		if errno := f.roomInTmp(path, false); errno != 0 {
			return nil, errno
		}
		v.scratch++
	case err != nil:
		return nil, toErrno(err)
	case o.create && o.excl:
		return nil, sys.EEXIST
	case st.Mode&unix.S_IFMT == unix.S_IFDIR:
		if o.write || o.cut || o.create {
			return nil, sys.EISDIR
		}
		d := &dir{fs: f, tmp: true, lower: path, ino: st.Ino}
		v.dirs[d] = struct{}{}
		return d, 0
	case o.folder:
		return nil, sys.ENOTDIR
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil, sys.EPERM
	}
	if o.write || o.cut || o.create {
		if errno := f.takeName("/"+abi.TmpDir+"/"+path, "write", abi.TmpDir+"/"+path); errno != 0 {
			return nil, errno
		}
	}
	flags := unix.O_RDWR | unix.O_NONBLOCK
	if o.create {
		flags |= unix.O_CREAT
	}
	fd, err := openBelow(v.tmp, path, flags)
	if err != nil {
		return nil, f.failed(err)
	}
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		unix.Close(fd)
		return nil, sys.EPERM
	}
	h := f.newFile(&file{
		fs: f, path: abi.TmpDir + "/" + path, fd: fd, scratch: true, ino: st.Ino,
		read: o.read, write: o.write, append: o.append,
	})
	if o.cut {
		if errno := h.setSize(0); errno != 0 {
			v.closeFile(h)
			return nil, errno
		}
	}
	return h, 0
}

// openTmpFile opens a file to copy it out. The lock must be held.
func (f *CallFS) openTmpFile(rest string) (*file, sys.Errno) {
	path, errno := tmpPath(rest)
	if errno != 0 {
		return nil, errno
	}
	if errno := f.roomToOpen(abi.TmpDir + "/" + path); errno != 0 {
		return nil, errno
	}
	var st unix.Stat_t
	fd, err := -1, statBelow(f.v.tmp, path, &st)
	if err == nil {
		fd, err = openRead(f.v.tmp, path, &st)
	}
	if err != nil {
		return nil, toErrno(err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		unix.Close(fd)
		return nil, sys.ENOTSUP
	}
	return f.newFile(&file{fs: f, path: abi.TmpDir + "/" + path, fd: fd, scratch: true, ino: st.Ino, read: true}), 0
}

func (f *CallFS) roomInTmp(path string, folder bool) sys.Errno {
	p := place{path: abi.TmpDir + "/" + path, name: path[strings.LastIndexByte(path, '/')+1:]}
	if q := f.v.quota.Files; f.v.scratch >= q {
		return f.deny(Denial{Op: "create", Path: p.path, Quota: fmt.Sprintf("a call may make at most %d scratch files and folders", q)})
	}
	return f.roomToMake(&p, "create", folder)
}

// tmpParent resolves the folder of a scratch path, which openat calls need.
func (v *View) tmpParent(rest string) (fd int, name string, errno sys.Errno) {
	path, errno := tmpPath(rest)
	if errno != 0 {
		return -1, "", errno
	}
	if path == "" {
		return -1, "", sys.EPERM
	}
	i := strings.LastIndexByte(path, '/')
	fd, err := openBelow(v.tmp, path[:max(i, 0)], unix.O_PATH|unix.O_DIRECTORY)
	return fd, path[i+1:], toErrno(err)
}

func (f *CallFS) mkdirTmp(rest string) sys.Errno {
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	fd, name, errno := f.v.tmpParent(rest)
	if errno != 0 {
		return errno
	}
	defer unix.Close(fd)
	if errno := f.roomInTmp(strings.Trim(rest, "/"), true); errno != 0 {
		return errno
	}
	if err := unix.Mkdirat(fd, name, 0o700); err != nil {
		return f.failed(err)
	}
	f.v.scratch++
	return 0
}

func (f *CallFS) removeTmp(rest string, folder bool) sys.Errno {
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	if !folder {
		return f.v.unlinkTmp(rest)
	}
	fd, name, errno := f.v.tmpParent(rest)
	if errno != 0 {
		return errno
	}
	defer unix.Close(fd)
	return toErrno(unix.Unlinkat(fd, name, unix.AT_REMOVEDIR))
}

func (v *View) unlinkTmp(rest string) sys.Errno {
	fd, name, errno := v.tmpParent(rest)
	if errno != 0 {
		return errno
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return toErrno(err)
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return sys.EISDIR
	}
	if strings.HasSuffix(rest, "/") {
		return sys.ENOTDIR
	}
	if err := unix.Unlinkat(fd, name, 0); err != nil {
		return toErrno(err)
	}
	v.used.Add(-st.Size)
	return 0
}

func (f *CallFS) renameTmp(from, to string) sys.Errno {
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	fromDir, fromName, errno := f.v.tmpParent(from)
	if errno != 0 {
		return errno
	}
	defer unix.Close(fromDir)
	toDir, toName, errno := f.v.tmpParent(to)
	if errno != 0 {
		return errno
	}
	defer unix.Close(toDir)
	return toErrno(unix.Renameat2(fromDir, fromName, toDir, toName, 0))
}

// emptyScratch removes all of /@tmp and takes its bytes from the count.
func (v *View) emptyScratch() sys.Errno {
	fd, err := openBelow(v.tmp, "", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return toErrno(err)
	}
	defer unix.Close(fd)
	return v.emptyFolder(fd)
}

// emptyFolder removes what a folder holds. The quota of depth bounds it.
func (v *View) emptyFolder(fd int) (errno sys.Errno) {
	var names []string
	var folders []bool
	errno = v.listFolder(fd, func(name string, kind fs.FileMode) bool {
		names, folders = append(names, name), append(folders, kind.IsDir())
		return true
	})
	for i, name := range names {
		flags := 0
		if folders[i] {
			flags = unix.AT_REMOVEDIR
			sub, err := openBelow(fd, name, unix.O_RDONLY|unix.O_DIRECTORY)
			if err == nil {
				if e := v.emptyFolder(sub); e != 0 {
					errno = e
				}
				unix.Close(sub)
			}
		}
		var st unix.Stat_t
		if flags == 0 && unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			v.used.Add(-st.Size)
		}
		if err := unix.Unlinkat(fd, name, flags); err != nil {
			errno = toErrno(err)
		}
	}
	return errno
}

// listTmp returns what a folder of /@tmp holds.
func (v *View) listTmp(path string) (names []sys.Dirent, errno sys.Errno) {
	fd, err := openBelow(v.tmp, path, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, toErrno(err)
	}
	defer unix.Close(fd)
	errno = v.listFolder(fd, func(name string, kind fs.FileMode) bool {
		names = append(names, sys.Dirent{Name: name, Type: kind})
		return true
	})
	return names, errno
}
