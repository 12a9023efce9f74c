// Package host is stepbox as a library: one Host turns requests into reviewed
// plans, runs them in the sandbox, and commits what was approved.
// pipeline.go lists the stages of a request from top to bottom.
//
// A program that embeds stepbox calls RunWorkerIfAsked first in main (and in
// TestMain): the worker is a copy of its own executable.
package host

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/host/commit"
	"stepbox.dev/host/config"
	"stepbox.dev/host/event"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/store"
	"stepbox.dev/host/worker"
)

// RunWorkerIfAsked turns the process into a worker when it was started as one,
// and then never returns.
func RunWorkerIfAsked() { worker.RunIfAsked() }

// Options of New. The zero value uses the person's own folders.
type Options struct {
	// State holds runs, journals and undo data. Default:
	// $XDG_STATE_HOME/stepbox, else ~/.local/state/stepbox.
	State string
	// Cache holds compiled modules and built skills. Default:
	// $XDG_CACHE_HOME/stepbox, else ~/.cache/stepbox.
	Cache string
	// Data holds installed bundles and the key ring. Default:
	// $XDG_DATA_HOME/stepbox, else ~/.local/share/stepbox.
	Data string
	// Config holds the person's overrides/NAME. Default:
	// $XDG_CONFIG_HOME/stepbox, else ~/.config/stepbox.
	Config string
	// Settings say who plans, and which model may be asked.
	Settings config.Settings
	// Skills are further folders to find skills in, by name.
	Skills []string
	// Overrides are folders of contract files laid over every skill that is
	// named.
	Overrides []string
}

// Host is the façade. It is safe for concurrent use.
type Host struct {
	state, cache, config string
	settings             config.Settings
	skills               []string
	overrides            []string
	compiled             func() (*worker.Cache, error)
	store                *store.Store
	trouble              error
}

// Trouble is what could not be finished of an interrupted commit, or nil. Its
// sandbox stays as it is until that is settled; everything else works.
func (h *Host) Trouble() error { return h.trouble }

// New opens a host and finishes what an earlier crash interrupted.
func New(ctx context.Context, o Options) (*Host, error) {
	h := &Host{state: o.State, cache: o.Cache, config: o.Config, settings: o.Settings, skills: o.Skills, overrides: o.Overrides}
	data := o.Data
	var err error
	for _, f := range []struct {
		dir                *string
		variable, fallback string
	}{
		{&h.state, "XDG_STATE_HOME", ".local/state"}, {&h.cache, "XDG_CACHE_HOME", ".cache"},
		{&data, "XDG_DATA_HOME", ".local/share"}, {&h.config, "XDG_CONFIG_HOME", ".config"},
	} {
		if *f.dir == "" {
			if *f.dir, err = personal(f.variable, f.fallback); err != nil {
				return nil, err
			}
		}
	}
	h.store = store.New(data)
	// Nothing is made before it is needed: the folders may turn out to lie in a
	// sandbox, which is refused and left as it is.
	h.compiled = sync.OnceValues(h.openCache)
	// A damaged journal must not lock its owner out of everything else: commits
	// and undos in the sandbox it is about are refused, with the reason.
	h.trouble = commit.Recover(ctx, h.state)
	return h, nil
}

// compiledName is the folder of compiled modules in the cache folder.
const compiledName = "compiled"

func (h *Host) openCache() (*worker.Cache, error) {
	if err := os.MkdirAll(h.cache, 0o700); err != nil {
		return nil, fault.New(fault.Usage, "cache folder: %w", err).
			Hint("set XDG_CACHE_HOME to a folder that can be written")
	}
	c, err := worker.OpenCache(filepath.Join(h.cache, compiledName))
	if err == nil {
		c.AllowMissingWalls = h.settings.MissingWalls == "allow"
	}
	return c, err
}

// personal is stepbox's folder below the one that the environment variable
// names, or below the fallback in the person's home.
func personal(variable, fallback string) (string, error) {
	if dir := os.Getenv(variable); filepath.IsAbs(dir) {
		return filepath.Join(dir, "stepbox"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fault.New(fault.Usage, "no home folder: %w", err).Hint("set HOME or %s", variable)
	}
	return filepath.Join(home, fallback, "stepbox"), nil
}

// State is the folder that holds runs, journals and undo data.
func (h *Host) State() string { return h.state }

// Cache is the folder that holds compiled modules and built skills.
func (h *Host) Cache() string { return h.cache }

// Store is what was installed, and the key ring.
func (h *Host) Store() *store.Store { return h.store }

// Request is what somebody wants.
type Request struct {
	Skill     string // a name or a path; "" lets all known skills compete
	Utterance string
	// Plan is a given plan, for exec; the request is then not planned.
	Plan    []byte
	Sandbox string // default: the working directory
	Files   []string
	Planner string // auto, embedded, openai, ollama, mock; "" is that of the settings
	Model   string // that is asked; "" is that of the settings
	// Replan is how often a model may plan on from the results of what ran,
	// until it says that nothing is left. Each turn is a run of its own, with
	// its own changes to approve.
	Replan int
	// DryRun shows the changes and throws the stage away.
	DryRun bool
	// Rehearse makes the steps of a dry run do all that they would do: they are
	// not told that it is one.
	Rehearse bool
	// Yes approves changes that are not protected.
	Yes bool
	// Step asks for each intent before it runs.
	Step bool
	// AllowProtected names protected changes that are approved.
	AllowProtected []string
	// Timeout of the whole run; 0 means none. It rests while a person is asked.
	Timeout time.Duration
}

// Person answers questions. A nil Person is nobody: every question ends the
// run with its exit code.
type Person interface {
	// Clarify asks for what is missing; the answer becomes part of the
	// request. An empty answer gives up.
	Clarify(ctx context.Context, d event.Decision) (string, error)
	// Approve asks about exactly these changes. names are the protected
	// changes among them that were agreed to.
	Approve(ctx context.Context, c *commit.Changes) (yes bool, names []string, err error)
	// Proceed asks before an intent runs (Request.Step).
	Proceed(ctx context.Context, summary string) (bool, error)
	// Confirm is a guest's own question.
	Confirm(ctx context.Context, r abi.ConfirmRequest) (bool, error)
}

// Result is how a run ended. The events say the rest.
type Result struct {
	RunID   string
	Digest  string
	Changes []commit.Change
	Results []abi.CallResult
	// Calls says of which call of the plan each of Results is.
	Calls []int
}

// Walls says which walls stand on this machine.
func (h *Host) Walls(ctx context.Context) ([]worker.Wall, error) { return worker.Walls(ctx) }
