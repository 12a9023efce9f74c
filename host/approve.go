package host

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"stepbox.dev/host/approval"
	"stepbox.dev/host/commit"
	"stepbox.dev/host/event"
	"stepbox.dev/host/fault"
)

// approve gets a yes to exactly these changes: from the rule for safe programs,
// from the flags, or from a person. allowed carries the protected names that
// the flags agree to.
func approve(ctx context.Context, e event.Handler, c *commit.Changes, p Person, yes bool, allowed []string) (approval.Approved, error) {
	if c.Safe() {
		a, err := approval.Safe(c)
		return given(e, c, a, "safe", err)
	}
	answer := approval.Answer{Yes: yes, Protected: allowed}
	a, err := approval.Grant(c, answer)
	if err == nil || p == nil {
		return given(e, c, a, "flags", err)
	}
	return ask(ctx, e, c, p, answer)
}

// ask gets the yes from a person.
func ask(ctx context.Context, e event.Handler, c *commit.Changes, p Person, answer approval.Answer) (approval.Approved, error) {
	if err := e.Handle(event.Approval{Digest: c.Digest().String()}); err != nil {
		return approval.Approved{}, err
	}
	yes, names, err := p.Approve(ctx, c)
	if err != nil {
		return approval.Approved{}, err
	}
	if !yes {
		return given(e, c, approval.Approved{}, "person", fault.New(fault.NotApproved, "the changes were not approved"))
	}
	answer.Yes, answer.Protected = true, append(answer.Protected, names...)
	a, err := approval.Grant(c, answer)
	return given(e, c, a, "person", err)
}

// given tells how the question about changes was answered.
func given(e event.Handler, c *commit.Changes, a approval.Approved, by string, err error) (approval.Approved, error) {
	ok := err == nil
	if herr := e.Handle(event.Approval{Digest: c.Digest().String(), Given: &ok, By: by}); herr != nil {
		return approval.Approved{}, herr
	}
	return a, err
}

func apply(ctx context.Context, e event.Handler, c *commit.Changes, a approval.Approved) error {
	const pace = 100 * time.Millisecond // an event an operation would cost more than the operation
	told := time.Now()
	done, err := commit.Apply(ctx, c, a, func(done, total int) {
		if now := time.Now(); now.Sub(told) >= pace {
			told = now
			e.Handle(event.Committing{Done: done, Total: total})
		}
	})
	if err != nil {
		return err
	}
	return e.Handle(event.Committed{Changes: len(done.Changes), Bytes: done.Bytes})
}

// CommitOptions of Commit.
type CommitOptions struct {
	// Digest, when set, must be that of the changes.
	Digest string
	// Partial commits what the calls that ended well made in a run that failed.
	Partial        bool
	AllowProtected []string
}

// Commit commits what an earlier run staged. Nothing is run again. Naming the
// run is the yes, except to a part of a failed one, which nobody has seen yet;
// protected changes still need an answer of their own.
func (h *Host) Commit(ctx context.Context, id string, o CommitOptions, p Person, e event.Handler) (Result, error) {
	ctx, s := newStream(ctx, e)
	res := Result{RunID: id}
	err := h.commit(ctx, &res, o, p, s)
	return res, s.end(ctx, res, err)
}

