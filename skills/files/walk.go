package main

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// entry is one file, folder or link that was found.
type entry struct {
	Path string // below the sandbox root
	// Name is the path below the folder that was looked in; of an item, it
	// begins with the item's own name.
	Name string
	mode fs.FileMode
	// The rest is known when the matcher needs it or the caller asked.
	size     int64
	modified time.Time
	accessed time.Time
	named    bool // by the request itself, not found by looking
	// part is, of what was in a folder that could not be taken whole, the path
	// that begins with that folder's name.
	part string
}

func (e *entry) folder() bool { return e.mode.IsDir() }
func (e *entry) link() bool   { return e.mode&fs.ModeSymlink != 0 }

// selection is what a call looks at or acts on.
type selection struct {
	roots []string // folders to look in, or single files
	items []string // exact files and folders
	Filter
	// whole says that a folder stands for all that is in it, as when it is
	// moved or deleted. What is in it is then not listed besides, and a folder
	// that holds something excluded is taken apart instead.
	whole bool
	// stat fills sizes and times of everything found.
	stat bool
	// avoid is a folder not to look in: where things are moved to.
	avoid string
}

// walker does one selection.
type walker struct {
	ctx   guest.Context
	files *guest.Files
	sel   selection
	m     *matcher
	found []*entry
	seen  map[string]bool
}

// collect returns what the selection means, sorted and limited as it says.
func collect(ctx guest.Context, sel selection) ([]*entry, error) {
	m, err := newMatcher(ctx, sel.Filter)
	if err != nil {
		return nil, err
	}
	w := &walker{ctx: ctx, files: ctx.Files(), sel: sel, m: m, seen: map[string]bool{}}
	for _, g := range m.include {
		g.asNamed(w.files, sel.roots)
	}
	for _, root := range sel.roots {
		if err := w.root(guest.Clean(root)); err != nil {
			return nil, err
		}
	}
	for _, item := range sel.items {
		if err := w.item(guest.Clean(item)); err != nil {
			return nil, err
		}
	}
	if err := m.patterns(w.files); err != nil {
		return nil, err
	}
	if sel.whole {
		w.dropCovered()
	}
	sortEntries(w.found, m.Filter)
	if m.Limit > 0 && len(w.found) > m.Limit {
		w.found = w.found[:m.Limit]
	}
	return w.found, nil
}

func (w *walker) lstat(name string) (*entry, error) {
	info, err := w.files.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, guest.Errorf(abi.CodeNotFound, "there is no %q", name)
	}
	if err != nil {
		return nil, err
	}
	e := &entry{Path: name, Name: path.Base(name), mode: info.Mode(), named: true}
	e.fill(info)
	return e, nil
}

func (e *entry) fill(info fs.FileInfo) {
	e.mode, e.modified, e.accessed = info.Mode(), info.ModTime(), guest.Accessed(info)
	if !e.folder() {
		e.size = info.Size()
	}
}

// root looks in a folder. A single file is tested itself.
func (w *walker) root(name string) error {
	e, err := w.lstat(name)
	if err != nil {
		return err
	}
	if !e.folder() {
		return w.consider(e)
	}
	// A hidden folder that was named is looked in like any other.
	return w.dir(name, "", 1, w.m.Hidden == hiddenOnly && hiddenPath(name))
}

// item takes one file or folder itself. Its kind was chosen by naming it.
func (w *walker) item(name string) error {
	e, err := w.lstat(name)
	if err != nil {
		return err
	}
	if matchAny(w.m.exclude, e) {
		return nil
	}
	switch ok, err := w.fits(e); {
	case w.m.Hidden == hiddenOnly && !hiddenPath(name):
	case e.folder() && w.sel.whole && w.holdsExcluded(name):
		if w.m.named(e) {
			return w.apart(e, hiddenInclude)
		}
	case err != nil:
		return err
	case ok:
		w.take(e)
		return nil
	}
	if !w.seen[name] {
		w.ctx.Issue("%s is left out: it does not fit the rest of the request", name)
	}
	return nil
}

// apart takes what is in a folder that is meant but cannot be taken whole,
// because something in it is excluded.
func (w *walker) apart(e *entry, hidden string) error {
	keep, from := *w.m, len(w.found)
	defer func() { *w.m = keep }()
	w.m.Kind, w.m.Recursive, w.m.Depth, w.m.Hidden = kindBoth, true, 0, hidden
	w.m.include, w.m.regex = nil, nil // the folder itself has the name
	if err := w.dir(e.Path, e.Name, 1, false); err != nil {
		return err
	}
	for _, f := range w.found[from:] {
		if f.part = strings.TrimPrefix(f.Path, path.Dir(e.Path)+"/"); path.Dir(e.Path) == "." {
			f.part = f.Path
		}
	}
	return nil
}

// dir looks in one folder. prefix is its Name, hidden whether it is hidden.
func (w *walker) dir(name, prefix string, depth int, hidden bool) error {
	entries, err := w.files.ReadDir(name)
	if err != nil {
		w.ctx.Issue("%s cannot be looked into: %v", name, err)
		return nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return naturalCompare(a.Name(), b.Name()) })
	for _, d := range entries {
		e := &entry{Path: path.Join(name, d.Name()), Name: path.Join(prefix, d.Name()), mode: d.Type()}
		if err := w.visit(e, d, depth, hidden); err != nil {
			return err
		}
	}
	return nil
}

