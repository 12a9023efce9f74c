package host

import (
	"context"

	"stepbox.dev/abi"
	"stepbox.dev/host/commit"
	"stepbox.dev/host/event"
)

// restingPerson stops the run's clock while its person thinks.
type restingPerson struct {
	person Person
	clock  *deadline
}

func resting(p Person, clock *deadline) Person {
	if p == nil {
		return nil
	}
	return restingPerson{p, clock}
}

func (r restingPerson) Clarify(ctx context.Context, d event.Decision) (string, error) {
	defer r.clock.rest()()
	return r.person.Clarify(ctx, d)
}

func (r restingPerson) Approve(ctx context.Context, c *commit.Changes) (bool, []string, error) {
	defer r.clock.rest()()
	return r.person.Approve(ctx, c)
}

func (r restingPerson) Proceed(ctx context.Context, summary string) (bool, error) {
	defer r.clock.rest()()
	return r.person.Proceed(ctx, summary)
}

func (r restingPerson) Confirm(ctx context.Context, q abi.ConfirmRequest) (bool, error) {
	defer r.clock.rest()()
	return r.person.Confirm(ctx, q)
}
