package host

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/host/event"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/skill"
	"stepbox.dev/host/skill/bundle"
	"stepbox.dev/host/worker"
)

// Engine finds an engine by its name and the SHA-256 of its module: installed,
// shipped, or in a folder of --skills. A digest of "" takes the first of the
// name.
func (h *Host) Engine(ctx context.Context, name, digest string) (*skill.EngineBundle, error) {
	return h.engineIn(h.places(), name, digest)
}

func (h *Host) engineIn(places []place, name, digest string) (*skill.EngineBundle, error) {
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
	var broken error // it may not be the one that is meant
	for _, p := range places {
		for _, f := range p.bundles(bundle.KindEngine) {
			if f.name != name {
				continue
			}
			if p.from == shipped {
				if err := guardShipped(f.path); err != nil {
					broken = cmp.Or(broken, err)
					continue
				}
			}
			e, err := skill.LoadEngine(f.path)
			if err != nil {
				broken = cmp.Or(broken, err)
				continue
			}
			if e.Name() == name && (digest == "" || e.Bundle().Manifest.Module.SHA256 == digest) {
				return e, nil
			}
			other = true
		}
	}
	if broken != nil {
		return nil, broken
	}
	if other {
		return nil, fault.New(fault.CheckFailed, "the engine %q that is there is not the one that is needed: its module has another digest than %s", name, digest)
	}
	return nil, fault.New(fault.Usage, "the engine %q is not installed", name).
		Hint("it is a file of its own, %s.wasm, that comes from where the skill comes from: stepbox install %s.wasm, or put it into wasm/ beside stepbox", name, name)
}

// engines returns what finds the engines that a skill's contract names, for
// its worker. What is asked of the run, most, bounds them too.
func (h *Host) engines(s *skill.Skill, most worker.Limits, e event.Handler) func(context.Context, string) (*worker.Engine, error) {
	return func(ctx context.Context, name string) (*worker.Engine, error) {
		named := s.Engines()
		i := slices.IndexFunc(named, func(e skill.Engine) bool { return e.Name == name })
		if i < 0 {
			return nil, &abi.Error{Code: abi.CodeUnavailable, Message: fmt.Sprintf("skill %s does not name the engine %q in its skill.yaml", s.Name(), name)}
		}
		// The digest says which engine is meant, so it may come from anywhere:
		// also from beside the skill, and from what its repository builds.
		places := append(h.places(), place{s.Dir(), "skill"})
		next := ""
		if s.Source() {
			top := moduleTop(s.Dir())
			places = append(places, place{filepath.Join(top, "wasm"), "source"})
			if isFolder(filepath.Join(top, "cmd", "mkengines")) {
				next = "go run ./cmd/mkengines brings it"
			}
		}
		found, err := h.engineIn(places, name, named[i].Digest)
		if fault.Of(err) == fault.Usage {
			if next == "" {
				next = fault.Next(err)
			}
			return nil, &abi.Error{Code: abi.CodeUnavailable, Message: err.Error() + ": " + next}
		}
		if err != nil {
			return nil, err
		}
		wasm, err := found.Module(ctx)
		if err != nil {
			return nil, err
		}
		cache, err := h.compiled()
		if err != nil {
			return nil, err
		}
		limits := found.Limits()
		ready := &worker.Engine{
			MemoryBytes: lower(int64(limits.MemoryMB)<<20, most.MemoryBytes),
			Silence:     lower(time.Duration(limits.StepSeconds)*time.Second, most.Step),
			Whole:       most.Step > 0,
		}
		ready.Module, err = cache.Engine(ctx, wasm, found.WasmFeatures(), func() {
			e.Handle(event.Notice{Message: fmt.Sprintf("compiling engine %s (the first time only)", name)})
		})
		return ready, err
	}
}

// moduleTop is the folder of the Go module that a source folder belongs to,
// where its repository puts what it builds.
func moduleTop(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}
