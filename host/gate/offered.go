package gate

import (
	"path"
	"slices"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/registry"
)

// offered turns descriptions of the files a person offered (--file) into their
// names: "the 4K video", "the second pdf". One that fits several, or none, is
// left to the rule about inputs.
func (c *check) offered() Decision {
	if len(c.Files) == 0 {
		return proceed
	}
	for i := range c.calls {
		for _, v := range c.values(i, abi.RoleInput) {
			if v.text == "" || hasGlob(v.text) || c.isOffered(v.text) || c.made(i, v.text) || c.stat(v.text) != nil {
				continue
			}
			if f, ok := c.theOffered(v.text); ok {
				c.set(v, f)
			}
		}
		c.fillOffered(i)
	}
	return proceed
}

// theOffered returns the one offered file that a text means: by its base name,
// its stem, or a description.
func (c *check) theOffered(text string) (string, bool) {
	for _, match := range []func() []string{
		func() []string { return filter(c.Files, func(f string) bool { return sameName(path.Base(f), text) }) },
		func() []string { return filter(c.Files, func(f string) bool { return sameName(stem(f), text) }) },
		func() []string {
			if extension(text) != "" && !strings.Contains(text, " ") {
				return nil // a name, not a description
			}
			return describe(tokenize(text), c.Files)
		},
	} {
		if found := match(); len(found) > 0 {
			return found[0], len(found) == 1
		}
	}
	return "", false
}

// fillOffered gives call i the offered file that the request describes, when
// the planner left a needed input out.
func (c *check) fillOffered(i int) {
	t, ok := c.tool(i)
	if !ok || !c.uttered() {
		return
	}
	arg := neededInput(t, c.calls[i].Args)
	if arg == "" {
		return
	}
	var found []string
	words := tokenize(c.Utterance)
	for k, w := range words {
		if kindsOf(w.text) == nil || w.file {
			continue
		}
		from := k
		for from > 0 && k-from < 4 && !determiners[words[from].text] && !words[from-1].ends {
			from--
		}
		if !determiners[words[from].text] {
			continue // "to mp4" is no description
		}
		if m := describe(words[from:k+1], c.Files); len(m) == 1 {
			found = append(found, m[0])
		}
	}
	if found = offer(found); len(found) == 1 {
		c.calls[i].Args[arg] = shaped(t, arg, found[0])
	}
}

// neededInput is the input argument that a tool needs and the call does not
// give, or "".
func neededInput(t *registry.Tool, args map[string]any) string {
	for _, name := range t.Required {
		if a := t.Args[name]; a != nil && a.PathRole == abi.RoleInput && absent(args[name]) {
			return name
		}
	}
	if len(t.AnyOf) == 0 || slices.ContainsFunc(t.AnyOf, func(n string) bool { return !absent(args[n]) }) {
		return ""
	}
	for _, name := range t.AnyOf {
		if a := t.Args[name]; a != nil && a.PathRole == abi.RoleInput {
			return name
		}
	}
	return ""
}

// shaped is a path in the shape that the argument takes.
func shaped(t *registry.Tool, arg, p string) any {
	a := t.Args[arg]
	if a != nil && (a.Type == abi.TypeArray || !a.Declared && strings.HasSuffix(arg, "s")) {
		return []any{plan.Literal(p)}
	}
	return plan.Literal(p)
}

// absent says that an argument has no value: nothing, "", or a list of these. A
// space is one: it can be what is replaced in names.
func absent(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !absent(e) })
	}
	return false
}

// describe returns the names that a description fits. Words for a kind must fit
// the extension, an ordinal picks one of what the others fit, every other word
// must stand in the name. A description without any of these fits nothing.
func describe(words []token, names []string) []string {
	var kinds []map[string]bool
	var others []string
	position, ordered := 0, false
	for _, w := range words {
		switch k := kindsOf(w.text); {
		case determiners[w.text] || articles[w.text] || places[w.text] || nouns[w.text] && k == nil:
		case k != nil:
			kinds = append(kinds, k)
		default:
			if p, ok := ordinal(w.text); ok {
				position, ordered = p, true
				continue
			}
			others = append(others, w.text)
		}
	}
	if len(kinds) == 0 && len(others) == 0 && !ordered {
		return nil
	}
	out := filter(names, func(name string) bool {
		ext := extension(name)
		parts := strings.FieldsFunc(fold(stem(name)), func(r rune) bool { return !isWord(r) })
		for _, k := range kinds {
			if !k[ext] {
				return false
			}
		}
		for _, o := range others {
			if !slices.Contains(parts, o) {
				return false
			}
		}
		return true
	})
	if !ordered {
		return out
	}
	if position < 0 {
		position = len(out) - 1
	}
	if position < 0 || position >= len(out) {
		return nil
	}
	return out[position : position+1]
}

func filter(names []string, keep func(string) bool) []string {
	var out []string
	for _, n := range names {
		if keep(n) {
			out = append(out, n)
		}
	}
	return out
}
