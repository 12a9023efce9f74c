package host

import (
	"context"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/skill"
	"stepbox.dev/host/skill/bundle"
)

// Engine finds an engine by its name and the SHA-256 of its module: installed,
// shipped, or in a folder of --skills. A digest of "" takes the first of the
// name.
func (h *Host) Engine(ctx context.Context, name, digest string) (*skill.EngineBundle, error) {
	installed, err := h.store.Entries()
	if err != nil {
		return nil, err
	}
	for _, e := range installed {
		if e.Kind == bundle.KindEngine && e.Name == name && (digest == "" || e.Module == digest) {
			b, err := h.store.Load(e)
			if err != nil {
				return nil, err
			}
			return skill.EngineFromBundle(h.store.Path(e), b)
		}
	}
	other := false
	for _, p := range h.places() {
		for _, f := range p.bundles(bundle.KindEngine) {
			if f.name != name {
				continue
			}
			e, err := skill.LoadEngine(f.path)
			if err != nil {
				return nil, err
			}
			if e.Name() == name && (digest == "" || e.Bundle().Manifest.Module.SHA256 == digest) {
				return e, nil
			}
			other = true
		}
	}
	if other {
		return nil, fault.New(fault.CheckFailed, "the engine %q that is there is not the one that is needed: its module has another digest than %s", name, digest)
	}
	return nil, fault.New(fault.Usage, "the engine %q is not installed", name).
		Hint("stepbox install its bundle, or put %s.wasm into wasm/ beside stepbox", name)
}
