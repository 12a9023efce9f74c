package commit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
)

// turnBack makes the journal's name say that the way is back, before anything
// goes back: a crash in between must not go forward again. cause is why.
func (e *engine) turnBack(cause error) error {
	dir := e.data.f.Name()
	crashPoint()
	if err := os.Rename(filepath.Join(dir, nameJournal), filepath.Join(dir, nameBack)); err != nil {
		return err
	}
	if err := e.back(); err != nil {
		return err
	}
	var c *conflict
	if !errors.As(cause, &c) { // nobody else was at work: the times are ours
		for _, d := range e.j.dirs {
			_ = e.box.setTimes(d.path, d.atime, d.mtime)
		}
	}
	return e.abandon()
}

// back undoes every operation that was done, those in doubt if they were. It
// goes on past what it cannot put back, and lists that in strays.
func (e *engine) back() error {
	places := e.j.places()
	k := sort.SearchInts(places, e.at)
	for {
		if k+1 < len(places) {
			for i := places[k+1] - 1; i >= places[k]; i-- {
				if o := e.j.ops[i]; e.done(o) {
					crashPoint()
					e.reverse(o)
					crashPoint()
				}
			}
		}
		if k == 0 {
			return nil
		}
		k--
		if err := e.mark(places[k]); err != nil {
			return err
		}
	}
}

// reverse takes a done operation back. An object whose old name is taken by
// now goes beside it under a name that says so: nothing is ever lost.
func (e *engine) reverse(o op) {
	it := &e.j.items[o.i]
	switch o.kind {
	case opFetch:
		e.putBack(e.data, it.home, e.source, it.fetch)
	case opDetach:
		e.putBack(e.data, it.home, e.box, it.from)
	case opAttach:
		if !e.mayLeave(it) {
			e.strays = append(e.strays, it.to)
			return
		}
		e.putBack(e.box, it.to, e.data, it.home)
		if !e.leftWhole(it) && e.data.rename(it.home, e.box, it.to, false) == nil {
			e.strays = append(e.strays, it.to)
		}
	case opDirect:
		e.putBack(e.box, it.to, e.box, it.from)
	case opExchange:
		if !e.mayLeave(it) || e.data.rename(it.home, e.box, it.to, true) != nil {
			// Something else changed the new file, or took it away: the old one
			// goes back alone, beside it.
			e.putBack(e.data, it.home, e.box, it.to)
		}
	case opTimes:
		_ = e.box.setTimes(it.to, it.old.atime, it.old.mtime)
	}
}

// mayLeave reports whether an object that the commit put in place can go again:
// what a person did to it, or put into it, since then must stay in the sandbox.
func (e *engine) mayLeave(it *item) bool {
	now, err := e.box.stat(it.to)
	return isMissing(err) || err == nil && it.was.same(now) && e.empty(it, e.box, it.to)
}

// leftWhole looks again once nobody else can reach the object.
func (e *engine) leftWhole(it *item) bool {
	now, err := e.data.stat(it.home)
	return err != nil || it.was.same(now) && e.empty(it, e.data, it.home)
}

// empty reports whether a folder that came from outside the sandbox holds
// nothing: what the commit put into it has been taken out before.
func (e *engine) empty(it *item, in *root, path string) bool {
	if it.kind != isFolder || it.from != "" {
		return true
	}
	names, err := in.names(path)
	return err == nil && len(names) == 0
}

func (e *engine) putBack(from *root, path string, to *root, old string) {
	err := from.rename(path, to, old, false)
	for n := 1; isTaken(err) && n < 100 && to == e.box; n++ {
		beside := fmt.Sprintf("%s (stepbox %s)", old, e.j.run)
		if n > 1 {
			beside += " " + strconv.Itoa(n)
		}
		if err = from.rename(path, to, beside, false); err == nil {
			e.strays = append(e.strays, beside)
		}
	}
	if err != nil {
		e.strays = append(e.strays, filepath.Join(from.f.Name(), path))
	}
}

// abandon ends a commit that was turned back: the journal's name goes.
func (e *engine) abandon() error {
	dir := e.data.f.Name()
	crashPoint()
	if err := writeSynced(dir, nameRestored, e.restored()); err != nil {
		return err
	}
	crashPoint()
	if len(e.strays) > 0 {
		// What could not be put back must outlive the next attempt.
		if err := os.Rename(filepath.Join(dir, nameUndo), filepath.Join(dir, "kept."+strconv.FormatInt(int64(os.Getpid()), 10))); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	crashPoint()
	if err := os.Remove(filepath.Join(dir, nameBack)); err != nil && !os.IsNotExist(err) {
		return err
	}
	return e.settle()
}
