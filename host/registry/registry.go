// Package registry turns a skill's tools.yaml into an immutable Registry: what
// each tool is called, takes, and may do. It reads text and decides nothing
// about a request.
package registry

import (
	"regexp"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/registry/yamldoc"
)

// Registry is the tools of one skill. It is built once and never changes;
// nothing it returns may be modified.
type Registry struct {
	tools  []*Tool
	byName map[string]*Tool
}

// Tool is one entry of tools.yaml. Fields are read-only.
type Tool struct {
	Name        string
	Description string
	Keywords    []string
	Required    []string
	Optional    []string // an argument with a schema that is not required counts, named or not
	AnyOf       []string // at least one of these is needed
	Grounded    []string // values that must stand in the request
	Aliases     map[string]string
	Defaults    map[string]any
	Args        map[string]*Arg
	ArgOrder    []string // every argument: required, then optional, in declared order
	Destructive bool
	Readonly    bool
	Internal    bool // only intents may emit it
	Core        bool // clarify, reject, done, wait_for_confirmation
	Mock        map[string]any
	Line        int // in tools.yaml
}

// Arg is one argument of a tool.
type Arg struct {
	Name string
	abi.ArgSchema
	// Synonyms maps other spellings of an enum value to the value.
	Synonyms map[string]string
	// Pattern is what the whole of a text must match, nil when any may be; Help
	// says it in words.
	Pattern *regexp.Regexp
	// Declared is false when tools.yaml has no arg_schemas entry for it: any
	// JSON value passes.
	Declared bool
}

// Mode is what the tool's declaration lets a step do.
func (t *Tool) Mode() abi.Mode {
	switch {
	case t.Readonly:
		return abi.ModeRead
	case t.Destructive:
		return abi.ModeWrite
	}
	return abi.ModeCreate
}

// Tool returns the named tool.
func (r *Registry) Tool(name string) (*Tool, bool) {
	t, ok := r.byName[name]
	return t, ok
}

// Tools returns every tool in the order of tools.yaml, core tools last.
func (r *Registry) Tools() []*Tool { return r.tools }

// Options of Parse.
type Options struct {
	// File is the name that errors use; "" is tools.yaml.
	File string
	// ValueSets are skill.yaml's arg_value_sets: argument name → values.
	ValueSets map[string][]string
	// Disabled are tools that a user's override switches off.
	Disabled []string
}

// Parse reads tools.yaml. Its error lists every fault with file, line and,
// where there is one, a suggestion.
func Parse(data []byte, o Options) (*Registry, error) {
	if o.File == "" {
		o.File = "tools.yaml"
	}
	root, err := yamldoc.Read(o.File, data)
	if err != nil {
		return nil, fault.New(fault.Usage, "%w", err)
	}
	return Build(root, o)
}

// Build is Parse for a document that is read already, with a user's layers laid
// over it.
func Build(root *yamldoc.Node, o Options) (*Registry, error) {
	b := builder{options: o, registry: &Registry{byName: map[string]*Tool{}}}
	b.tools(root)
	if err := b.faults.Err(); err != nil {
		return nil, err
	}
	return b.registry, nil
}

// Names returns the names of all tools, in the order of Tools.
func (r *Registry) Names() []string {
	names := make([]string, len(r.tools))
	for i, t := range r.tools {
		names[i] = t.Name
	}
	return names
}
