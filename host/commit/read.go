package commit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/stage"
)

// Ceilings of what one commit may hold, whatever the view's quotas were.
const (
	maxBytes = 64 << 30 // staged content, all files together
	maxItems = 1_000_000
)

// Read replays the stage, computes the changes and checks them: declarations,
// quotas, protected names, links that lead out, conflicts. Every worker of the
// run must be gone. Its errors are fault.Stopped (declarations, hostile stage)
// or fault.CheckFailed (conflicts, with the names).
func Read(ctx context.Context, r *Run, s Source) (*Changes, error) {
	if r.Committed() {
		return nil, fault.New(fault.CheckFailed, "run %q was committed already", r.ID)
	}
	box, err := r.openSandbox()
	if err != nil {
		return nil, err
	}
	defer box.close()
	data, err := openRoot(r.Data)
	if err != nil {
		return nil, fault.New(fault.CheckFailed, "run %q is damaged: %w", r.ID, err)
	}
	defer data.close()
	log, err := readLog(data)
	if err != nil {
		return nil, fault.New(fault.Stopped, "the stage of run %q is damaged or was tampered with: %w", r.ID, err)
	}
	guard := &guard{source: s}
	tree, err := stage.Replay(log, stage.Options{Partial: s.Partial, Each: guard.record})
	if err != nil {
		return nil, fault.New(fault.Stopped, "the stage of run %q is refused: %w", r.ID, err)
	}
	rd := &reader{run: r, box: box, data: data, tree: tree, restored: r.readRestored(), c: &Changes{run: r, made: make(map[int]making)}}
	if err := rd.read(ctx); err != nil {
		return nil, err
	}
	c := rd.c
	c.list = changesOf(c.items)
	if err := rd.protect(ctx, c.list); err != nil {
		return nil, err
	}
	c.adds = !guard.wrote
	for _, ch := range c.list {
		c.adds = c.adds && ch.Kind == Create
	}
	c.digest = digestOf(r, s, c)
	return c, nil
}

// openSandbox opens the sandbox if it still is the folder that the run began in.
func (r *Run) openSandbox() (*root, error) {
	box, err := openRoot(r.Sandbox)
	if err != nil {
		return nil, fault.New(fault.CheckFailed, "the sandbox %q of run %q cannot be opened any more: %w", r.Sandbox, r.ID, err)
	}
	id, err := box.stat("")
	if err == nil && id.ino != r.ino {
		err = fmt.Errorf("another folder has its name")
	}
	if err != nil {
		box.close()
		return nil, fault.New(fault.CheckFailed, "the sandbox %q is not the one run %q began in: %w", r.Sandbox, r.ID, err)
	}
	return box, nil
}

// readLog reads the stage's log; one that is missing is an empty stage.
func readLog(data *root) ([]byte, error) {
	f, err := data.openFile(nameStage + "/log")
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, stage.MaxLog+1))
	if err == nil && len(b) > stage.MaxLog {
		err = fmt.Errorf("its log is larger than %d bytes", stage.MaxLog)
	}
	return b, err
}

// reader turns a stage's tree into items, checking each against the sandbox.
type reader struct {
	run       *Run
	box, data *root
	tree      *stage.Tree
	c         *Changes
	bytes     int64
	gone      map[string]int // deleted path → item
	conflicts []string
	lists     map[string]map[string]bool // folder before the commit → its names
	restored  map[string]identity        // what a commit that was turned back touched
	repos     map[place]bool             // folders that were looked at: is it a git repository?
}