func (h *Host) commit(ctx context.Context, res *Result, o CommitOptions, p Person, e event.Handler) error {
	r, err := commit.Open(h.state, res.RunID)
	if err != nil {
		return err
	}
	res.RunID = r.ID
	rec, err := loadRecord(r)
	if err != nil {
		return err
	}
	if err := e.Handle(event.Start{Version: event.Version, Verb: "commit", RunID: r.ID, Sandbox: r.Sandbox, Request: rec.Request}); err != nil {
		return err
	}
	if err := committable(rec, o.Partial); err != nil {
		return err
	}
	src, err := rec.Source.open()
	if err != nil {
		return err
	}
	src.Partial = o.Partial
	changes, err := commit.Read(ctx, r, src)
	if err != nil {
		return err
	}
	if changes.Empty() {
		return fault.New(fault.Usage, "run %s has nothing to commit: no call that ended well had changed anything", r.ID)
	}
	res.Changes, res.Digest = changes.List(), changes.Digest().String()
	if !o.Partial && res.Digest != rec.Digest {
		return fault.New(fault.CheckFailed, "run %s no longer stages what it showed: digest %s, now %s", r.ID, rec.Digest, res.Digest)
	}
	if err := e.Handle(event.Changes{Digest: res.Digest, Changes: changes.List(), Safe: changes.Safe()}); err != nil {
		return err
	}
	if o.Digest != "" && o.Digest != res.Digest {
		res.Digest = "" // nobody is invited to commit what they did not name
		return fault.New(fault.NotApproved, "the changes of run %s are not those of the digest that was named", r.ID).
			Hint("look at the changes again: stepbox runs show %s", r.ID)
	}
	var approved approval.Approved
	if o.Partial && p != nil {
		approved, err = ask(ctx, e, changes, p, approval.Answer{Protected: o.AllowProtected})
	} else {
		approved, err = approve(ctx, e, changes, p, true, o.AllowProtected)
	}
	if err != nil {
		return err
	}
	if err := apply(ctx, e, changes, approved); err != nil {
		return err
	}
	os.RemoveAll(filepath.Join(r.Dir, previewName)) // copies of what is in the sandbox now
	rec.Status, rec.Partial, rec.Changes, rec.Digest = statusCommitted, false, changes.List(), res.Digest
	if !o.Partial {
		rec.Error = ""
	}
	return rec.save(r)
}

// committable says why a run cannot be committed now.
func committable(rec *record, partial bool) error {
	switch rec.Status {
	case statusWaiting:
		return nil
	case statusFailed, statusInterrupted:
		if partial {
			return nil
		}
		return fault.New(fault.Usage, "run %s did not end well (%s)", rec.ID, rec.Status).
			Hint("`stepbox commit %s --partial` commits what the calls that ended well had made", rec.ID)
	case statusRunning:
		return fault.New(fault.CheckFailed, "run %s is still running", rec.ID)
	case statusCommitted:
		return fault.New(fault.Usage, "run %s is committed already", rec.ID)
	}
	return fault.New(fault.Usage, "run %s has nothing to commit (%s)", rec.ID, rec.Status)
}

// Undo takes a committed run back, file by file: what changed since is refused
// and the rest done. Refusals are a fault.CheckFailed beside the result.
func (h *Host) Undo(ctx context.Context, id string, dryRun bool, e event.Handler) (commit.Undone, error) {
	ctx, s := newStream(ctx, e)
	res := Result{RunID: id}
	u, err := h.undo(ctx, &res, dryRun, s)
	return u, s.end(ctx, res, err)
}

func (h *Host) undo(ctx context.Context, res *Result, dryRun bool, e event.Handler) (commit.Undone, error) {
	var u commit.Undone
	r, err := commit.Open(h.state, res.RunID)
	if err != nil {
		return u, err
	}
	res.RunID = r.ID
	rec, err := loadRecord(r)
	if err != nil {
		return u, err
	}
	if err := e.Handle(event.Start{Version: event.Version, Verb: "undo", RunID: r.ID, Sandbox: r.Sandbox, Request: rec.Request}); err != nil {
		return u, err
	}
	if rec.Status != statusCommitted {
		return u, fault.New(fault.Usage, "run %s is not committed (%s): there is nothing to undo", r.ID, rec.Status)
	}
	if u, err = commit.Undo(ctx, r, dryRun); err != nil {
		return u, err
	}
	if err := e.Handle(event.Undone{Changes: u.Changes, Refused: u.Refused, DryRun: dryRun}); err != nil {
		return u, err
	}
	if u.Run != nil {
		res.RunID = u.Run.ID
		if len(u.Refused) == 0 {
			rec.Status = statusUndone
		}
		if err := rec.save(r); err != nil {
			return u, err
		}
		back := undoRecord(u.Run)
		back.Status, back.Changes = statusCommitted, u.Changes
		if err := back.save(u.Run); err != nil {
			return u, err
		}
	}
	if n := len(u.Refused); n > 0 {
		return u, fault.New(fault.CheckFailed, "%d of %d changes of run %s cannot be taken back: %q: %s",
			n, n+len(u.Changes), r.ID, u.Refused[0].Path, u.Refused[0].Reason)
	}
	return u, nil
}
