package commit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Names in a run's data folder. The journal's name is the direction in which a
// commit goes on after a crash; the marker's number is the operation in doubt.
const (
	nameJournal   = "journal"      // forward
	nameBack      = "journal.back" // turned back
	nameDone      = "done"         // ended well
	nameAftermath = "aftermath"
	namePrefix    = "at." // + number: every operation before it is done
	nameUndo      = "undo"
	nameStage     = "stage"
)

// crashPoint is called before and after everything that changes a disk. Tests
// make it kill the process.
var crashPoint = func() {}

// engine carries a journal out. Only the operation at the marker is ever in
// doubt; whether that one is done shows in its home, a name of our own.
type engine struct {
	box, data *root
	source    *root // data folder of the undone run; nil when nothing is undone
	j         *journal
	at        int // the marker
	// strays are objects that could not be put back where they were.
	strays []string
}

// conflict is a change by somebody else that was met during a commit.
type conflict struct{ path, reason string }

func (c *conflict) Error() string { return fmt.Sprintf("%q %s", c.path, c.reason) }

// forward does the operations from the marker on. The first may be done
// already when doubt is set. A nil error means all are done.
func (e *engine) forward(doubt bool, progress func(done, total int)) error {
	for ; e.at < len(e.j.ops); doubt = false {
		o := e.j.ops[e.at]
		if !doubt || !e.done(o) {
			crashPoint()
			if err := e.do(o); err != nil {
				return e.explain(o, err)
			}
			crashPoint()
		}
		if err := e.check(o); err != nil {
			return err
		}
		if err := e.mark(e.at + 1); err != nil {
			return err
		}
		if progress != nil {
			progress(e.at, len(e.j.ops))
		}
	}
	return nil
}

// back undoes every operation that was done, the one at the marker if it was.
// It goes on past what it cannot put back, and lists that in strays.
func (e *engine) back() error {
	for {
		if e.at < len(e.j.ops) && e.done(e.j.ops[e.at]) {
			crashPoint()
			e.reverse(e.j.ops[e.at])
			crashPoint()
		}
		if e.at == 0 {
			return nil
		}
		if err := e.mark(e.at - 1); err != nil {
			return err
		}
	}
}

// mark moves the marker by a rename: it is ordered with the operations, which
// are renames too, so that they reach the disk in this order.
func (e *engine) mark(to int) error {
	crashPoint()
	err := e.data.rename(marker(e.at), e.data, marker(to), false)
	if err != nil {
		return fmt.Errorf("move the marker of the commit: %w", err)
	}
	e.at = to
	return nil
}

func marker(k int) string { return namePrefix + strconv.Itoa(k) }

func (e *engine) do(o op) error {
	it := &e.j.items[o.i]
	switch o.kind {
	case opFetch:
		return e.source.rename(it.fetch, e.data, it.home, false)
	case opDetach:
		return e.box.rename(it.from, e.data, it.home, false)
	case opAttach:
		return e.data.rename(it.home, e.box, it.to, false)
	case opDirect:
		return e.box.rename(it.from, e.box, it.to, false)
	case opExchange:
		return e.data.rename(it.home, e.box, it.to, true)
	case opTimes:
		return e.box.setTimes(it.to, it.new.atime, it.new.mtime)
	}
	return errDamaged
}

// done reports whether an operation in doubt was done. Homes are names that
// nobody else uses, so what lies there tells.
func (e *engine) done(o op) bool {
	it := &e.j.items[o.i]
	home, homeErr := e.data.stat(it.home)
	switch o.kind {
	case opFetch, opDetach:
		return homeErr == nil
	case opAttach:
		return homeErr != nil
	case opExchange:
		return homeErr == nil && (home.ino != it.was.ino || home.dev != it.was.dev)
	case opDirect:
		from, fromErr := e.box.stat(it.from)
		to, toErr := e.box.stat(it.to)
		if toErr != nil {
			return false
		}
		// With both there, the object itself decides; it may have two names.
		return fromErr != nil || to.ino == it.was.ino && from.ino != it.was.ino
	case opTimes:
		id, err := e.box.stat(it.to)
		return err == nil && id.ino == it.was.ino && id.mtime == it.new.mtime
	}
	return false
}

