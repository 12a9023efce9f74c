package gate

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// The bounds of looking for a name that is not where the plan says. Past them
// the search is incomplete, and a single match is no longer taken for the only
// one.
const (
	maxTree  = 20_000 // names
	maxLevel = 8      // folders below the sandbox
	maxOffer = 9      // candidates of one question
)

// tree is the visible names of a sandbox.
type tree struct {
	names    []string // slash paths
	folders  map[string]bool
	complete bool
}

// walked returns the sandbox's names; empty without a sandbox.
func (c *check) walked() *tree {
	if c.tree != nil {
		return c.tree
	}
	t := &tree{folders: map[string]bool{}, complete: true}
	c.tree = t
	if c.Sandbox == nil {
		return t
	}
	// Errors leave a folder out: what cannot be read is no candidate.
	_ = fs.WalkDir(c.Sandbox, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			t.complete = false
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case p == ".":
			return nil
		case strings.HasPrefix(path.Base(p), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case len(t.names) == maxTree:
			t.complete = false
			return fs.SkipAll
		}
		t.names = append(t.names, p)
		if d.IsDir() {
			t.folders[p] = true
			if strings.Count(p, "/") >= maxLevel {
				t.complete = false
				return fs.SkipDir
			}
		}
		return nil
	})
	return t
}

// stat returns what is at a path of a plan, nil when nothing is.
func (c *check) stat(p string) fs.FileInfo {
	p = clean(p)
	if c.Sandbox == nil || !fs.ValidPath(p) {
		return nil
	}
	if info, ok := c.looked[p]; ok {
		return info
	}
	info, err := fs.Stat(c.Sandbox, p)
	if err != nil {
		info = nil
	}
	if c.looked == nil {
		c.looked = map[string]fs.FileInfo{}
	}
	c.looked[p] = info
	return info
}

// clean returns the one spelling of a path below the sandbox.
func clean(p string) string {
	if p == "" {
		return ""
	}
	return path.Clean(p)
}

// sameFolder returns the names beside p that the test accepts.
func (c *check) sameFolder(p string, accept func(base string) bool) []string {
	dir := path.Dir(clean(p))
	if c.Sandbox == nil || !fs.ValidPath(dir) {
		return nil
	}
	entries, err := fs.ReadDir(c.Sandbox, dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if accept(e.Name()) {
			out = append(out, path.Join(dir, e.Name()))
		}
	}
	return out
}

// anywhere returns the names in the whole tree whose last element the test
// accepts.
func (c *check) anywhere(accept func(base string) bool) []string {
	var out []string
	for _, p := range c.walked().names {
		if accept(path.Base(p)) {
			out = append(out, p)
		}
	}
	return out
}

// sameName compares names as people write them: without case, and in either
// Unicode form.
func sameName(a, b string) bool {
	return a == b || strings.EqualFold(norm.NFC.String(a), norm.NFC.String(b))
}

// offer cuts candidates to what a question can hold.
func offer(names []string) []string {
	out := slices.Compact(slices.Sorted(slices.Values(names)))
	if len(out) > maxOffer {
		out = out[:maxOffer]
	}
	return out
}