// visit considers what is in a folder, and looks into it when it is one.
func (w *walker) visit(e *entry, d fs.DirEntry, depth int, hidden bool) error {
	hidden = hidden || strings.HasPrefix(d.Name(), ".")
	if hidden && w.m.Hidden != hiddenInclude && w.m.Hidden != hiddenOnly || matchAny(w.m.exclude, e) || e.Path == w.sel.avoid {
		return nil
	}
	if !isText(w.ctx, e.Path) {
		return nil
	}
	taken := false
	if hidden || w.m.Hidden != hiddenOnly {
		if w.m.stat || w.sel.stat {
			info, err := d.Info()
			if err != nil { // gone since the folder was read
				return nil
			}
			e.fill(info)
		}
		if w.m.kindFits(e.mode) {
			ok, err := w.fits(e)
			switch {
			case err != nil:
				return err
			case ok && e.folder() && w.sel.whole && (w.holdsExcluded(e.Path) || strings.HasPrefix(w.sel.avoid, e.Path+"/")):
				return w.apart(e, w.m.Hidden)
			case ok:
				w.take(e)
				taken = true
			}
		}
	}
	if !e.folder() || taken && w.sel.whole {
		return nil
	}
	if max := w.m.maxDepth(); max > 0 && depth >= max {
		return nil
	}
	return w.dir(e.Path, e.Name, depth+1, hidden)
}

// consider takes a file that the request named as a place to look in.
func (w *walker) consider(e *entry) error {
	if !w.m.kindFits(e.mode) || matchAny(w.m.exclude, e) || w.m.Hidden == hiddenOnly && !hiddenPath(e.Path) {
		return nil
	}
	ok, err := w.fits(e)
	if ok {
		w.take(e)
	}
	return err
}

// fits applies all of the filter but kind, exclusions and hidden.
func (w *walker) fits(e *entry) (bool, error) {
	if !w.m.named(e) {
		return false, nil
	}
	if w.m.types != nil && !w.typed(e) {
		return false, nil
	}
	if e.folder() && w.m.sum {
		if err := w.sum(e); err != nil {
			w.ctx.Issue("%s is left out: its size and age are not known: %v", e.Path, err)
			return false, nil
		}
	}
	if w.m.stat && !w.m.measured(e) {
		return false, nil
	}
	return w.m.Empty == nil || w.empty(e) == *w.m.Empty, nil
}

func (w *walker) typed(e *entry) bool {
	if e.folder() {
		return false
	}
	for _, t := range typesOf(w.files, e) {
		if w.m.types[t] {
			return true
		}
	}
	return false
}

// empty reports whether there is nothing in a file, or no file in a folder or
// in any folder in it: one pass over empty folders then leaves none behind.
func (w *walker) empty(e *entry) bool {
	if !e.folder() {
		return e.mode.IsRegular() && e.size == 0
	}
	none := true
	err := below(w.files, e.Path, func(d fs.DirEntry, _ string) (bool, error) {
		none = none && d.IsDir()
		return none, nil
	})
	return err == nil && none
}

// sum gives a folder the size, and the newest times, of all that is in it.
func (w *walker) sum(e *entry) error {
	var opened time.Time
	err := below(w.files, e.Path, func(d fs.DirEntry, _ string) (bool, error) {
		info, err := d.Info()
		if err != nil {
			return true, nil
		}
		child := entry{}
		child.fill(info)
		e.size += child.size
		if child.modified.After(e.modified) {
			e.modified = child.modified
		}
		if !child.folder() && child.accessed.After(opened) {
			opened = child.accessed
		}
		return true, nil
	})
	if !opened.IsZero() {
		// Looking into a folder, as here, is not opening what is in it.
		e.accessed = opened
	}
	return err
}

// holdsExcluded reports whether anything below a folder is excluded.
func (w *walker) holdsExcluded(name string) bool {
	if len(w.m.exclude) == 0 {
		return false
	}
	holds := false
	err := below(w.files, name, func(d fs.DirEntry, full string) (bool, error) {
		holds = holds || matchAny(w.m.exclude, &entry{Path: full, Name: strings.TrimPrefix(full, name+"/")})
		return !holds, nil
	})
	return holds || err != nil // what cannot be looked at may be excluded
}

// below visits everything in a folder, following no links, until visit says no.
func below(files *guest.Files, name string, visit func(d fs.DirEntry, full string) (bool, error)) error {
	entries, err := files.ReadDir(name)
	if err != nil {
		return err
	}
	for _, d := range entries {
		full := path.Join(name, d.Name())
		if on, err := visit(d, full); !on || err != nil {
			return err
		}
		if d.IsDir() {
			if err := below(files, full, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walker) take(e *entry) {
	if w.seen[e.Path] {
		return
	}
	w.seen[e.Path] = true
	w.found = append(w.found, e)
}

// dropCovered leaves out what lies in a folder that is taken whole.
func (w *walker) dropCovered() {
	folders := map[string]bool{}
	for _, e := range w.found {
		if e.folder() {
			folders[e.Path] = true
		}
	}
	if len(folders) == 0 {
		return
	}
	w.found = slices.DeleteFunc(w.found, func(e *entry) bool {
		for dir := path.Dir(e.Path); dir != "."; dir = path.Dir(dir) {
			if folders[dir] {
				return true
			}
		}
		return folders["."] && e.Path != "."
	})
}

// hiddenPath reports whether a path leads through a hidden folder.
func hiddenPath(name string) bool {
	return name != "." && (strings.HasPrefix(name, ".") || strings.Contains(name, "/."))
}
