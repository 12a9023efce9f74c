package commit

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"stepbox.dev/host/fault"
)

// Recover finishes or takes back commits that a crash interrupted. It is called
// at every start, takes microseconds when there is nothing to do, and leaves a
// commit alone that is under way in another process. An error tells the person
// what could not be recovered, or was taken back and why; other runs are not
// concerned, so the caller shows it and goes on. A commit whose sandbox is not
// there now, on a disk that is not plugged in, waits for it in silence.
func Recover(ctx context.Context, state string) error {
	entries, err := os.ReadDir(filepath.Join(state, dirPending))
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return fault.New(fault.Internal, "look for interrupted commits: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	lock, err := lockFile(filepath.Join(state, fileLock), false)
	if err != nil {
		return fault.New(fault.Internal, "lock commits: %w", err)
	}
	if lock == nil {
		return nil // the commit is under way
	}
	defer lock.Close()
	return recoverAll(state)
}

// recoverAll recovers every pending commit; the caller holds the lock.
func recoverAll(state string) error {
	entries, err := os.ReadDir(filepath.Join(state, dirPending))
	if err != nil {
		return fault.New(fault.Internal, "look for interrupted commits: %w", err)
	}
	var errs []error
	for _, e := range entries {
		r, err := openRun(filepath.Join(state, dirRuns, e.Name()), e.Name())
		if errors.Is(err, os.ErrNotExist) {
			_ = os.Remove(filepath.Join(state, dirPending, e.Name()))
			continue
		}
		if err == nil && r.away() {
			continue
		}
		if err == nil {
			err = r.recover()
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// away reports whether the sandbox is not there now, or another folder is.
func (r *Run) away() bool {
	box, err := r.openSandbox()
	if err != nil {
		return true
	}
	box.close()
	return false
}

// halfDone fails while a commit is half done in a sandbox, or in one that lies
// above or below it: nothing new may build on that. The caller has tried to
// recover it.
func halfDone(state, sandbox string) error {
	entries, err := os.ReadDir(filepath.Join(state, dirPending))
	if err != nil {
		return fault.New(fault.Internal, "look for interrupted commits: %w", err)
	}
	for _, e := range entries {
		r, err := openRun(filepath.Join(state, dirRuns, e.Name()), e.Name())
		if err != nil || within(r.Sandbox, sandbox) || within(sandbox, r.Sandbox) {
			return fault.New(fault.CheckFailed, "run %q has a commit in this sandbox that is not finished and cannot be recovered", e.Name()).
				Hint("its files lie in %s", filepath.Join(state, dirRuns, e.Name()))
		}
	}
	return nil
}

// settle recovers what is pending before a run begins, after a commit that is
// under way has ended.
func settle(ctx context.Context, state, sandbox string) error {
	entries, err := os.ReadDir(filepath.Join(state, dirPending))
	if err == nil && len(entries) == 0 {
		return nil
	}
	lock, err := lockCommits(ctx, state)
	if err != nil {
		return err
	}
	defer lock.Close()
	_ = recoverAll(state) // what remains is looked at here
	return halfDone(state, sandbox)
}

// recover goes on where a crash stopped: forward, or back once that was decided.
func (r *Run) recover() error {
	name, journalBytes, err := r.readJournal()
	if err != nil {
		return fault.New(fault.CheckFailed, "the journal of run %q cannot be read: %w", r.ID, err).
			Hint("its files lie in %s", r.Data)
	}
	if name == "" { // it crashed before the decision
		r.settlePending()
		return nil
	}
	j, err := decodeJournal(journalBytes)
	if err != nil {
		return fault.New(fault.CheckFailed, "the journal of run %q cannot be used: %w", r.ID, err).Hint("its files lie in %s", r.Data)
	}
	if name == nameDone {
		e := &engine{j: j}
		if e.data, err = openRoot(r.Data); err != nil {
			return fault.New(fault.CheckFailed, "run %q is damaged: %w", r.ID, err)
		}
		defer e.close()
		if err := e.settle(); err != nil {
			return fault.New(fault.Internal, "end the commit of run %q: %w", r.ID, err)
		}
		return r.ended(j)
	}
	e, err := r.engine(j.source)
	if err != nil {
		return err
	}
	defer e.close()
	e.j = j
	if e.at, err = e.findMarker(); err != nil {
		return fault.New(fault.CheckFailed, "the journal of run %q cannot be used: %w", r.ID, err).Hint("its files lie in %s", r.Data)
	}
	if name == nameJournal {
		err := e.forward(true, nil)
		if err == nil {
			if err := e.finish(); err != nil {
				return fault.New(fault.Internal, "end the commit of run %q: %w", r.ID, err)
			}
			return r.ended(j)
		}
		if back := e.turnBack(err); back != nil {
			return errors.Join(r.commitError(err, e.strays), back)
		}
		r.settlePending()
		return r.commitError(err, e.strays)
	}
	err = e.back()
	if err == nil {
		err = e.abandon()
	}
	if err != nil {
		return fault.New(fault.Internal, "take back the commit of run %q: %w", r.ID, err)
	}
	r.settlePending()
	return nil
}

// readJournal returns the journal under whichever name it has now.
func (r *Run) readJournal() (name string, b []byte, err error) {
	for _, name := range []string{nameJournal, nameBack, nameDone} {
		b, err := readBounded(filepath.Join(r.Data, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		return name, b, err
	}
	return "", nil, nil
}

func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxJournal+1))
	if err == nil && len(b) > maxJournal {
		err = errDamaged
	}
	return b, err
}

// findMarker returns the number of the one operation in doubt.
func (e *engine) findMarker() (int, error) {
	names, err := e.data.names("")
	if err != nil {
		return 0, err
	}
	at := -1
	for _, n := range names {
		s, ok := strings.CutPrefix(n, namePrefix)
		if !ok {
			continue
		}
		k, err := strconv.Atoi(s)
		if err != nil || k < 0 || k > len(e.j.ops) || at >= 0 {
			return 0, errors.New("its marker makes no sense")
		}
		at = k
	}
	if at < 0 {
		return 0, errors.New("its marker is missing")
	}
	places := e.j.places()
	if k := sort.SearchInts(places, at); k == len(places) || places[k] != at {
		return 0, errors.New("its marker makes no sense")
	}
	return at, nil
}
