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

// choose finds the skill of a request: the one it names, else the winner of
// all that are known and not stale.
func (h *Host) choose(ctx context.Context, name, utterance string) (s *skill.Skill, competed bool, err error) {
	if name != "" {
		s, err = h.Skill(ctx, name)
		return s, false, err
	}
	all, err := h.competitors(ctx)
	if err != nil {
		return nil, true, err
	}
	best := retrieval.New(all).Skills(utterance)
	if len(best) == 0 {
		return nil, true, fault.New(fault.Refused, "no known skill can do that").
			Hint("`stepbox skills list` says what the known skills do")
	}
	i := slices.IndexFunc(all, func(s *skill.Skill) bool { return s.Name() == best[0].Skill })
	return all[i], true, nil
}

func (h *Host) competitors(ctx context.Context) ([]*skill.Skill, error) {
	found, err := h.Skills(ctx)
	if err != nil {
		return nil, err
	}
	var all []*skill.Skill
	for _, f := range found {
		if f.Err == nil && !f.Skill.Stale() {
			all = append(all, f.Skill)
		}
	}
	if len(all) == 0 {
		return nil, fault.New(fault.Usage, "no skill is known").
			Hint("name a skill's folder, for example ./skills/files, or give --skills DIR")
	}
	return all, nil
}

// Retrieve ranks tools for an utterance, of one skill or of all.
func (h *Host) Retrieve(ctx context.Context, skillName, utterance string, k int) ([]retrieval.Hit, error) {
	var all []*skill.Skill
	if skillName == "" {
		var err error
		if all, err = h.competitors(ctx); err != nil {
			return nil, err
		}
	} else {
		s, err := h.Skill(ctx, skillName)
		if err != nil {
			return nil, err
		}
		all = []*skill.Skill{s}
	}
	return retrieval.New(all).Search(utterance, k), nil
}
