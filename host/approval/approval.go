// Package approval is the only maker of Approved: proof that somebody agreed to
// exactly one set of changes. It is bound to their digest and can be used once.
package approval

import (
	"stepbox.dev/host/commit"
	"stepbox.dev/host/plan"
)

// Approved is a single-use proof. Its zero value approves nothing.
type Approved struct{ state *state }

type state struct {
	digest plan.Digest
	used   bool
}

// Redeem implements commit.Approval.
func (a Approved) Redeem(digest plan.Digest) error { panic("to be built") }

// Answer is what a person, or their flags, said.
type Answer struct {
	Yes bool
	// Protected are the names of protected changes that were agreed to one by
	// one. Yes alone never covers them.
	Protected []string
	// Digest, when not zero, must be that of the changes.
	Digest plan.Digest
}

// Safe approves changes that need no question, and fails for any other.
func Safe(c *commit.Changes) (Approved, error) { panic("to be built") }

// Grant approves what the answer covers; its error (fault.NotApproved) says
// what it does not.
func Grant(c *commit.Changes, a Answer) (Approved, error) { panic("to be built") }
