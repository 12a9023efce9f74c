// Package host is stepbox as a library: one Host turns requests into reviewed
// plans, runs them in the sandbox, and commits what was approved.
// pipeline.go lists the stages of a request from top to bottom.
//
// A program that embeds stepbox calls RunWorkerIfAsked first in main (and in
// TestMain): the worker is a copy of its own executable.
package host

import (
	"context"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/host/commit"
	"stepbox.dev/host/event"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/retrieval"
	"stepbox.dev/host/skill"
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
	// Skills are further folders to find skills in, by name.
	Skills []string
	// Overrides are folders of contract files laid over every skill that is
	// named.
	Overrides []string
}

// Host is the façade. It is safe for concurrent use.
type Host struct{}

// New opens a host and finishes what an earlier crash interrupted.
func New(ctx context.Context, o Options) (*Host, error) { panic("to be built") }

// Request is what somebody wants.
type Request struct {
	Skill     string // a name or a path; "" lets all known skills compete
	Utterance string
	// Plan is a given plan, for exec; the request is then not planned.
	Plan    []byte
	Sandbox string // default: the working directory
	Files   []string
	Planner string // auto (default), embedded
	// DryRun shows the changes and throws the stage away.
	DryRun bool
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
}

// Run takes a request from words to committed changes. The returned error's
// kind (fault.Of) is the outcome; the last event is always event.End.
func (h *Host) Run(ctx context.Context, r Request, p Person, e event.Handler) (Result, error) {
	panic("to be built")
}

// Planned is the answer of Plan, as plan --json prints it.
type Planned struct {
	Outcome     string            `json:"outcome"` // plan, clarify, reject
	Skill       string            `json:"skill"`
	Plan        []abi.Call        `json:"plan"`
	Question    string            `json:"question,omitempty"`
	Candidates  []string          `json:"candidates,omitempty"`
	Reason      string            `json:"reason,omitempty"`
	Retrieved   []retrieval.Hit   `json:"retrieved"`
	Program     *PlannedProgram   `json:"program,omitempty"`
	Diagnostics []plan.Diagnostic `json:"diagnostics"`
	Planner     string            `json:"planner"`
	Confidence  float64           `json:"confidence"`
	// Summaries is one sentence for each call; May is what its steps may do.
	Summaries []string `json:"-"`
	May       []string `json:"-"`
}

// PlannedProgram is the expanded plan.
type PlannedProgram struct {
	Digest string     `json:"digest"`
	Calls  []abi.Call `json:"calls"`
}

// Plan plans a request and runs nothing but, with expanded, the intents'
// expansion. A question or a refusal is not an error. Planned is useful even
// with one: its diagnostics say what does not validate.
func (h *Host) Plan(ctx context.Context, r Request, expanded bool, e event.Handler) (Planned, error) {
	panic("to be built")
}

// CommitOptions of Commit.
type CommitOptions struct {
	// Digest, when set, must be that of the changes.
	Digest string
	// Partial commits what the calls that ended well made in a run that failed.
	Partial        bool
	AllowProtected []string
}

// Commit commits what an earlier run staged. Nothing is run again.
func (h *Host) Commit(ctx context.Context, id string, o CommitOptions, p Person, e event.Handler) (Result, error) {
	panic("to be built")
}

// Undo takes a committed run back, file by file.
func (h *Host) Undo(ctx context.Context, id string, dryRun bool, e event.Handler) (commit.Undone, error) {
	panic("to be built")
}

// RunInfo is one run in a listing.
type RunInfo struct {
	ID      string    `json:"id"`
	Began   time.Time `json:"began"`
	Verb    string    `json:"verb"`
	Request string    `json:"request"`
	Skill   string    `json:"skill"`
	Sandbox string    `json:"sandbox"`
	// Status: running, waiting (for approval), committed, failed, declined,
	// dry, undone, interrupted.
	Status string `json:"status"`
	Digest string `json:"digest,omitempty"`
	// Bytes is what the run keeps on disk.
	Bytes   int64           `json:"bytes"`
	Changes []commit.Change `json:"changes,omitempty"` // not in lists
	Plan    []abi.Call      `json:"plan,omitempty"`    // not in lists
	Error   string          `json:"error,omitempty"`
}

// Runs lists runs, newest first.
func (h *Host) Runs(ctx context.Context) ([]RunInfo, error) { panic("to be built") }

// ShowRun returns one run whole.
func (h *Host) ShowRun(ctx context.Context, id string) (RunInfo, error) { panic("to be built") }

// Prune removes runs that nothing needs any more: older than age, and the
// oldest until at most size bytes are kept. It returns what it removed.
func (h *Host) Prune(ctx context.Context, age time.Duration, size int64) ([]RunInfo, error) {
	panic("to be built")
}

// Retrieve ranks tools for an utterance.
func (h *Host) Retrieve(ctx context.Context, skillName, utterance string, k int) ([]retrieval.Hit, error) {
	panic("to be built")
}

// Found is a skill that can be named, and where it was found.
type Found struct {
	Name string
	Path string
	From string // installed, shipped, --skills
	// Err is why it cannot be loaded; Skill is nil then.
	Err   error
	Skill *skill.Skill
}

// Skills lists every skill that can be named.
func (h *Host) Skills(ctx context.Context) ([]Found, error) { panic("to be built") }

// Skill finds and loads one, by name or path.
func (h *Host) Skill(ctx context.Context, name string) (*skill.Skill, error) { panic("to be built") }

// Walls says which walls stand on this machine.
func (h *Host) Walls(ctx context.Context) ([]worker.Wall, error) { return worker.Walls(ctx) }
