package embedded

import (
	"slices"

	"stepbox.dev/host/lexicon"
)

// mixed finds types and names joined by "and": "photos and pdfs" means either,
// while two different arguments mean both at once.
func (a *attempt) mixed() {
	name := a.arg(lexicon.RoleName)
	if name == "" {
		return
	}
	slices.SortFunc(a.heads, func(x, y head) int { return x.tok - y.tok })
	for k := 1; k < len(a.heads); k++ {
		x, y := a.heads[k-1], a.heads[k]
		if (x.pattern == "") == (y.pattern == "") && x.arg == y.arg || !a.joined(x.end, y.tok) {
			continue
		}
		if !a.asGlobs(x) || !a.asGlobs(y) {
			a.apart("I cannot say %q in one step", a.q.text(x.tok, y.end))
			return
		}
	}
}

// asGlobs turns a value into the name patterns that stand for it.
func (a *attempt) asGlobs(h head) bool {
	if h.pattern != "" {
		return true
	}
	globs := a.q.g.Lexicon().Globs[h.arg][h.value]
	if len(globs) == 0 {
		return false
	}
	if list, ok := a.args[h.arg].([]any); ok {
		if list = slices.DeleteFunc(list, func(v any) bool { return v == h.value }); len(list) == 0 {
			delete(a.args, h.arg)
		} else {
			a.args[h.arg] = list
		}
	}
	for _, g := range globs {
		a.set(a.arg(lexicon.RoleName), g)
	}
	return true
}

// alternatives finds conditions joined by "or", and things joined to "files
// that …" by "and": arguments narrow each other down, so neither can be said in
// one call.
func (a *attempt) alternatives() {
	for i := a.c.from; i < a.c.to; i++ {
		if a.zone[i] {
			continue
		}
		switch r := a.q.words[i].role; r {
		case lexicon.Or:
			if j := i + a.q.words[i].n; j < a.c.to && a.q.words[j].role == lexicon.All && !a.used[i] {
				break // "or whatever"
			}
			if left, right := a.condition(i, -1), a.condition(i, 1); a.used[i] || left == right && left >= 0 || left < 0 && right < 0 {
				continue
			}
		case lexicon.And:
			j := i + a.q.words[i].n
			for j < a.c.to && (a.q.words[j].role == lexicon.All || a.q.words[j].n == 0 && a.q.filler(j)) {
				j++
			}
			if j >= a.c.to || a.q.words[j].role != lexicon.Files || a.used[j] || a.used[i] {
				continue
			}
		default:
			continue
		}
		a.apart("I cannot do what stands before and behind %q in %q in one step", a.q.toks[i].Text, a.q.text(a.c.from, a.c.to))
		return
	}
}

// condition is the index of the phrase that token i's neighbour on one side
// belongs to, or -1.
func (a *attempt) condition(i, step int) int {
	for j := i + step; j >= a.c.from && j < a.c.to; j += step {
		for k := range a.conditions {
			if m := &a.conditions[k]; m.Start <= j && j < m.End {
				return k
			}
		}
		if !a.q.filler(j) && !a.q.covered[j] {
			return -1
		}
	}
	return -1
}

// wholeFolder takes folders that were named by themselves, "zip downloads", as the
// thing meant where the tool can act on folders themselves and nothing narrows
// down what in it is meant.
func (a *attempt) wholeFolder() {
	place, folder := a.arg(lexicon.RolePlace), a.arg(lexicon.RoleFolder)
	if len(a.bare) == 0 || a.filters > 0 || folder == "" || folder == place || a.inputs() != len(a.bare) || len(list(a.args[place])) != len(a.bare) {
		return
	}
	delete(a.args, place)
	for _, f := range a.bare {
		a.set(folder, f)
	}
}

// joined reports whether nothing but "and" or "or" stands between two tokens.
func (a *attempt) joined(i, j int) bool {
	found := false
	for ; i < j; i++ {
		switch r := a.q.words[i].role; {
		case r == lexicon.And || r == lexicon.Or:
			found = true
		case r == lexicon.Files || r == lexicon.All || a.q.filler(i) || a.q.covered[i]:
		default:
			return false
		}
	}
	return found
}
