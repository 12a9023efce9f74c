package store

import (
	"context"
	"slices"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/skill/bundle"
)

// Terms of an installation.
type Terms struct {
	// Unsigned allows a bundle that nobody signed. That is kept and shown.
	Unsigned bool
	// Update takes a newer version of what is installed; without it, nothing of
	// the name may be.
	Update bool
}

// Proposal is an installation or an update that nothing forbids, for somebody
// to agree to.
type Proposal struct {
	New Entry
	Old *Entry // what it updates, nil at a first install
	// NewIdentity says that the signer is in no key ring yet: agreeing pins it.
	NewIdentity bool
	// SignerIs says why somebody has to look at the signer before anything is
	// installed, also when everything else was agreed to beforehand: nobody here
	// knows the key, it was pinned for something else, or it replaces another. ""
	// is that nothing is new.
	SignerIs string
	// Differences are what an update changes.
	Differences []Difference
	// Missing are engines that the skill names and that are not installed.
	Missing []Engine

	wasm []byte
}

// Propose checks whether a bundle may be installed on these terms. It changes
// nothing. What is refused is fault.CheckFailed: a broken signature, nobody's,
// another identity than the one that is pinned, an older version.
func (s *Store) Propose(c *Candidate, t Terms) (*Proposal, error) {
	if err := c.Sound(); err != nil {
		return nil, err
	}
	p := &Proposal{New: c.entry(), wasm: c.wasm}
	l, err := s.readLock()
	if err != nil {
		return nil, err
	}
	ring, err := s.Ring()
	if err != nil {
		return nil, err
	}
	if p.Old = l.find(p.New.Kind, p.New.Name); p.Old != nil {
		old := *p.Old
		p.Old = &old
	}
	if err := p.identify(ring, t); err != nil {
		return nil, err
	}
	if err := p.succeed(t); err != nil {
		return nil, err
	}
	if p.Old != nil {
		p.Differences = differences(*p.Old, p.New)
	}
	for _, e := range p.New.Declares.Engines {
		if !slices.ContainsFunc(l.Bundles, func(b Entry) bool {
			return b.Kind == bundle.KindEngine && b.Name == e.Name && b.Module == e.Digest
		}) {
			p.Missing = append(p.Missing, e)
		}
	}
	return p, nil
}

// identify decides whether the signer may be the one of this bundle.
func (p *Proposal) identify(ring *Ring, t Terms) error {
	name, signer := p.New.Name, p.New.Signer
	switch {
	case signer == nil && p.Old != nil && p.Old.Signer != nil:
		return fault.New(fault.CheckFailed, "nobody signed this %q, and the one installed is signed by %s", name, p.Old.Signer.Name).
			Hint("get a signed one; or stepbox remove %s first, if you know why", name)
	case signer == nil && !t.Unsigned:
		return fault.New(fault.CheckFailed, "nobody signed %q: who made it cannot be known", name).
			Hint("get a signed one; or --allow-unsigned, which is remembered and shown")
	case signer == nil:
		return nil
	}
	known, trusted := ring.find(signer.Key)
	if trusted { // the name it is known by counts, not the one it claims
		p.New.Signer = &known.Signer
	} else if other, taken := ring.named(signer.Name); taken {
		return fault.New(fault.CheckFailed, "%q is signed by a key that calls itself %q, but that is the name of another key: %s, and this is %s", name, signer.Name, other.Key, signer.Key).
			Hint("do not install it, unless you know why the key changed")
	}
	// A key that was pinned for one bundle says nothing about others.
	byHand := trusted && known.For == ""
	changes := p.Old != nil && p.Old.Signer != nil && p.Old.Signer.Key != signer.Key
	p.NewIdentity, p.SignerIs = !trusted, ""
	switch {
	case changes && !byHand:
		return fault.New(fault.CheckFailed, "this %q is signed by %s, and the one installed by %s", name, who(signer), who(p.Old.Signer)).
			Hint("if the maker says that this key is theirs too: stepbox keys trust %s --name %s", signer.Key, p.New.Signer.Name)
	case changes:
		p.SignerIs = "not who signed the one installed, " + who(p.Old.Signer)
	case !trusted:
		p.SignerIs = "somebody whom nobody here knows yet"
	case !byHand && known.For != pin(p.New.Kind, name) && (p.Old == nil || p.Old.Signer == nil):
		p.SignerIs = "trusted only for the " + known.For
	}
	return nil
}

// succeed decides whether the version may follow what is installed.
func (p *Proposal) succeed(t Terms) error {
	name, old := p.New.Name, p.Old
	if old == nil {
		if t.Update {
			return fault.New(fault.Usage, "no %s %q is installed", p.New.Kind, name).Hint("stepbox install %s", p.New.Source)
		}
		return nil
	}
	switch c := compareVersions(p.New.Version, old.Version); {
	case p.New.File == old.File:
		return fault.New(fault.Usage, "%s %s is installed already", name, old.Version)
	case c < 0:
		return fault.New(fault.CheckFailed, "%q is version %s, and %s is installed: an update never goes back", name, p.New.Version, old.Version).
			Hint("stepbox remove %s first, if you want the older one", name)
	case c == 0 && !(p.New.Digest == old.Digest && old.Unsigned):
		return fault.New(fault.CheckFailed, "%q calls itself version %s, which is installed, but is another one", name, old.Version).
			Hint("its maker has to give it a new version")
	case !t.Update:
		return fault.New(fault.Usage, "%s %s is installed", name, old.Version).Hint("stepbox update %s", p.New.Source)
	}
	return nil
}

// Install does what was proposed and agreed to: it puts the bundle in place,
// pins a new identity, and then names it in the lock file. When the store
// changed since the proposal it does nothing.
func (s *Store) Install(ctx context.Context, p *Proposal) error {
	return s.change(ctx, func(l *lockFile, c *changed) error {
		now := l.find(p.New.Kind, p.New.Name)
		if (now == nil) != (p.Old == nil) || now != nil && now.File != p.Old.File {
			return fault.New(fault.CheckFailed, "the installed %q changed meanwhile", p.New.Name).Hint("look at it again, and then try again")
		}
		ring, err := s.Ring()
		if err != nil {
			return err
		}
		again := *p
		if err := again.identify(ring, Terms{Unsigned: p.New.Unsigned}); err != nil {
			return err
		}
		if again.SignerIs != p.SignerIs {
			return fault.New(fault.CheckFailed, "the key ring changed meanwhile").Hint("look at it again, and then try again")
		}
		if err := c.put(s, "bundles/"+p.New.File+".wasm", p.wasm); err != nil {
			return err
		}
		if p.NewIdentity {
			if err := ring.add(Trusted{Signer: *p.New.Signer, Since: p.New.Installed, For: pin(p.New.Kind, p.New.Name)}); err != nil {
				return err
			}
			if err := c.putJSON(s, "keys.json", ring); err != nil {
				return err
			}
		}
		kept := []Entry{p.New}
		for _, e := range l.Bundles {
			// An engine that an installed skill names stays beside the new one.
			same := e.Kind == p.New.Kind && e.Name == p.New.Name
			if !same || e.Module != p.New.Module && len(l.users(e)) > 0 {
				kept = append(kept, e)
			}
		}
		l.Bundles = kept
		return nil
	})
}
