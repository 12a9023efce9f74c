package commit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"stepbox.dev/host/stage"
)

// prepare makes every new object beside the sandbox, complete with mode, owner
// and times, so that the commit itself only renames.
func (e *engine) prepare(items []item, made map[int]making) error {
	if err := e.freshUndo(); err != nil {
		return err
	}
	mask := umask()
	folders := e.legacies(items)
	for i := range items {
		m, ok := made[i]
		if !ok {
			continue
		}
		it := &items[i]
		if it.home == "" {
			it.home = slot(i)
		}
		var err error
		switch it.kind {
		case isFile:
			var over *item
			if m.over > 0 {
				over = &items[m.over-1]
			}
			err = e.prepareFile(it, m, over, mask)
		case isFolder:
			if err = e.data.mkdir(it.home, 0o700); err == nil {
				err = e.data.setMode(it.home, 0o777&^mask)
			}
		case isLink:
			if err = e.data.symlink(m.target, it.home); err == nil && m.times.mtime != stage.Own {
				err = e.data.setTimes(it.home, orElse(m.times.atime, m.times.mtime), m.times.mtime)
			}
		}
		if err == nil && m.over == 0 {
			err = e.data.inherit(it, folders[parentOf(it.to)])
		}
		if err != nil {
			return fmt.Errorf("prepare %q: %w", it.to, err)
		}
		if it.was, err = e.data.stat(it.home); err != nil {
			return fmt.Errorf("prepare %q: %w", it.to, err)
		}
		if it.kind == isFile { // what was done to it here is nobody else's change
			m.content, m.content.dev = it.was, e.data.dev
			made[i] = m
		}
		if it.times { // a folder's, after its entries
			it.old = stamps{it.was.atime, it.was.mtime}
			it.new = stamps{orElse(m.times.atime, it.was.atime), orElse(m.times.mtime, it.was.mtime)}
		}
	}
	return nil
}

func (e *engine) prepareFile(it *item, m making, over *item, mask uint32) error {
	f, err := e.data.openFile(it.home)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := noWriter(f); err != nil {
		return err
	}
	now, err := statFile(f)
	if err != nil {
		return err
	}
	if !m.content.untouched(now) { // than what was approved
		return &conflict{it.to, "has other content on the stage by now"}
	}
	if now.links != 1 || int(now.uid) != os.Geteuid() {
		return errors.New("its content is not a plain file of its own")
	}
	if err := strip(f); err != nil {
		return err
	}
	thinned, err := e.thin(it.home, m.filled)
	if err != nil {
		return err
	}
	mode := 0o666 &^ mask
	if over != nil {
		mode = e.adopt(f, over)
	}
	if now.mode != mode {
		if err := f.Chmod(fileMode(mode)); err != nil && !isReadOnly(err) {
			return err
		}
	}
	if thinned || m.times.atime != stage.Own || m.times.mtime != stage.Own {
		err = e.data.setTimes(it.home, orElse(m.times.atime, now.atime), orElse(m.times.mtime, now.mtime))
	}
	return err
}

// legacy is what a folder hands on to what is made in it, which a rename into
// it does not do.
type legacy struct {
	shared bool // its group: the setgid bit is set
	gid    uint32
	acl    []byte // its default access list; nil: none
}

// legacies returns what each folder hands on that gets something new, by its
// path after the commit.
func (e *engine) legacies(items []item) map[string]legacy {
	old := pathsOf(items, false)
	known := make(map[string]legacy)
	var ask func(folder string) legacy
	ask = func(folder string) legacy {
		l, ok := known[folder]
		if ok {
			return l
		}
		if before, there := old.translate(folder); there {
			l = e.box.legacy(before)
		} else { // a new folder: like the one it lies in
			l = ask(parentOf(folder))
		}
		known[folder] = l
		return l
	}
	for i := range items {
		if items[i].from == "" && items[i].to != "" {
			ask(parentOf(items[i].to))
		}
	}
	return known
}

// freshUndo makes the folder for what the commit takes out of the sandbox. What
// an attempt that ended before its journal left there was prepared, not
// captured, and may go.
func (e *engine) freshUndo() error {
	dir := filepath.Join(e.data.f.Name(), nameUndo)
	if err := removeTree(dir); err != nil {
		return err
	}
	return os.Mkdir(dir, 0o700)
}

// fewFiles is up to how many files are synced one by one. Beyond, one sync of
// the file system is cheaper, though it also waits for what others wrote.
const fewFiles = 8

func (e *engine) syncContent() error {
	var homes []string
	for i := range e.j.items {
		if it := &e.j.items[i]; it.kind == isFile && it.from == "" && it.fetch == "" {
			homes = append(homes, it.home)
		}
	}
	if len(homes) > fewFiles {
		return e.data.syncAll()
	}
	for _, h := range homes {
		f, err := e.data.openFile(h)
		if err != nil {
			return err
		}
		err = f.Sync()
		_ = f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
