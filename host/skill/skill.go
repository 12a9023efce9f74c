// Package skill loads one skill: its contract files, its data and where its
// module is, from a source folder, or a .wasm file with its contract beside
// it. It runs nothing of the skill.
package skill

import (
	"context"

	"stepbox.dev/abi"
	"stepbox.dev/host/registry"
)

// Skill is a loaded contract. It never changes.
type Skill struct {
	name, version, description string
	title, tagline, category   string
	stale                      bool
	dir                        string // folder of the contract
	module                     string // path of the .wasm file, or "" for a source folder
	registry                   *registry.Registry
	prompt                     Prompt
	unsafePhrases              []string
	lexicon                    []byte            // lexicon.yaml, nil when there is none
	files                      map[string][]byte // what /@skill shows, by slash path
	limits                     Limits
	digest                     string
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

// Dir is the folder the contract was read from.
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
func (s *Skill) Digest() string { return s.digest }

// Source says whether the module has to be built from Go source in Dir.
func (s *Skill) Source() bool { return s.module == "" }

// Options of Load.
type Options struct {
	// Overrides are folders whose contract files are laid over the skill's, in
	// order.
	Overrides []string
}

// Load reads the contract in path: a folder, or a .wasm file whose contract
// lies in the same folder.
func Load(path string, o Options) (*Skill, error) {
	panic("to be built")
}

// Module returns the skill's WebAssembly module, building it with Go when the
// skill is a source folder. built is told when a build starts.
func (s *Skill) Module(ctx context.Context, built func()) ([]byte, error) {
	panic("to be built")
}
