// Package gate makes the deterministic decisions to go on, to ask, or to
// refuse. Every rule is here, in one order.
package gate

import (
	"io/fs"

	"stepbox.dev/host/plan"
	"stepbox.dev/host/registry"
)

// Outcome of a gate.
type Outcome string

// The outcomes.
const (
	Proceed Outcome = "plan"
	Clarify Outcome = "clarify"
	Reject  Outcome = "reject"
)

// Decision is what a gate says.
type Decision struct {
	Outcome    Outcome
	Question   string   // of Clarify
	Candidates []string // answers that fit the question
	Reason     string   // of Reject
	Next       string   // what would allow it
	// Call and Arg are what a question is about: Arg "" when it is about the
	// whole request.
	Call int
	Arg  string
}

// Screen refuses a request that holds an unsafe phrase of the skill.
func Screen(utterance string, phrases []string, r *registry.Registry) Decision { panic("to be built") }

// Request is what Check looks at.
type Request struct {
	// Utterance is "" for a plan that nobody uttered: the gates that compare
	// with it are skipped.
	Utterance string
	Draft     plan.Draft // normalized
	Registry  *registry.Registry
	// Sandbox is the sandbox as the host sees it, read-only; nil: no file need
	// exist.
	Sandbox fs.FS
	// SandboxPath is its absolute path, for messages.
	SandboxPath string
	// Files are names the person offered (--file).
	Files []string
}

// Check runs the gates over a normalized draft. The draft it returns has names
// resolved (a stem that matches one file, a default output name).
func Check(r Request) (plan.Draft, Decision) { panic("to be built") }
