package guest

import (
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// Files is a folder and all below it: the sandbox. Its methods are those of
// package os, with slash paths relative to its root; "." is the root itself. In
// a module it is the view that the host gives, natively an [os.Root], so that
// no path leads out of it. Errors name the path as it was given.
type Files struct{ r root }

// root is what both builds have: the methods of os.Root that Files needs.
type root interface {
	OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error)
	Mkdir(name string, perm fs.FileMode) error
	MkdirAll(name string, perm fs.FileMode) error
	Rename(from, to string) error
	Remove(name string) error
	RemoveAll(name string) error
	Lstat(name string) (fs.FileInfo, error)
	Stat(name string) (fs.FileInfo, error)
	Readlink(name string) (string, error)
	Symlink(target, name string) error
	Chtimes(name string, atime, mtime time.Time) error
}

// Clean brings a path into the form that Files uses and results should have:
// no leading slash, no "." elements, no trailing slash.
func Clean(name string) string {
	name = strings.TrimLeft(path.Clean("/"+name), "/")
	if name == "" {
		return "."
	}
	return name
}

// Open opens a file or folder for reading.
func (f *Files) Open(name string) (*os.File, error) {
	return f.OpenFile(name, os.O_RDONLY, 0)
}

// Create makes a new file for writing. It fails with [fs.ErrExist] when the
// name is taken: nothing is overwritten by accident.
func (f *Files) Create(name string) (*os.File, error) {
	return f.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// OpenFile is [os.OpenFile].
func (f *Files) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	file, err := f.r.OpenFile(Clean(name), flag, perm)
	return file, named(err, name)
}

// ReadFile reads a whole file.
func (f *Files) ReadFile(name string) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	return data, named(err, name)
}

// WriteFile writes a whole new file; like Create it refuses a name that is
// taken.
func (f *Files) WriteFile(name string, data []byte) error {
	file, err := f.Create(name)
	if err != nil {
		return err
	}
	if _, err = file.Write(data); err != nil {
		file.Close()
		return named(err, name)
	}
	return named(file.Close(), name)
}

// ReadDir lists a folder, sorted by name, bytes compared.
func (f *Files) ReadDir(name string) ([]fs.DirEntry, error) {
	dir, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for i, e := range entries {
		entries[i] = dirEntry{e}
	}
	return entries, named(err, name)
}

// dirEntry is an entry whose Info is that of Lstat.
type dirEntry struct{ fs.DirEntry }

func (d dirEntry) Info() (fs.FileInfo, error) {
	info, err := d.DirEntry.Info()
	if err != nil {
		return nil, err
	}
	return corrected(info), nil
}

// Mkdir makes one folder.
func (f *Files) Mkdir(name string) error { return named(f.r.Mkdir(Clean(name), 0o777), name) }

// MkdirAll makes a folder and those above it; one that is there is no error.
func (f *Files) MkdirAll(name string) error {
	if Clean(name) == "." {
		return nil
	}
	return named(f.r.MkdirAll(Clean(name), 0o777), name)
}

// Rename gives a file or folder another path. What was at the new path, unless
// it is a folder that holds something, is replaced: look first.
func (f *Files) Rename(from, to string) error { return named(f.r.Rename(Clean(from), Clean(to)), from) }

// Remove deletes a file, a link or an empty folder.
func (f *Files) Remove(name string) error { return named(f.r.Remove(Clean(name)), name) }

// RemoveAll deletes a file, or a folder with all that is in it.
func (f *Files) RemoveAll(name string) error { return named(f.r.RemoveAll(Clean(name)), name) }

// Lstat describes a file, folder or link, following no link at the end.
func (f *Files) Lstat(name string) (fs.FileInfo, error) {
	info, err := f.r.Lstat(Clean(name))
	if err != nil {
		return nil, named(err, name)
	}
	return corrected(info), nil
}

// Stat describes a file or folder, following links within the sandbox.
func (f *Files) Stat(name string) (fs.FileInfo, error) {
	info, err := f.r.Stat(Clean(name))
	if err != nil {
		return nil, named(err, name)
	}
	return corrected(info), nil
}

// Readlink returns where a link points to.
func (f *Files) Readlink(name string) (string, error) {
	target, err := f.r.Readlink(Clean(name))
	return target, named(err, name)
}

// Symlink makes a link. Its target must lie in the sandbox.
func (f *Files) Symlink(target, name string) error {
	return named(f.r.Symlink(target, Clean(name)), name)
}

// Chtimes sets access and modification time.
func (f *Files) Chtimes(name string, accessed, modified time.Time) error {
	return named(f.r.Chtimes(Clean(name), accessed, modified), name)
}

// named puts the path that the caller used into an error, instead of one that
// means something only inside the module.
func named(err error, name string) error {
	switch e := err.(type) {
	case nil:
		return nil
	case *fs.PathError:
		return &fs.PathError{Op: strings.TrimSuffix(e.Op, "at"), Path: name, Err: e.Err}
	case *os.LinkError:
		return &os.LinkError{Op: strings.TrimSuffix(e.Op, "at"), Old: Clean(e.Old), New: Clean(e.New), Err: e.Err}
	}
	return err
}
