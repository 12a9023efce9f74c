package registry

import (
	"regexp"
	"slices"
	"strings"

	"stepbox.dev/host/registry/nearest"
	"stepbox.dev/host/registry/yamldoc"
)

// maxClaims is how many tools may claim one keyword. A word that more of them
// claim tells nothing apart.
const maxClaims = 4

// Caps on one skill. Every skill that can be named is read before a request is
// understood, so a stranger's contract must not take long, whatever it lists.
const (
	maxTools    = 1000
	maxArgs     = 100  // of a tool; also its aliases, defaults and the like, each
	maxKeywords = 500  // of a tool
	maxValues   = 2000 // of an argument, and other words for them
)

var toolFields = []string{
	"description", "keywords", "required_args", "optional_args", "any_of_args", "grounded_args", "arg_aliases",
	"defaults", "arg_schemas", "safety_category", "readonly", "internal", "mock_args",
}

// name is what tools, arguments and variables may be called. It is narrow
// because names travel into prompts, pointers, file names and terminals.
var name = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)

type builder struct {
	options  Options
	registry *Registry
	faults   yamldoc.Faults
	compiled int // instructions of patterns
}

func (b *builder) tools(root *yamldoc.Node) {
	if root.Kind != yamldoc.Map {
		b.faults.Add(root, "must be a mapping from tool names to tools, not %s", root.Kind)
		return
	}
	disabled := map[string]bool{}
	for _, d := range b.options.Disabled {
		disabled[d] = true
	}
	claims := map[string][]string{}
	for _, e := range root.Entries {
		if !b.isTool(e) {
			continue
		}
		if len(b.registry.tools) >= maxTools {
			b.faults.AddAt(e.Value.File, e.Line, "more than %d tools", maxTools)
			break
		}
		t := b.tool(e)
		if disabled[t.Name] {
			delete(disabled, t.Name)
			continue
		}
		b.registry.tools = append(b.registry.tools, t)
		b.registry.byName[t.Name] = t
		for _, k := range t.Keywords {
			folded := strings.ToLower(k)
			if c := claims[folded]; len(c) > 0 && c[len(c)-1] == t.Name { // in other letters
				continue
			}
			claims[folded] = append(claims[folded], t.Name)
			if c := claims[folded]; len(c) == maxClaims+1 {
				b.faults.AddAt(e.Value.File, e.Line, "keyword %q is claimed by more than %d tools (%s): a word that many claim tells none apart; take it from some of them",
					k, maxClaims, strings.Join(c, ", "))
			}
		}
	}
	for _, d := range b.options.Disabled {
		if disabled[d] {
			b.faults.AddAt(b.options.File, 0, "disabled_tools names %q, which is no tool%s", d, b.faults.Hint(d, b.registry.Names()))
		}
	}
	b.registry.inject()
}

// isTool reports whether a top-level entry is a tool: it has a description. An
// entry without one may hold an anchor that others merge; anything that looks
// like a tool whose description was forgotten or misspelt is a fault.
func (b *builder) isTool(e yamldoc.Entry) bool {
	n := e.Value
	if n.Kind != yamldoc.Map {
		return false
	}
	if n.Has("description") {
		return true
	}
	if n.Anchored {
		return false
	}
	for _, f := range n.Entries {
		if nearest.Of(f.Key, toolFields[:1]) != "" {
			b.faults.AddAt(n.File, f.Line, "unknown field %q; did you mean %q?", f.Key, toolFields[0])
			return false
		}
		if slices.Contains(toolFields, f.Key) {
			b.faults.AddAt(n.File, e.Line, "tool %q has no description", e.Key)
			return false
		}
	}
	return false
}

// tool reads one entry. What is faulty is noted and left out.
func (b *builder) tool(e yamldoc.Entry) *Tool {
	n, f := e.Value, &b.faults
	t := &Tool{Name: e.Key, Line: e.Line, Args: map[string]*Arg{}}
	if !name.MatchString(t.Name) {
		f.AddAt(n.File, e.Line, "tool name %q must be letters, digits, _ and -, at most 64", t.Name)
	}
	f.Keys(n, "field", toolFields)
	if t.Description = strings.TrimSpace(f.Text(n, "description")); t.Description == "" {
		f.AddAt(n.File, e.Line, "tool %q has an empty description", t.Name)
	}
	t.Keywords = b.texts(n, "keywords", maxKeywords)
	t.Internal = f.Flag(n, "internal")
	b.safety(n, t)
	b.arguments(n, t)
	t.AnyOf = b.known(n, t, "any_of_args")
	t.Grounded = b.known(n, t, "grounded_args")
	b.aliases(n, t)
	t.Defaults = b.values(n, t, "defaults")
	t.Mock = b.values(n, t, "mock_args")
	t.Core = isCore(t.Name)
	return t
}

