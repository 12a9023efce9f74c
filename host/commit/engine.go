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
	nameRestored  = "restored" // what a commit that was turned back put back
	namePrefix    = "at."      // + number: every operation before that one is done
	nameUndo      = "undo"
	nameStage     = "stage"
)

// crashPoint is called before and after everything that changes a disk. Tests
// make it kill the process.
var crashPoint = func() {}

// engine carries a journal out. Only the few operations after the marker are
// ever in doubt; whether one of them is done shows in its home, a name of our
// own.
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

// forward does the operations from the marker on. Those between the marker and
// the next place for it may be done already when doubt is set. A nil error
// means all are done.
func (e *engine) forward(doubt bool, progress func(done, total int)) error {
	defer e.release()
	for ; e.at < len(e.j.ops); doubt = false {
		e.hold()
		next := e.j.next(e.at)
		for _, o := range e.j.ops[e.at:next] {
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
			if e.j.items[o.i].kind == isFolder {
				e.hold() // paths lead elsewhere now
			}
		}
		if err := e.mark(next); err != nil {
			return err
		}
		if progress != nil {
			progress(e.at, len(e.j.ops))
		}
	}
	return nil
}

func (e *engine) hold() {
	for _, r := range []*root{e.box, e.data, e.source} {
		if r != nil {
			r.hold()
		}
	}
}

func (e *engine) release() {
	for _, r := range []*root{e.box, e.data, e.source} {
		if r != nil {
			r.release()
		}
	}
}

// maxDoubt is how many operations may be done before the marker moves.
const maxDoubt = 32

// next returns the place for the marker after the one at k. No item occurs
// twice between two places, so that each operation there can be told done or
// not by itself, whatever the others are.
func (j *journal) next(k int) int {
	seen := make(map[int]bool, 2*maxDoubt)
	end := min(k+maxDoubt, len(j.ops))
	for ; k < end; k++ {
		o := j.ops[k]
		if seen[o.i] || o.kind == opExchange && seen[o.other] {
			return k
		}
		seen[o.i] = true
		if o.kind == opExchange {
			seen[o.other] = true
		}
	}
	return end
}

// places are all places for the marker.
func (j *journal) places() []int {
	list := []int{0}
	for k := 0; k < len(j.ops); {
		k = j.next(k)
		list = append(list, k)
	}
	return list
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
	defer e.box.release()
	for i := range e.j.items {
		if i%maxHeld == 0 {
			e.box.hold()
		}
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
	// The rename comes after every operation, and so does what settle syncs: all
	// of it is durable before anybody is told.
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
	return e.data.syncOrdered()
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
