package guest

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// newFiles is the sandbox in a module: the one folder that the host mounted.
func newFiles() *Files { return &Files{mounted{}} }

// mounted is package os below "/". The host resolves paths without leaving the
// sandbox, so a call costs one system call where os.Root would need one for
// each element of the path.
type mounted struct{}

func at(name string) string { return "/" + name }

func (mounted) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(at(name), flag, perm)
}
func (mounted) Mkdir(name string, perm fs.FileMode) error    { return os.Mkdir(at(name), perm) }
func (mounted) MkdirAll(name string, perm fs.FileMode) error { return os.MkdirAll(at(name), perm) }
func (mounted) Rename(from, to string) error {
	// Not os.Rename: it asks first whether the target is a folder.
	if err := syscall.Rename(at(from), at(to)); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
func (mounted) Remove(name string) error                  { return os.Remove(at(name)) }
func (mounted) RemoveAll(name string) error               { return os.RemoveAll(at(name)) }
func (mounted) Lstat(name string) (fs.FileInfo, error)    { return os.Lstat(at(name)) }
func (mounted) Stat(name string) (fs.FileInfo, error)     { return os.Stat(at(name)) }
func (mounted) Readlink(name string) (string, error)      { return os.Readlink(at(name)) }
func (mounted) Symlink(target, name string) error         { return os.Symlink(target, at(name)) }
func (mounted) Chtimes(name string, a, m time.Time) error { return os.Chtimes(at(name), a, m) }

// Accessed is when a file was last opened.
func Accessed(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(0, int64(s.Atime))
	}
	return info.ModTime()
}

// corrected says of what is neither file, folder nor link that it is irregular.
// WASI has no type for a FIFO, and package os takes it for a regular file.
func corrected(info fs.FileInfo) fs.FileInfo {
	if s, ok := info.Sys().(*syscall.Stat_t); ok && s.Filetype == syscall.FILETYPE_UNKNOWN {
		return irregular{info}
	}
	return info
}

type irregular struct{ fs.FileInfo }

func (i irregular) Mode() fs.FileMode { return i.FileInfo.Mode().Perm() | fs.ModeIrregular }
