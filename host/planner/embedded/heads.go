package embedded

import (
	"fmt"
	"slices"
	"strings"

	"stepbox.dev/host/lexicon"
)

// inOrder lists the values of an argument as the request does, not by how sure
// each was.
func (a *attempt) inOrder() {
	at := map[any]int{}
	for _, h := range a.heads {
		if h.pattern != "" {
			at[h.pattern] = h.tok
		} else {
			at[h.value] = h.tok
		}
	}
	for i := a.c.to - 1; i >= a.c.from; i-- {
		if t := a.q.toks[i]; t.Kind == lexicon.Name || t.Kind == lexicon.Quoted {
			at[literal(trimPath(t.Text))] = i
		}
	}
	for _, v := range a.args {
		list, ok := v.([]any)
		if !ok || slices.ContainsFunc(list, func(x any) bool { _, known := at[x]; return !known || repeated(list, x) }) {
			continue
		}
		slices.SortStableFunc(list, func(x, y any) int { return at[x] - at[y] })
	}
}

// repeated reports whether a value stands in a list more than once: the order is
// the request's then.
func repeated(list []any, x any) bool {
	i := slices.Index(list, x)
	return slices.Contains(list[i+1:], x)
}

// together makes one pattern of several that narrow each other down, "pdf files
// starting with tax": patterns of one argument are alternatives, and a second
// one would widen what is meant.
func (a *attempt) together() {
	name := a.arg(lexicon.RoleName)
	all := list(a.args[name])
	if name == "" || len(all) < 2 {
		return
	}
	groups := a.patternGroups(name, all)
	var typed []string
	for _, p := range all {
		if !slices.ContainsFunc(groups, func(g []string) bool { return slices.Contains(g, p) }) {
			typed = append(typed, p)
		}
	}
	if a.bothTyped(all) || len(groups) > 1 && len(typed) > 0 {
		a.problems = append(a.problems, fmt.Sprintf("Names like %s: those that fit one of them, or all at once?", quoteList(all)))
		return
	}
	if len(groups) < 2 {
		return
	}
	both := groups[0]
	for _, g := range groups[1:] {
		var next []string
		for _, x := range both {
			for _, y := range g {
				p := intersect(x, y)
				if p == "" {
					a.problems = append(a.problems, fmt.Sprintf("Names like %s and like %s at once: which names exactly?", quoteList(both), quoteList(g)))
					return
				}
				next = append(next, p)
			}
		}
		both = next
	}
	delete(a.args, name)
	for _, p := range both {
		a.set(name, p)
	}
}

// bothTyped reports whether two patterns that were typed out and joined by "and"
// could hold for one name: "sea* and *copy*".
func (a *attempt) bothTyped(all []string) bool {
	var typed []string
	for i := a.c.from; i < a.c.to; i++ {
		if t := a.q.toks[i]; slices.Contains(all, t.Text) && isGlob(t.Text) && !a.zone[i] {
			typed = append(typed, t.Text)
		}
	}
	if !a.tool.Destructive || !a.says(lexicon.And) || a.says(lexicon.Or) {
		return false
	}
	for i, x := range typed {
		for _, y := range typed[i+1:] {
			if !strings.Contains(x+y, "/") && !(isSuffix(x) && isSuffix(y)) && intersect(x, y) != "" {
				return true
			}
		}
	}
	return false
}

// patternGroups are the patterns that the request gives as alternatives: those
// of one phrase, and names joined by a word or standing as a list.
func (a *attempt) patternGroups(name string, all []string) [][]string {
	var groups [][]string
	seen := map[string]bool{}
	var last *head
	for i := range a.heads {
		h := &a.heads[i]
		if h.pattern == "" || !slices.Contains(all, h.pattern) || seen[h.pattern] {
			continue
		}
		seen[h.pattern] = true
		if last != nil && (a.joined(last.end, h.tok) || isSuffix(last.pattern) && isSuffix(h.pattern)) {
			groups[len(groups)-1] = append(groups[len(groups)-1], h.pattern)
		} else {
			groups = append(groups, []string{h.pattern})
		}
		last = h
	}
	for i := range a.conditions {
		m := &a.conditions[i]
		var own []string
		for _, f := range m.Filled {
			if f.Arg == name {
				own = append(own, list(f.Value)...)
			}
		}
		own = append(own, list(m.Set[name])...)
		own = slices.DeleteFunc(own, func(p string) bool { return seen[p] || !slices.Contains(all, p) })
		if len(own) == 0 {
			continue
		}
		for _, p := range own {
			seen[p] = true
		}
		if n := len(groups); n > 0 && slices.ContainsFunc(groups[n-1], isSuffix) && slices.ContainsFunc(own, isSuffix) {
			groups[n-1] = append(groups[n-1], own...) // "python and txt files"
		} else {
			groups = append(groups, own)
		}
	}
	return groups // globs that were typed out are alternatives of whoever typed them
}

// isSuffix reports whether a pattern only says how names end, by extension.
func isSuffix(p string) bool { return strings.HasPrefix(p, "*.") && !isGlob(p[1:]) }

// intersect is a pattern for names that match both, or "".
func intersect(x, y string) string {
	if isSuffix(x) {
		x, y = y, x
	}
	switch {
	case x == y:
		return x
	case isSuffix(x), !isGlob(x), !isGlob(y):
		return ""
	case isSuffix(y):
		if dot := strings.LastIndexByte(x, '.'); dot >= 0 {
			return ""
		}
		return x + y[1:]
	case strings.HasSuffix(x, "*") && strings.HasPrefix(y, "*") && !strings.HasPrefix(x, "*"):
		return x + y[1:]
	case strings.HasSuffix(y, "*") && strings.HasPrefix(x, "*") && !strings.HasPrefix(y, "*"):
		return y + x[1:]
	case strings.HasSuffix(x, "*") && strings.HasPrefix(y, "*") && !strings.HasSuffix(y, "*"):
		return x + y[1:]
	case strings.HasSuffix(y, "*") && strings.HasPrefix(x, "*") && !strings.HasSuffix(x, "*"):
		return y + x[1:]
	}
	return ""
}

// singular reports whether one thing is named right behind a phrase: "the largest
// video".
func (a *attempt) singular(m *lexicon.Match) bool {
	j := m.End
	for j < a.c.to && a.q.filler(j) && a.q.words[j].n == 0 {
		j++
	}
	if j >= a.c.to || plural(a.q.toks[j].Fold) {
		return false
	}
	r := a.q.words[j].role
	return r == lexicon.Files || r == lexicon.Folder || a.q.kindOfThing(j)
}
