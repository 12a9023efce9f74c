package evaluate

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"stepbox.dev/abi"
	"stepbox.dev/host"
	"stepbox.dev/host/commit"
	"stepbox.dev/host/event"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/skill"
)

// Rehearsal runs plans of a skill on a folder that none of them changes. A plan
// with a fixture runs in a folder of its own with that file, those of Sandbox
// that it reads, and nothing else. What it reads and is nowhere is the fixture
// under that name when it reads nothing else, or when the name is that of another
// fixture; else it is missing, as it would be in a run. Plans without a fixture
// run on a stage of Sandbox.
type Rehearsal struct {
	Host    *host.Host
	Skill   string // name or path
	Sandbox string
	Scratch string // a folder for the folders of plans
}

// Rehearse implements Runner. Whoever is asked in the middle of a plan says yes.
func (r Rehearsal) Rehearse(ctx context.Context, t Trial) (host.Result, error) {
	from, err := os.OpenRoot(r.Sandbox)
	if err != nil {
		return host.Result{}, fault.New(fault.Usage, "sandbox %q: %w", r.Sandbox, err)
	}
	defer from.Close()
	dir := r.Sandbox
	if t.Fixture == "" {
		for _, name := range t.Reads {
			if _, err := from.Stat(name); errors.Is(err, fs.ErrNotExist) {
				return host.Result{}, MissingError{name}
			}
		}
	} else {
		if dir, err = os.MkdirTemp(r.Scratch, "run-"); err != nil {
			return host.Result{}, err
		}
		defer os.RemoveAll(dir)
		if err := furnish(from, dir, t); err != nil {
			return host.Result{}, err
		}
	}
	return r.Host.Run(ctx, host.Request{Skill: r.Skill, Sandbox: dir, Plan: t.Plan, DryRun: true, Rehearse: true, Yes: true}, agreeable{}, event.Discard)
}

// furnish copies into a folder what a plan runs on. Names are those of a corpus
// and of a plan: none leads out of the folders.
func furnish(from *os.Root, dir string, t Trial) error {
	to, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer to.Close()
	there := false
	for _, name := range append([]string{t.Fixture}, t.Reads...) {
		file, err := place(from, to, name, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fault.New(fault.Usage, "%q: %w", name, err)
		}
		there = there || file
	}
	if !there {
		return MissingError{t.Fixture}
	}
	alone := !slices.ContainsFunc(t.Reads, func(name string) bool { _, err := from.Stat(name); return err == nil })
	for _, name := range t.Reads {
		if _, err := to.Stat(name); err == nil || !alone && !t.Fixtures[name] {
			continue
		}
		switch _, err := place(from, to, t.Fixture, name); {
		case errors.Is(err, fs.ErrNotExist):
			return MissingError{name}
		case err != nil:
			return fault.New(fault.Usage, "%q: %w", name, err)
		}
	}
	return nil
}

// place copies a file; of a folder it makes one that is empty.
func place(from, to *os.Root, name, as string) (file bool, err error) {
	info, err := from.Stat(name)
	if err != nil {
		return false, err
	}
	if info.IsDir() {
		return false, to.MkdirAll(as, 0o755)
	}
	if !info.Mode().IsRegular() {
		return false, errors.New("it is not a regular file")
	}
	data, err := from.ReadFile(name)
	if err != nil {
		return false, err
	}
	if err := to.MkdirAll(path.Dir(as), 0o755); err != nil {
		return false, err
	}
	return true, to.WriteFile(as, data, 0o644)
}

// agreeable says yes to whatever a step asks: nothing of what it does is kept.
type agreeable struct{}

func (agreeable) Clarify(context.Context, event.Decision) (string, error) { return "", nil }
func (agreeable) Proceed(context.Context, string) (bool, error)           { return true, nil }
func (agreeable) Approve(context.Context, *commit.Changes) (bool, []string, error) {
	return true, nil, nil
}
func (agreeable) Confirm(context.Context, abi.ConfirmRequest) (bool, error) { return true, nil }

// The skill in this folder of a source skill makes the files that its corpora
// are about, with this tool.
const (
	fixturesFolder = "testdata/fixtures"
	fixturesTool   = "make_fixtures"
)

// Fixtures is the folder of the skill that makes the files of a skill's
// corpora; "" when it brings none.
func Fixtures(s *skill.Skill) string {
	dir := filepath.Join(s.Dir(), filepath.FromSlash(fixturesFolder))
	if _, err := os.Stat(filepath.Join(dir, "skill.yaml")); err != nil || !s.Source() {
		return ""
	}
	return dir
}

// MakeFixtures runs the skill in a folder that Fixtures named, on an empty
// sandbox.
func MakeFixtures(ctx context.Context, h *host.Host, dir, sandbox string, e event.Handler) error {
	plan := []byte(`{"plan":[{"tool":"` + fixturesTool + `","args":{}}]}`)
	_, err := h.Run(ctx, host.Request{Skill: dir, Sandbox: sandbox, Plan: plan}, nil, e)
	return err
}
