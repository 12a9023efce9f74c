// Package execute walks a program: resolve variables, re-check paths, run one
// step after the other, stop at the first that does not end well.
package execute

import (
	"context"

	"stepbox.dev/abi"
	"stepbox.dev/host/event"
	"stepbox.dev/host/plan"
)

// StepRunner runs one step. *worker.Worker is one.
type StepRunner interface {
	Step(ctx context.Context, mode abi.Mode, r abi.StepRequest) (abi.StepResponse, error)
}

// Options of Run.
type Options struct {
	Context abi.Context // Call and IdempotencyKey are filled in a call
	Events  event.Handler
	Paths   plan.Paths
}

// Outcome is how a program ended. Results holds one entry for each call that
// ended well, in order.
type Outcome struct {
	Results []abi.CallResult
	// Failed is the index of the call that did not end well, -1 when all did.
	Failed int
}

// Run runs the program. On error the outcome still says how far it came.
func Run(ctx context.Context, p plan.Program, r StepRunner, o Options) (Outcome, error) {
	panic("to be built")
}
