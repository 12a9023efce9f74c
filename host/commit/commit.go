// Package commit is what the host does with a stage: it reads the stage back as
// hostile data, computes the exact changes, checks them against the program's
// declarations, applies them with a journal, and can undo them. No other code
// writes to a sandbox.
package commit

import (
	"context"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/host/plan"
)

// Kind of a change.
type Kind string

// The kinds of change.
const (
	Create  Kind = "create"
	Replace Kind = "replace"
	Move    Kind = "move"
	Delete  Kind = "delete"
	Touch   Kind = "touch" // only its times change
)

// Entry is what a change is about.
type Entry string

// The entries.
const (
	File   Entry = "file"
	Folder Entry = "folder"
	Link   Entry = "link"
)

// Change is one thing that a stage would do to the sandbox. Paths are slash
// paths below its root, raw bytes: clean them before printing.
type Change struct {
	Kind  Kind   `json:"kind"`
	Entry Entry  `json:"entry"`
	Path  string `json:"path"`
	From  string `json:"from,omitempty"` // of a move
	Size  int64  `json:"size"`           // bytes after the change; before it, of a delete
	// Protected says why this change needs an answer of its own; "" when it
	// does not.
	Protected string `json:"protected,omitempty"`
}

// Changes is the exact list of what a stage would do, sorted by path. Only
// Read makes one.
type Changes struct {
	list   []Change
	digest plan.Digest
	run    *Run
}

// List returns the changes, to read.
func (c *Changes) List() []Change { return c.list }

// Digest covers program, sandbox identity and every change.
func (c *Changes) Digest() plan.Digest { return c.digest }

// Safe reports whether the changes only add and every step that made them is
// declared safe or readonly: no question is needed.
func (c *Changes) Safe() bool { panic("to be built") }

// Empty reports whether there is nothing to do.
func (c *Changes) Empty() bool { return len(c.list) == 0 }

// Protected returns the changes that need an answer of their own.
func (c *Changes) Protected() []Change { panic("to be built") }

// Run is the folder of one run: its stage, journal and undo data.
type Run struct {
	ID string
	// Dir is the run's folder in the state folder.
	Dir string
	// Data is the folder that holds stage and undo data: Dir, or a folder below
	// .stepbox in the sandbox when renames from Dir do not work.
	Data    string
	Sandbox string
	Began   time.Time
}

// Begin makes the run's folders for a sandbox: checks the sandbox, probes
// where a rename into it works, and records its identity. A crashed commit in
// the same sandbox is recovered first.
func Begin(ctx context.Context, state, sandbox string) (*Run, error) { panic("to be built") }

// Open finds an earlier run.
func Open(state, id string) (*Run, error) { panic("to be built") }

// StageDir is the folder a worker may write to.
func (r *Run) StageDir() string { panic("to be built") }

// Source is what the stage is checked against. The host keeps it in the run's
// record, so that a later commit needs no skill.
type Source struct {
	// Program is the digest of the program that ran.
	Program plan.Digest
	// Tools and Modes of the calls, by index, as declared.
	Tools []string
	Modes []abi.Mode
	// Partial reads only what sealed calls made.
	Partial bool
	// Extra is covered by the digest: skill and engine digests, limits,
	// override layers.
	Extra []string
}

// Read replays the stage, computes the changes and checks them: declarations,
// quotas, protected names, links that lead out, conflicts. Every worker of the
// run must be gone. Its errors are fault.Stopped (declarations, hostile stage)
// or fault.CheckFailed (conflicts, with the names).
func Read(ctx context.Context, r *Run, s Source) (*Changes, error) { panic("to be built") }

// Approval is what Apply needs: proof that a person, or the rule for safe
// programs, agreed to exactly these changes. host/approval makes them.
type Approval interface {
	// Redeem uses the approval up. It fails when it was used or is for another
	// digest.
	Redeem(digest plan.Digest) error
}

// Committed is what Apply did.
type Committed struct {
	Changes []Change
	Bytes   int64
}

// Apply commits the changes: journalled, atomic per file, keeping what undo
// needs. progress may be nil.
func Apply(ctx context.Context, c *Changes, a Approval, progress func(done, total int)) (Committed, error) {
	panic("to be built")
}

// Undone is what Undo did or would do.
type Undone struct {
	Changes []Change
	Refused []Refusal
}

// Refusal is a change that could not be taken back.
type Refusal struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Undo reverses a committed run. With dryRun it only says what it would do.
func Undo(ctx context.Context, r *Run, dryRun bool) (Undone, error) { panic("to be built") }

// Discard throws a run's stage away. A committed run keeps its undo data until
// it is pruned.
func Discard(r *Run) error { panic("to be built") }

// Recover finishes or rolls back commits that a crash interrupted. It is called
// at every start, takes microseconds when there is nothing to do, and leaves
// runs alone whose process is alive.
func Recover(ctx context.Context, state string) error { panic("to be built") }
