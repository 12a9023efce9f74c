package commit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stepbox.dev/host/fault"
)

// Apply commits the changes: journalled, atomic per file, keeping what undo
// needs. Every worker of the run must be gone. progress may be nil. Once the
// journal is written, ctx no longer stops it. Its errors are those of the
// approval, fault.CheckFailed for conflicts (everything is as before then, or
// the error says what could not be put back), and fault.StepFailed when the
// sandbox cannot be written: a full disk, for one.
func Apply(ctx context.Context, c *Changes, a Approval, progress func(done, total int)) (Committed, error) {
	if a == nil {
		return Committed{}, fault.New(fault.NotApproved, "nobody approved the changes")
	}
	if err := a.Redeem(c.digest); err != nil {
		return Committed{}, err
	}
	if c.Empty() {
		return Committed{}, nil
	}
	r := c.run
	lock, err := lockCommits(ctx, r.state())
	if err != nil {
		return Committed{}, err
	}
	defer lock.Close()
	_ = recoverAll(r.state()) // what remains is looked at here
	if err := halfDone(r.state(), r.Sandbox); err != nil {
		return Committed{}, err
	}
	if r.Committed() {
		return Committed{}, fault.New(fault.CheckFailed, "run %q was committed already", r.ID)
	}
	e, err := r.engine("")
	if err != nil {
		return Committed{}, err
	}
	defer e.close()
	items := append([]item(nil), c.items...)
	if err := e.prepare(items, c.made); err != nil {
		return Committed{}, r.commitError(err, nil)
	}
	e.j.items = items
	if err := e.unchanged(); err != nil {
		return Committed{}, r.commitError(err, nil)
	}
	if err := ctx.Err(); err != nil {
		return Committed{}, err
	}
	if err := r.carryOut(e, progress); err != nil {
		return Committed{}, err
	}
	done := Committed{Changes: c.list}
	for _, ch := range c.list {
		if ch.Kind == Create || ch.Kind == Replace {
			done.Bytes += ch.Size
		}
	}
	return done, nil
}

