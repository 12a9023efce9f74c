package stage

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"stepbox.dev/abi"
)

// Join returns the path of name in dir, where "" is the root.
func Join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// Split returns the folder that a path lies in, "" for the root, and its last
// element.
func Split(path string) (dir, base string) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", path
	}
	return path[:i], path[i+1:]
}

// ReservedTop reports whether a name cannot stand at the sandbox's top: those
// that the view answers itself, and stepbox's own folder, in any spelling of
// case, because some file systems do not tell case apart.
func ReservedTop(name string) bool {
	if name == "" || name[0] != '@' && name[0] != '.' {
		return false
	}
	return strings.EqualFold(name, abi.HiddenDir) || strings.EqualFold(name, abi.SkillDir) || strings.EqualFold(name, abi.TmpDir)
}

// checkName refuses what is no canonical path element.
func checkName(name string, top bool) error {
	switch {
	case name == "" || name == "." || name == ".." || len(name) > MaxName,
		strings.ContainsAny(name, "/\x00"), !utf8.ValidString(name):
		return fmt.Errorf("%q is no name", name)
	case top && ReservedTop(name):
		return fmt.Errorf("%q is reserved", name)
	}
	return nil
}

// checkPath refuses what is no canonical path below the root.
func checkPath(path string) error {
	if len(path) > MaxPath {
		return fmt.Errorf("path of %d bytes", len(path))
	}
	for i, rest := 0, path; ; i++ {
		name, after, more := strings.Cut(rest, "/")
		if err := checkName(name, i == 0); err != nil {
			return fmt.Errorf("path %q: %w", path, err)
		}
		if i > MaxDepth {
			return fmt.Errorf("path %q is more than %d folders deep", path, MaxDepth)
		}
		if !more {
			return nil
		}
		rest = after
	}
}

func checkTarget(target string) error {
	if target == "" || len(target) > MaxTarget || strings.IndexByte(target, 0) >= 0 || !utf8.ValidString(target) {
		return errors.New("link with a target that no link can have")
	}
	return nil
}

// BlobName is a blob's file name in the stage's folder b.
func BlobName(id ID) string { return strconv.FormatUint(uint64(id), 10) }
