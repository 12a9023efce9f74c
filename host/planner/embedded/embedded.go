// Package embedded plans narrow requests in milliseconds with no model: it
// splits a request into clauses, ranks tools for each, fills arguments by type,
// and says how sure it is. It is driven by the contract and the lexicon alone
// and knows no tool or skill by name.
package embedded

import (
	"context"

	"stepbox.dev/host/planner"
)

// Planner is the embedded planner. The zero value works.
type Planner struct{}

// Plan implements planner.Planner.
func (p *Planner) Plan(ctx context.Context, r planner.Request) (planner.Answer, error) {
	panic("to be built")
}
