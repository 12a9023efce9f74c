// Package plan is the intermediate form between a planner's text and what
// runs: parse, normalize, validate, resolve variables, optimize, digest. It is
// pure: no file, clock or skill code is touched.
//
// Each stage has a type of its own, with unexported fields and a zero value
// that no later stage accepts, so that none can be skipped.
package plan

import (
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
	tools    []*registry.Tool
	registry *registry.Registry
}

// Calls returns the calls, to read.
func (p Program) Calls() []abi.Call { return p.calls }

// Intents returns, for each call, the index of the plan's call it came from.
func (p Program) Intents() []int { return p.intents }

// Registry is what the program was validated against.
func (p Program) Registry() *registry.Registry { return p.registry }

// Mode is what call i may do.
func (p Program) Mode(i int) abi.Mode { return p.tools[i].Mode() }