// texts reads a list of at most so many texts; nothing of a longer one is read.
func (b *builder) texts(n *yamldoc.Node, key string, most int) []string {
	if v := n.Get(key); v != nil && len(v.Items) > most {
		b.faults.Add(v, "%s lists more than %d", key, most)
		return nil
	}
	return b.faults.Texts(n, key)
}

// mapping is texts for a mapping.
func (b *builder) mapping(n *yamldoc.Node, key string, most int) *yamldoc.Node {
	if v := n.Get(key); v != nil && len(v.Entries) > most {
		b.faults.Add(v, "%s holds more than %d", key, most)
		return nil
	}
	return b.faults.Mapping(n, key)
}

// safety reads what the tool may do. A tool that says nothing is safe: it may
// only add files, the least that a tool which makes something needs.
func (b *builder) safety(n *yamldoc.Node, t *Tool) {
	f := &b.faults
	t.Readonly = f.Flag(n, "readonly")
	switch c := f.Text(n, "safety_category"); c {
	case "", "safe":
	case "destructive":
		t.Destructive = true
	default:
		f.Add(n.Get("safety_category"), "safety_category %q must be safe or destructive%s", c, b.faults.Hint(c, []string{"safe", "destructive"}))
	}
	if t.Readonly && t.Destructive {
		f.Add(n.Get("readonly"), "tool %q cannot be readonly and destructive", t.Name)
	}
}

// arguments reads required_args, optional_args and arg_schemas, and gathers
// every argument. One that any_of_args names, or that has a schema, is an
// argument too.
func (b *builder) arguments(n *yamldoc.Node, t *Tool) {
	f := &b.faults
	t.Required = b.texts(n, "required_args", maxArgs)
	t.Optional = b.texts(n, "optional_args", maxArgs)
	for _, o := range t.Optional {
		if slices.Contains(t.Required, o) {
			f.Add(n.Get("optional_args"), "argument %q of %q is both required and optional", o, t.Name)
		}
	}
	schemas := b.mapping(n, "arg_schemas", maxArgs)
	for _, a := range b.texts(n, "any_of_args", maxArgs) {
		if !slices.Contains(t.Required, a) && !slices.Contains(t.Optional, a) {
			t.Optional = append(t.Optional, a)
		}
	}
	if schemas != nil {
		for _, s := range schemas.Entries {
			if !slices.Contains(t.Required, s.Key) && !slices.Contains(t.Optional, s.Key) {
				t.Optional = append(t.Optional, s.Key)
			}
		}
	}
	t.ArgOrder = slices.Concat(t.Required, t.Optional)
	for _, a := range t.ArgOrder {
		if !name.MatchString(a) {
			f.Add(n, "argument name %q of %q must be letters, digits, _ and -, at most 64", a, t.Name)
		}
		t.Args[a] = b.argument(t, a, schemas.Get(a))
		t.Args[a].Required = slices.Contains(t.Required, a)
	}
}

// known reads a list of names of the tool's own arguments.
func (b *builder) known(n *yamldoc.Node, t *Tool, key string) []string {
	names := b.texts(n, key, maxArgs)
	for _, a := range names {
		if t.Args[a] == nil {
			b.faults.Add(n.Get(key), "%s names %q, which is no argument of %q%s", key, a, t.Name, b.faults.Hint(a, t.ArgOrder))
		}
	}
	return names
}

func (b *builder) aliases(n *yamldoc.Node, t *Tool) {
	m := b.mapping(n, "arg_aliases", maxValues)
	if m == nil {
		return
	}
	t.Aliases = make(map[string]string, len(m.Entries))
	for _, e := range m.Entries {
		switch target := e.Value.Text; {
		case !e.Value.Scalar() || t.Args[target] == nil:
			b.faults.AddAt(e.Value.File, e.Line, "arg_aliases sends %q to %q, which is no argument of %q%s", e.Key, target, t.Name, b.faults.Hint(target, t.ArgOrder))
		case t.Args[e.Key] != nil:
			b.faults.AddAt(e.Value.File, e.Line, "arg_aliases sends %q elsewhere, but it is an argument of %q itself", e.Key, t.Name)
		default:
			t.Aliases[e.Key] = target
		}
	}
}

// values reads defaults or mock_args: a value for some of the arguments.
func (b *builder) values(n *yamldoc.Node, t *Tool, key string) map[string]any {
	m := b.mapping(n, key, maxArgs)
	if m == nil {
		return nil
	}
	out := make(map[string]any, len(m.Entries))
	for _, e := range m.Entries {
		switch {
		case t.Args[e.Key] == nil:
			b.faults.AddAt(e.Value.File, e.Line, "%s gives %q, which is no argument of %q%s", key, e.Key, t.Name, b.faults.Hint(e.Key, t.ArgOrder))
		case e.Value.Kind == yamldoc.Null:
			b.faults.AddAt(e.Value.File, e.Line, "%s gives %q no value", key, e.Key)
		default:
			out[e.Key] = e.Value.Value()
		}
	}
	return out
}
