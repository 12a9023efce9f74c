// Package store keeps what a person installed: bundles of skills and engines,
// the lock file that says what each of them is, and the key ring of identities
// that are trusted. It never runs what it installs.
//
//	lock.json            what is installed; the only truth
//	bundles/SHA256.wasm  the bundles, by the digest of the file
//	keys.json            the key ring
//	signing/NAME.pem     the person's own signing keys
//	busy                 locked while one process changes any of these
//
// Every change writes new files first and then replaces lock.json: a crash
// leaves files that nothing names, which the next change removes. What lies
// here decides what runs, so a folder or file that others can write to is
// refused, and a bundle is checked against its entry whenever it is loaded.
package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/skill/bundle"
)

// Store is a folder of installed bundles. Its methods may be called from
// several goroutines and processes.
type Store struct{ dir string }

// New returns the store in the folder, which the first change makes.
func New(dir string) *Store { return &Store{dir: dir} }

// Dir is the store's folder.
func (s *Store) Dir() string { return s.dir }

// Entry is one installed bundle, as the lock file has it.
type Entry struct {
	Kind    string `json:"kind"` // skill or engine
	Name    string `json:"name"`
	Version string `json:"version"`
	// Digest is the SHA-256 of the manifest, which names every part.
	Digest string `json:"digest"`
	// Module is the SHA-256 of the module.
	Module    string    `json:"module"`
	File      string    `json:"file"` // SHA-256 of the whole bundle, and its name in the store
	Size      int64     `json:"size"`
	Source    string    `json:"source"` // where it was installed from
	Installed time.Time `json:"installed"`
	// Signer is nil for what was installed unsigned, which somebody allowed.
	Signer   *Signer     `json:"signer,omitempty"`
	Unsigned bool        `json:"unsigned,omitempty"`
	Declares Declaration `json:"declares"`
}

// Entries are the installed bundles, by kind and name, the newest of several
// versions first.
func (s *Store) Entries() ([]Entry, error) {
	l, err := s.readLock()
	if err != nil {
		return nil, err
	}
	return l.Bundles, nil
}

// path of an entry's bundle.
func (s *Store) path(e Entry) string { return filepath.Join(s.dir, "bundles", e.File+".wasm") }

// Path of an entry's bundle, for messages.
func (s *Store) Path(e Entry) string { return s.path(e) }

// Load reads an installed bundle and checks it against its entry: every part,
// the signature, and that its signer is still trusted. What does not fit is
// fault.CheckFailed.
func (s *Store) Load(e Entry) (*bundle.Bundle, error) {
	broken := func(err error) error {
		return fault.New(fault.CheckFailed, "the installed %s %q is not what was installed: %w", e.Kind, e.Name, err).
			Hint("stepbox remove %s, and install it again", e.Name)
	}
	wasm, err := readFile(s.path(e), bundle.MaxBytes, othersMustNotWrite)
	if err != nil {
		return nil, broken(err)
	}
	b, err := bundle.Read(wasm)
	if err != nil {
		return nil, broken(err)
	}
	sum := sha256.Sum256(b.Text)
	if m := b.Manifest; hex.EncodeToString(sum[:]) != e.Digest || m.Kind != e.Kind || m.Name != e.Name || m.Version != e.Version || m.Module.SHA256 != e.Module {
		return nil, broken(fault.New(fault.CheckFailed, "its digest is not that of the lock file"))
	}
	signer, err := Verify(b)
	switch {
	case err != nil:
		return nil, broken(err)
	case (signer == nil) != e.Unsigned, signer != nil && signer.Key != e.Signer.Key:
		return nil, broken(fault.New(fault.CheckFailed, "its signature is not that of the lock file"))
	case signer == nil:
		return b, nil
	}
	ring, err := s.Ring()
	if err != nil {
		return nil, err
	}
	if _, known := ring.find(signer.Key); !known {
		return nil, fault.New(fault.CheckFailed, "the %s %q is signed by %s, who is no longer trusted", e.Kind, e.Name, e.Signer.Name).
			Hint("stepbox keys trust %s --name %s", signer.Key, e.Signer.Name)
	}
	return b, nil
}

