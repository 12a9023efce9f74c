package host

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/plan"
)

// hostView is the sandbox as the host's gates look at it: read-only, and never
// past its root. A nil *hostView has no files.
type hostView struct {
	root  *os.Root
	path  string
	seen  *glance
	names plan.Paths
	list  func() ([]string, bool) // what is there, looked at once
}

// openSandbox opens a sandbox to look at; "" is the working directory.
func openSandbox(dir string) (*hostView, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, fault.New(fault.Usage, "sandbox %q: %w", dir, err)
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, fault.New(fault.Usage, "sandbox %q: %w", dir, err).Hint("--sandbox names the folder that a run may see")
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fault.New(fault.Usage, "sandbox %q: %w", dir, err).Hint("--sandbox names the folder that a run may see")
	}
	v := &hostView{root: root, path: path, seen: &glance{root: root}}
	v.list = sync.OnceValues(func() ([]string, bool) { return listNames(root.FS()) })
	v.names = plan.Paths{Sandbox: path, Exists: func(name string) bool {
		_, err := root.Lstat(name)
		return err == nil
	}}
	v.names.Home, _ = os.UserHomeDir() // "" when there is none: then ~ stays as it is
	v.names.Work, _ = os.Getwd()
	return v, nil
}

func (v *hostView) close() {
	if v != nil {
		v.root.Close()
	}
}

// fs is the sandbox as gates look at it, at most a second old.
func (v *hostView) fs() fs.FS {
	if v == nil {
		return nil
	}
	return v.seen
}

// exists tells planners which names are there.
func (v *hostView) exists() func(path string) (found, folder bool) {
	if v == nil {
		return nil
	}
	return func(path string) (bool, bool) {
		info, err := v.seen.Stat(path)
		return err == nil, err == nil && info.IsDir()
	}
}

// maxNames bounds how much of a sandbox is looked through for a planner that
// wants to know whether anything is named as it was guessed.
const maxNames = 50_000

// listed tells planners which names there are at all.
func (v *hostView) listed() func() (paths []string, all bool) {
	if v == nil {
		return nil
	}
	return v.list
}

// listNames lists the paths below a folder; all is false when there are more
// than maxNames, or some cannot be read.
func listNames(fsys fs.FS) (paths []string, all bool) {
	all = true
	_ = fs.WalkDir(fsys, ".", func(path string, _ fs.DirEntry, err error) error { // errors are told by all
		switch {
		case err != nil:
			all = false
			return nil
		case path == ".":
			return nil
		case len(paths) == maxNames:
			all = false
			return fs.SkipAll
		}
		paths = append(paths, path)
		return nil
	})
	return paths, all
}

// paths are what normalizing needs to know.
func (v *hostView) paths() plan.Paths {
	if v == nil {
		return plan.Paths{}
	}
	return v.names
}
