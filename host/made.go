package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"stepbox.dev/abi"
	"stepbox.dev/host/commit"
	"stepbox.dev/host/event"
	"stepbox.dev/host/fault"
)

// previewName is the folder, in a run's own, of copies to look at.
const previewName = "preview"

// maxPreview bounds what is copied to be looked at.
const maxPreview = 1 << 30

// Made is what a run has made, to be opened.
type Made struct {
	RunID string `json:"run_id"`
	// Files are absolute paths.
	Files []string `json:"files"`
	// Copies says that the run is not committed: the files are copies, in a
	// private folder that goes with the run.
	Copies bool `json:"copies"`
}

// Made returns the files that a committed run created and that are still there,
// or copies of those that a run would create or replace once it is committed.
func (h *Host) Made(ctx context.Context, id string) (Made, error) {
	r, err := commit.Open(h.state, id)
	if err != nil {
		return Made{}, err
	}
	rec, err := loadRecord(r)
	if err != nil {
		return Made{}, err
	}
	m := Made{RunID: r.ID, Files: []string{}}
	switch rec.Status {
	case statusCommitted, statusDone:
		for _, c := range rec.Changes {
			name := filepath.Join(r.Sandbox, filepath.FromSlash(c.Path))
			if info, err := os.Lstat(name); c.Kind == commit.Create && c.Entry == commit.File && err == nil && info.Mode().IsRegular() {
				m.Files = append(m.Files, name)
			}
		}
		return m, nil
	case statusWaiting, statusFailed, statusInterrupted:
		m.Copies = true
		m.Files, err = copies(ctx, r, rec.Source, rec.Status != statusWaiting)
		if errors.Is(err, commit.ErrTooLarge) {
			err = fault.New(fault.CheckFailed, "run %s staged more than %d MiB: it is not copied to be looked at", r.ID, maxPreview>>20)
		}
		return m, err
	}
	return m, fault.New(fault.Usage, "run %s keeps nothing to open (%s)", r.ID, rec.Status)
}

// copies writes what a run staged into a folder of the run's own.
func copies(ctx context.Context, r *commit.Run, s source, partial bool) ([]string, error) {
	src, err := s.open()
	if err != nil {
		return nil, err
	}
	src.Partial = partial
	changes, err := commit.Read(ctx, r, src)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(r.Dir, previewName)
	if err = os.RemoveAll(dir); err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	if err != nil {
		return nil, fault.New(fault.Internal, "the folder to look at what run %s staged: %w", r.ID, err)
	}
	return changes.Extract(ctx, dir, maxPreview)
}

// unmade takes the sizes off files that a dry run stands notes for: what an
// engine would make, and engines do not run in one.
func (a *attempt) unmade(list []commit.Change) []commit.Change {
	if !a.context().DryRun || len(a.skill.Engines()) == 0 {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		if c := &list[i]; c.Entry == commit.File && (c.Kind == commit.Create || c.Kind == commit.Replace) {
			c.Size = commit.UnknownSize
		}
	}
	return list
}

// confirm is a question in the middle of a run, of the plan or of the guest, on
// its way to the person. They can look at what the calls before it have made.
func (a *attempt) confirm(ctx context.Context, call int, r abi.ConfirmRequest) (bool, error) {
	asked := event.Confirm{Call: call, Prompt: r.Prompt, Preview: r.Preview, Staged: a.staged(ctx, call)}
	if err := a.events.Handle(asked); err != nil {
		return false, err
	}
	yes := a.request.Yes // all changes are approved beforehand, so going on is
	if a.person != nil {
		var err error
		if yes, err = a.person.Confirm(ctx, r); err != nil {
			return false, err
		}
		a.declined = !yes
	} else if !yes {
		a.unanswered = r.Prompt
	}
	return yes, a.events.Handle(event.Confirm{Call: call, Given: &yes})
}

// explained adds to a failure the question that it ends with, if nobody was
// there to answer one: the step's own words need not name it. Who said no knows
// why it ended.
func (a *attempt) explained(err error) error {
	var e *fault.Error
	switch {
	case !errors.As(err, &e) || e.Kind != fault.NotApproved:
	case a.declined:
		return &fault.Error{Kind: fault.NotApproved, What: "not gone on; nothing was changed", Err: err}
	case a.unanswered != "":
		return e.Hint("it asked %q and nobody was there to answer: --yes answers yes", a.unanswered)
	}
	return err
}

// staged returns copies of what the calls before this one have made. A guest may
// ask many times: the copies are made once a call. What cannot be copied is not
// shown; that is no reason not to ask.
func (a *attempt) staged(ctx context.Context, call int) []string {
	if a.person == nil || len(a.program.Calls()) == 0 {
		return nil
	}
	at := fmt.Sprintf("%s/%d", a.run.ID, call)
	if a.copied == nil || a.copiedFor != at {
		files, err := copies(ctx, a.run, a.source(), true)
		if err != nil {
			files = []string{}
		}
		a.copied, a.copiedFor = files, at
	}
	return a.copied
}
