package skill

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"stepbox.dev/host/fault"
)

// Caps on the files of a skill. They ride to every worker, so they are small;
// a module and engines are not among them.
const (
	maxFiles     = 1000
	maxFileBytes = 8 << 20
	maxAllBytes  = 32 << 20
	maxFileDepth = 8
)

// readFolder reads what a guest may see under /@skill: the regular files of the
// folder but Go source, modules, tests' data and hidden names. Links are
// refused. source says that there is Go source at the top.
func readFolder(dir string) (files map[string][]byte, source bool, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, false, fault.New(fault.Usage, "skill %q cannot be read: %w", dir, err)
	}
	defer root.Close()
	files = map[string][]byte{}
	total := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".":
			return nil
		case e.IsDir():
			if !belongs(name) {
				return fs.SkipDir
			}
			if strings.Count(name, "/") >= maxFileDepth {
				return fault.New(fault.Usage, "%q nests deeper than %d folders", name, maxFileDepth)
			}
			return nil
		case strings.HasSuffix(name, ".go"):
			source = source || !strings.Contains(name, "/") && !strings.HasSuffix(name, "_test.go")
			return nil
		case !belongs(name):
			return nil
		case !e.Type().IsRegular():
			return fault.New(fault.Usage, "%q is a link or a device: a skill holds regular files only", name)
		case !utf8.ValidString(name):
			return fault.New(fault.Usage, "the name %q is not valid UTF-8", name)
		case len(files) == maxFiles:
			return fault.New(fault.Usage, "it holds more than %d files", maxFiles)
		}
		data, err := readFile(root, name, maxFileBytes)
		if err != nil {
			return err
		}
		if total += len(data); total > maxAllBytes {
			return fault.New(fault.Usage, "its files are larger than %d MiB together", maxAllBytes>>20)
		}
		files[name] = data
		return nil
	})
	if err != nil {
		return nil, false, fault.New(fault.Usage, "skill %q: %w", dir, err)
	}
	return files, source, nil
}

// belongs reports whether a file or folder is one that steps may read: not
// source, not a module, not hidden, nothing that Go's tools ignore or tests use.
func belongs(name string) bool {
	for _, part := range strings.Split(name, "/") {
		if part == "" || part[0] == '.' || part[0] == '_' || part == "testdata" {
			return false
		}
	}
	base := strings.ToLower(path.Base(name))
	ext := path.Ext(base)
	return ext != ".go" && ext != ".wasm" && !slices.Contains([]string{"go.mod", "go.sum", "go.work", "go.work.sum"}, base)
}

// readFile reads one regular file without ever waiting for a FIFO and without
// following a link that took the file's place.
func readFile(root *os.Root, name string, most int64) ([]byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	seen, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || !os.SameFile(seen, info) {
		return nil, fault.New(fault.Usage, "%q is not a regular file", name)
	}
	if info.Size() > most {
		return nil, fault.New(fault.Usage, "%q is larger than %d MiB", name, most>>20)
	}
	// What the file has now is read, however it grows meanwhile.
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, fault.New(fault.Usage, "%q changed while it was read: %w", name, err)
	}
	return data, nil
}

// readLayer reads an override folder: contract files, by name. Another YAML
// file there is a misspelt one; anything else is left alone.
func readLayer(dir string) (layer, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return layer{}, fault.New(fault.Usage, "override %q cannot be read: %w", dir, plainCause(err))
	}
	defer root.Close()
	known := []string{manifestFile, toolsFile, promptFile, lexiconFile, markdownFile}
	l := layer{dir: dir, files: map[string][]byte{}}
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return layer{}, fault.New(fault.Usage, "override %q cannot be read: %w", dir, err)
	}
	for _, e := range entries {
		name := e.Name()
		if !slices.Contains(known, name) {
			if ext := path.Ext(name); e.Type().IsRegular() && (ext == ".yaml" || ext == ".yml") {
				return layer{}, unknownFile(dir, name, known)
			}
			continue
		}
		if l.files[name], err = readFile(root, name, maxFileBytes); err != nil {
			return layer{}, fault.New(fault.Usage, "override %q: %w", dir, err)
		}
	}
	if len(l.files) == 0 {
		return layer{}, fault.New(fault.Usage, "override %q holds no contract file", dir).
			Hint("an override folder holds any of %s", strings.Join(known, ", "))
	}
	return l, nil
}

// plainCause drops the path that an *fs.PathError repeats.
func plainCause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
