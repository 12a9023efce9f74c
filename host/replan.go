package host

import (
	"context"
	"slices"

	"stepbox.dev/abi"
	"stepbox.dev/host/event"
	"stepbox.dev/host/prompt"
	"stepbox.dev/host/registry"
)

// inTurns takes the request through its turns: one, or with Replan as many as the
// model has something left to do, up to so many. Each is a run of its own, with
// its own changes, approval and undo.
func (a *attempt) inTurns(ctx context.Context) (Result, error) {
	for {
		err := a.salvage(ctx, a.stages(ctx))
		if cerr := a.close(settle(ctx, err)); err == nil {
			err = cerr
		}
		switch {
		case a.finished:
			return *a.earlier, err
		case err != nil, len(a.turns) == a.request.Replan:
			return a.result, err
		}
		next := &attempt{
			host: a.host, request: a.request, events: a.events, person: a.person, stranger: a.stranger, earlier: &a.result,
			turns: append(slices.Clone(a.turns), prompt.Turn{Plan: a.record.Plan, Results: a.result.Results}),
		}
		if err := a.events.Handle(event.Turn{Turn: len(next.turns) + 1, RunID: a.result.RunID}); err != nil {
			return a.result, err
		}
		a = next
	}
}

// nothingLeft says that a model which plans on has nothing more to do.
func (a *attempt) nothingLeft(calls []abi.Call) bool {
	return len(a.turns) > 0 && !slices.ContainsFunc(calls, func(c abi.Call) bool { return c.Tool != registry.Done })
}
