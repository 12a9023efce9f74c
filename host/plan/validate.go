package plan

import (
	"fmt"
	"slices"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/registry"
	"stepbox.dev/host/registry/nearest"
)

// maxDiagnostics bounds what is told about one plan.
const maxDiagnostics = 100

// Validate checks every call and reports all faults at once as *InvalidError.
// It is for a plan that a planner or a person made: internal tools are refused,
// which only an intent may use.
func Validate(d Draft, r *registry.Registry) (Valid, error) {
	if !d.ok || r == nil {
		return Valid{}, fault.New(fault.Internal, "a plan is validated after it is parsed")
	}
	c := checker{registry: r}
	c.calls(d.calls)
	if err := c.err(); err != nil {
		return Valid{}, err
	}
	return Valid{calls: d.calls, registry: r}, nil
}

// checker collects the faults of a list of calls.
type checker struct {
	registry *registry.Registry
	expanded bool // internal tools are allowed
	found    []Diagnostic
	rootNode *pointer
	tools    []*registry.Tool // of each call, nil for an unknown one; kept when expanded
	outputs  map[string]bool  // variables that the calls so far set
	matched  int              // bytes that patterns were held against
}

func (c *checker) root() *pointer {
	if c.rootNode == nil {
		c.rootNode = &pointer{name: "plan"}
	}
	return c.rootNode
}

func (c *checker) err() error {
	if len(c.found) == 0 {
		return nil
	}
	return &InvalidError{Diagnostics: c.found}
}

func (c *checker) add(code string, at *pointer, suggestion, format string, args ...any) {
	if len(c.found) < maxDiagnostics {
		c.found = append(c.found, Diagnostic{
			Code: code, Severity: SeverityError, Pointer: at.String(), Message: fmt.Sprintf(format, args...), Suggestion: suggestion,
		})
	}
}

func meant(word string, known []string) string {
	if k := nearest.Of(word, known); k != "" {
		return fmt.Sprintf("did you mean %q?", k)
	}
	return ""
}

func (c *checker) calls(calls []abi.Call) {
	switch {
	case len(calls) == 0:
		c.add(CodeEmptyPlan, c.root(), "", "the plan has no calls")
	case len(calls) > MaxCalls:
		c.add(CodeTooMany, c.root(), "", "the plan has %d calls; at most %d are allowed", len(calls), MaxCalls)
		return
	}
	for i := range calls {
		at := pointer{up: c.root(), index: i}
		c.call(&at, calls[i])
		c.output(&at, calls[i].Output)
	}
}

func (c *checker) call(at *pointer, call abi.Call) {
	t, ok := c.registry.Tool(call.Tool)
	if c.expanded {
		c.tools = append(c.tools, t)
	}
	switch {
	case !ok:
		c.add(CodeUnknownTool, &pointer{up: at, name: "tool"}, meant(call.Tool, c.public()), "unknown tool %q", call.Tool)
		c.unknownArgs(at, call)
		return
	case t.Internal && !c.expanded:
		c.add(CodeInternalTool, &pointer{up: at, name: "tool"}, "", "tool %q is internal: only the skill itself may use it", call.Tool)
	}
	in := pointer{up: at, name: "args"}
	given := 0
	for _, name := range t.ArgOrder {
		v, ok := call.Args[name]
		if !ok {
			continue
		}
		given++
		where := pointer{up: &in, name: name}
		c.arg(&where, t.Args[name], v)
	}
	for _, name := range t.Required {
		if _, ok := call.Args[name]; !ok {
			c.add(CodeMissingArg, &pointer{up: &in, name: name}, "", "%q is missing required args: %q", t.Name, name)
		}
	}
	if len(t.AnyOf) > 0 && !slices.ContainsFunc(t.AnyOf, func(a string) bool { _, ok := call.Args[a]; return ok }) {
		c.add(CodeAnyOf, &in, "", "%q needs at least one of: %s", t.Name, strings.Join(t.AnyOf, ", "))
	}
	if given == len(call.Args) {
		return
	}
	for _, name := range sortedKeys(call.Args) {
		if t.Args[name] == nil {
			c.add(CodeUnsupportedArg, &pointer{up: &in, name: name}, meant(name, t.ArgOrder), "%q has unsupported args: %q", t.Name, name)
		}
	}
}

// public returns the tools that a plan may name.
func (c *checker) public() []string {
	var names []string
	for _, t := range c.registry.Tools() {
		if !t.Internal || c.expanded {
			names = append(names, t.Name)
		}
	}
	return names
}

// unknownArgs checks what can be checked without a tool, so that one wrong name
// hides no other fault.
func (c *checker) unknownArgs(at *pointer, call abi.Call) {
	in := pointer{up: at, name: "args"}
	for _, name := range sortedKeys(call.Args) {
		c.anything(&pointer{up: &in, name: name}, call.Args[name], 0)
	}
}

// output checks the variable that a call sets, and makes it known to the calls
// after it.
func (c *checker) output(at *pointer, output string) {
	if output == "" {
		return
	}
	where := &pointer{up: at, name: "output"}
	switch {
	case !isVariable(output):
		c.add(CodeOutput, where, "", "output %q must be a $ and one identifier: letters, digits and _", output)
	case len(output) > 128:
		c.add(CodeOutput, where, "", "the name of an output has at most 128 characters")
	case c.outputs[output]:
		c.add(CodeOutput, where, "", "variable %q is assigned twice", output)
	default:
		if c.outputs == nil {
			c.outputs = map[string]bool{}
		}
		c.outputs[output] = true
	}
}

// reference checks a string that stands for a variable.
func (c *checker) reference(at *pointer, s string) {
	name, rest, _ := Reference(s)
	if !c.outputs[name] {
		known := make([]string, 0, len(c.outputs))
		for o := range c.outputs {
			known = append(known, o)
		}
		slices.Sort(known)
		hint := meant(name, known)
		if hint == "" && rest != "" { // "$odd.txt" is also what a file may be called
			hint = fmt.Sprintf("the text itself is written %q", Literal(s))
		}
		c.add(CodeVariable, at, hint, "variable %q is used before it is assigned", name)
	}
	for rest != "" {
		var field string
		field, rest, _ = strings.Cut(rest[1:], ".")
		if field == "" {
			c.add(CodeVariable, at, "", "%q names an empty field", s)
			return
		}
		if rest != "" {
			rest = "." + rest
		}
	}
}