func (rd *reader) read(ctx context.Context) error {
	rd.gone = make(map[string]int)
	rd.lists = make(map[string]map[string]bool)
	rd.repos = make(map[place]bool)
	nodes := rd.tree.Nodes()
	defer rd.box.release()
	// What goes: every name of the sandbox that is hidden and lives nowhere.
	for _, n := range nodes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if n.Kind != stage.Folder || !n.HasOrigin {
			continue
		}
		rd.box.hold()
		for _, name := range sortedNames(n.Entries) {
			if n.Entries[name].Hides {
				if err := rd.hidden(stage.Join(n.Origin.Path, name)); err != nil {
					return err
				}
			}
		}
	}
	for i, n := range nodes {
		if i%maxHeld == 0 {
			rd.box.hold()
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if n.Dead || n.ID == stage.Root {
			continue
		}
		if err := rd.node(ctx, n); err != nil {
			return err
		}
		if len(rd.c.items) > maxItems {
			return fault.New(fault.Stopped, "the run would change more than %d files and folders", maxItems)
		}
	}
	if len(rd.conflicts) > 0 {
		return conflictError(rd.conflicts)
	}
	return nil
}

// hidden handles a name of the sandbox that the view does not show by itself.
func (rd *reader) hidden(path string) error {
	if n := rd.tree.ByOrigin(path); n != nil && !n.Dead {
		return nil // it moved, or is in its place
	}
	id, err := rd.box.stat(path)
	if isMissing(err) {
		rd.conflict(path, "is gone")
		return nil
	}
	if err != nil {
		return rd.unreadable(path, err)
	}
	if id.dev != 0 {
		return rd.unreadable(path, errOtherMount)
	}
	if rd.changed(path, id) {
		return nil
	}
	if id.kind == isFolder {
		// Every entry must have been removed, or moved away, by name: a file
		// that came later goes with no folder.
		names, err := rd.names(path)
		if err != nil {
			return rd.unreadable(path, err)
		}
		dead := rd.tree.ByOrigin(path)
		for name := range names {
			if dead == nil || dead.Entries[name] == nil || !dead.Entries[name].Hides {
				rd.conflict(stage.Join(path, name), "appeared in a folder that was to go")
			}
		}
	}
	rd.gone[path] = len(rd.c.items)
	rd.add(item{kind: id.kind, from: path, was: id})
	return nil
}

// node handles a living node.
func (rd *reader) node(ctx context.Context, n *stage.Node) error {
	path := n.Path()
	if !n.HasOrigin {
		return rd.create(ctx, n, path, 0)
	}
	id, err := rd.box.stat(n.Origin.Path)
	switch {
	case isMissing(err):
		rd.conflict(n.Origin.Path, "is gone")
		return nil
	case err != nil:
		return rd.unreadable(n.Origin.Path, err)
	case id.dev != 0:
		return rd.unreadable(n.Origin.Path, errOtherMount)
	case id.kind != kindFor(n.Kind) || id.ino != n.Origin.Ino:
		rd.conflict(n.Origin.Path, "is not the one that the run saw")
		return nil
	}
	timed := n.Atime != stage.Own || n.Mtime != stage.Own
	moved := !n.InPlace()
	if !moved && n.Blob == 0 && !timed {
		return nil // a folder on the way to a change
	}
	if rd.changed(n.Origin.Path, id) {
		return nil
	}
	if moved {
		if err := rd.target(n, path); err != nil {
			return err
		}
	}
	if n.Blob != 0 {
		i := len(rd.c.items)
		rd.gone[n.Origin.Path] = i
		rd.add(item{kind: isFile, from: n.Origin.Path, was: id})
		return rd.create(ctx, n, path, i+1)
	}
	it := item{kind: id.kind, from: n.Origin.Path, to: path, was: id, touch: !moved, times: timed}
	if timed {
		it.old = stamps{id.atime, id.mtime}
		it.new = stamps{orElse(n.Atime, id.atime), orElse(n.Mtime, id.mtime)}
	}
	rd.add(it)
	return nil
}

