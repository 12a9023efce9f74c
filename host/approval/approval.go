// Package approval is the only maker of Approved: proof that somebody agreed to
// exactly one set of changes. It is bound to their digest and can be used once.
package approval

import (
	"fmt"
	"sort"
	"strings"
	"sync/atomic"

	"stepbox.dev/host/commit"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/plan"
)

// Approved is a single-use proof. Its zero value approves nothing. Copies share
// the one use.
type Approved struct{ state *state }

type state struct {
	digest plan.Digest
	used   atomic.Bool
}

// Redeem implements commit.Approval: it succeeds once, for the digest that was
// approved. Its errors are of kind fault.NotApproved.
func (a Approved) Redeem(digest plan.Digest) error {
	switch {
	case a.state == nil:
		return fault.New(fault.NotApproved, "nobody approved the changes")
	case a.state.digest != digest:
		return fault.New(fault.NotApproved, "the approval is for other changes: %x, not %x", a.state.digest[:6], digest[:6]).
			Hint("look at the changes again and approve these")
	case a.state.used.Swap(true):
		return fault.New(fault.NotApproved, "the approval was used already: it is good for one commit")
	}
	return nil
}

// Answer is what a person, or their flags, said.
type Answer struct {
	Yes bool
	// Protected are the paths of protected changes that were agreed to one by
	// one; a folder that is protected stands for what lies below it too.
	// Yes alone never covers them.
	Protected []string
}

// Safe approves changes that need no question, and fails (fault.NotApproved)
// for any other.
func Safe(c *commit.Changes) (Approved, error) {
	if !c.Safe() && !c.Empty() {
		return Approved{}, fault.New(fault.NotApproved, "the changes do more than add files and need an approval")
	}
	return approve(c), nil
}

// Grant approves what the answer covers; its error (fault.NotApproved) says
// what it does not.
func Grant(c *commit.Changes, a Answer) (Approved, error) {
	if !a.Yes && !c.Adds() && !c.Empty() {
		return Approved{}, fault.New(fault.NotApproved, "the changes were not approved").Hint("approve them, or pass --yes")
	}
	agreed := make(map[string]bool, len(a.Protected))
	for _, p := range a.Protected {
		if p = strings.TrimPrefix(strings.TrimSuffix(p, "/"), "./"); p != "" {
			agreed[p] = true
		}
	}
	var missing []string
	for _, ch := range c.Protected() {
		if !covered(agreed, ch.Path) && !covered(agreed, ch.From) && !agreed[ch.Within] {
			missing = append(missing, fmt.Sprintf("%q (%s)", ch.Path, ch.Protected))
		}
	}
	if len(missing) > 0 {
		sort.Strings(missing)
		shown, more := missing, ""
		if len(shown) > 10 {
			shown, more = shown[:10], fmt.Sprintf(" and %d more", len(missing)-10)
		}
		return Approved{}, fault.New(fault.NotApproved, "these changes are protected and need an answer of their own: %s%s", strings.Join(shown, ", "), more).
			Hint("--allow-protected NAME agrees to one of them, or to all below a protected folder")
	}
	return approve(c), nil
}

// covered reports whether a path, or a folder above it that is protected by
// name, was agreed to. Any other folder stands for nothing but itself: what is
// protected below it was not named.
func covered(agreed map[string]bool, path string) bool {
	if agreed[path] {
		return true
	}
	for i := strings.LastIndexByte(path, '/'); i > 0; i = strings.LastIndexByte(path[:i], '/') {
		if agreed[path[:i]] && commit.ProtectedName(path[:i]) {
			return true
		}
	}
	return false
}

func approve(c *commit.Changes) Approved {
	return Approved{&state{digest: c.Digest()}}
}
