// Package steps has the steps that many skills share. A skill adds one to its
// own tools and declares it in its tools.yaml, internal and readonly.
package steps

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// ResolveArgs are the arguments of resolve_inputs.
type ResolveArgs struct {
	// Paths are files, folders and globs ("clips/*.mov", ** for any folders).
	Paths []string `json:"paths" required:"true"`
	// Extensions are the ones to take, without dots. None takes all.
	Extensions []string `json:"extensions"`
	// Repeat takes a file as often as it is named, not once.
	Repeat bool `json:"repeat"`
}

// Resolved is the result of resolve_inputs.
type Resolved struct {
	Files []string `json:"files"` // each once unless Repeat is set, as the request names them
	Count int      `json:"count"`
}

// ResolveInputs returns the step resolve_inputs: a list of files, folders and
// globs becomes the list of files it means. A folder means the files directly
// in it, hidden ones left out; links are never followed. A path that names
// nothing, or nothing with one of the extensions, is an error: what a request
// names must not be dropped silently.
func ResolveInputs() guest.Tool {
	return guest.Step("resolve_inputs", resolve)
}

func resolve(ctx guest.Context, in ResolveArgs) (Resolved, error) {
	r := &resolver{files: ctx.Files(), seen: map[string]bool{}, repeat: in.Repeat}
	for _, e := range in.Extensions {
		r.extensions = append(r.extensions, strings.ToLower(strings.TrimPrefix(e, ".")))
	}
	for _, p := range in.Paths {
		before := r.matched
		if err := r.add(p); err != nil {
			return Resolved{}, err
		}
		if info, err := r.files.Lstat(p); r.matched == before && err == nil && info.Mode().IsRegular() {
			return Resolved{}, guest.Errorf(abi.CodeNotFound, "%q is of none of the types that this works on: %s", p, r.types())
		}
		if r.matched == before {
			return Resolved{}, guest.Errorf(abi.CodeNotFound, "%q names no file%s", p, r.ofKind())
		}
	}
	if r.list == nil {
		return Resolved{}, guest.Errorf(abi.CodeBadRequest, "no input is named")
	}
	return Resolved{Files: r.list, Count: len(r.list)}, nil
}

type resolver struct {
	files      *guest.Files
	extensions []string
	seen       map[string]bool
	repeat     bool
	list       []string
	matched    int // files found, those found before too
}

func (r *resolver) ofKind() string {
	if len(r.extensions) == 0 {
		return ""
	}
	return " of type " + r.types()
}

// types are the extensions, or how many there are besides the first of them.
func (r *resolver) types() string {
	const told = 8
	if more := len(r.extensions) - told; more > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(r.extensions[:told], ", "), more)
	}
	return strings.Join(r.extensions, ", ")
}

// add resolves one path. A name that holds the signs of a glob is a name first.
func (r *resolver) add(name string) error {
	info, err := r.files.Lstat(name)
	switch {
	case err == nil && info.IsDir():
		return r.folder(guest.Clean(name))
	case err == nil && info.Mode().IsRegular():
		r.take(guest.Clean(name))
		return nil
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		return guest.Errorf(abi.CodeBadRequest, "%q is a link, and links are not followed: name the file itself", name)
	case err == nil:
		return guest.Errorf(abi.CodeBadRequest, "%q is neither a file nor a folder", name)
	case !guest.IsNotExist(err):
		return err
	case !strings.ContainsAny(name, "*?[{"):
		return guest.Errorf(abi.CodeNotFound, "there is no %q", name)
	}
	pattern := guest.Clean(name)
	if !doublestar.ValidatePattern(pattern) {
		return guest.Errorf(abi.CodeBadRequest, "%q is no valid pattern", name)
	}
	base, _ := doublestar.SplitPattern(pattern)
	return r.glob(base, pattern)
}

func (r *resolver) folder(name string) error {
	entries, err := r.files.ReadDir(name)
	for _, e := range entries {
		if e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") {
			r.take(path.Join(name, e.Name()))
		}
	}
	return err
}

// glob walks the folders that a pattern can reach.
func (r *resolver) glob(dir, pattern string) error {
	entries, err := r.files.ReadDir(dir)
	if err != nil {
		if guest.IsNotExist(err) {
			return nil
		}
		return err
	}
	deep := strings.Contains(pattern, "**")
	hidden := strings.Contains("/"+pattern, "/.") // as in a shell, only when asked for
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") && !hidden {
			continue
		}
		name := path.Join(dir, e.Name())
		switch {
		case e.IsDir() && (deep || strings.Count(name, "/") < strings.Count(pattern, "/")):
			if err := r.glob(name, pattern); err != nil {
				return err
			}
		case e.Type().IsRegular():
			if ok, err := doublestar.Match(pattern, name); ok && err == nil {
				r.take(name)
			}
		}
	}
	return nil
}

func (r *resolver) take(name string) {
	if len(r.extensions) > 0 && !slices.Contains(r.extensions, strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))) {
		return
	}
	r.matched++
	if r.repeat || !r.seen[name] {
		r.seen[name] = true
		r.list = append(r.list, name)
	}
}
