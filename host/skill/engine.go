package skill

import (
	"context"
	"os"
	"strings"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/registry/yamldoc"
	"stepbox.dev/host/skill/bundle"
)

// EngineBundle is an engine: a WASI command module with its name, its version
// and the text of its licence. It never changes.
type EngineBundle struct {
	contract *Skill
	text     string
}

// licenceFiles are the names that an engine's licence may have.
var licenceFiles = []string{"LICENSE", "LICENCE", "COPYING"}

// LoadEngine reads an engine: a bundle of kind engine, or a folder with a
// skill.yaml that says kind: engine, one .wasm file and the licence's text.
// Errors are those of Load.
func LoadEngine(path string) (*EngineBundle, error) {
	l := loader{engine: true, skill: &Skill{}}
	module, _, err := l.open(path)
	if err != nil {
		return nil, err
	}
	return l.loadEngine(module)
}

// EngineFromBundle is LoadEngine of a bundle that was read already. path is
// where it lies, for messages.
func EngineFromBundle(path string, b *bundle.Bundle) (*EngineBundle, error) {
	l := loader{engine: true, skill: &Skill{}}
	if err := l.useBundle(path, b, bundle.KindEngine); err != nil {
		return nil, err
	}
	return l.loadEngine("")
}

// engineFieldNames are the fields of skill.yaml that mean something for an
// engine.
var engineFieldNames = []string{"name", "description", "version", "kind", "display", "module", "limits", "licence", "wasm_features"}

func (l *loader) loadEngine(module string) (*EngineBundle, error) {
	e := &EngineBundle{contract: l.skill}
	l.skill.files = l.files
	m := l.document(manifestFile, manifestFile)
	switch {
	case m == nil:
		l.faults.AddAt(l.dir, 0, "no %s in it", manifestFile)
	case m.Kind != yamldoc.Map:
		l.faults.Add(m, "must be a mapping, not %s", m.Kind)
	default:
		l.faults.Keys(m, "field", engineFieldNames)
		l.identity(m)
		l.details(m)
		l.limits(m)
		if l.skill.licence == "" {
			l.faults.Add(m, "an engine names its licence, as licence: GPL-3.0-or-later")
		}
	}
	for _, name := range licenceFiles {
		if e.text == "" {
			e.text = strings.TrimSpace(string(l.files[name]))
		}
	}
	if e.text == "" {
		l.faults.AddAt(l.dir, 0, "an engine carries the text of its licence in a file called %s", licenceFiles[0])
	}
	if err := l.faults.Err(); err != nil {
		return nil, err
	}
	if err := l.findModule(module, false); err != nil {
		return nil, err
	}
	return e, nil
}

// Name is the engine's name, [a-z0-9_-]{1,64}.
func (e *EngineBundle) Name() string { return e.contract.name }

// Version is the engine's version.
func (e *EngineBundle) Version() string { return e.contract.version }

// Description is one sentence about the engine.
func (e *EngineBundle) Description() string { return e.contract.description }

// Licence is the engine's licence as its contract names it.
func (e *EngineBundle) Licence() string { return e.contract.licence }

// LicenceText is the licence itself.
func (e *EngineBundle) LicenceText() string { return e.text }

// WasmFeatures are WebAssembly features beyond the default that the module
// needs.
func (e *EngineBundle) WasmFeatures() []string { return e.contract.wasmFeatures }

// Limits are the engine's own limits.
func (e *EngineBundle) Limits() Limits { return e.contract.limits }

// Bundle is what the engine was loaded from, nil when it was a folder.
func (e *EngineBundle) Bundle() *bundle.Bundle { return e.contract.bundle }

// Module returns the engine's WebAssembly module.
func (e *EngineBundle) Module(ctx context.Context) ([]byte, error) {
	return e.contract.Module(ctx, "", nil)
}

// Pack returns the engine as a bundle.
func (e *EngineBundle) Pack(ctx context.Context) ([]byte, error) {
	module, err := e.Module(ctx)
	if err != nil {
		return nil, err
	}
	if e.contract.bundle != nil {
		return nil, fault.New(fault.Usage, "engine %q is a bundle already", e.Name())
	}
	return bundle.Pack(bundle.KindEngine, e.Name(), e.Version(), module, e.contract.files)
}

// Unpack writes the files and the module of a bundle into a new folder, which
// loads as the same engine. Nothing is left of it when that fails.
func (e *EngineBundle) Unpack(dir string) error { return e.contract.Unpack(dir) }

// IsEngine reports whether a folder or a bundle says that it is an engine.
// Whether it is a sound one is for LoadEngine to say.
func IsEngine(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	if info.IsDir() {
		files, _, err := readFolder(path)
		if err != nil {
			return false
		}
		m, err := yamldoc.Read(manifestFile, files[manifestFile])
		return err == nil && m.Kind == yamldoc.Map && m.Has("kind") && m.Get("kind").Text == bundle.KindEngine
	}
	return Kind(path) == bundle.KindEngine
}

// Kind is what a .wasm file says it is, bundle.KindSkill or bundle.KindEngine,
// "" for no bundle. Only its manifest is read.
func Kind(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	m, ok := bundle.Peek(f, info.Size())
	if !ok {
		return ""
	}
	return m.Kind
}
