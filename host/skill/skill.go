// Package skill loads one skill: its contract files, its data and where its
// module is, from a source folder, or a .wasm file with its contract beside
// it. It runs nothing of the skill.
package skill

import (
	"stepbox.dev/abi"
	"stepbox.dev/host/registry"
	"stepbox.dev/host/skill/bundle"
)

// Skill is a loaded contract. It never changes.
type Skill struct {
	name, version, description string
	title, tagline, category   string
	licence, recommended       string
	instructions               string
	stale                      bool
	dir                        string // folder of the contract
	module                     string // path of the .wasm file, "" when there is none; of a bundle only its name
	source                     bool   // the module is built from Go source in dir
	engines                    []Engine
	wasmFeatures               []string
	data                       map[string]string
	bundle                     *bundle.Bundle // nil unless it was loaded from one
	layered                    bool           // a user's overrides are in it
	registry                   *registry.Registry
	prompt                     Prompt
	unsafePhrases              []string
	lexicon                    []byte            // lexicon.yaml, layers merged; nil when there is none
	files                      map[string][]byte // what /@skill shows, by slash path
	limits                     Limits
	digest                     func() string // computed when somebody first asks: the files may be large
	vocabulary                 vocabulary
}

// Prompt is prompt.yaml.
type Prompt struct {
	Header   string
	Examples []Example
}

// Example is a request and the plan it stands for.
type Example struct {
	Request string
	Plan    []abi.Call
	Line    int // in prompt.yaml
}

// Engine names an engine by name and digest.
type Engine struct {
	Name   string
	Digest string // SHA-256 of its module, hex
}

// Limits are skill.yaml's limits. 0 means the host's default.
type Limits struct {
	MemoryMB    int
	StepSeconds int
	OutputMB    int
	Files       int
}

// Name is the skill's name, [a-z0-9_-]{1,64}.
func (s *Skill) Name() string { return s.name }

// Version is the skill's version.
func (s *Skill) Version() string { return s.version }

// Description is one sentence for planners and listings.
func (s *Skill) Description() string { return s.description }

// Title is the name for people; the name when the contract gives none.
func (s *Skill) Title() string { return s.title }

// Tagline is one sentence for people, "" when the contract gives none.
func (s *Skill) Tagline() string { return s.tagline }

// Stale reports status: stale. Such a skill is used only when it is named.
func (s *Skill) Stale() bool { return s.stale }

// Bundle is what the skill was loaded from, nil when it was no bundle.
func (s *Skill) Bundle() *bundle.Bundle { return s.bundle }

// Dir is the folder the contract was read from; that of a bundle's file.
func (s *Skill) Dir() string { return s.dir }

// Registry is the skill's tools.
func (s *Skill) Registry() *registry.Registry { return s.registry }

// Prompt is the skill's prompt.yaml.
func (s *Skill) Prompt() Prompt { return s.prompt }

// UnsafePhrases are refused before anything is planned.
func (s *Skill) UnsafePhrases() []string { return s.unsafePhrases }

// Lexicon is the text of lexicon.yaml, nil when there is none.
func (s *Skill) Lexicon() []byte { return s.lexicon }

// Files are what a guest sees under /@skill, by slash path.
func (s *Skill) Files() map[string][]byte { return s.files }

// Limits are the skill's own limits.
func (s *Skill) Limits() Limits { return s.limits }

// Digest identifies the contract: SHA-256 over every contract and data file,
// hex. The module has a digest of its own.
func (s *Skill) Digest() string { return s.digest() }

// Source says whether the module has to be built from Go source in Dir.
func (s *Skill) Source() bool { return s.source }

// Category groups skills in listings, "" when the contract gives none.
func (s *Skill) Category() string { return s.category }

// Licence is the skill's licence as its contract names it.
func (s *Skill) Licence() string { return s.licence }

// RecommendedModel is the model the author wrote the prompt for, "" for none.
func (s *Skill) RecommendedModel() string { return s.recommended }

// Instructions is the text of SKILL.md without its front matter.
func (s *Skill) Instructions() string { return s.instructions }

// Engines are the engines that the skill's steps may run.
func (s *Skill) Engines() []Engine { return s.engines }

// WasmFeatures are WebAssembly features beyond the default that the module
// needs.
func (s *Skill) WasmFeatures() []string { return s.wasmFeatures }

// Data are the files that the contract names under data, by their name there:
// slash paths below Dir. They may be absent.
func (s *Skill) Data() map[string]string { return s.data }
