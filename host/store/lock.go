package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/skill/bundle"
)

// lockVersion of the form of lock.json that this package writes and reads.
const lockVersion = 1

// restore is what to do about a file of the store that cannot be used.
const restore = "put a copy of it back; without one move it away, install again what is needed, and look at each signer anew"

// maxLock bounds lock.json and keys.json.
const maxLock = 8 << 20

// lockFile is lock.json.
type lockFile struct {
	Version int     `json:"version"`
	Bundles []Entry `json:"bundles"`
}

var hexDigest = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (s *Store) readLock() (*lockFile, error) {
	path := filepath.Join(s.dir, "lock.json")
	l := &lockFile{}
	found, err := s.readJSON(path, "lock file", l)
	if err != nil {
		return nil, err
	}
	if !found {
		return &lockFile{Version: lockVersion, Bundles: []Entry{}}, nil
	}
	damaged := func(format string, args ...any) error {
		return fault.New(fault.CheckFailed, "the lock file %q is damaged: %w", path, fault.New(fault.CheckFailed, format, args...)).
			Hint("%s", restore)
	}
	if l.Version > lockVersion {
		return nil, fault.New(fault.CheckFailed, "the lock file %q is of form %d, and this stepbox reads form %d: a newer stepbox is needed", path, l.Version, lockVersion)
	}
	if l.Version != lockVersion {
		return nil, damaged("it is of no form that exists: %d", l.Version)
	}
	if l.Bundles == nil {
		return nil, damaged("it does not say what is installed")
	}
	seen := map[string]bool{}
	for _, e := range l.Bundles {
		key := e.Kind + " " + e.Name + " " + e.Module
		switch {
		case e.Kind != bundle.KindSkill && e.Kind != bundle.KindEngine, !bundle.ValidName(e.Name), !bundle.ValidVersion(e.Version),
			!hexDigest.MatchString(e.Digest), !hexDigest.MatchString(e.Module), !hexDigest.MatchString(e.File):
			return nil, damaged("the entry %q is none", e.Name)
		case e.Unsigned != (e.Signer == nil):
			return nil, damaged("the entry %q is neither signed nor unsigned", e.Name)
		case seen[key], e.Kind == bundle.KindSkill && seen[e.Kind+" "+e.Name]:
			return nil, damaged("the entry %q is there twice", e.Name)
		}
		seen[key], seen[e.Kind+" "+e.Name] = true, true
	}
	slices.SortFunc(l.Bundles, Entry.compare)
	return l, nil
}

func (l *lockFile) find(kind, name string) *Entry {
	for i, e := range l.Bundles {
		if e.Kind == kind && e.Name == name {
			return &l.Bundles[i]
		}
	}
	return nil
}

// users are the installed skills that name an engine.
func (l *lockFile) users(engine Entry) []string {
	var names []string
	for _, e := range l.Bundles {
		for _, n := range e.Declares.Engines {
			if engine.Kind == bundle.KindEngine && n.Name == engine.Name && n.Digest == engine.Module {
				names = append(names, e.Name)
			}
		}
	}
	return names
}

// readJSON reads a file of the store strictly; found is false when there is
// none.
func (s *Store) readJSON(path, what string, into any) (found bool, err error) {
	if err := s.guard(); err != nil {
		return false, err
	}
	text, err := readFile(path, maxLock, othersMustNotWrite)
	var open *openToOthersError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case errors.As(err, &open):
		return false, fault.New(fault.Stopped, "the %s %q decides what runs, but %w", what, path, err).Hint("%s", Closing(err, "go-w", path))
	case err != nil:
		return false, fault.New(fault.CheckFailed, "the %s cannot be read: %w", what, err).Hint("%s", restore)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		// A newer form may have fields that this one does not know.
		var form struct{ Version int }
		if json.Unmarshal(text, &form) == nil && form.Version > lockVersion {
			return false, fault.New(fault.CheckFailed, "the %s %q is of form %d, and this stepbox reads form %d: a newer stepbox is needed", what, path, form.Version, lockVersion)
		}
		return false, fault.New(fault.CheckFailed, "the %s %q is damaged: %w", what, path, err).
			Hint("%s", restore)
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		return false, fault.New(fault.CheckFailed, "the %s %q is damaged: something stands behind its end", what, path).Hint("%s", restore)
	}
	return true, nil
}
