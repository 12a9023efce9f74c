// Package commit is what the host does with a stage: it reads the stage back as
// hostile data, computes the exact changes, checks them against the program's
// declarations, applies them with a journal, and can undo them. No other code
// writes to a sandbox.
//
// A run's data folder, on the same mount as the sandbox, holds:
//
//	stage/          what the worker wrote: the log and the blobs
//	undo/N          what item N of the commit is while it is not in the sandbox
//	journal         everything a commit will do, written before it does any of it
//	at.N            empty: every operation before the N-th is done
//	done            the journal of a commit that ended
//	aftermath       what the sandbox looked like then, for undo to compare with
//
// A commit is a list of renames. What goes or moves is detached first, deepest
// first; what comes or moves is attached then, top-down; a file that replaces
// another trades places with it. After a crash the journal's name says which
// way to go on, and the few operations behind the marker are the only ones in
// doubt: whether one of them is done shows in undo/, where nobody else writes.
// Every object is looked at after its capture, so what somebody changed in
// between turns the commit back instead of getting lost.
//
// Power loss: content is synced before the journal, the journal before the
// first rename. Marker and operations are renames on one file system, which
// journalling file systems keep in order; the end is synced before it is
// reported.
package commit

import (
	"crypto/sha256"

	"stepbox.dev/abi"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/stage"
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

// UnknownSize is the size of a file that is not made yet.
const UnknownSize = -1

// Change is one thing that a stage would do to the sandbox. Paths are slash
// paths below its root, raw bytes: clean them before printing.
type Change struct {
	Kind  Kind   `json:"kind"`
	Entry Entry  `json:"entry"`
	Path  string `json:"path"`
	From  string `json:"from,omitempty"` // of a move
	Size  int64  `json:"size"`           // bytes after the change; before it, of a delete; UnknownSize when nobody knows yet
	// Protected says why this change needs an answer of its own; "" when it
	// does not.
	Protected string `json:"protected,omitempty"`
	// Within is the folder that is protected for what it holds, when that is
	// the reason: a yes to it is one to this change.
	Within string `json:"within,omitempty"`
	// Note is something else a person should know about it.
	Note string `json:"note,omitempty"`
}

// Changes is the exact list of what a stage would do, sorted by path. Only
// Read makes one.
type Changes struct {
	list   []Change
	digest plan.Digest
	adds   bool
	run    *Run
	items  []item
	made   map[int]making // by item, of what comes from the stage
}

// making is how an object that is not in the sandbox yet is made.
type making struct {
	blob    stage.ID
	content identity // of the blob, when sum was taken of it
	sum     [sha256.Size]byte
	filled  []span // where it holds zeros that could be holes
	target  string // of a link
	times   stamps // either may be stage.Own
	over    int    // 1 + the item whose mode and owner it takes over
}

// List returns the changes, to read.
func (c *Changes) List() []Change { return c.list }

// Digest covers program, sandbox identity, every change, and all content that
// is written.
func (c *Changes) Digest() plan.Digest { return c.digest }

// Adds reports whether the changes only add, and every step that ran is declared
// safe or readonly: what is not protected among them needs no question.
func (c *Changes) Adds() bool { return c.adds }

// Safe reports whether the changes need no question: they only add, and nothing
// among them is protected.
func (c *Changes) Safe() bool { return c.adds && len(c.Protected()) == 0 }

// Empty reports whether there is nothing to do.
func (c *Changes) Empty() bool { return len(c.list) == 0 }

// Protected returns the changes that need an answer of their own.
func (c *Changes) Protected() []Change {
	var list []Change
	for _, ch := range c.list {
		if ch.Protected != "" {
			list = append(list, ch)
		}
	}
	return list
}

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

// Undone is what Undo did or would do.
type Undone struct {
	// Changes are what the undo itself does: a file that the run made is a
	// delete here.
	Changes []Change
	Refused []Refusal
	// Run is the run that the undo itself is, which can be undone; nil when
	// nothing was done.
	Run *Run
}

// Refusal is a change that could not be taken back.
type Refusal struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}
