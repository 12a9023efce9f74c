// Package bundle is a skill as one .wasm file: a WebAssembly module that
// carries its contract in custom sections, which every other tool skips. It
// writes and reads that form and judges nothing about what is inside.
//
// The sections stand at the end, in this order:
//
//	stepbox.manifest   canonical JSON: what the bundle is, and size and SHA-256 of every part
//	stepbox.files      the files, one after the other in the order of the manifest, deflated
//	stepbox.signature  optional, opaque here: a signature of the manifest
//
// The module is everything else, unchanged. Bytes that a manifest does not
// account for do not exist: a bundle is either exactly what its manifest says or
// it is refused.
package bundle

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
)

// Version of the form that this package writes and reads.
const Version = 1

// Caps on what a bundle may hold.
const (
	MaxBytes     = 256 << 20 // of the whole
	maxManifest  = 1 << 20
	maxFiles     = 1000
	maxFileBytes = 8 << 20
	maxAllBytes  = 32 << 20
	maxSignature = 16 << 10
)

// Manifest says what a bundle is. Its fields are in the order of their JSON
// names, which makes its encoding canonical.
type Manifest struct {
	ABI     int    `json:"abi"`    // that the module was built for
	Bundle  int    `json:"bundle"` // Version
	Files   []File `json:"files"`  // sorted by path
	Kind    string `json:"kind"`   // skill or engine
	Module  Part   `json:"module"`
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Part is the size and SHA-256 (hex) of some bytes.
type Part struct {
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// File is one file of a skill, by its slash path.
type File struct {
	Path string `json:"path"`
	Part
}

// Bundle is a bundle that was read: every part is what the manifest says.
type Bundle struct {
	Manifest Manifest
	// Text is the manifest as it stands in the file; a signature signs it.
	Text      []byte
	Files     map[string][]byte
	Module    []byte
	Signature []byte // nil when there is none
}

// Kinds of bundles.
const (
	KindSkill  = "skill"
	KindEngine = "engine"
)

func refuse(format string, args ...any) error { return fault.New(fault.CheckFailed, format, args...) }

// Pack writes a bundle. The same input makes the same bytes.
func Pack(kind, name, version string, module []byte, files map[string][]byte) ([]byte, error) {
	sections, err := split(module)
	if err != nil {
		return nil, err
	}
	if len(sections.own) > 0 {
		return nil, refuse("the module is a bundle already")
	}
	m := Manifest{ABI: abi.Version, Bundle: Version, Kind: kind, Name: name, Version: version, Module: partOf(module), Files: []File{}}
	var packed bytes.Buffer
	// The best compression takes up to seven times as long, for a hundredth or two.
	w, err := flate.NewWriter(&packed, flate.DefaultCompression)
	if err != nil {
		return nil, fault.New(fault.Internal, "bundle: %w", err)
	}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		m.Files = append(m.Files, File{p, partOf(files[p])})
		if _, err := w.Write(files[p]); err != nil {
			return nil, fault.New(fault.Internal, "bundle: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fault.New(fault.Internal, "bundle: %w", err)
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	text, err := m.encode()
	if err != nil {
		return nil, err
	}
	out := slices.Clone(module)
	out = appendSection(out, sectionManifest, text)
	return appendSection(out, sectionFiles, packed.Bytes()), nil
}

// Sign returns a bundle with its signature replaced.
func Sign(bundle, signature []byte) ([]byte, error) {
	b, err := Read(bundle)
	if err != nil {
		return nil, err
	}
	if len(signature) == 0 || len(signature) > maxSignature {
		return nil, refuse("a signature has between 1 and %d bytes", maxSignature)
	}
	if b.Signature != nil { // Read has checked that it stands last, encoded like this
		bundle = bundle[:len(bundle)-len(appendSection(nil, sectionSignature, b.Signature))]
	}
	return appendSection(slices.Clone(bundle), sectionSignature, signature), nil
}

// Is reports whether a module carries sections of a bundle. That it is a sound
// bundle is for Read to say. A file that is no module at all is an error.
func Is(wasm []byte) (bool, error) {
	s, err := split(wasm)
	return len(s.own) > 0, err
}

// Read takes a bundle apart and checks every part against the manifest. Its
// errors are of kind fault.CheckFailed.
func Read(wasm []byte) (*Bundle, error) {
	if len(wasm) > MaxBytes {
		return nil, refuse("the bundle is larger than %d MiB", MaxBytes>>20)
	}
	s, err := split(wasm)
	if err != nil {
		return nil, err
	}
	switch {
	case len(s.own) == 0:
		return nil, refuse("the module is no bundle: it carries no contract")
	case len(s.own) < 2 || len(s.own) > 3 || s.own[0].name != sectionManifest || s.own[1].name != sectionFiles ||
		len(s.own) == 3 && s.own[2].name != sectionSignature:
		return nil, refuse("a bundle has one manifest, then its files, then at most one signature, and nothing after them")
	case len(s.own[0].data) > maxManifest:
		return nil, refuse("the manifest is larger than %d KiB", maxManifest>>10)
	}
	exact := s.end
	for _, own := range s.own {
		exact += own.size()
	}
	if exact != len(wasm) { // a number is not encoded as short as possible
		return nil, refuse("the sections of the bundle are not in canonical form")
	}
	b := &Bundle{Text: s.own[0].data, Module: wasm[:s.end]}
	if err := b.Manifest.decode(b.Text); err != nil {
		return nil, err
	}
	module := make(chan Part, 1)
	go func() { module <- partOf(b.Module) }() // while the files are unpacked
	if most := b.Manifest.packed(); int64(len(s.own[1].data)) > most {
		return nil, refuse("the files take %d bytes, and their contents need at most %d", len(s.own[1].data), most)
	}
	b.Files, err = b.Manifest.unpack(s.own[1].data)
	if <-module != b.Manifest.Module {
		return nil, refuse("the module is not the one that the manifest names")
	}
	if err != nil {
		return nil, err
	}
	if len(s.own) == 3 {
		if b.Signature = s.own[2].data; len(b.Signature) == 0 || len(b.Signature) > maxSignature {
			return nil, refuse("the signature has %d bytes, which is no signature", len(b.Signature))
		}
	}
	return b, nil
}

func partOf(data []byte) Part {
	sum := sha256.Sum256(data)
	return Part{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data))}
}

func (m Manifest) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		return nil, fault.New(fault.Internal, "manifest: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// decode reads a manifest. Only the canonical text is taken, so that no two
// readers can read two things: no unknown or repeated keys, no spaces.
func (m *Manifest) decode(text []byte) error {
	if !json.Valid(text) {
		return refuse("the manifest is not valid JSON")
	}
	var version struct{ ABI, Bundle int }
	if json.Unmarshal(text, &version) != nil {
		return refuse("the manifest does not say of which form it is and for which ABI")
	}
	switch { // before anything that a newer form may have changed
	case version.Bundle > Version:
		return refuse("the bundle is of form %d, and this stepbox reads form %d: a newer stepbox is needed", version.Bundle, Version)
	case version.ABI > abi.Version:
		return refuse("the skill needs ABI %d, and this stepbox speaks ABI %d: a newer stepbox is needed", version.ABI, abi.Version)
	}
	if json.Unmarshal(text, m) != nil {
		return refuse("the manifest holds something of another type than it should")
	}
	again, err := m.encode()
	if err != nil {
		return err
	}
	if !bytes.Equal(again, text) {
		return refuse("the manifest is not in canonical form")
	}
	return m.check()
}

// check refuses a manifest whose names or sizes are not what a host may act on.
func (m Manifest) check() error {
	switch {
	case m.ABI != abi.Version || m.Bundle != Version:
		return refuse("the bundle is of form %d for ABI %d, which this stepbox does not know", m.Bundle, m.ABI)
	case m.Kind != KindSkill && m.Kind != KindEngine:
		return refuse("the kind %q is neither %s nor %s", m.Kind, KindSkill, KindEngine)
	case !ValidName(m.Name):
		return refuse("the name %q must be lower case letters, digits, _ and -, at most 64, and begin with one of the first two", m.Name)
	case !ValidVersion(m.Version):
		return refuse("the version %q must be three numbers, as 1.0.2", m.Version)
	case m.Files == nil || len(m.Files) > maxFiles:
		return refuse("the manifest lists no files, or more than %d", maxFiles)
	}
	seen, total, last := map[string]bool{}, int64(0), ""
	for i, f := range m.Files {
		folded := strings.ToLower(f.Path)
		switch {
		case !cleanPath(f.Path):
			return refuse("the file name %q cannot travel: it must be a plain path inside the skill", f.Path)
		case i > 0 && f.Path <= last:
			return refuse("the files are not in order, or %q is there twice", f.Path)
		case seen[folded]:
			return refuse("two files are called %q but for upper and lower case, or one is a folder too", f.Path)
		case f.Size < 0 || f.Size > maxFileBytes:
			return refuse("the file %q is larger than %d MiB", f.Path, maxFileBytes>>20)
		}
		if total += f.Size; total > maxAllBytes {
			return refuse("the files are larger than %d MiB together", maxAllBytes>>20)
		}
		seen[folded], last = true, f.Path
	}
	for folded := range seen {
		for dir := path.Dir(folded); dir != "."; dir = path.Dir(dir) {
			if seen[dir] {
				return refuse("%q is a file and a folder", dir)
			}
		}
	}
	return nil
}

// packed is the most that the files can take deflated, by what Pack uses: blocks
// that are stored as they are have a few bytes each. More would only keep a
// reader busy, or carry what nobody signed.
func (m Manifest) packed() int64 {
	total := int64(64)
	for _, f := range m.Files {
		total += f.Size
	}
	return total + total/1024
}

// unpack inflates the files. It reads no more than the manifest says, whatever
// the stream would give.
func (m Manifest) unpack(packed []byte) (map[string][]byte, error) {
	source := bytes.NewReader(packed)
	r := flate.NewReader(source)
	files := make(map[string][]byte, len(m.Files))
	parts := make([]Part, len(m.Files))
	var hashing sync.WaitGroup
	for i, f := range m.Files {
		data := make([]byte, f.Size) // a promise is at most maxFileBytes ahead of what comes
		if n, err := io.ReadFull(r, data); err != nil {
			return nil, refuse("the file %q ends after %d of %d bytes", f.Path, n, f.Size)
		}
		hashing.Go(func() { parts[i] = partOf(data) })
		files[f.Path] = data
	}
	hashing.Wait()
	for i, f := range m.Files {
		if parts[i] != f.Part {
			return nil, refuse("the file %q is not the one that the manifest names", f.Path)
		}
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF || source.Len() > 0 {
		return nil, refuse("the files hold more than the manifest says")
	}
	return files, nil
}
