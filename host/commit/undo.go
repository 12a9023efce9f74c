package commit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sort"

	"stepbox.dev/host/fault"
)

// Undo takes a committed run back: what it moved returns, what it made goes,
// what it removed comes again, with the modification times of before. It is
// itself a run, which can be undone in turn. What something else changed since
// is refused, with the reason, and everything that depends on it; the rest is
// done. With dryRun it only says what it would do. An error (fault.CheckFailed)
// means that nothing was taken back.
func Undo(ctx context.Context, r *Run, dryRun bool) (Undone, error) {
	if _, err := os.Lstat(r.Data); errors.Is(err, os.ErrNotExist) {
		return Undone{}, fault.New(fault.CheckFailed, "what stepbox kept of run %q is gone, so it cannot be undone: %q is missing", r.ID, r.Data)
	}
	if !r.Committed() {
		return Undone{}, fault.New(fault.CheckFailed, "run %q has committed nothing, so there is nothing to undo", r.ID)
	}
	lock, err := lockCommits(ctx, r.state())
	if err != nil {
		return Undone{}, err
	}
	defer lock.Close()
	_ = recoverAll(r.state()) // what remains is looked at here
	if err := halfDone(r.state(), r.Sandbox); err != nil {
		return Undone{}, err
	}
	u, err := r.inverse(ctx)
	if err != nil {
		return Undone{}, err
	}
	done := Undone{Changes: changesOf(u.items), Refused: u.refusals()}
	if dryRun || len(u.items) == 0 {
		return done, nil
	}
	back, err := makeRun(r.state(), r.Sandbox, r.ID)
	if err != nil {
		return Undone{}, err
	}
	defer back.Close()
	if err := back.takeBack(ctx, r, u); err != nil {
		return Undone{}, err
	}
	done.Run = back
	return done, nil
}

// takeBack is the commit of an undo.
func (r *Run) takeBack(ctx context.Context, of *Run, u *inverse) error {
	e, err := r.engine(of.Data)
	if err != nil {
		return err
	}
	defer e.close()
	if err := e.freshUndo(); err != nil {
		return r.commitError(err, nil)
	}
	e.j.items, e.j.set = u.items, u.set
	if err := ctx.Err(); err != nil {
		return err
	}
	return r.carryOut(e, nil)
}

// inverse is a commit's list backwards, less what cannot be taken back.
type inverse struct {
	box    *root
	source *journal
	after  *aftermath
	taken  map[int]bool    // items that an earlier undo took back
	reason map[int]string  // refused items of the source
	now    paths           // before the commit → where it lies now
	byFrom map[string]int  // items by path before, of those not taken
	byTo   map[string]int  // and after
	there  map[string]bool // folders that were looked for
	items  []item
	set    []dirTimes
}

