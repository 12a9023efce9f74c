package skill

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/registry/nearest"
	"stepbox.dev/host/registry/yamldoc"
	"stepbox.dev/host/skill/bundle"
)

// Names of the contract files. skill.yaml may name others for all but
// itself and SKILL.md; in an override layer they are always called this.
const (
	manifestFile = "skill.yaml"
	toolsFile    = "tools.yaml"
	promptFile   = "prompt.yaml"
	markdownFile = "SKILL.md"
	lexiconFile  = "lexicon.yaml"
)

// Options of Load.
type Options struct {
	// Overrides are folders whose contract files are laid over the skill's, in
	// order: mappings merge, null removes, everything else replaces.
	Overrides []string
}

// Load reads the contract in path: a folder, a bundle, or a .wasm file whose
// contract lies in the same folder. What is wrong with the contract comes back
// whole, of kind fault.Usage, a line a fault; a bundle that is not what it says
// is fault.CheckFailed.
func Load(path string, o Options) (*Skill, error) {
	l := loader{skill: &Skill{}}
	module, source, err := l.open(path)
	if err != nil {
		return nil, err
	}
	return l.load(o, module, source)
}

// FromBundle is Load of a bundle that was read already. path is where it lies,
// for messages.
func FromBundle(path string, b *bundle.Bundle, o Options) (*Skill, error) {
	l := loader{skill: &Skill{}}
	if err := l.useBundle(path, b, bundle.KindSkill); err != nil {
		return nil, err
	}
	return l.load(o, "", false)
}

func (l *loader) load(o Options, module string, source bool) (*Skill, error) {
	l.skill.layered = len(o.Overrides) > 0
	for _, override := range o.Overrides {
		layer, err := readLayer(override)
		if err != nil {
			return nil, err
		}
		l.layers = append(l.layers, layer)
	}
	l.skill.files = l.files
	l.contract()
	if err := l.faults.Err(); err != nil {
		return nil, err
	}
	if err := l.findModule(module, source); err != nil {
		return nil, err
	}
	l.skill.digest = sync.OnceValue(l.digest)
	return l.skill, nil
}

// open reads the files of the contract. module is the name of the .wasm file
// when path names one that is no bundle; source says that there is Go source.
func (l *loader) open(path string) (module string, source bool, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return "", false, fault.New(fault.Internal, "skill %q: %w", path, err)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", false, fault.New(fault.Usage, "there is no skill at %q", path)
	case err != nil:
		return "", false, fault.New(fault.Usage, "skill %q cannot be read: %w", path, err)
	case info.IsDir():
		l.dir = path
	case info.Mode().IsRegular() && strings.EqualFold(filepath.Ext(path), ".wasm"):
		l.dir, module = filepath.Dir(path), filepath.Base(path)
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return "", false, fault.New(fault.Usage, "skill %q cannot be read: %w", path, err)
		}
		wasm, err := readModule(real)
		if err != nil {
			return "", false, err
		}
		bundled, err := bundle.Is(wasm)
		if err != nil {
			return "", false, fault.New(fault.Of(err), "%q: %w", path, err)
		}
		if bundled {
			return "", false, l.openBundle(path, wasm)
		}
	default:
		return "", false, fault.New(fault.Usage, "%q is neither a folder nor a .wasm file", path)
	}
	l.skill.dir = l.dir
	if _, err := os.Stat(filepath.Join(l.dir, manifestFile)); err != nil {
		if module != "" {
			return "", false, fault.New(fault.Usage, "%q is no skill: it carries no contract, and there is no %s beside it", path, manifestFile)
		}
		return "", false, fault.New(fault.Usage, "%q is no skill: it has no %s", path, manifestFile)
	}
	l.files, source, err = readFolder(l.dir)
	return module, source, err
}

func (l *loader) openBundle(path string, wasm []byte) error {
	b, err := bundle.Read(wasm)
	if err != nil {
		return fault.New(fault.Of(err), "%q: %w", path, err)
	}
	kind := bundle.KindSkill
	if l.engine {
		kind = bundle.KindEngine
	}
	return l.useBundle(path, b, kind)
}

