package main

import (
	"fmt"
	"time"

	"stepbox.dev/host/skill/bundle"
	"stepbox.dev/host/store"
)

// identity is who signed a bundle, as far as that is known here.
type identity struct {
	// Signed is trusted (for this bundle), elsewhere (pinned for another one, which
	// says nothing about this), unknown, no or broken, and for a folder "".
	Signed string `json:"signed,omitempty"`
	// Signer has the name that the key ring knows the key by, else the one that
	// it claims.
	Signer *store.Signer `json:"signer,omitempty"`

	since     time.Time
	pinnedFor string
}

// identify looks the signer of a bundle up; broken is what is wrong with the
// signature.
func identify(s *store.Store, m bundle.Manifest, who *store.Signer, broken error) (identity, error) {
	switch {
	case broken != nil:
		return identity{Signed: "broken"}, nil
	case who == nil:
		return identity{Signed: "no"}, nil
	}
	t, known, forThis, err := s.Known(who.Key, m.Kind, m.Name)
	switch {
	case err != nil:
		return identity{}, err
	case !known:
		return identity{Signed: "unknown", Signer: who}, nil
	case !forThis:
		return identity{Signed: "elsewhere", Signer: &t.Signer, pinnedFor: t.For}, nil
	}
	return identity{Signed: "trusted", Signer: &t.Signer, since: t.Since}, nil
}

// maker says who made it.
func (i identity) maker() string {
	switch i.Signed {
	case "trusted":
		return fmt.Sprintf("%s  %s  (trusted since %s)", i.Signer.Name, i.Signer.Key, i.since.Format(time.DateOnly))
	case "elsewhere":
		return fmt.Sprintf("%s  %s  (trusted only for the %s, not for this)", i.Signer.Name, i.Signer.Key, i.pinnedFor)
	case "unknown":
		return fmt.Sprintf("%s, as it says  %s  (a key that nobody here knows)", i.Signer.Name, i.Signer.Key)
	case "no":
		return "unknown: nobody signed it"
	case "broken":
		return "unknown: its signature is broken"
	}
	return "whoever wrote the folder that it was read from"
}