// lockCommits waits for the one commit that a state folder allows at a time.
func lockCommits(ctx context.Context, state string) (*os.File, error) {
	for {
		f, err := lockFile(filepath.Join(state, fileLock), false)
		if err != nil {
			return nil, fault.New(fault.Internal, "lock commits: %w", err)
		}
		if f != nil {
			return f, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// engine opens what a commit of the run works on. source is the data folder of
// the run that is undone, or "".
func (r *Run) engine(source string) (*engine, error) {
	box, err := r.openSandbox()
	if err != nil {
		return nil, err
	}
	e := &engine{box: box, j: &journal{run: r.ID, sandbox: r.Sandbox, ino: r.ino, undoes: r.Undoes, source: source}}
	if e.data, err = openRoot(r.Data); err == nil && source != "" {
		e.source, err = openRoot(source)
	}
	if err != nil {
		e.close()
		return nil, fault.New(fault.CheckFailed, "run %q is damaged: %w", r.ID, err)
	}
	return e, nil
}

func (e *engine) close() {
	for _, r := range []*root{e.box, e.data, e.source} {
		if r != nil {
			r.close()
		}
	}
}

// unchanged looks once more at everything that will be touched: somebody may
// have changed it while a person thought about the question. From here on the
// check after each capture is what guards.
func (e *engine) unchanged() error {
	defer e.box.release()
	for i := range e.j.items {
		if i%maxHeld == 0 {
			e.box.hold()
		}
		it := &e.j.items[i]
		if it.from == "" {
			continue
		}
		if now, err := e.box.stat(it.from); err != nil || !it.was.untouched(now) {
			return &conflict{it.from, "was changed by something else"}
		}
	}
	return nil
}

// carryOut orders the items, writes the journal, and does what it says: all of
// it or nothing.
func (r *Run) carryOut(e *engine, progress func(done, total int)) error {
	e.j.ops = order(e.j.items)
	e.j.recordFolders(e.box)
	if err := e.decide(r); err != nil {
		r.settlePending()
		return r.commitError(err, nil)
	}
	err := e.forward(false, progress)
	if err == nil {
		err = e.finish()
		if err == nil {
			err = r.ended(e.j)
		}
		if err != nil {
			// Everything is done but the book-keeping: the next start does it.
			return fault.New(fault.Internal, "the changes of run %q are made, but not recorded: %w", r.ID, err)
		}
		return nil
	}
	if back := e.turnBack(err); back != nil {
		return fault.New(fault.Internal, "%w; and going back failed: %v: the next start of stepbox tries again", err, back)
	}
	r.settlePending()
	return r.commitError(err, e.strays)
}

// decide makes the prepared objects durable and then the journal, whose rename
// is the decision to commit.
func (e *engine) decide(r *Run) error {
	pending := filepath.Join(r.state(), dirPending)
	crashPoint()
	if err := os.WriteFile(filepath.Join(pending, r.ID), nil, 0o600); err != nil {
		return err
	}
	if err := syncFolder(pending); err != nil {
		return err
	}
	if err := e.syncContent(); err != nil {
		return err
	}
	crashPoint()
	if err := os.WriteFile(filepath.Join(r.Data, marker(0)), nil, 0o600); err != nil {
		return err
	}
	crashPoint()
	if err := writeSynced(r.Data, nameJournal, e.j.encode()); err != nil {
		return err
	}
	crashPoint()
	return e.data.syncOrdered()
}

// recordFolders notes the times of every folder whose entries change, so that
// undo can give them back.
func (j *journal) recordFolders(box *root) {
	seen := make(map[string]bool)
	note := func(path string) {
		if seen[path] {
			return
		}
		seen[path] = true
		if id, err := box.stat(path); err == nil && id.kind == isFolder {
			j.dirs = append(j.dirs, dirTimes{path, stamps{id.atime, id.mtime}})
		}
	}
	old := pathsOf(j.items, false)
	for i := range j.items {
		it := &j.items[i]
		if it.touch {
			continue
		}
		if it.from != "" {
			note(parentOf(it.from))
			if it.kind == isFolder {
				note(it.from)
			}
		}
		if it.to != "" {
			if p, ok := old.translate(parentOf(it.to)); ok {
				note(p)
			}
		}
	}
}

// ended records what the end of a commit means outside of its data folder.
func (r *Run) ended(j *journal) error {
	if j.undoes != "" {
		e := &encoder{}
		for i := range j.items {
			e.uints(uint64(j.items[i].undoes))
		}
		crashPoint()
		dir := filepath.Join(r.state(), dirRuns, j.undoes)
		if err := writeSynced(dir, fileTaken+r.ID, e.b); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	crashPoint()
	r.settlePending()
	return nil
}

// settlePending says that no commit of the run is under way any more, unless a
// journal says otherwise.
func (r *Run) settlePending() {
	for _, n := range []string{nameJournal, nameBack} {
		if _, err := os.Lstat(filepath.Join(r.Data, n)); !errors.Is(err, os.ErrNotExist) {
			return
		}
	}
	_ = os.Remove(filepath.Join(r.state(), dirPending, r.ID))
}

// commitError says what kind of failure stopped a commit and what is left.
func (r *Run) commitError(err error, strays []string) error {
	left := "; nothing was changed"
	if len(strays) > 0 {
		left = "; everything else is as before, but some names were taken meanwhile and what was there lies now in " + quotedList(strays)
	}
	if isOtherMount(err) { // the kernel looks at that first
		if w := mayWrite(r.Sandbox); w != nil {
			err = w
		}
	}
	var c *conflict
	switch {
	case errors.As(err, &c):
		return fault.New(fault.CheckFailed, "%w%s", err, left).Hint("run the request again")
	case fault.NoRoom(err):
		return fault.New(fault.StepFailed, "the disk of %q is full: %w%s", r.Sandbox, err, left).Hint("free some space, then: stepbox commit %s", r.ID)
	case isReadOnly(err):
		return fault.New(fault.StepFailed, "the sandbox %q cannot be changed: %w%s", r.Sandbox, err, left)
	case isOtherMount(err) && r.Data == r.Dir && foreignHidden(r.Sandbox) != nil:
		return fault.New(fault.StepFailed, "stepbox cannot keep its data in the sandbox, and from elsewhere nothing can be moved there without copying: %w%s", foreignHidden(r.Sandbox), left).
			Hint("rename or remove that folder, then run the request again")
	case isOtherMount(err):
		return fault.New(fault.StepFailed, "%w: files cannot be moved between stepbox's data in %q and this place without copying (another file system, or an overlay)%s", err, r.Data, left).
			Hint("name the mounted folder itself with --sandbox")
	}
	return fault.New(fault.Internal, "commit run %q: %w%s", r.ID, err, left)
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }

func quotedList(list []string) string {
	var b strings.Builder
	for i, s := range list {
		if i == 10 {
			fmt.Fprintf(&b, " and %d more", len(list)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoted(s))
	}
	return b.String()
}

func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
