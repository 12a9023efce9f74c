package registry

import (
	"encoding/json"
	"slices"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/registry/yamldoc"
)

var (
	schemaFields = []string{"type", "items", "enum", "aliases", "min", "max", "pattern", "path_role", "help"}
	argTypes     = []string{"string", "integer", "number", "boolean", "enum", "array", "object", "size", "date", "duration"}
	itemTypes    = []string{"string", "integer", "number", "boolean", "enum", "object", "size", "date", "duration"}
	pathRoles    = []string{"input", "output"}
)

// fileTypes are the values of an argument called file_type that has none of its
// own, here and in every skill written for the same contract.
var fileTypes = []string{"executable", "text", "image", "document", "script", "archive", "log", "config"}

// conventional are the roles of arguments that a contract leaves without a
// schema. Contracts of peers have none for most tools, and a path that nobody
// declared is still a path.
var conventional = map[string]abi.PathRole{
	"input": abi.RoleInput, "inputs": abi.RoleInput, "path": abi.RoleInput, "paths": abi.RoleInput, "src": abi.RoleInput,
	"output": abi.RoleOutput, "output_dir": abi.RoleOutput, "dst": abi.RoleOutput,
}

// argument reads one schema; n is nil when the contract has none for it.
func (b *builder) argument(t *Tool, argName string, n *yamldoc.Node) *Arg {
	a := &Arg{Name: argName}
	if n != nil && n.Kind != yamldoc.Map {
		b.faults.Add(n, "the schema of %q must be a mapping, not %s", argName, n.Kind)
		return a
	}
	if n != nil {
		a.Declared = true
		b.schema(n, t, a)
	}
	b.valueSet(a)
	if !a.Declared {
		a.PathRole = conventional[argName]
	}
	if n != nil {
		b.consistent(n, t, a)
	}
	return a
}

func (b *builder) schema(n *yamldoc.Node, t *Tool, a *Arg) {
	f := &b.faults
	f.Keys(n, "field", schemaFields)
	a.Type = abi.ArgType(b.oneOf(n, "type", argTypes))
	a.Items = abi.ArgType(b.oneOf(n, "items", itemTypes))
	a.Enum = b.texts(n, "enum", maxValues)
	a.PathRole = abi.PathRole(b.oneOf(n, "path_role", pathRoles))
	a.Help = strings.TrimSpace(f.Text(n, "help"))
	a.Min, a.Max = b.bound(n, "min"), b.bound(n, "max")
	a.Pattern = b.pattern(n)
	if m := b.mapping(n, "aliases", maxValues); m != nil {
		a.Synonyms = make(map[string]string, len(m.Entries))
		for _, e := range m.Entries {
			if !e.Value.Scalar() {
				f.AddAt(e.Value.File, e.Line, "alias %q must stand for one value, not %s", e.Key, e.Value.Kind)
				continue
			}
			a.Synonyms[e.Key] = e.Value.Text
		}
	}
}

// oneOf returns the word under key if it is one of known, else "".
func (b *builder) oneOf(n *yamldoc.Node, key string, known []string) string {
	word := b.faults.Text(n, key)
	if word == "" {
		return ""
	}
	if i := slices.Index(known, word); i >= 0 {
		return known[i] // the one copy: a large registry holds each word thousands of times
	}
	b.faults.Add(n.Get(key), "%s %q must be one of %s%s", key, word, strings.Join(known, ", "), b.faults.Hint(word, known))
	return ""
}

func (b *builder) bound(n *yamldoc.Node, key string) *float64 {
	v := n.Get(key)
	if v == nil {
		return nil
	}
	if num, ok := v.Value().(json.Number); ok {
		if f, err := num.Float64(); err == nil {
			return &f
		}
	}
	b.faults.Add(v, "%s must be a number, not %s", key, v.Kind)
	return nil
}

