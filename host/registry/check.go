package registry

import (
	"fmt"
	"slices"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/registry/nearest"
)

// maxDifferences bounds what Check tells about a hostile description.
const maxDifferences = 200

// Kinds returns what each tool is, as the module describes it, "" for a tool it
// does not know: tools.yaml does not say which tools are intents. Core tools are
// steps that the host answers itself.
func Kinds(d abi.Description) func(tool string) abi.Kind {
	kinds := make(map[string]abi.Kind, len(d.Tools))
	for _, t := range d.Tools {
		kinds[t.Name] = t.Kind
	}
	return func(tool string) abi.Kind {
		if isCore(tool) {
			return abi.KindStep
		}
		return kinds[tool]
	}
}

// Check compares what a module describes with the registry and returns one
// sentence for each difference; none means they agree.
func (r *Registry) Check(d abi.Description) []string {
	c := checker{registry: r}
	if d.ABI != abi.Version {
		c.add("the module is built for ABI %d, and this stepbox speaks ABI %d", d.ABI, abi.Version)
	}
	seen := map[string]bool{}
	for _, t := range d.Tools {
		if seen[t.Name] {
			c.add("the module describes tool %q twice", t.Name)
			continue
		}
		seen[t.Name] = true
		c.tool(t)
	}
	for _, t := range r.tools {
		if !t.Core && !seen[t.Name] {
			c.add("tools.yaml declares tool %q, which the module does not implement", t.Name)
		}
	}
	return c.found
}

type checker struct {
	registry *Registry
	found    []string
}

func (c *checker) add(format string, args ...any) {
	if len(c.found) < maxDifferences {
		c.found = append(c.found, fmt.Sprintf(format, args...))
	}
}

func (c *checker) tool(d abi.ToolDescription) {
	t, ok := c.registry.byName[d.Name]
	switch {
	case isCore(d.Name):
		c.add("the module describes tool %q, which the host answers itself", d.Name)
		return
	case !ok:
		c.add("the module implements tool %q, which tools.yaml does not declare%s", d.Name, nearest.Hint(d.Name, c.registry.Names()))
		return
	case d.Kind != abi.KindStep && d.Kind != abi.KindIntent:
		c.add("the module describes tool %q as %q, which is neither step nor intent", d.Name, d.Kind)
	}
	for _, name := range t.ArgOrder {
		if _, ok := d.Args[name]; !ok {
			c.add("tools.yaml declares argument %q of %q, which the module does not take", name, t.Name)
		}
	}
	names := make([]string, 0, len(d.Args))
	for name := range d.Args {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		a, ok := t.Args[name]
		if !ok {
			c.add("the module takes argument %q of %q, which tools.yaml does not declare%s", name, t.Name, nearest.Hint(name, t.ArgOrder))
			continue
		}
		c.arg(t, a, d.Args[name])
	}
}

// arg compares one argument. Help may differ: it is prose.
func (c *checker) arg(t *Tool, a *Arg, d abi.ArgSchema) {
	differ := func(what string, yaml, module any) {
		c.add("argument %q of %q: tools.yaml says %s %v, the module says %v", a.Name, t.Name, what, yaml, module)
	}
	if !a.Declared && d.Type != "" {
		c.add("argument %q of %q: the module says type %s, and tools.yaml has no arg_schemas entry for it", a.Name, t.Name, d.Type)
		return
	}
	if a.Type != d.Type {
		differ("type", a.Type, d.Type)
	} else if a.Items != d.Items {
		differ("items", orNone(string(a.Items)), orNone(string(d.Items)))
	}
	if !sameSet(a.Enum, d.Enum) {
		differ("values", listed(a.Enum), listed(d.Enum))
	}
	if !sameBound(a.Min, d.Min) {
		differ("min", bound(a.Min), bound(d.Min))
	}
	if !sameBound(a.Max, d.Max) {
		differ("max", bound(a.Max), bound(d.Max))
	}
	if a.PathRole != d.PathRole {
		differ("path_role", orNone(string(a.PathRole)), orNone(string(d.PathRole)))
	}
	// An argument with a default is always there when the module sees it.
	if _, filled := t.Defaults[a.Name]; a.Required != d.Required && !(d.Required && filled) {
		differ("required", a.Required, d.Required)
	}
}

func sameSet(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

func sameBound(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }

func bound(b *float64) string {
	if b == nil {
		return "none"
	}
	return fmt.Sprint(*b)
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func listed(values []string) string {
	if len(values) == 0 {
		return "none"
	}
	return strings.Join(values, "|")
}
