package host

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/retrieval"
	"stepbox.dev/host/skill"
)

// Found is a skill that can be named, and where it was found.
type Found struct {
	Name string
	Path string
	From string // shipped, --skills
	// Err is why it cannot be loaded; Skill is nil then.
	Err   error
	Skill *skill.Skill
}

// Skill finds and loads one skill, by name or path.
//
// An explicit path (anything with a slash, or a name that ends in .wasm) is
// taken as it is. A bare name is never looked up in the working directory: a
// downloaded folder must not shadow a skill.
func (h *Host) Skill(ctx context.Context, name string) (*skill.Skill, error) {
	path := name
	if !isPath(name) {
		found := h.named()
		i := slices.IndexFunc(found, func(f Found) bool { return f.Name == name })
		if i < 0 {
			var names []string
			for _, f := range found {
				names = append(names, f.Name)
			}
			err := fault.New(fault.Usage, "unknown skill %q", name)
			if len(names) == 0 {
				return nil, err.Hint("no skill is shipped beside the executable; name a folder, for example ./skills/%s, or give --skills DIR", name)
			}
			return nil, err.Hint("known skills: %s; a folder is named with a slash, for example ./%s", strings.Join(names, ", "), name)
		}
		path = found[i].Path
	}
	return skill.Load(path, skill.Options{Overrides: h.overrides})
}

func isPath(name string) bool {
	return strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) ||
		strings.HasSuffix(name, ".wasm") || name == "." || name == ".."
}

// Skills lists every skill that can be named.
func (h *Host) Skills(ctx context.Context) ([]Found, error) {
	found := h.named()
	for i := range found {
		found[i].Skill, found[i].Err = skill.Load(found[i].Path, skill.Options{})
	}
	return found, nil
}

// named lists the folders that hold a contract, by name. The first place that
// has a name wins.
func (h *Host) named() []Found {
	var found []Found
	seen := map[string]bool{}
	add := func(dir, from string) {
		entries, err := os.ReadDir(dir)
		if err != nil { // a place that is not there holds no skills
			return
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			if _, err := os.Stat(filepath.Join(path, "skill.yaml")); err != nil || seen[e.Name()] {
				continue
			}
			seen[e.Name()] = true
			found = append(found, Found{Name: e.Name(), Path: path, From: from})
		}
	}
	if exe, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(exe); err == nil {
			exe = real
		}
		dir := filepath.Dir(exe)
		add(filepath.Join(dir, "wasm"), "shipped")
		add(filepath.Join(filepath.Dir(dir), "wasm"), "shipped")
	}
	for _, dir := range h.skills {
		add(dir, "--skills")
	}
	slices.SortFunc(found, func(a, b Found) int { return strings.Compare(a.Name, b.Name) })
	return found
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