// check looks at an object after its capture: nobody can change its place any
// more, so what is found now is what was meant, or a conflict.
func (e *engine) check(o op) error {
	it := &e.j.items[o.i]
	where, path, shown := e.data, it.home, it.from
	switch o.kind {
	case opAttach, opTimes:
		return nil
	case opDirect:
		where, path = e.box, it.to
	case opExchange:
		it = &e.j.items[o.other]
		shown = it.from
	case opFetch:
		shown = it.to
	}
	now, err := where.stat(path)
	if err != nil {
		return &conflict{shown, "vanished during the commit"}
	}
	if !it.was.same(now) {
		return &conflict{shown, "was changed by something else"}
	}
	if it.kind == isFolder && it.to == "" && o.kind == opDetach {
		names, err := where.names(path)
		if err != nil {
			return &conflict{shown, "cannot be listed: " + err.Error()}
		}
		if len(names) > 0 {
			return &conflict{shown + "/" + names[0], "appeared in a folder that was to go"}
		}
	}
	return nil
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

// explain says what a failed operation means to a person.
func (e *engine) explain(o op, err error) error {
	it := &e.j.items[o.i]
	path := it.to
	if path == "" || o.kind == opDetach {
		path = it.from
	}
	switch {
	case isTaken(err):
		return &conflict{path, "appeared during the commit"}
	case isMissing(err):
		return &conflict{path, "or its folder vanished during the commit"}
	}
	return fmt.Errorf("%q: %w", path, err)
}

// finish ends a commit whose operations are all done: folder times, what undo
// will compare with, and the journal's last name. It may be repeated.
func (e *engine) finish() error {
	for _, d := range e.j.set {
		crashPoint()
		// A folder that somebody changed or took away keeps what it has.
		_ = e.box.setTimes(d.path, d.atime, d.mtime)
	}
	a := &aftermath{items: make([]identity, len(e.j.items)), dirs: make([]int64, len(e.j.dirs))}
	for i := range e.j.items {
		it := &e.j.items[i]
		if it.to == "" {
			continue
		}
		if now, err := e.box.stat(it.to); err == nil && it.expects(now) {
			a.items[i] = now
		}
	}
	paths := pathsOf(e.j.items, true)
	for i, d := range e.j.dirs {
		if path, ok := paths.translate(d.path); ok {
			if now, err := e.box.stat(path); err == nil {
				a.dirs[i] = now.mtime
			}
		}
	}
	crashPoint()
	if err := writeSynced(e.data.f.Name(), nameAftermath, a.encode()); err != nil {
		return err
	}
	crashPoint()
	// The rename is ordered after every operation; syncing the folder makes
	// all of them durable before anybody is told.
	if err := os.Rename(filepath.Join(e.data.f.Name(), nameJournal), filepath.Join(e.data.f.Name(), nameDone)); err != nil {
		return err
	}
	return e.settle()
}

// expects reports whether now is the item as the commit left it.
func (it *item) expects(now identity) bool {
	want := it.was
	if it.times {
		want.mtime = it.new.mtime
	}
	return want.same(now)
}

// abandon ends a commit that was turned back: the journal's name goes.
func (e *engine) abandon() error {
	dir := e.data.f.Name()
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

// settle removes the marker and makes the end of the commit durable.
func (e *engine) settle() error {
	crashPoint()
	names, err := e.data.names("")
	if err != nil {
		return err
	}
	for _, n := range names {
		if strings.HasPrefix(n, namePrefix) {
			if err := e.data.remove(n); err != nil {
				return err
			}
		}
	}
	crashPoint()
	return e.data.sync()
}

// turnBack makes the journal's name say that the way is back, before anything
// goes back: a crash in between must not go forward again.
func (e *engine) turnBack() error {
	dir := e.data.f.Name()
	crashPoint()
	if err := os.Rename(filepath.Join(dir, nameJournal), filepath.Join(dir, nameBack)); err != nil {
		return err
	}
	if err := e.back(); err != nil {
		return err
	}
	return e.abandon()
}

// writeSynced writes a file whole: under another name, synced, then renamed.
func writeSynced(dir, name string, b []byte) error {
	tmp := filepath.Join(dir, name+".tmp")
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(tmp)
		return err
	}
	return os.Rename(tmp, filepath.Join(dir, name))
}
