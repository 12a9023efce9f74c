// Package expand turns a valid plan into a program: each intent is expanded by
// the skill's own code, in the guest, and the answer is validated and gated
// again as hostile data.
package expand

import (
	"context"

	"stepbox.dev/abi"
	"stepbox.dev/host/plan"
)

// Expander expands one intent. *worker.Worker is one.
type Expander interface {
	Expand(ctx context.Context, r abi.ExpandRequest) (abi.ExpandResponse, error)
}

// Options of Expand.
type Options struct {
	// Kind tells step from intent, as the module described itself.
	Kind func(tool string) abi.Kind
	// Paths are for normalizing what the guest answers.
	Paths plan.Paths
}

// Expand returns the program that v stands for. Caps: depth 4, 1,000 calls.
func Expand(ctx context.Context, v plan.Valid, e Expander, o Options) (plan.Program, error) {
	panic("to be built")
}
