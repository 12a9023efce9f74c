package commit

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/stage"
)

// leastID is how much of an id has to be given: its day. A letter that happens
// to mean one run today means none or another tomorrow.
const leastID = 8

// Open finds an earlier run by its id, or by the only id that begins so. Its
// error is fault.Usage when there is none or more than one.
func Open(state, id string) (*Run, error) {
	if id == "" || strings.ContainsAny(id, "/\\\x00") || strings.HasPrefix(id, ".") {
		return nil, fault.New(fault.Usage, "%q is no run id", id).Hint("stepbox runs list shows them")
	}
	dir := filepath.Join(state, dirRuns)
	if _, err := os.Lstat(filepath.Join(dir, id)); err != nil {
		if len(id) < leastID {
			return nil, fault.New(fault.Usage, "there is no run %q", id).
				Hint("stepbox runs list shows them; an id may be shortened to no less than %d characters", leastID)
		}
		var found []string
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), id) {
				found = append(found, e.Name())
			}
		}
		switch len(found) {
		case 0:
			return nil, fault.New(fault.Usage, "there is no run %q", id).Hint("stepbox runs list shows them")
		case 1:
			id = found[0]
		default:
			shown, more := found, ""
			if n := len(found); n > 5 { // the newest
				shown, more = found[n-5:], ", …"
			}
			return nil, fault.New(fault.Usage, "%q could be any of %d runs: %s%s", id, len(found), strings.Join(shown, ", "), more).
				Hint("give more of the id; stepbox runs list shows them")
		}
	}
	return openRun(filepath.Join(dir, id), id)
}

func openRun(dir, id string) (*Run, error) {
	b, err := os.ReadFile(filepath.Join(dir, fileRecord))
	if err != nil {
		return nil, fault.New(fault.CheckFailed, "run %q is damaged: %w", id, err).Hint("stepbox runs prune removes it")
	}
	var rec record
	if err := json.Unmarshal(b, &rec); err != nil || !filepath.IsAbs(rec.Sandbox) || !filepath.IsAbs(rec.Data) {
		return nil, fault.New(fault.CheckFailed, "run %q is damaged: %s does not read", id, fileRecord).Hint("stepbox runs prune removes it")
	}
	return &Run{
		ID: id, Dir: dir, Data: rec.Data, Sandbox: rec.Sandbox, Began: rec.Began,
		Undoes: rec.Undoes, ino: rec.Inode,
	}, nil
}

// List returns all runs, newest first. Damaged ones have nothing but an ID and
// a Dir, which is enough for Remove.
func List(state string) ([]*Run, error) {
	entries, err := os.ReadDir(filepath.Join(state, dirRuns))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.New(fault.Internal, "list runs: %w", err)
	}
	var list []*Run
	for i := len(entries) - 1; i >= 0; i-- {
		if !entries[i].IsDir() {
			continue
		}
		id := entries[i].Name()
		dir := filepath.Join(state, dirRuns, id)
		r, err := openRun(dir, id)
		if err != nil {
			r = &Run{ID: id, Dir: dir, Data: dir}
		}
		list = append(list, r)
	}
	sort.SliceStable(list, func(a, b int) bool { return list[a].Began.After(list[b].Began) })
	return list, nil
}

// Undone reports whether everything that the run committed was taken back.
func (r *Run) Undone() bool {
	if len(r.UndoneBy()) == 0 {
		return false
	}
	b, err := readBounded(filepath.Join(r.Data, nameDone))
	if err != nil {
		return false
	}
	j, err := decodeJournal(b)
	if err != nil {
		return false
	}
	taken, err := r.takenBack()
	return err == nil && len(taken) == len(j.items)
}

// Size is what the run keeps on disk, in bytes.
func (r *Run) Size() int64 {
	var n int64
	dirs := []string{r.Dir}
	if r.Data != r.Dir {
		dirs = append(dirs, r.Data)
	}
	for _, d := range dirs {
		_ = filepath.WalkDir(d, func(_ string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil // what vanishes meanwhile counts nothing
			}
			if info, err := e.Info(); err == nil {
				n += blocks(info)
			}
			return nil
		})
	}
	return n
}

