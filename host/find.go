package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/retrieval"
	"stepbox.dev/host/skill"
	"stepbox.dev/host/skill/bundle"
	"stepbox.dev/host/store"
)

// Found is a skill that can be named, and where it was found.
type Found struct {
	Name string
	Path string
	From string // installed, shipped, --skills
	// Signer of an installed skill; nil when nobody signed it, as Unsigned says.
	Signer   *store.Signer
	Unsigned bool
	// Err is why it cannot be loaded; Skill is nil then.
	Err   error
	Skill *skill.Skill

	entry *store.Entry // of an installed one
}

// Skill finds and loads one skill, by name or path.
//
// An explicit path (anything with a slash, or a name that ends in .wasm) is
// taken as it is. A bare name is never looked up in the working directory: a
// downloaded folder must not shadow a skill.
func (h *Host) Skill(ctx context.Context, name string) (*skill.Skill, error) {
	if isPath(name) {
		return skill.Load(name, skill.Options{Overrides: h.overrides})
	}
	found, err := h.named()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(found, func(f Found) bool { return f.Name == name })
	if i < 0 {
		var names []string
		for _, f := range found {
			names = append(names, f.Name)
		}
		err := fault.New(fault.Usage, "unknown skill %q", name)
		if len(names) == 0 {
			return nil, err.Hint("no skill is installed or shipped beside the executable; name a folder, for example ./skills/%s, or give --skills DIR", name)
		}
		return nil, err.Hint("known skills: %s; a folder is named with a slash, for example ./%s", strings.Join(names, ", "), name)
	}
	layers, err := h.layers(name)
	if err != nil {
		return nil, err
	}
	return h.loadFound(found[i], append(layers, h.overrides...))
}

func isPath(name string) bool {
	return strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) ||
		strings.HasSuffix(name, ".wasm") || name == "." || name == ".."
}

// loadFound loads a skill from where it was found. An installed one is checked
// against the lock file.
func (h *Host) loadFound(f Found, overrides []string) (*skill.Skill, error) {
	o := skill.Options{Overrides: overrides}
	if f.entry != nil {
		b, err := h.store.Load(*f.entry)
		if err != nil {
			return nil, err
		}
		return skill.FromBundle(f.Path, b, o)
	}
	if f.From == shipped {
		if err := guardShipped(f.Path); err != nil {
			return nil, err
		}
	}
	s, err := skill.Load(f.Path, o)
	if err == nil && s.Bundle() != nil && s.Name() != f.Name {
		return nil, fault.New(fault.CheckFailed, "%q holds the skill %q: a bundle that is found by name has the name of its file", f.Path, s.Name())
	}
	return s, err
}

// layers is the folder of contract files that a person laid over a skill for
// good: overrides/NAME beside their configuration.
func (h *Host) layers(name string) ([]string, error) {
	dir := filepath.Join(h.config, "overrides", name)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fault.New(fault.Usage, "the override folder %q cannot be read: %w", dir, err)
	case !info.IsDir():
		return nil, fault.New(fault.Usage, "the override %q is no folder", dir)
	}
	// What lies here decides what a skill may do, of an installed one too.
	if err := store.Guarded(dir); err != nil {
		return nil, fault.New(fault.Stopped, "the override folder %q decides what the skill %s may do, but others can change it: %w", dir, name, err).
			Hint("%s", store.Closing(err, "-R go-w", dir))
	}
	return []string{dir}, nil
}

// Skills lists every skill that can be named.
func (h *Host) Skills(ctx context.Context) ([]Found, error) {
	found, err := h.named()
	if err != nil {
		return nil, err
	}
	for i, f := range found {
		layers, err := h.layers(f.Name)
		if err == nil {
			found[i].Skill, err = h.loadFound(f, layers)
		}
		found[i].Err = err
	}
	return found, nil
}