// Verify is Load, and checks as well what the lock file says about the bundle
// and what an update would be compared with.
func (s *Store) Verify(e Entry) error {
	if _, err := s.Load(e); err != nil {
		return err
	}
	c, err := Examine(s.path(e))
	if err != nil {
		return err
	}
	if is := c.entry(); is.File != e.File || is.Size != e.Size || len(differences(e, Entry{Name: e.Name, Version: e.Version, Signer: e.Signer, Declares: is.Declares})) > 0 {
		return fault.New(fault.CheckFailed, "the lock file says other things about the %s %q than it does itself", e.Kind, e.Name).
			Hint("stepbox remove %s, and install it again", e.Name)
	}
	return nil
}

// Find returns the newest installed bundle of a kind and name.
func (s *Store) Find(kind, name string) (Entry, bool, error) {
	l, err := s.readLock()
	if err != nil {
		return Entry{}, false, err
	}
	e := l.find(kind, name)
	if e == nil {
		return Entry{}, false, nil
	}
	return *e, true, nil
}

// Remove removes every installed version of a bundle. An engine that an
// installed skill names stays.
func (s *Store) Remove(ctx context.Context, kind, name string) error {
	return s.change(ctx, func(l *lockFile, _ *changed) error {
		if l.find(kind, name) == nil {
			return fault.New(fault.Usage, "no %s %q is installed", kind, name).Hint("stepbox skills list says what is")
		}
		for _, e := range l.Bundles {
			if e.Kind == kind && e.Name == name {
				if users := l.users(e); len(users) > 0 {
					return fault.New(fault.CheckFailed, "the engine %q is needed by %s", name, strings.Join(users, ", ")).
						Hint("remove what needs it first")
				}
			}
		}
		l.Bundles = slices.DeleteFunc(l.Bundles, func(e Entry) bool { return e.Kind == kind && e.Name == name })
		return nil
	})
}

// change applies f to the lock file, alone among all processes, and puts the
// result in place, behind the files that f adds to c.
func (s *Store) change(ctx context.Context, f func(l *lockFile, c *changed) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(s.dir, "bundles"), 0o700); err != nil {
		return unwritten("the store "+strconv.Quote(s.dir)+" cannot be made", err)
	}
	if err := s.guard(); err != nil {
		return err
	}
	release, err := takeLock(filepath.Join(s.dir, "busy"))
	if err != nil {
		return unwritten("the store "+strconv.Quote(s.dir)+" cannot be changed", err)
	}
	defer release()
	l, err := s.readLock()
	if err != nil {
		return err
	}
	var c changed
	defer c.discard()
	if err := f(l, &c); err != nil {
		return err
	}
	slices.SortFunc(l.Bundles, Entry.compare)
	if err := c.putJSON(s, "lock.json", l); err != nil {
		return err
	}
	if err := c.place(); err != nil {
		return err
	}
	s.sweep(l)
	return nil
}

// sweep removes bundles that nothing names, and what a crash left half written.
// It is housekeeping: what cannot be removed now is removed another time.
func (s *Store) sweep(l *lockFile) {
	named := map[string]bool{}
	for _, e := range l.Bundles {
		named[e.File+".wasm"] = true
	}
	for dir, left := range map[string]func(name string) bool{
		filepath.Join(s.dir, "bundles"): func(name string) bool { return !named[name] },
		s.dir:                           func(name string) bool { return strings.HasPrefix(name, newPrefix) },
	} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if e.Type().IsRegular() && left(e.Name()) {
				_ = os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
}

// guard refuses a store that others can change.
func (s *Store) guard() error {
	for _, dir := range []string{s.dir, filepath.Join(s.dir, "bundles")} {
		if err := mine(dir, othersMustNotWrite); err != nil && !os.IsNotExist(err) {
			return fault.New(fault.Stopped, "the store %q decides what runs, but %w", dir, err).
				Hint("%s", Closing(err, "go-w", dir))
		}
	}
	return nil
}

func (e Entry) compare(o Entry) int {
	return cmp.Or(cmp.Compare(e.Kind, o.Kind)*-1, cmp.Compare(e.Name, o.Name), compareVersions(o.Version, e.Version))
}
