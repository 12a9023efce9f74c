package store

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stepbox.dev/host/fault"
)

// Ring is the key ring: the identities whose bundles may be installed and run.
type Ring struct {
	Version int       `json:"version"`
	Trusted []Trusted `json:"trusted"`
}

// Trusted is one identity of the ring.
type Trusted struct {
	Signer
	Since time.Time `json:"since"`
	// For is what it was pinned for: a bundle at its first install, "" by hand.
	For string `json:"for,omitempty"`
}

// Ring reads the key ring.
func (s *Store) Ring() (*Ring, error) {
	path := filepath.Join(s.dir, "keys.json")
	r := &Ring{}
	found, err := s.readJSON(path, "key ring", r)
	if err != nil {
		return nil, err
	}
	if !found {
		return &Ring{Version: lockVersion, Trusted: []Trusted{}}, nil
	}
	if r.Version > lockVersion {
		return nil, fault.New(fault.CheckFailed, "the key ring %q is of form %d, and this stepbox reads form %d: a newer stepbox is needed", path, r.Version, lockVersion)
	}
	if r.Version != lockVersion {
		return nil, fault.New(fault.CheckFailed, "the key ring %q is damaged: it is of no form that exists: %d", path, r.Version).Hint("%s", restore)
	}
	if r.Trusted == nil {
		return nil, fault.New(fault.CheckFailed, "the key ring %q is damaged: it does not say who is trusted", path).Hint("%s", restore)
	}
	for i, t := range r.Trusted {
		_, kerr := t.Key.public()
		twice := slices.ContainsFunc(r.Trusted[:i], func(o Trusted) bool { return o.Key == t.Key || o.Name == t.Name })
		if kerr != nil || checkSignerName(t.Name) != nil || twice {
			return nil, fault.New(fault.CheckFailed, "the key ring %q is damaged: the entry %q is none, or is there twice", path, t.Name).
				Hint("%s", restore)
		}
	}
	return r, nil
}

// Known looks up the key that signed a bundle. forThis says that it is trusted for
// this one: by hand for everything, pinned for it, or because the one installed is
// signed by it, which somebody agreed to.
func (s *Store) Known(k Key, kind, name string) (who Trusted, known, forThis bool, err error) {
	ring, err := s.Ring()
	if err != nil {
		return Trusted{}, false, false, err
	}
	if who, known = ring.find(k); !known {
		return Trusted{}, false, false, nil
	}
	if forThis = who.For == "" || who.For == pin(kind, name); forThis {
		return who, true, true, nil
	}
	e, installed, err := s.Find(kind, name)
	return who, true, installed && e.Signer != nil && e.Signer.Key == k, err
}

// pin is what a key is pinned for with a bundle.
func pin(kind, name string) string { return kind + " " + name }

func (r *Ring) find(k Key) (Trusted, bool) {
	i := slices.IndexFunc(r.Trusted, func(t Trusted) bool { return t.Key == k })
	if i < 0 {
		return Trusted{}, false
	}
	return r.Trusted[i], true
}

// named returns the identity of a name.
func (r *Ring) named(name string) (Trusted, bool) {
	i := slices.IndexFunc(r.Trusted, func(t Trusted) bool { return t.Name == name })
	if i < 0 {
		return Trusted{}, false
	}
	return r.Trusted[i], true
}

// add pins an identity. A name means one key for ever.
func (r *Ring) add(t Trusted) error {
	if err := checkSignerName(t.Name); err != nil {
		return err
	}
	if i := slices.IndexFunc(r.Trusted, func(o Trusted) bool { return o.Key == t.Key }); i >= 0 {
		if r.Trusted[i].Name != t.Name {
			return fault.New(fault.Usage, "the key is trusted already, as %q", r.Trusted[i].Name)
		}
		if t.For == "" { // by hand: now for everything
			r.Trusted[i].For = ""
		}
		return nil
	}
	if other, ok := r.named(t.Name); ok {
		return fault.New(fault.CheckFailed, "the name %q belongs to another key that is trusted: %s", t.Name, other.Key).
			Hint("compare the keys with somebody you know; stepbox keys forget %s gives the name free", t.Name)
	}
	r.Trusted = append(r.Trusted, t)
	slices.SortFunc(r.Trusted, func(a, b Trusted) int { return cmp.Compare(a.Name, b.Name) })
	return nil
}

