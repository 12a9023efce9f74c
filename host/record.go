package host

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/host/commit"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/plan"
)

// The states of a run.
const (
	statusRunning     = "running"
	statusWaiting     = "waiting" // for approval
	statusCommitted   = "committed"
	statusDone        = "done" // and changed nothing
	statusFailed      = "failed"
	statusDry         = "dry"
	statusDiscarded   = "discarded" // a stranger's bundle was tried, and nothing kept
	statusUndone      = "undone"
	statusInterrupted = "interrupted"
)

// RunInfo is one run, as runs list and runs show print it.
type RunInfo struct {
	ID      string    `json:"id"`
	Began   time.Time `json:"began"`
	Verb    string    `json:"verb"`
	Request string    `json:"request"`
	Skill   string    `json:"skill"`
	Sandbox string    `json:"sandbox"`
	// Status: running, waiting (for approval), committed, done (it changed
	// nothing), dry, discarded, failed, interrupted, undone.
	Status string `json:"status"`
	// Digest of program and changes, once there are changes.
	Digest string `json:"digest,omitempty"`
	// Partial says that a run that did not end well holds what some of its calls
	// had made, which can be committed.
	Partial bool `json:"partial,omitempty"`
	// Bytes is what the run keeps on disk.
	Bytes int64  `json:"bytes"`
	Error string `json:"error,omitempty"`
	// What follows is not in lists, which stop reading there.
	Changes []commit.Change `json:"changes,omitempty"`
	Plan    []abi.Call      `json:"plan,omitempty"`
}

// record is what the host remembers of a run, in its folder. It holds all that
// a later commit needs, so that no skill is loaded for one.
type record struct {
	RunInfo
	Source source `json:"source"`
}

// source is commit.Source as it is kept.
type source struct {
	Program string     `json:"program"`
	Tools   []string   `json:"tools"`
	Modes   []abi.Mode `json:"modes"`
	Extra   []string   `json:"extra"`
}

func (s source) open() (commit.Source, error) {
	d, err := plan.ParseDigest(s.Program)
	if err != nil {
		return commit.Source{}, err
	}
	return commit.Source{Program: d, Tools: s.Tools, Modes: s.Modes, Extra: s.Extra}, nil
}

const recordName = "run.json"

// save writes the record whole or not at all.
func (rec *record) save(r *commit.Run) error {
	b, err := json.MarshalIndent(rec, "", "\t")
	if err != nil {
		return fault.New(fault.Internal, "record of run %s: %w", r.ID, err)
	}
	name := filepath.Join(r.Dir, recordName)
	if err = os.WriteFile(name+".new", b, 0o600); err == nil {
		err = os.Rename(name+".new", name)
	}
	switch {
	case err == nil:
		return nil
	case fault.NoRoom(err):
		return fault.New(fault.StepFailed, "record of run %s: the disk is full: %w", r.ID, err).Hint("free some space, then run it again")
	}
	return fault.New(fault.Internal, "record of run %s: %w", r.ID, err)
}

// loadRecord reads the record of a run.
func loadRecord(r *commit.Run) (*record, error) { return readRecord(r, io.ReadAll) }

// readRecord decodes what read takes of the file of a record.
func readRecord(r *commit.Run, read func(io.Reader) ([]byte, error)) (*record, error) {
	f, err := os.Open(filepath.Join(r.Dir, recordName))
	var b []byte
	if err == nil {
		b, err = read(f)
		f.Close()
	}
	if errors.Is(err, fs.ErrNotExist) && r.Undoes != "" { // an undo that was killed before it wrote one
		rec := undoRecord(r)
		rec.settle(r)
		return rec, nil
	}
	if err != nil {
		return nil, fault.New(fault.CheckFailed, "run %s has no readable record: %w", r.ID, err)
	}
	rec := &record{}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(rec); err != nil {
		return nil, fault.New(fault.CheckFailed, "the record of run %s is damaged: %w", r.ID, err)
	}
	rec.settle(r)
	return rec, nil
}

// head takes of a record what lists show: changes and plan, which stand behind
// it, may be megabytes.
func head(file io.Reader) ([]byte, error) {
	fields := map[string]json.RawMessage{}
	dec := json.NewDecoder(file)
	if begin, err := dec.Token(); err != nil || begin != json.Delim('{') {
		return nil, cmp.Or(err, errors.New("it is no object"))
	}
	for {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if !ok || name == "changes" || name == "plan" || name == "source" { // its end, or what lists do not show
			break
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		fields[name] = value
	}
	return json.Marshal(fields)
}

// undoRecord is the record of an undo, from what its run says by itself.
func undoRecord(r *commit.Run) *record {
	return &record{RunInfo: RunInfo{
		ID: r.ID, Began: r.Began, Verb: "undo", Request: "undo " + r.Undoes, Sandbox: r.Sandbox, Status: statusRunning,
	}}
}

// settle corrects a record that its process left behind: what lies on disk
// decides, since a crash may come between a commit and its record.
func (rec *record) settle(r *commit.Run) {
	switch {
	case rec.Status == statusUndone, r.Alive():
	case rec.Status == statusCommitted, r.Committed():
		if rec.Status != statusCommitted {
			rec.Status, rec.Error = statusCommitted, ""
		}
		if r.Undone() {
			rec.Status = statusUndone
		}
	case rec.Status == statusRunning:
		rec.Status, rec.Partial = statusInterrupted, true // as far as anybody knows
	}
}

// Runs lists runs, newest first.
func (h *Host) Runs(ctx context.Context) ([]RunInfo, error) {
	runs, err := commit.List(h.state)
	if err != nil {
		return nil, err
	}
	infos := make([]RunInfo, 0, len(runs))
	for _, r := range runs {
		infos = append(infos, listed(r))
	}
	slices.SortStableFunc(infos, func(a, b RunInfo) int { return b.Began.Compare(a.Began) })
	return infos, nil
}

// listed is a run as lists show it. A damaged one must not hide the others.
func listed(r *commit.Run) RunInfo {
	rec, err := readRecord(r, head)
	if err != nil {
		i := RunInfo{ID: r.ID, Began: r.Began, Sandbox: r.Sandbox, Status: statusFailed, Error: err.Error(), Bytes: r.Size()}
		if info, err := os.Stat(r.Dir); err == nil && i.Began.IsZero() {
			i.Began = info.ModTime()
		}
		return i
	}
	rec.Bytes = r.Size()
	return rec.RunInfo
}

// ShowRun returns one run whole.
func (h *Host) ShowRun(ctx context.Context, id string) (RunInfo, error) {
	r, err := commit.Open(h.state, id)
	if err != nil {
		return RunInfo{}, err
	}
	rec, err := loadRecord(r)
	if err != nil {
		return RunInfo{}, err
	}
	rec.Bytes = r.Size()
	return rec.RunInfo, nil
}
