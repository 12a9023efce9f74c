package host

import (
	"context"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/store"
)

// InstallOptions of Install.
type InstallOptions struct {
	store.Terms
	// Yes agrees to everything but a signer that is new for this bundle.
	Yes bool
	// Agree asks the person, who has to see who signed the bundle and what it
	// declares. Nil is nobody.
	Agree func(ctx context.Context, p *store.Proposal) (bool, error)
	// Compiling is told that a compile starts; it may be nil.
	Compiling func()
}

// Install installs or updates a bundle that was examined. The module is
// compiled first, in a child that never runs it: what does not compile is not
// installed.
func (h *Host) Install(ctx context.Context, c *store.Candidate, o InstallOptions) (*store.Proposal, error) {
	p, err := h.store.Propose(c, o.Terms)
	if err != nil {
		return nil, err
	}
	if err := agreed(ctx, p, o); err != nil {
		return p, err
	}
	cache, err := h.compiled()
	if err != nil {
		return p, err
	}
	if c.Engine != nil {
		_, err = cache.Engine(ctx, c.Bundle.Module, c.Engine.WasmFeatures(), o.Compiling)
	} else {
		_, err = cache.Module(ctx, c.Bundle.Module, o.Compiling)
	}
	if err != nil {
		return p, err
	}
	return p, h.store.Install(ctx, p)
}

func agreed(ctx context.Context, p *store.Proposal, o InstallOptions) error {
	switch {
	case o.Yes && p.SignerIs == "":
		return nil
	case o.Agree == nil && p.SignerIs != "":
		err := fault.New(fault.NotApproved, "%q is signed by %s %s, who is %s", p.New.Name, p.New.Signer.Name, p.New.Signer.Key, p.SignerIs)
		if p.Old != nil && p.Old.Signer != nil {
			return err.Hint("a person has to agree: run it on a terminal")
		}
		return err.Hint("a person can agree to it for this one: run it on a terminal; or, to trust all that this key signs: stepbox keys trust %s --name %s", p.New.Signer.Key, p.New.Signer.Name)
	case o.Agree == nil:
		return fault.New(fault.NotApproved, "nobody agreed to install %q", p.New.Name).Hint("look at it with stepbox skills inspect, then pass --yes")
	}
	yes, err := o.Agree(ctx, p)
	if err == nil && !yes {
		err = fault.New(fault.NotApproved, "not installed; nothing was changed")
	}
	return err
}

// Verified is what Verify found out about one installed bundle.
type Verified struct {
	store.Entry
	Err error
}

// Verify checks every installed bundle, or those of one name, against the lock
// file and the key ring.
func (h *Host) Verify(ctx context.Context, name string) ([]Verified, error) {
	entries, err := h.store.Entries()
	if err != nil {
		return nil, err
	}
	if _, err := h.store.Ring(); err != nil {
		return nil, err // it is not the bundles that are broken
	}
	all := []Verified{}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if name == "" || e.Name == name {
			all = append(all, Verified{e, h.store.Verify(e)})
		}
	}
	if name != "" && len(all) == 0 {
		return nil, fault.New(fault.Usage, "nothing called %q is installed", name).Hint("stepbox skills list says what is")
	}
	return all, nil
}
