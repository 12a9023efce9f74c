// Package event is the versioned stream of what a run does: everything a front
// end needs to show it. One Handler, many renderers; this package has the JSON
// one.
package event

import (
	"encoding/json"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/host/commit"
)

// Version of the stream, in its first event.
const Version = 1

// Handler receives events in order, one at a time. An error ends the run.
type Handler interface {
	Handle(e Event) error
}

// Discard is a Handler that drops everything.
var Discard Handler = discard{}

type discard struct{}

func (discard) Handle(Event) error { return nil }

// Event is one of the event types of this package.
type Event interface {
	// Type is the event's name in the stream.
	Type() string
}

// Start is the first event.
type Start struct {
	Version int    `json:"version"`
	Verb    string `json:"verb"`             // run, exec, commit, undo
	RunID   string `json:"run_id,omitempty"` // of commit and undo; a new run's is in the last event
	Sandbox string `json:"sandbox"`
	Request string `json:"request,omitempty"`
}

// Notice is something a person may want to know: a build or a compile that
// takes a moment, a wall that does not stand.
type Notice struct {
	Message string `json:"message"`
}

// Retrieved is the skill that won and the tools that match.
type Retrieved struct {
	Skill string `json:"skill"`
	Tools []Tool `json:"tools"`
	// Competed says that no skill was named.
	Competed bool `json:"competed"`
}

// Tool is a retrieved tool.
type Tool struct {
	Tool  string  `json:"tool"`
	Score float64 `json:"score"`
}

// Asking is sent when a model is asked for a plan, and again while it answers.
type Asking struct {
	Planner string `json:"planner"`
	Model   string `json:"model"`
	Why     string `json:"why,omitempty"` // it is asked
	Bytes   int    `json:"bytes"`         // of the answer so far
}

// Planned is the validated plan.
type Planned struct {
	Planner    string     `json:"planner"`
	Model      string     `json:"model,omitempty"` // that was asked
	Why        string     `json:"why,omitempty"`   // this planner planned, when there was a choice
	Confidence float64    `json:"confidence"`      // 0: the planner cannot tell
	Plan       []abi.Call `json:"plan"`
	// Summaries is one sentence for each call.
	Summaries []string `json:"summaries"`
	// May is the mode that the call's steps may use, in the same order.
	May   []string `json:"may"`
	Skill string   `json:"skill"`
}

// Decision is a gate's answer when it is not to go on.
type Decision struct {
	Outcome string `json:"outcome"` // clarify, reject
	// From is whose words the question or the reason is: "the skill files", "the
	// model"; "" is stepbox itself.
	From       string   `json:"from,omitempty"`
	Question   string   `json:"question,omitempty"`
	Candidates []string `json:"candidates,omitempty"`
	Reason     string   `json:"reason,omitempty"`
}

// Program is the expanded plan, frozen.
type Program struct {
	Digest string     `json:"digest"`
	Calls  []abi.Call `json:"calls"`
}

// StepStart is sent before a step runs.
type StepStart struct {
	Call int            `json:"call"`
	Tool string         `json:"tool"`
	Args map[string]any `json:"args"` // variables resolved
	Of   int            `json:"of"`   // how many calls there are
}

// Progress is how far a step has come.
type Progress struct {
	Call int `json:"call"`
	abi.Progress
}

// Output is a line that a guest printed.
type Output struct {
	Line string `json:"line"`
}

// StepEnd is sent after a step.
type StepEnd struct {
	Call   int             `json:"call"`
	Tool   string          `json:"tool"`
	OK     bool            `json:"ok"`
	Result json.RawMessage `json:"result,omitempty"`
	// Verified is whether the step looked at what it made and found it as it
	// should be, nil when it did not look. False makes the step fail, and Issues
	// say why.
	Verified *bool         `json:"verified,omitempty"`
	Issues   []string      `json:"issues,omitempty"`
	Error    string        `json:"error,omitempty"`
	Elapsed  time.Duration `json:"elapsed_ns"`
}

// Changes is what the stage would do.
type Changes struct {
	Digest  string          `json:"digest"`
	Changes []commit.Change `json:"changes"`
	Safe    bool            `json:"safe"`
	DryRun  bool            `json:"dry_run"`
}

// Confirm is a question in the middle of a run, of the plan or of a guest: asked
// (Given nil) and answered.
type Confirm struct {
	Call    int    `json:"call"`
	Prompt  string `json:"prompt,omitempty"`
	Preview string `json:"preview,omitempty"`
	// Staged are copies of the files that the calls before have made, to be
	// looked at: absolute paths, gone when the run ends.
	Staged []string `json:"staged,omitempty"`
	Given  *bool    `json:"given,omitempty"`
}

// Approval is asked for (Given nil) and answered.
type Approval struct {
	Digest string `json:"digest"`
	Given  *bool  `json:"given,omitempty"`
	By     string `json:"by,omitempty"` // safe (the rule for changes that only add), flags, person
}

// Committing is how far a commit has come, in operations.
type Committing struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}

// Committed is what a commit did.
type Committed struct {
	Changes int   `json:"changes"`
	Bytes   int64 `json:"bytes"`
}

// Undone is what an undo did.
type Undone struct {
	Changes []commit.Change  `json:"changes"`
	Refused []commit.Refusal `json:"refused"`
	DryRun  bool             `json:"dry_run"`
}

// Result is the skill's own words about what happened.
type Result struct {
	Items []abi.Item `json:"items"`
}

// Turn is sent between two turns of a request that a model plans on: what ran
// so far is a run of its own.
type Turn struct {
	Turn  int    `json:"turn"` // the one that begins, from 2
	RunID string `json:"run_id"`
}

// End is the last event, always.
type End struct {
	// Outcome: done, clarify, reject, not_approved, step_failed, stopped,
	// conflict, timeout, interrupted, usage, internal.
	Outcome  string `json:"outcome"`
	ExitCode int    `json:"exit_code"`
	RunID    string `json:"run_id"`
	// Digest is what a commit of a run that waits for approval must name.
	Digest string `json:"digest,omitempty"`
	Error  string `json:"error,omitempty"`
	Next   string `json:"next,omitempty"` // what the person can do
}

// Type implements Event.
func (Start) Type() string { return "start" }

// Type implements Event.
func (Notice) Type() string { return "notice" }

// Type implements Event.
func (Retrieved) Type() string { return "retrieved" }

// Type implements Event.
func (Asking) Type() string { return "asking" }

// Type implements Event.
func (Turn) Type() string { return "turn" }

// Type implements Event.
func (Planned) Type() string { return "planned" }

// Type implements Event.
func (Decision) Type() string { return "decision" }

// Type implements Event.
func (Program) Type() string { return "program" }

// Type implements Event.
func (StepStart) Type() string { return "step_start" }

// Type implements Event.
func (Progress) Type() string { return "progress" }

// Type implements Event.
func (Output) Type() string { return "output" }

// Type implements Event.
func (StepEnd) Type() string { return "step_end" }

// Type implements Event.
func (Changes) Type() string { return "changes" }

// Type implements Event.
func (Confirm) Type() string { return "confirm" }

// Type implements Event.
func (Approval) Type() string { return "approval" }

// Type implements Event.
func (Committing) Type() string { return "committing" }

// Type implements Event.
func (Committed) Type() string { return "committed" }

// Type implements Event.
func (Undone) Type() string { return "undone" }

// Type implements Event.
func (Result) Type() string { return "result" }

// Type implements Event.
func (End) Type() string { return "end" }