// create handles a node whose content comes from the stage.
func (rd *reader) create(ctx context.Context, n *stage.Node, path string, over int) error {
	if over == 0 {
		if err := rd.target(n, path); err != nil {
			return err
		}
		if p := n.Parent; p.HasOrigin {
			// What lay there under the same name lends its mode and owner.
			if i, ok := rd.gone[stage.Join(p.Origin.Path, n.Name)]; ok && n.Kind == stage.File && rd.c.items[i].kind == isFile {
				over = i + 1
			}
		}
	}
	it := item{kind: kindFor(n.Kind), to: path}
	m := making{blob: n.Blob, target: n.Target, times: stamps{n.Atime, n.Mtime}, over: over}
	switch it.kind {
	case isFile:
		if n.Blob == 0 {
			return fault.New(fault.Stopped, "the stage is refused: %q has no content", path)
		}
		it.home = blobHome(n.Blob)
		err := rd.content(ctx, it.home, &m)
		id := m.content
		switch {
		case errors.Is(err, errTooMuch):
			return fault.New(fault.Stopped, "the run would write more than %d bytes", int64(maxBytes))
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil || id.links != 1 || int(id.uid) != os.Geteuid() || id.dev != rd.data.dev:
			return fault.New(fault.Stopped, "the stage is refused: the content of %q is not a plain file of its own", path)
		}
		it.was.size = id.size
	case isLink:
		it.was.size = int64(len(n.Target))
	case isFolder:
		if n.Atime != stage.Own || n.Mtime != stage.Own {
			it.times = true
		}
	}
	rd.c.made[len(rd.c.items)] = m
	rd.add(it)
	return nil
}

// target checks that the place a node gets is free below, or made free.
func (rd *reader) target(n *stage.Node, path string) error {
	p := n.Parent
	if !p.HasOrigin || p.Entries[n.Name].Hides {
		return nil // a new folder, or something that is accounted for as hidden
	}
	names, err := rd.names(p.Origin.Path)
	switch {
	case isOtherMount(err):
		return rd.unreadable(p.Origin.Path, err)
	case err != nil:
		rd.conflict(p.Origin.Path, "cannot be listed any more: "+err.Error())
	case names[n.Name]:
		rd.conflict(path, "appeared")
	}
	return nil
}

// changed reports, as a conflict, what somebody touched after the run began.
func (rd *reader) changed(path string, id identity) bool {
	if id.ctime < rd.run.Began.UnixNano() {
		return false
	}
	if was, ok := rd.restored[path]; ok && was.same(id) && was.ctime == id.ctime && was.mtime == id.mtime {
		return false
	}
	rd.conflict(path, "was changed")
	return true
}

func (rd *reader) names(folder string) (map[string]bool, error) {
	if set, ok := rd.lists[folder]; ok {
		return set, nil
	}
	names, err := rd.box.names(folder)
	if err != nil {
		return nil, err
	}
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	rd.lists[folder] = set
	return set, nil
}

func (rd *reader) add(it item) { rd.c.items = append(rd.c.items, it) }

func (rd *reader) conflict(path, what string) {
	rd.conflicts = append(rd.conflicts, fmt.Sprintf("%q %s", path, what))
}

func (rd *reader) unreadable(path string, err error) error {
	if isOtherMount(err) {
		return fault.New(fault.Stopped, "%q lies on another file system, mounted inside the sandbox: stepbox does not change it", path).
			Hint("name that folder itself with --sandbox")
	}
	return fault.New(fault.CheckFailed, "%q cannot be looked at any more: %w", path, err)
}

// conflictError names what something else changed: the first twenty.
func conflictError(list []string) *fault.Error {
	sort.Strings(list)
	shown, more := list, ""
	if len(list) > 20 {
		shown, more = list[:20], fmt.Sprintf("; and %d more", len(list)-20)
	}
	return fault.New(fault.CheckFailed, "since the run began, %s%s; nothing was changed", strings.Join(shown, "; "), more).
		Hint("run the request again")
}

func kindFor(k stage.Kind) kindOf {
	switch k {
	case stage.Folder:
		return isFolder
	case stage.Link:
		return isLink
	}
	return isFile
}

func blobHome(id stage.ID) string { return nameStage + "/b/" + stage.BlobName(id) }

func orElse(v, own int64) int64 {
	if v == stage.Own {
		return own
	}
	return v
}

func sortedNames(m map[string]*stage.Entry) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}
