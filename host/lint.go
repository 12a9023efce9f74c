package host

import (
	"context"
	"fmt"

	"stepbox.dev/host/event"
	"stepbox.dev/host/lint"
	"stepbox.dev/host/worker"
)

// Lint returns what the author of a skill will regret. Its module, when it has
// one, describes itself and expands the contract's examples in a worker; no step
// is run.
func (h *Host) Lint(ctx context.Context, name string, e event.Handler) ([]lint.Finding, error) {
	s, err := h.Skill(ctx, name)
	if err != nil {
		return nil, err
	}
	ctx, events := newStream(ctx, e)
	defer events.cancel(nil)
	if !s.HasModule() {
		if err := events.Handle(event.Notice{Message: fmt.Sprintf("skill %s has no module: only its contract is looked at", s.Name())}); err != nil {
			return nil, err
		}
		return lint.Skill(ctx, s, nil)
	}
	l := h.load(ctx, s, worker.Options{}, events)
	defer l.stop()
	// A module that does not fit its contract is what lint reports; there is a
	// worker to ask all the same.
	w, _, err := l.wait(ctx)
	if w == nil {
		return nil, settle(ctx, err)
	}
	found, err := lint.Skill(ctx, s, w)
	return found, settle(ctx, err)
}