// valueSet gives an argument without values of its own those that the skill
// declares for its name.
func (b *builder) valueSet(a *Arg) {
	if len(a.Enum) > 0 {
		return
	}
	values := b.options.ValueSets[a.Name]
	if values == nil && a.Name == "file_type" {
		values = fileTypes
	}
	if values == nil {
		return
	}
	switch a.Type {
	case "", abi.TypeString, abi.TypeEnum:
		a.Type = abi.TypeEnum
	case abi.TypeArray:
		if a.Items != "" && a.Items != abi.TypeString && a.Items != abi.TypeEnum {
			return
		}
		a.Items = abi.TypeEnum
	default:
		return
	}
	a.Enum, a.Declared = values, true
}

// consistent fills in what a schema leaves to be understood, and reports what
// contradicts itself.
func (b *builder) consistent(n *yamldoc.Node, t *Tool, a *Arg) {
	f := &b.faults
	if a.Type == "" {
		switch {
		case n.Has("type"): // reported already
			return
		case len(a.Enum) > 0:
			a.Type = abi.TypeEnum
		case a.Items != "":
			a.Type = abi.TypeArray
		case a.PathRole != abi.RoleNone:
			a.Type = abi.TypeString
		default:
			f.Add(n, "argument %q of %q has a schema without a type", a.Name, t.Name)
			return
		}
	}
	if len(a.Enum) > 0 { // values make an enum of a string
		switch {
		case a.Type == abi.TypeString:
			a.Type = abi.TypeEnum
		case a.Type == abi.TypeArray && (a.Items == "" || a.Items == abi.TypeString):
			a.Items = abi.TypeEnum
		}
	}
	if a.PathRole != abi.RoleNone && a.Type == abi.TypeArray && a.Items == "" {
		a.Items = abi.TypeString
	}
	takesEnum := a.Type == abi.TypeEnum || a.Type == abi.TypeArray && a.Items == abi.TypeEnum
	switch {
	case takesEnum && len(a.Enum) == 0 && !n.Has("enum"):
		f.Add(n, "argument %q of %q is an enum without values", a.Name, t.Name)
	case !takesEnum && len(a.Enum) > 0:
		f.Add(n, "argument %q of %q is of type %s, which takes no enum", a.Name, t.Name, a.Type)
	case !takesEnum && len(a.Synonyms) > 0:
		f.Add(n, "argument %q of %q has aliases of values, but no values", a.Name, t.Name)
	}
	if a.Items != "" && a.Type != abi.TypeArray {
		f.Add(n, "argument %q of %q is of type %s, which has no items", a.Name, t.Name, a.Type)
	}
	text := a.Type == abi.TypeString || a.Type == abi.TypeArray && a.Items == abi.TypeString
	if a.PathRole != abi.RoleNone && !text {
		f.Add(n, "argument %q of %q has a path_role, so it must be a string or an array of strings", a.Name, t.Name)
	}
	if n.Has("pattern") && a.Type != abi.TypeString {
		f.Add(n, "argument %q of %q is of type %s, which has no pattern", a.Name, t.Name, a.Type)
	}
	if n.Has("pattern") && a.Help == "" {
		f.Add(n, "argument %q of %q has a pattern, so its help must say in words what it takes", a.Name, t.Name)
	}
	if (a.Min != nil || a.Max != nil) && a.Type != abi.TypeInteger && a.Type != abi.TypeNumber && a.Type != abi.TypeArray {
		f.Add(n, "argument %q of %q is of type %s, which has no min and max", a.Name, t.Name, a.Type)
	}
	if a.Min != nil && a.Max != nil && *a.Min > *a.Max {
		f.Add(n, "argument %q of %q has a min above its max", a.Name, t.Name)
	}
	values := make(map[string]bool, len(a.Enum))
	for _, v := range a.Enum {
		values[v] = true
	}
	for from, to := range a.Synonyms {
		if !values[to] {
			f.Add(n.Get("aliases"), "alias %q stands for %q, which is no value of %q%s", from, to, a.Name, b.faults.Hint(to, a.Enum))
		}
	}
}