// Trim throws away what calls wrote that did not end well: a commit of a part
// does not need it. Every worker of the run must be gone.
func Trim(r *Run) error {
	if r.Committed() || r.pending() {
		return nil
	}
	data, err := openRoot(r.Data)
	if err != nil {
		return fault.New(fault.CheckFailed, "run %q is damaged: %w", r.ID, err)
	}
	defer data.close()
	log, err := readLog(data)
	if err != nil {
		return fault.New(fault.Stopped, "the stage of run %q cannot be read: %w", r.ID, err)
	}
	tree, err := stage.Replay(log, stage.Options{Partial: true})
	if err != nil {
		return fault.New(fault.Stopped, "the stage of run %q is refused: %w", r.ID, err)
	}
	keep := make(map[string]bool)
	for _, n := range tree.Nodes() {
		if n.Blob != 0 && !n.Dead {
			keep[stage.BlobName(n.Blob)] = true
		}
	}
	names, err := data.names(nameStage + "/b")
	if err != nil {
		return fault.New(fault.CheckFailed, "the stage of run %q cannot be listed: %w", r.ID, err)
	}
	for _, n := range names {
		if keep[n] {
			continue
		}
		if err := data.remove(nameStage + "/b/" + n); err != nil {
			return fault.New(fault.Internal, "trim the stage of run %q: %w", r.ID, err)
		}
	}
	return nil
}

// Discard throws a run's stage away. A committed run keeps its undo data until
// it is removed.
func Discard(r *Run) error {
	if r.Committed() || r.pending() {
		return nil
	}
	if err := removeTree(r.StageDir()); err != nil {
		return fault.New(fault.Internal, "discard the stage of run %q: %w", r.ID, err)
	}
	r.removeHidden()
	return nil
}

// Remove removes a run with all it keeps; it cannot be undone any more. A run
// that is alive, or that may be in the middle of a commit or an undo, is refused
// (fault.Refused).
func Remove(r *Run) error {
	if r.lock == nil { // else it is the caller's own, which nobody else commits
		lock, err := lockFile(filepath.Join(r.state(), fileLock), false)
		if err != nil {
			return fault.New(fault.Internal, "lock commits: %w", err)
		}
		if lock == nil {
			return fault.New(fault.Refused, "run %q cannot be removed while something is committed or undone", r.ID)
		}
		defer lock.Close()
	}
	return r.remove()
}

func (r *Run) remove() error {
	switch {
	case r.lock == nil && r.Alive():
		return fault.New(fault.Refused, "run %q is still running", r.ID)
	case r.pending():
		return fault.New(fault.Refused, "run %q is in the middle of a commit", r.ID)
	}
	pending, _ := os.ReadDir(filepath.Join(r.state(), dirPending))
	for _, e := range pending {
		if u, err := openRun(filepath.Join(r.state(), dirRuns, e.Name()), e.Name()); err == nil && u.Undoes == r.ID {
			return fault.New(fault.Refused, "run %q is in the middle of being undone", r.ID)
		}
	}
	_ = r.Close()
	var err error
	if r.Data != r.Dir {
		err = removeTree(r.Data)
		r.keepTimes(func() { _ = os.Remove(filepath.Dir(r.Data)) }) // .stepbox, when it was the last
	}
	if err = errors.Join(err, removeTree(r.Dir)); err != nil {
		return fault.New(fault.Internal, "remove run %q: %w", r.ID, err)
	}
	return nil
}

// removeHidden removes the data folder in the sandbox once nothing is in it.
func (r *Run) removeHidden() {
	if r.Data != r.Dir {
		_ = os.Remove(filepath.Join(r.Data, nameUndo))
		_ = os.Remove(r.Data)
		r.keepTimes(func() { _ = os.Remove(filepath.Dir(r.Data)) })
	}
}

// removeTree removes a folder even when something in it was made unwritable.
func removeTree(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if e != nil && e.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
