package store

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"stepbox.dev/host/fault"
)

// newPrefix begins the name of a file in the making.
const newPrefix = "new-"

// changed are files of the store in the making. All of them are written before
// the first is put in place: what fails for want of room changes nothing, and no
// key stays pinned for a bundle that was not installed.
type changed struct{ made []madeFile }

type madeFile struct{ temporary, path string }

// put writes a file, as yet under another name.
func (c *changed) put(s *Store, name string, data []byte) error {
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	f, err := os.CreateTemp(s.dir, newPrefix+"*")
	if err != nil {
		return unwritten("the store "+strconv.Quote(s.dir)+" cannot be written to", err)
	}
	c.made = append(c.made, madeFile{f.Name(), path})
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return unwritten("write "+strconv.Quote(path), err)
	}
	return nil
}

func (c *changed) putJSON(s *Store, name string, v any) error {
	text, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return fault.New(fault.Internal, "%s: %w", name, err)
	}
	return c.put(s, name, append(text, '\n'))
}

// place gives the files their names, in the order in which they were put, each
// whole or not at all, also when the machine stops.
func (c *changed) place() error {
	for _, m := range c.made {
		err := os.Rename(m.temporary, m.path)
		if err == nil {
			err = syncFolder(filepath.Dir(m.path))
		}
		if err != nil {
			return unwritten("write "+strconv.Quote(m.path), err)
		}
	}
	return nil
}

// discard removes what was not put in place.
func (c *changed) discard() {
	for _, m := range c.made {
		_ = os.Remove(m.temporary)
	}
}

// unwritten is an error about a file that could not be written.
func unwritten(what string, err error) error {
	if fault.NoRoom(err) {
		return fault.New(fault.Usage, "%s: there is no room, and nothing was changed: %w", what, err).
			Hint("free some space there, then try again")
	}
	return fault.New(fault.Usage, "%s: %w", what, err)
}
