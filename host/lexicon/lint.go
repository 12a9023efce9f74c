package lexicon

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"stepbox.dev/host/registry"
)

// maxClaims is how many tools may have one verb: one that more have tells
// nothing.
const maxClaims = 4

// Check compares a lexicon with the contract it belongs to and returns one
// sentence for each fault, with its line.
func (l *Lexicon) Check(r *registry.Registry, file string) []string {
	c := linter{lex: l, reg: r, file: file, args: map[string]bool{}}
	for _, t := range r.Tools() {
		for name := range t.Args {
			c.args[name] = true
		}
	}
	c.tools()
	c.values()
	c.phrases()
	c.rest()
	return c.faults
}

type linter struct {
	lex    *Lexicon
	reg    *registry.Registry
	file   string
	args   map[string]bool
	faults []string
}

func (c *linter) fault(line int, format string, args ...any) {
	at := c.file
	if line > 0 {
		at = fmt.Sprintf("%s:%d", c.file, line)
	}
	c.faults = append(c.faults, at+": "+fmt.Sprintf(format, args...))
}

func (c *linter) tool(line int, name string) {
	if t, ok := c.reg.Tool(name); !ok || !Public(t) {
		c.fault(line, "%q is no public tool of the skill", name)
	}
}

func (c *linter) arg(line int, name string) {
	if !c.args[name] {
		c.fault(line, "no tool has an argument %q", name)
	}
}

func (c *linter) tools() {
	claims := map[string][]string{}
	lines := map[string]int{}
	for _, e := range c.lex.Tools {
		c.tool(e.Line, e.Tool)
		for _, lang := range slices.Sorted(maps.Keys(e.Say)) {
			for _, s := range e.Say[lang] {
				key := lang + ": " + s
				claims[key] = append(claims[key], e.Tool)
				lines[key] = e.Line
				c.slots(e.Line, s, e.Tool)
			}
		}
	}
	for _, e := range c.lex.Nouns {
		c.tool(e.Line, e.Tool)
	}
	keys := make([]string, 0, len(claims))
	for k := range claims {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if len(claims[k]) > maxClaims {
			c.fault(lines[k], "%d tools claim the verb %q: more than %d tell nothing", len(claims[k]), k, maxClaims)
		}
	}
}

// slots checks that the arguments of a phrase exist in the tool it is for.
func (c *linter) slots(line int, phrase, tool string) {
	lists, err := parsePhrase(phrase)
	if err != nil {
		return // Parse has said so
	}
	for _, e := range lists[len(lists)-1] {
		if e.slot == nil {
			continue
		}
		for _, arg := range strings.Split(e.slot.arg, "..") {
			c.arg(line, arg)
			if t, ok := c.reg.Tool(tool); ok && c.args[arg] && t.Args[arg] == nil {
				c.fault(line, "phrase %q fills %q, which %q does not have", phrase, arg, tool)
			}
		}
	}
}

func (c *linter) values() {
	for _, e := range c.lex.Values {
		c.arg(e.Line, e.Arg)
		known, any := false, false
		for _, t := range c.reg.Tools() {
			if a := t.Args[e.Arg]; a != nil && len(a.Enum) > 0 {
				any = true
				known = known || slices.Contains(a.Enum, e.Value)
			}
		}
		if any && !known {
			c.fault(e.Line, "%q is no value of %q", e.Value, e.Arg)
		}
	}
}

func (c *linter) phrases() {
	for _, e := range c.lex.Phrases {
		if e.Tool != "" {
			c.tool(e.Line, e.Tool)
		}
		for _, t := range e.Only {
			c.tool(e.Line, t)
		}
		for _, set := range []map[string]any{e.Set, e.One} {
			for arg := range set {
				c.arg(e.Line, arg)
			}
		}
		if e.Then != "" {
			c.tool(e.Line, e.Then)
		}
		fills := len(e.Set) > 0 || e.Then != ""
		for _, says := range e.Say {
			for _, s := range says {
				c.slots(e.Line, s, e.Tool)
				fills = fills || strings.Contains(s, "{")
			}
		}
		if !fills {
			c.fault(e.Line, "an entry of phrases fills nothing: give it set, then, or slots")
		}
	}
	for _, e := range append(slices.Clone(c.lex.Ask), c.lex.Refuse...) {
		if e.Value == "" {
			c.fault(e.Line, "an entry of ask needs a question, one of refuse a reason")
		}
	}
}

func (c *linter) rest() {
	roles := make([]string, 0, len(c.lex.Roles))
	for r := range c.lex.Roles {
		roles = append(roles, r)
	}
	slices.Sort(roles)
	for _, r := range roles {
		for _, a := range c.lex.Roles[r] {
			tool, arg, both := strings.Cut(a, ".")
			if !both {
				c.arg(0, tool)
				continue
			}
			if t, ok := c.reg.Tool(tool); !ok || t.Args[arg] == nil {
				c.fault(0, "role %q names %q, which is not there", r, a)
			}
		}
	}
	for _, a := range c.lex.Repeats {
		tool, arg, _ := strings.Cut(a, ".")
		if t, ok := c.reg.Tool(tool); !ok || t.Args[arg] == nil {
			c.fault(0, "repeats names %q, which is not there", a)
		}
	}
	for _, a := range c.lex.Quiet {
		c.arg(0, a)
	}
	if d := c.lex.Default; d != "" {
		c.tool(0, d)
	}
	for t := range c.lex.Results {
		c.tool(0, t)
	}
	for _, t := range c.lex.Finds {
		c.tool(0, t)
		if c.lex.Results[t] == "" {
			c.fault(0, "finds names %q, whose result has no field in results", t)
		}
	}
	for narrow, wide := range c.lex.Wider {
		c.tool(0, narrow)
		c.tool(0, wide)
	}
	for a := range c.lex.Globs {
		c.arg(0, a)
	}
}
