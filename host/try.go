package host

import (
	"context"
	"time"

	"stepbox.dev/host/approval"
	"stepbox.dev/host/commit"
	"stepbox.dev/host/event"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/sandbox"
	"stepbox.dev/host/store"
	"stepbox.dev/host/worker"
)

// strict are the limits of a bundle that is only tried, whatever it asks for.
var strict = worker.Limits{
	MemoryBytes: 256 << 20,
	Step:        time.Minute,
	ResultBytes: 4 << 20,
	OutputBytes: 64 << 10,
	Quotas:      sandbox.Quotas{Bytes: 256 << 20, FileBytes: 256 << 20, Files: 2000, Depth: 32, OpenFiles: 64},
}

// Try runs a request with a stranger's skill, which is not installed: with the
// strictest limits, without the person's overrides, and with a question about
// any change at all, also about one that only adds files. What ran is the very
// bundle that was examined.
func (h *Host) Try(ctx context.Context, c *store.Candidate, r Request, p Person, e event.Handler) (Result, error) {
	if err := c.Sound(); err != nil {
		return Result{}, err
	}
	if c.Skill == nil {
		return Result{}, fault.New(fault.Usage, "%q is an engine, not a skill: skills name it, nobody runs it", c.Path)
	}
	r.Skill = c.Path
	return h.attempt(ctx, r, c, p, e)
}

// ceilings are the most that the run's worker may have; zeros set none.
func (a *attempt) ceilings() worker.Limits {
	if a.stranger == nil {
		return worker.Limits{}
	}
	return strict
}

// approve gets the yes that this run's changes need.
func (a *attempt) approve(ctx context.Context, c *commit.Changes) (approval.Approved, error) {
	r := a.request
	if a.stranger == nil {
		return approve(ctx, a.events, c, a.person, r.Yes, r.AllowProtected)
	}
	answer := approval.Answer{Yes: r.Yes, Protected: r.AllowProtected}
	if r.Yes {
		if granted, err := approval.Grant(c, answer); err == nil || a.person == nil {
			return given(a.events, c, granted, "flags", err)
		}
	}
	if a.person == nil {
		return given(a.events, c, approval.Approved{}, "flags", fault.New(fault.NotApproved, "nobody said that these changes of a stranger's bundle are to be kept").
			Hint("keep them as they are with stepbox commit, or pass --yes"))
	}
	granted, err := ask(ctx, a.events, c, a.person, answer)
	if fault.Of(err) == fault.NotApproved {
		a.discarded, a.result.Digest = true, ""
		return granted, fault.New(fault.NotApproved, "discarded; nothing was changed")
	}
	return granted, err
}

// capped returns l with nothing above the ceilings; what l leaves to the
// defaults gets the ceiling.
func capped(l, most worker.Limits) worker.Limits {
	l.MemoryBytes = lower(l.MemoryBytes, most.MemoryBytes)
	l.Step = lower(l.Step, most.Step)
	l.ResultBytes = lower(l.ResultBytes, most.ResultBytes)
	l.OutputBytes = lower(l.OutputBytes, most.OutputBytes)
	q, m := &l.Quotas, most.Quotas
	q.Bytes, q.FileBytes = lower(q.Bytes, m.Bytes), lower(q.FileBytes, m.FileBytes)
	q.Files, q.Depth = lower(q.Files, m.Files), lower(q.Depth, m.Depth)
	q.OpenFiles, q.NameBytes = lower(q.OpenFiles, m.OpenFiles), lower(q.NameBytes, m.NameBytes)
	return l
}

func lower[T int | int64 | time.Duration](v, most T) T {
	if most > 0 && (v <= 0 || v > most) {
		return most
	}
	return v
}