func (r *Run) inverse(ctx context.Context) (*inverse, error) {
	damaged := func(err error) error {
		return fault.New(fault.CheckFailed, "the undo data of run %q cannot be used: %w", r.ID, err).Hint("its files lie in %s", r.Data)
	}
	b, err := readBounded(filepath.Join(r.Data, nameDone))
	if err != nil {
		return nil, damaged(err)
	}
	u := &inverse{reason: make(map[int]string), there: make(map[string]bool)}
	if u.source, err = decodeJournal(b); err != nil {
		return nil, damaged(err)
	}
	if b, err = readBounded(filepath.Join(r.Data, nameAftermath)); err != nil {
		return nil, damaged(err)
	}
	if u.after, err = decodeAftermath(b); err != nil {
		return nil, damaged(err)
	}
	if len(u.after.items) != len(u.source.items) || len(u.after.dirs) != len(u.source.dirs) {
		return nil, damaged(errDamaged)
	}
	if u.taken, err = r.takenBack(); err != nil {
		return nil, damaged(err)
	}
	if u.box, err = r.openSandbox(); err != nil {
		return nil, err
	}
	defer u.box.close()
	u.index()
	if len(u.byFrom)+len(u.byTo) == 0 && !u.touches() {
		return nil, fault.New(fault.CheckFailed, "run %q was undone already", r.ID)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	data, err := openRoot(r.Data)
	if err != nil {
		return nil, damaged(err)
	}
	defer data.close()
	u.judge(data)
	u.spread()
	u.build()
	return u, nil
}

// takenBack returns the items that earlier undos of the run took back.
func (r *Run) takenBack() (map[int]bool, error) {
	taken := make(map[int]bool)
	for _, id := range r.UndoneBy() {
		b, err := os.ReadFile(filepath.Join(r.Dir, fileTaken+id))
		if err != nil {
			return nil, err
		}
		for d := (&decoder{b: b}); len(d.b) > 0; {
			if k := d.uint(); k > 0 {
				taken[int(k-1)] = true
			}
			if d.err != nil {
				return nil, d.err
			}
		}
	}
	return taken, nil
}

func (u *inverse) index() {
	u.byFrom, u.byTo = make(map[string]int), make(map[string]int)
	live := make([]item, 0, len(u.source.items))
	for i, it := range u.source.items {
		if u.taken[i] || it.touch {
			continue
		}
		live = append(live, it)
		if it.from != "" {
			u.byFrom[it.from] = i
		}
		if it.to != "" {
			u.byTo[it.to] = i
		}
	}
	u.now = pathsOf(live, true)
}

func (u *inverse) touches() bool {
	for i, it := range u.source.items {
		if it.touch && !u.taken[i] {
			return true
		}
	}
	return false
}

func (u *inverse) refuse(i int, reason string) {
	if _, ok := u.reason[i]; !ok {
		u.reason[i] = reason
	}
}

// judge refuses what something else changed, item by item.
func (u *inverse) judge(data *root) {
	defer u.box.release()
	defer data.release()
	for i := range u.source.items {
		if 2*i%maxHeld == 0 { // each item may look into two folders
			u.box.hold()
			data.hold()
		}
		it := &u.source.items[i]
		if u.taken[i] {
			continue
		}
		if it.to == "" {
			if id, err := data.stat(it.home); err != nil || !it.was.same(id) {
				u.refuse(i, "what stepbox kept of it is damaged")
			}
		} else {
			id, err := u.box.stat(it.to)
			switch {
			case isMissing(err):
				u.refuse(i, "it is gone")
			case err != nil:
				u.refuse(i, "it cannot be looked at: "+err.Error())
			case !u.after.items[i].untouched(id):
				u.refuse(i, "it was changed since")
			}
		}
		if it.from != "" && !it.touch {
			u.judgePlace(i, it.from)
		}
	}
}

// judgePlace refuses to return an item to a folder that is gone, or to a name
// that is taken by something that does not leave.
func (u *inverse) judgePlace(i int, from string) {
	folder := parentOf(from)
	for p := folder; p != ""; p = parentOf(p) {
		if _, ok := u.byFrom[p]; ok {
			if p == folder && u.source.items[u.byFrom[p]].to == "" {
				return // it comes back together with its folder
			}
			break
		}
	}
	here, ok := u.now.translate(folder)
	if !ok {
		return // a folder above comes back too; the closure looks at it
	}
	there, known := u.there[here]
	if !known {
		id, err := u.box.stat(here)
		there = err == nil && id.kind == isFolder
		u.there[here] = there
	}
	if !there {
		u.refuse(i, "its folder "+quoted(folder)+" is gone")
		return
	}
	place := from[len(folder):]
	if folder == "" {
		place = "/" + place
	}
	place = here + place
	if here == "" {
		place = place[1:]
	}
	if _, leaves := u.byTo[place]; leaves {
		return // the closure looks at it
	}
	if _, err := u.box.stat(place); err == nil {
		u.refuse(i, "its name is taken by something new")
	}
}

// spread refuses what depends on something refused, until nothing changes.
func (u *inverse) spread() {
	for before := -1; before != len(u.reason); {
		before = len(u.reason)
		for i := range u.source.items {
			it := &u.source.items[i]
			if _, refused := u.reason[i]; refused || u.taken[i] {
				continue
			}
			if it.from != "" {
				// Its folder must be back in its own place first.
				for p := parentOf(it.from); p != ""; p = parentOf(p) {
					if k, ok := u.byFrom[p]; ok {
						if _, refused := u.reason[k]; refused {
							u.refuse(i, "its folder "+quoted(p)+" could not be put back")
						}
					}
				}
				// Its name must be free: what took it leaves, or is refused.
				if k, ok := u.byTo[it.from]; ok && k != i && !it.touch {
					if _, refused := u.reason[k]; refused {
						u.refuse(i, "its name is still taken by "+quoted(it.from))
					}
				}
			}
			if it.from == "" {
				if k, ok := u.byFrom[it.to]; ok {
					if why, refused := u.reason[k]; refused {
						u.refuse(i, "what it replaced cannot come back: "+why)
					}
				}
				if it.kind == isFolder {
					u.judgeFolder(i, it)
				}
			}
		}
	}
}

// judgeFolder keeps a folder that the run made while anything stays in it.
func (u *inverse) judgeFolder(i int, it *item) {
	names, err := u.box.names(it.to)
	if err != nil {
		u.refuse(i, "it cannot be listed: "+err.Error())
		return
	}
	for _, n := range names {
		k, ours := u.byTo[it.to+"/"+n]
		_, refused := u.reason[k]
		if !ours || refused {
			u.refuse(i, "it holds "+quoted(n))
			return
		}
	}
}

// build makes the items of the undo from those that are not refused.
func (u *inverse) build() {
	for i, it := range u.source.items {
		if _, refused := u.reason[i]; refused || u.taken[i] {
			continue
		}
		inv := item{kind: it.kind, from: it.to, to: it.from, touch: it.touch, undoes: i + 1, was: it.was}
		if it.to == "" {
			inv.fetch = it.home
		} else {
			inv.was = u.after.items[i]
		}
		if it.times && it.from != "" {
			inv.times, inv.new, inv.old = true, it.old, it.new
		}
		u.items = append(u.items, inv)
	}
	refusedFolders := len(u.reason) > 0
	for i, d := range u.source.dirs {
		here, ok := u.now.translate(d.path)
		if !ok {
			if k, back := u.byFrom[d.path]; back {
				if _, refused := u.reason[k]; !refused {
					u.set = append(u.set, d)
				}
			}
			continue
		}
		id, err := u.box.stat(here)
		if err != nil || id.mtime != u.after.dirs[i] {
			continue // somebody else changed its entries: the time is theirs
		}
		if refusedFolders && u.moved(d.path) {
			continue
		}
		u.set = append(u.set, d)
	}
	// Deepest first, so that no folder is touched again by one below it.
	sort.Slice(u.set, func(a, b int) bool { return deeper(u.set[a].path, u.set[b].path) })
}

// moved reports whether a refused item is, or lies above, the path: then the
// path is not there after the undo.
func (u *inverse) moved(path string) bool {
	for p := path; p != ""; p = parentOf(p) {
		if k, ok := u.byFrom[p]; ok {
			if _, refused := u.reason[k]; refused {
				return true
			}
		}
	}
	return false
}

// refusals lists one reason a path: that of what lies there now, if anything.
func (u *inverse) refusals() []Refusal {
	byPath := make(map[string]string)
	for i, reason := range u.reason {
		if it := &u.source.items[i]; it.to != "" {
			byPath[it.to] = reason
		}
	}
	for i, reason := range u.reason {
		it := &u.source.items[i]
		if _, known := byPath[it.from]; it.to == "" && !known {
			byPath[it.from] = reason
		}
	}
	list := make([]Refusal, 0, len(byPath))
	for path, reason := range byPath {
		list = append(list, Refusal{Path: path, Reason: reason})
	}
	sort.Slice(list, func(a, b int) bool { return list[a].Path < list[b].Path })
	return list
}
