package host

import (
	"context"
	"fmt"

	"stepbox.dev/host/approval"
	"stepbox.dev/host/commit"
	"stepbox.dev/host/event"
	"stepbox.dev/host/fault"
)

// salvage deals with what the calls of a failed run had made that ended well: a
// person is asked whether to keep it, anybody else is told how to. It returns
// the failure, which is one all the same.
func (a *attempt) salvage(ctx context.Context, failure error) error {
	if failure == nil || a.request.DryRun || len(a.result.Results) == 0 || a.record.Digest != "" {
		return failure
	}
	if fault.Of(failure) == fault.NotApproved { // somebody said no in the middle: that is an answer
		return failure
	}
	a.module.stop() // nobody may write to the stage any more
	src, err := a.record.Source.open()
	if err != nil {
		return failure
	}
	src.Partial = true
	changes, err := commit.Read(context.WithoutCancel(ctx), a.run, src)
	if err != nil || changes.Empty() {
		return failure
	}
	a.record.Partial = true
	_ = commit.Trim(a.run) // all that an error costs is room
	if ctx.Err() != nil {  // interrupted or out of time: no more questions
		return failure
	}
	later := hinted(failure, "`stepbox commit %s --partial` commits what the calls that ended well had made", a.run.ID)
	if a.person == nil {
		return later
	}
	if a.events.Handle(event.Notice{Message: failure.Error()}) != nil ||
		a.events.Handle(event.Notice{Message: "nothing was changed; what the calls that ended well had made can be kept:"}) != nil ||
		a.events.Handle(event.Changes{Digest: changes.Digest().String(), Changes: changes.List()}) != nil {
		return later
	}
	approved, err := ask(ctx, a.events, changes, a.person, approval.Answer{Protected: a.request.AllowProtected})
	if err != nil {
		return later
	}
	if err := apply(ctx, a.events, changes, approved); err != nil {
		return hinted(failure, "what the calls that ended well had made could not be kept: %v", err)
	}
	a.record.Changes, a.record.Digest, a.record.Partial = changes.List(), changes.Digest().String(), false
	a.result.Changes, a.result.Digest = a.record.Changes, a.record.Digest
	return hinted(failure, "what the calls that ended well had made is kept; take it back with: stepbox undo %s", a.run.ID)
}

// hinted adds a next step to those that err names.
func hinted(err error, format string, args ...any) error {
	next := fmt.Sprintf(format, args...)
	if known := fault.Next(err); known != "" {
		next = known + "\n" + next
	}
	return &fault.Error{Kind: fault.Of(err), What: err.Error(), Next: next, Err: err}
}
