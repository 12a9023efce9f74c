package plan

import (
	"maps"
	"slices"

	"stepbox.dev/abi"
	"stepbox.dev/host/registry"
)

// Normalize brings arguments into canonical shape, driven by the schema alone:
// aliases, input/inputs, types, enum synonyms, paths, defaults. Idempotent. It
// never fails; what it cannot mend, Validate reports.
//
// What it does, in this order, to each call of a known tool:
//
//  1. An output without its "$" gets it. A variable under args.output moves to
//     the call's output, unless it is one that an earlier call set.
//  2. Values take the type that the schema wants, where nothing is lost: one
//     value for a list of one and the other way round, numbers and booleans in
//     strings, strings in numbers, synonyms and other spellings of an enum
//     value, paths relative to the sandbox, sizes, dates and durations in one
//     form. Variables stay as they are, and null means absent.
//  3. Arguments under an alias, or under inputs for input and the other way
//     round, move to their name when that is free.
//  4. Absent arguments get their default.
func Normalize(d Draft, r *registry.Registry, p Paths) Draft {
	n := normalizer{paths: p.prepare()}
	out := make([]abi.Call, len(d.calls))
	for i, c := range d.calls {
		if t, ok := r.Tool(c.Tool); ok {
			c = n.call(c, t)
		}
		if c.Output != "" {
			if n.assigned == nil {
				n.assigned = map[string]bool{}
			}
			n.assigned[c.Output] = true
		}
		out[i] = c
	}
	return Draft{calls: out, ok: d.ok}
}

type normalizer struct {
	paths    prepared
	assigned map[string]bool // outputs of the calls so far
}

// call returns the call normalized. Drafts share maps, so the arguments are
// copied before the first change.
func (n *normalizer) call(c abi.Call, t *registry.Tool) abi.Call {
	e := editor{args: c.Args}
	if c.Output != "" && c.Output[0] != '$' && isVariable("$"+c.Output) {
		c.Output = "$" + c.Output
	}
	if v, ok := c.Args["output"].(string); ok && isVariable(v) && (c.Output == "" || c.Output == v) {
		if t.Args["output"] == nil || !n.assigned[v] {
			c.Output = v
			e.remove("output")
		}
	}
	var unknown []string
	for k, v := range e.args {
		if a := t.Args[k]; a != nil {
			n.value(&e, a, v)
		} else {
			unknown = append(unknown, k)
		}
	}
	slices.Sort(unknown) // two spellings of one argument: the first in order moves
	for _, k := range unknown {
		n.rename(&e, t, k)
	}
	for k, v := range t.Defaults {
		if _, given := e.args[k]; given {
			continue
		}
		v = plain(v, 0)
		if out, changed := n.coerce(t.Args[k], v); changed {
			v = out
		}
		e.set(k, v)
	}
	c.Args = e.args
	if c.Args == nil {
		c.Args = map[string]any{}
	}
	return c
}

// isVariable reports whether s is "$name" and nothing more.
func isVariable(s string) bool {
	_, rest, ok := Reference(s)
	return ok && rest == ""
}

// editor changes arguments copy on write.
type editor struct {
	args  map[string]any
	owned bool
}

func (e *editor) own() {
	if !e.owned {
		e.args, e.owned = maps.Clone(e.args), true
		if e.args == nil {
			e.args = map[string]any{}
		}
	}
}

func (e *editor) set(k string, v any) { e.own(); e.args[k] = v }
func (e *editor) remove(k string)     { e.own(); delete(e.args, k) }

// value brings one argument into shape.
func (n *normalizer) value(e *editor, a *registry.Arg, v any) {
	out, changed := n.coerce(a, v)
	switch {
	case out == nil: // so may be a list of one
		e.remove(a.Name)
	case changed:
		e.set(a.Name, out)
	}
}

// rename moves an argument that the tool does not know to the name it does.
func (n *normalizer) rename(e *editor, t *registry.Tool, k string) {
	v := e.args[k]
	to := t.Aliases[k]
	switch {
	case to != "":
	case k == "input" && t.Args["inputs"] != nil:
		to = "inputs"
		if _, list := v.([]any); !list && !isReference(v) && v != nil {
			v = []any{v}
		}
	case k == "inputs" && t.Args["input"] != nil:
		to = "input"
		if list, ok := v.([]any); ok && t.Args[to].Type != abi.TypeArray {
			if len(list) != 1 {
				return // several for a tool that takes one: a fault, not a spelling
			}
			v = list[0]
		}
	default:
		return
	}
	if _, taken := e.args[to]; taken {
		return
	}
	e.remove(k)
	e.set(to, v)
	n.value(e, t.Args[to], v)
}
