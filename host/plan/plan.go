// Package plan is the intermediate form between a planner's text and what
// runs: parse, normalize, validate, resolve variables, optimize, digest. It is
// pure: no file, clock or skill code is touched.
//
// Each stage has a type of its own, with unexported fields and a zero value
// that no later stage accepts, so that none can be skipped.
package plan

import (
	"encoding/json"

	"stepbox.dev/abi"
	"stepbox.dev/host/registry"
)

// Draft is a plan that parsed. Nothing is known about its tools yet.
type Draft struct {
	calls []abi.Call
	ok    bool
}

// Calls returns the calls, to read.
func (d Draft) Calls() []abi.Call { return d.calls }

// WithCalls returns a draft with other calls: for gates, which resolve names.
func (d Draft) WithCalls(calls []abi.Call) Draft { return Draft{calls: calls, ok: d.ok} }

// Valid is a plan whose every call fits the registry.
type Valid struct {
	calls    []abi.Call
	registry *registry.Registry
}

// Calls returns the calls, to read.
func (v Valid) Calls() []abi.Call { return v.calls }

// Registry is what the plan was validated against.
func (v Valid) Registry() *registry.Registry { return v.registry }

// Program is a plan after expansion: calls of steps only, frozen.
type Program struct {
	calls    []abi.Call
	intents  []int // for each call, the index of the plan call it came from
	registry *registry.Registry
	digest   Digest
}

// Calls returns the calls, to read.
func (p Program) Calls() []abi.Call { return p.calls }

// Intents returns, for each call, the index of the plan's call it came from.
func (p Program) Intents() []int { return p.intents }

// Registry is what the program was validated against.
func (p Program) Registry() *registry.Registry { return p.registry }

// Mode is what call i may do.
func (p Program) Mode(i int) abi.Mode {
	t, ok := p.registry.Tool(p.calls[i].Tool)
	if !ok {
		return abi.ModeNone
	}
	return t.Mode()
}

// Digest is a SHA-256 over canonical JSON.
type Digest [32]byte

// Digest identifies the program's calls.
func (p Program) Digest() Digest { return p.digest }

// Severity of a diagnostic.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Diagnostic is one fault of a plan.
type Diagnostic struct {
	Code       string   `json:"code"` // unknown_tool, missing_arg, …
	Severity   Severity `json:"severity"`
	Pointer    string   `json:"pointer"` // RFC 6901, into the plan document
	Message    string   `json:"message"`
	Suggestion string   `json:"suggestion,omitempty"`
}

// InvalidError carries every fault of a plan that did not validate.
type InvalidError struct{ Diagnostics []Diagnostic }

// Parse reads {"plan":[…]} strictly: size cap, no duplicate keys, no unknown
// keys, numbers kept as json.Number. With text around it (a model's answer) it
// finds the one JSON object.
func Parse(text []byte) (Draft, error) { panic("to be built") }

// NewDraft wraps calls made by code of the host or an expansion.
func NewDraft(calls []abi.Call) Draft { panic("to be built") }

// Paths tells Normalize which absolute paths lie inside the sandbox. Its zero
// value knows none.
type Paths struct {
	Sandbox string // absolute
	Home    string
	Work    string // the person's working directory
}

// Normalize brings arguments into canonical shape, driven by the schema alone:
// aliases, input/inputs, types, enum synonyms, paths, defaults. Idempotent. It
// never fails; what it cannot mend, Validate reports.
func Normalize(d Draft, r *registry.Registry, p Paths) Draft { panic("to be built") }

// Validate checks every call and reports all faults at once as *InvalidError.
func Validate(d Draft, r *registry.Registry) (Valid, error) { panic("to be built") }

// NewProgram freezes calls that stand for the plan v: each must be valid, use
// steps only (isStep), and intents[i] is the index of the plan call it came
// from. For package expand.
func NewProgram(v Valid, calls []abi.Call, intents []int) (Program, error) { panic("to be built") }

// Optimize drops readonly calls whose output nobody uses when an action
// follows. Actions are never removed or reordered.
func Optimize(p Program) Program { panic("to be built") }

// Variables holds the results of finished calls.
type Variables struct{ values map[string]json.RawMessage }

// Set stores the result of a call under its output name ("$x").
func (v *Variables) Set(name string, result json.RawMessage) error { panic("to be built") }

// Resolve returns args with every "$x" and "$x.field" replaced by its value,
// also inside lists and objects; whole values only.
func (v *Variables) Resolve(args map[string]any) (map[string]any, error) { panic("to be built") }
