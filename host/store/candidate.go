package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"

	"stepbox.dev/host/admission"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/skill"
	"stepbox.dev/host/skill/bundle"
)

// Candidate is a stranger's bundle, read and checked but not trusted. Nothing
// of it has run.
type Candidate struct {
	Path   string
	Bundle *bundle.Bundle
	Skill  *skill.Skill        // nil for an engine
	Engine *skill.EngineBundle // nil for a skill
	// Signer is nil when nobody signed it, or the signature is broken.
	Signer *Signer
	// SignatureError and ModuleError say why it can be neither installed nor
	// tried: a broken signature, a module that is refused.
	SignatureError error
	ModuleError    error
	Declares       Declaration

	wasm []byte
	file string // SHA-256 of it
}

// Examine reads a bundle. What is no sound bundle, or has no sound contract, is
// an error.
func Examine(path string) (*Candidate, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fault.New(fault.Internal, "%q: %w", path, err)
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.Usage, "there is no file %q", path)
	}
	if err != nil {
		return nil, fault.New(fault.Usage, "%q cannot be read: %w", path, err)
	}
	wasm, err := readFile(real, bundle.MaxBytes, anyAccess)
	if err != nil {
		return nil, fault.New(fault.Usage, "the bundle cannot be read: %w", err).Hint("name a .wasm file; stepbox skills pack makes one of a skill's folder")
	}
	b, err := bundle.Read(wasm)
	if err != nil {
		return nil, fault.New(fault.Of(err), "%q: %w", path, err)
	}
	sum := sha256.Sum256(wasm)
	c := &Candidate{Path: path, Bundle: b, wasm: wasm, file: hex.EncodeToString(sum[:])}
	policy := admission.Skill
	if b.Manifest.Kind == bundle.KindEngine {
		policy = admission.Engine
		if c.Engine, err = skill.EngineFromBundle(path, b); err != nil {
			return nil, err
		}
		c.Declares = declaredByEngine(c.Engine)
	} else {
		if c.Skill, err = skill.FromBundle(path, b, skill.Options{}); err != nil {
			return nil, err
		}
		// A skill whose words cannot be read is of no use to anybody.
		if _, err := c.Skill.Vocabulary(); err != nil {
			return nil, fault.New(fault.Usage, "%q: %w", path, err)
		}
		c.Declares = declaredBySkill(c.Skill)
	}
	c.Signer, c.SignatureError = Verify(b)
	if err := admission.Check(b.Module, policy); err != nil {
		c.ModuleError = fault.New(fault.Stopped, "the module is refused: %w", err)
	}
	return c, nil
}

// Sound is an error when the bundle can be neither installed nor tried.
func (c *Candidate) Sound() error {
	if c.SignatureError != nil {
		return c.SignatureError
	}
	return c.ModuleError
}

// Digest is the SHA-256 of the bundle's manifest.
func (c *Candidate) Digest() string {
	sum := sha256.Sum256(c.Bundle.Text)
	return hex.EncodeToString(sum[:])
}

// Size is that of the file.
func (c *Candidate) Size() int64 { return int64(len(c.wasm)) }

// FileDigest is the SHA-256 of the file.
func (c *Candidate) FileDigest() string { return c.file }

func (c *Candidate) entry() Entry {
	m := c.Bundle.Manifest
	return Entry{
		Kind: m.Kind, Name: m.Name, Version: m.Version, Digest: c.Digest(), Module: m.Module.SHA256,
		File: c.file, Size: c.Size(), Source: c.Path, Installed: now(),
		Signer: c.Signer, Unsigned: c.Signer == nil, Declares: c.Declares,
	}
}