// changeRing applies f to the key ring.
func (s *Store) changeRing(ctx context.Context, f func(r *Ring, c *changed) error) error {
	return s.change(ctx, func(_ *lockFile, c *changed) error {
		r, err := s.Ring()
		if err != nil {
			return err
		}
		if err := f(r, c); err != nil {
			return err
		}
		return c.putJSON(s, "keys.json", r)
	})
}

// Trust pins an identity by hand.
func (s *Store) Trust(ctx context.Context, k Key, name string) error {
	if _, err := k.public(); err != nil {
		return err
	}
	return s.changeRing(ctx, func(r *Ring, _ *changed) error {
		return r.add(Trusted{Signer: Signer{Name: name, Key: k}, Since: now()})
	})
}

// Forget takes an identity, by name or key, out of the ring. What it signed
// runs no more.
func (s *Store) Forget(ctx context.Context, nameOrKey string) error {
	return s.changeRing(ctx, func(r *Ring, _ *changed) error {
		before := len(r.Trusted)
		r.Trusted = slices.DeleteFunc(r.Trusted, func(t Trusted) bool { return t.Name == nameOrKey || string(t.Key) == nameOrKey })
		if len(r.Trusted) == before {
			return fault.New(fault.Usage, "no trusted key is called %q", nameOrKey).Hint("stepbox keys list says which are")
		}
		return nil
	})
}

func now() time.Time { return time.Now().UTC().Truncate(time.Second) }

const pemType = "PRIVATE KEY"

func (s *Store) signingPath(name string) string {
	return filepath.Join(s.dir, "signing", name+".pem")
}

// NewSigningKey makes a key to sign with, and trusts it.
func (s *Store) NewSigningKey(ctx context.Context, name string) (Signer, error) {
	if err := checkSignerName(name); err != nil {
		return Signer{}, err
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return Signer{}, fault.New(fault.Internal, "make a key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return Signer{}, fault.New(fault.Internal, "make a key: %w", err)
	}
	who := Signer{Name: name, Key: keyOf(public)}
	return who, s.changeRing(ctx, func(r *Ring, c *changed) error {
		if err := os.MkdirAll(filepath.Join(s.dir, "signing"), 0o700); err != nil {
			return unwritten("the folder of signing keys", err)
		}
		if _, err := os.Lstat(s.signingPath(name)); err == nil {
			return fault.New(fault.Usage, "there is a signing key called %q already", name)
		}
		if err := r.add(Trusted{Signer: who, Since: now()}); err != nil {
			return err
		}
		return c.put(s, "signing/"+name+".pem", pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: der}))
	})
}

// SigningKey reads one of the person's own keys.
func (s *Store) SigningKey(name string) (*SigningKey, error) {
	if err := checkSignerName(name); err != nil {
		return nil, err
	}
	path := s.signingPath(name)
	text, err := readFile(path, 64<<10, othersMustNotRead)
	var open *openToOthersError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.Usage, "there is no signing key called %q", name).Hint("stepbox keys new %s makes one", name)
	case errors.As(err, &open):
		return nil, fault.New(fault.Stopped, "the signing key %q is a secret, but %w", path, err).Hint("%s", Closing(err, "600", path))
	case err != nil:
		return nil, fault.New(fault.CheckFailed, "the signing key %q cannot be read: %w", name, err)
	}
	block, rest := pem.Decode(text)
	if block == nil || block.Type != pemType || strings.TrimSpace(string(rest)) != "" {
		return nil, fault.New(fault.CheckFailed, "the signing key %q is damaged: it is no PEM block of a private key", path)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	private, ok := key.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, fault.New(fault.CheckFailed, "the signing key %q is damaged: it is no Ed25519 key", path)
	}
	public, ok := private.Public().(ed25519.PublicKey)
	if !ok {
		return nil, fault.New(fault.Internal, "the signing key %q has no public half", path)
	}
	return &SigningKey{Signer: Signer{Name: name, Key: keyOf(public)}, private: private}, nil
}

// SigningKeys are the person's own keys.
func (s *Store) SigningKeys() ([]Signer, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, "signing"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.CheckFailed, "the signing keys cannot be listed: %w", err)
	}
	own := []Signer{}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".pem")
		if !ok {
			continue
		}
		k, err := s.SigningKey(name)
		if err != nil {
			return nil, err
		}
		own = append(own, k.Signer)
	}
	return own, nil
}