// useBundle takes the contract from a bundle of the kind.
func (l *loader) useBundle(path string, b *bundle.Bundle, kind string) error {
	switch got := b.Manifest.Kind; {
	case got == kind:
	case got == bundle.KindEngine:
		return fault.New(fault.Usage, "%q is an engine, not a skill: skills name it, nobody runs it", path)
	default:
		return fault.New(fault.Usage, "%q is a %s, not an %s", path, got, kind)
	}
	for name := range b.Files {
		// Source in a bundle would be built by whoever unpacks and loads it.
		if !belongs(name) {
			return fault.New(fault.CheckFailed, "%q holds %q, which is no file of a %s", path, name, kind)
		}
	}
	l.skill.dir, l.skill.bundle = filepath.Dir(path), b
	l.dir, l.files = path, b.Files // messages say FILE.wasm/tools.yaml:3
	return nil
}

// loader reads one skill.
type loader struct {
	engine bool // it is an engine's
	dir    string
	files  map[string][]byte
	layers []layer
	faults yamldoc.Faults
	skill  *Skill
}

// layer is one override folder.
type layer struct {
	dir   string
	files map[string][]byte
}

// document returns a contract file with every layer laid over it, nil when
// nobody has it. Errors are noted. usual is what layers call the file, whatever
// the skill calls it.
func (l *loader) document(name, usual string) *yamldoc.Node {
	var root *yamldoc.Node
	if data, ok := l.files[name]; ok {
		root = l.read(filepath.Join(l.dir, filepath.FromSlash(name)), data)
	}
	for _, layer := range l.layers {
		if data, ok := layer.files[usual]; ok {
			if over := l.read(filepath.Join(layer.dir, usual), data); over.Kind != yamldoc.Null {
				root = yamldoc.Merge(root, over)
			}
		}
	}
	return root
}

// read parses one file. A file that does not parse counts as empty.
func (l *loader) read(file string, data []byte) *yamldoc.Node {
	root, err := yamldoc.Read(file, data)
	if err != nil {
		l.faults.AddError(err)
		return &yamldoc.Node{Kind: yamldoc.Null, File: file, Line: 1}
	}
	return root
}

// findModule decides where the module comes from.
func (l *loader) findModule(module string, source bool) error {
	s := l.skill
	named := s.module // by skill.yaml
	switch {
	case s.bundle != nil:
		if s.module = named; named == "" {
			s.module = s.name + ".wasm"
		}
		if m := s.bundle.Manifest; m.Name != s.name || m.Version != s.version {
			return fault.New(fault.CheckFailed, "%q: the bundle calls itself %s %s, but its contract says %s %s", l.dir, m.Name, m.Version, s.name, s.version)
		}
	case module != "":
		s.module = filepath.Join(l.dir, module)
	case named != "" && isFile(filepath.Join(l.dir, named)):
		s.module = filepath.Join(l.dir, named)
	case source:
		s.module, s.source = "", true
	case named != "":
		return fault.New(fault.Usage, "skill %q names the module %q, which is not there, and has no Go source to build it from", s.name, named)
	default:
		found, err := filepath.Glob(filepath.Join(escapeGlob(l.dir), "*.wasm"))
		if err == nil && len(found) == 1 && isFile(found[0]) {
			s.module = found[0]
		}
	}
	return nil
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// digest covers every file of the contract and of every layer: names and
// contents, each with its length, so that nothing can move between them.
func (l *loader) digest() string {
	h := sha256.New()
	part := func(b []byte) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(b))))
		h.Write(b)
	}
	add := func(files map[string][]byte) {
		part(binary.BigEndian.AppendUint64(nil, uint64(len(files))))
		for _, name := range slices.Sorted(maps.Keys(files)) {
			part([]byte(name))
			part(files[name])
		}
	}
	add(l.files)
	for _, layer := range l.layers {
		add(layer.files)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// unknownFile says that a layer holds a file that overrides nothing.
func unknownFile(dir, name string, known []string) error {
	return fault.New(fault.Usage, "override %q holds %q, which is no contract file%s", dir, name, nearest.Hint(name, known)).
		Hint("an override folder holds any of %s", strings.Join(known, ", "))
}
