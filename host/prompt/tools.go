package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"stepbox.dev/abi"
	"stepbox.dev/host/registry"
)

// describe is one tool: what it does, then a line an argument.
func describe(t *registry.Tool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "- %s: %s\n", t.Name, oneLine(t.Description))
	for _, name := range t.ArgOrder {
		a := t.Args[name]
		b.WriteString("    " + name)
		if a.Required {
			b.WriteString(" (required)")
		}
		if k := kind(a); k != "" {
			b.WriteString(": " + k)
		}
		if v, ok := t.Defaults[name]; ok {
			b.WriteString(", default " + quoted(v))
		}
		if a.Help != "" {
			b.WriteString(" - " + oneLine(a.Help))
		}
		b.WriteString("\n")
	}
	if len(t.AnyOf) > 0 {
		b.WriteString("    at least one of: " + strings.Join(t.AnyOf, ", ") + "\n")
	}
	if len(t.Grounded) > 0 {
		b.WriteString("    only as the request says it, never made up: " + strings.Join(t.Grounded, ", ") + "\n")
	}
	return b.String()
}

// kind is an argument's type in words a model knows.
func kind(a *registry.Arg) string {
	one := func(t abi.ArgType) string {
		switch {
		case t == abi.TypeEnum:
			return strings.Join(a.Enum, "|")
		case a.PathRole == abi.RoleInput:
			return "path"
		case a.PathRole == abi.RoleOutput:
			return "path to make"
		case t == abi.TypeSize:
			return `size such as "10MB"`
		case t == abi.TypeDate:
			return `date "2026-01-31"`
		case t == abi.TypeDuration:
			return `duration "1h30m"`
		}
		return string(t)
	}
	k := one(a.Type)
	if a.Type == abi.TypeArray {
		k = strings.TrimSpace("list of " + one(a.Items))
	}
	if a.Min != nil {
		k += fmt.Sprintf(" from %v", *a.Min)
	}
	if a.Max != nil {
		k += fmt.Sprintf(" to %v", *a.Max)
	}
	return k
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// nearest returns the examples that have most words in common with the
// request, use shown tools only and fit in the room, in the order of the
// contract.
func nearest(r Request, shown map[string]string, room int) []string {
	type candidate struct{ index, score int }
	wanted := words(r.Utterance)
	var all []candidate
	examples := r.Skill.Prompt().Examples
	for i, e := range examples {
		if slices.ContainsFunc(e.Plan, func(c abi.Call) bool { return shown[c.Tool] == "" }) {
			continue
		}
		score := 0
		for w := range words(e.Request) {
			if wanted[w] {
				score++
			}
		}
		all = append(all, candidate{i, score})
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	texts := map[int]string{}
	for _, c := range all {
		e := examples[c.index]
		text := "Request: " + quoted(e.Request) + "\n" + planText(e.Plan) + "\n"
		if len(texts) == maxExamples || len(text) > room {
			continue
		}
		room -= len(text)
		texts[c.index] = text
	}
	out := make([]string, 0, len(texts))
	for i := range examples {
		if text, ok := texts[i]; ok {
			out = append(out, text)
		}
	}
	return out
}

func words(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		out[w] = true
	}
	return out
}
