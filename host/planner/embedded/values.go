package embedded

import (
	"slices"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/lexicon"
	"stepbox.dev/host/plan"
)

// free reports whether an argument exists and can take a value.
func (a *attempt) free(arg string) bool {
	s := a.tool.Args[arg]
	if s == nil {
		return false
	}
	_, set := a.args[arg]
	return !set || s.Type == abi.TypeArray
}

// set gives an argument a value that the request holds: whatever it looks like,
// it is no variable.
func (a *attempt) set(arg string, v any) { a.put(arg, literal(v)) }

func literal(v any) any {
	switch v := v.(type) {
	case string:
		return plan.Literal(v)
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = literal(x)
		}
		return out
	}
	return v
}

// put gives an argument a value in the shape that its schema asks for.
func (a *attempt) put(arg string, v any) {
	s := a.tool.Args[arg]
	if s == nil || s.Type != abi.TypeArray {
		a.args[arg] = v
		return
	}
	list, _ := a.args[arg].([]any)
	add, ok := v.([]any)
	if !ok {
		add = []any{v}
	}
	for _, x := range add {
		if !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	a.args[arg] = list
}

// value applies a word for an argument's value.
func (a *attempt) value(m *lexicon.Match) {
	s := a.tool.Args[m.Arg]
	if s == nil || len(s.Enum) > 0 && !slices.Contains(s.Enum, m.Value) || a.taken(m) || slices.Contains(a.q.g.Lexicon().Quiet, m.Arg) {
		return
	}
	if m.Lang != "" && m.Lang != a.q.lang && m.End == m.Start+1 && a.q.filler(m.Start) {
		return // French "font" is no typeface
	}
	if k := m.End; k < a.c.to && a.q.words[k].role == lexicon.Folder && a.q.toks[k].Fold[len(a.q.toks[k].Fold)-1] != 's' {
		return // "the pictures folder" is a name
	}
	if k := m.Start - 1; k >= a.c.from && a.q.words[k].role == lexicon.Folder && a.q.place[k] == "" && !a.used[k] && !a.q.fixed[k] {
		return // "the folder photos" too
	}
	if s.Type != abi.TypeArray && a.targetNamed(m) {
		return // "every mp4 to mkv": the value is mkv
	}
	if !a.free(m.Arg) && a.args[m.Arg] != m.Value {
		return
	}
	a.set(m.Arg, m.Value)
	a.heads = append(a.heads, head{tok: m.Start, end: m.End, arg: m.Arg, value: m.Value, plural: plural(a.q.toks[m.End-1].Fold)})
	a.filters++
	a.take(m)
}

// targetNamed reports whether another value of the same argument stands behind
// "to".
func (a *attempt) targetNamed(m *lexicon.Match) bool {
	for k := range a.q.matches {
		o := &a.q.matches[k]
		if o.Meaning == lexicon.Value && o.Arg == m.Arg && o.Start >= a.c.from && o.End <= a.c.to && a.q.place[o.Start] == lexicon.To {
			return true
		}
	}
	return false
}

func plural(w string) bool { return strings.HasSuffix(w, "s") || strings.HasSuffix(w, "en") }