// named lists what can be named, by name. The first place that has a name
// wins: what was installed, what is shipped, what --skills adds.
func (h *Host) named() ([]Found, error) {
	var found []Found
	seen := map[string]bool{}
	add := func(f Found) {
		if !seen[f.Name] {
			seen[f.Name] = true
			found = append(found, f)
		}
	}
	installed, err := h.store.Entries()
	if err != nil {
		return nil, err
	}
	for _, e := range installed {
		if e.Kind == bundle.KindSkill {
			add(Found{Name: e.Name, Path: h.store.Path(e), From: "installed", Signer: e.Signer, Unsigned: e.Unsigned, entry: &e})
		}
	}
	for _, p := range h.places() {
		for _, f := range p.bundles(bundle.KindSkill) {
			add(Found{Name: f.name, Path: f.path, From: p.from})
		}
	}
	slices.SortFunc(found, func(a, b Found) int { return strings.Compare(a.Name, b.Name) })
	return found, nil
}

// place is a folder in which skills and engines are found by name.
type place struct{ dir, from string }

// shipped is where a place beside the executable is from.
const shipped = "shipped"

// places are those beside the executable and those of --skills. An executable
// in a folder called bin has its skills beside that.
func (h *Host) places() []place {
	var all []place
	if exe, err := executable(); err == nil {
		dir := filepath.Dir(exe)
		all = append(all, place{filepath.Join(dir, "wasm"), shipped})
		if filepath.Base(dir) == "bin" {
			all = append(all, place{filepath.Join(filepath.Dir(dir), "wasm"), shipped})
		}
	}
	for _, dir := range h.skills {
		all = append(all, place{dir, "--skills"})
	}
	return all
}

func executable() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		exe = real
	}
	return exe, nil
}

// guardShipped refuses a skill or an engine beside the executable that somebody
// else could have put there: it would be taken for a part of stepbox.
func guardShipped(path string) error {
	exe, err := executable()
	if err != nil {
		return fault.New(fault.Internal, "where is stepbox itself: %w", err)
	}
	paths := []string{filepath.Dir(path)}
	err = filepath.WalkDir(path, func(below string, _ fs.DirEntry, err error) error {
		paths = append(paths, below)
		return err
	})
	if err == nil {
		err = store.Shipped(exe, paths...)
	}
	if err != nil {
		return fault.New(fault.Stopped, "what lies beside stepbox is taken for a part of it, but %w", err).
			Hint("take that right away with chmod go-w, or put stepbox and its wasm folder where only you can write")
	}
	return nil
}

type namedFile struct{ name, path string }

// bundles lists what a place holds of a kind: NAME.wasm, and for skills also
// NAME/ with a contract in it. What is called otherwise has to be named by its
// path: a name ends up in shells, lists and messages.
func (p place) bundles(kind string) []namedFile {
	entries, err := os.ReadDir(p.dir)
	if err != nil { // a place that is not there holds nothing
		return nil
	}
	var list []namedFile
	for _, e := range entries {
		path := filepath.Join(p.dir, e.Name())
		name, isFile := strings.CutSuffix(e.Name(), ".wasm")
		isFile = isFile && !isFolder(path)
		if !isFile {
			name = e.Name()
		}
		switch {
		case !bundle.ValidName(name):
		case isFile && skill.Kind(path) == kind:
			list = append(list, namedFile{name, path})
		case !isFile && kind == bundle.KindSkill:
			if _, err := os.Stat(filepath.Join(path, "skill.yaml")); err == nil {
				list = append(list, namedFile{name, path})
			}
		}
	}
	return list
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Retrieve ranks tools for an utterance, of one skill or of all.
func (h *Host) Retrieve(ctx context.Context, skillName, utterance string, k int) ([]retrieval.Hit, error) {
	c := &catalogue{host: h}
	if skillName == "" {
		_, all, err := c.competitors(ctx)
		if err != nil {
			return nil, err
		}
		return all.Search(utterance, k), nil
	}
	s, err := h.Skill(ctx, skillName)
	if err != nil {
		return nil, err
	}
	return c.indexed(s).Search(utterance, k), nil
}
