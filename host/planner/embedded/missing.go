package embedded

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/lexicon"
)

// argumentNames takes words that name an argument which has got its value: "high
// quality", "100 degrees".
func (a *attempt) argumentNames() {
	for n := range a.args {
		if s := a.tool.Args[n]; s == nil || s.PathRole != abi.RoleNone {
			continue
		}
		for _, part := range strings.Split(n, "_") {
			for i := a.c.from; i < a.c.to; i++ {
				if t := a.q.toks[i]; t.Kind == lexicon.Word && (t.Fold == part || t.Fold == part+"s") {
					a.used[i] = true
				}
			}
		}
	}
}

// findContext marks what stands in other parts of the sentence than the action,
// where requests may tell a story: "The last page is blank - drop it".
func (a *attempt) findContext() {
	if !a.q.g.Lexicon().Stories || a.verb < 0.5 {
		return
	}
	ends := func(i int) bool { return a.q.toks[i].Kind == lexicon.Punct }
	from, to := a.verbAt, a.verbAt
	for from > a.c.from && !ends(from-1) {
		from--
	}
	for to < a.c.to && !ends(to) {
		to++
	}
	for i := a.c.from; i < a.c.to; i++ {
		a.context[i] = i < from || i >= to
	}
}

// leftovers counts the words that mean something and were used for nothing, and
// asks about them. Where requests tell stories, a few words that are left over
// keep no plan from being made: they are asked about with it.
func (a *attempt) leftovers() int {
	count, hard, denied := 0, false, false // hard: a number or a negation
	counted := false                       // a word for a number or a time, or what is left out
	var parts []string
	for i := a.c.from; i < a.c.to; i++ {
		if !a.meaningful(i) {
			continue
		}
		j := i
		for j < a.c.to && a.meaningful(j) {
			hard = hard || a.q.saysValue(j) || a.otherOrder(j) || a.q.toks[j].Kind == lexicon.Number || a.q.toks[j].Kind == lexicon.Name || a.q.toks[j].Kind == lexicon.Quoted || a.q.words[j].role == lexicon.Not
			denied = denied || a.q.words[j].role == lexicon.Not
			counted = counted || a.zone[j] || lexicon.IsMeasure(a.q.toks[j].Fold)
			j++
			count++
			if a.q.toks[j-1].Kind == lexicon.Han && j-i > 1 {
				count--
			}
		}
		for j < a.c.to && a.q.covered[j] { // "the rest" is one word
			j++
		}
		parts = append(parts, a.q.text(i, j))
		i = j
	}
	if count > 0 && a.q.g.Lexicon().Stories && a.verb >= 0.5 && !hard {
		a.guesses += min(count, 4)
		a.unused = a.saying(a.meaningful)
		return min(count, 2)
	}
	if denied {
		// What is left of such a request is the opposite: no answer stands for a "not".
		a.problems = append([]string{fmt.Sprintf("I did not understand what is not to be done in %q, so nothing is done. What should be done?", a.q.text(a.c.from, a.c.to))}, a.problems...)
		a.kept, a.anew = true, true
		return count
	}
	if count > 0 {
		a.unclear = append(parts, a.unclear...)
		ask := "I did not understand %s. How else can that be said? It can also be left out."
		if a.kept = a.kept || hard || counted; a.kept {
			ask = "I did not understand %s. How else can that be said?"
		}
		a.problems = append([]string{fmt.Sprintf(ask, quoteList(parts))}, a.problems...)
	}
	return count
}

// otherOrder reports whether token j begins an order that is joined on and that
// another tool would carry out: it is not done with the first alone.
func (a *attempt) otherOrder(j int) bool {
	k := j - 1
	for k > a.c.from && (a.q.filler(k) || a.q.words[k].role == lexicon.It || a.q.covered[k]) {
		k--
	}
	if k < a.c.from || a.q.words[k].role != lexicon.And && a.q.words[k].role != lexicon.Then {
		return false
	}
	return slices.ContainsFunc(a.q.matches, func(m lexicon.Match) bool {
		return m.Meaning == lexicon.Verb && m.Start == j && m.Tool != a.tool.Name && m.Weight >= 1 && m.Skill && m.End <= a.c.to && a.q.placeOf(&m) == "" &&
			!slices.ContainsFunc(m.Words, func(w int) bool { return a.used[w] || a.context[w] })
	})
}

// saysValue reports whether token j says what kind of file is made, which is
// never dropped in silence: "the first 3 seconds as gif".
func (q *reading) saysValue(j int) bool {
	return slices.ContainsFunc(q.matches, func(m lexicon.Match) bool {
		return m.Meaning == lexicon.Value && m.Start <= j && j < m.End && isExtension(m.Value)
	})
}

// meaningful reports whether token i says something that nothing has used.
func (a *attempt) meaningful(i int) bool {
	t := a.q.toks[i]
	if a.used[i] || t.Kind == lexicon.Punct || a.context[i] {
		return false
	}
	if f := a.q.words[i]; f.n > 0 || a.q.covered[i] {
		switch f.role {
		case lexicon.Not, lexicon.Named:
			return true
		case lexicon.Some: // who only looks sees them all
			return a.tool.Destructive && a.q.words[i].n > 0
		case lexicon.Rest:
			return !a.says(lexicon.Keep)
		}
		return false
	}
	return !a.q.filler(i)
}

// required asks for what is missing and returns how much that is.
func (a *attempt) required() int {
	if a.filters > 0 || a.here {
		a.placeIsHere()
	}
	a.fromEnding()
	missing := 0
	for _, r := range a.tool.Required {
		if _, ok := a.args[r]; ok || a.tool.Defaults[r] != nil {
			continue
		}
		missing++
		a.ask(r)
	}
	missing += a.unlimited()
	if len(a.tool.AnyOf) > 0 && !slices.ContainsFunc(a.tool.AnyOf, func(n string) bool { _, ok := a.args[n]; return ok }) {
		missing++
		a.ask(a.tool.AnyOf...)
	}
	return missing
}

// fromEnding takes the one argument that is needed and has endings of names for
// values from the name of what is made: "convert a.mp4 to b.mov".
func (a *attempt) fromEnding() {
	made, _ := a.args[a.arg(lexicon.RoleDestination)].(string)
	ext := strings.ToLower(strings.TrimPrefix(path.Ext(made), "."))
	if ext == "" || !isExtension(ext) {
		return
	}
	for _, n := range append(slices.Clone(a.tool.Required), a.tool.AnyOf...) {
		if s := a.tool.Args[n]; s != nil && slices.Contains(s.Enum, ext) {
			if _, set := a.args[n]; !set {
				a.set(n, ext)
			}
			return
		}
	}
}

// unlimited asks before everything in a folder is destroyed that nobody called
// everything: "clean up downloads".
func (a *attempt) unlimited() int {
	place := a.arg(lexicon.RolePlace)
	if !a.tool.Destructive || a.filters > 0 || !slices.Contains(a.tool.AnyOf, place) || a.arg(lexicon.RoleDestination) != "" || a.args[place] == nil {
		return 0
	}
	if a.says(lexicon.All) || a.says(lexicon.Files) || a.says(lexicon.Rest) || a.inputs() != len(list(a.args[place])) {
		return 0
	}
	a.problems = append(a.problems, fmt.Sprintf("Everything in %s? Please say which files are meant, or %q.", quoteList(list(a.args[place])), "everything"))
	return 1
}

// list is a value as strings.
func list(v any) []string {
	var out []string
	switch v := v.(type) {
	case string:
		out = append(out, v)
	case []any:
		for _, x := range v {
			if s, ok := x.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// placeIsHere fills a needed folder with the working folder, for a request that
// says what it wants but not where.
func (a *attempt) placeIsHere() {
	place := a.arg(lexicon.RolePlace)
	if _, set := a.args[place]; place == "" || set || a.inputSet() {
		return
	}
	if a.here || slices.Contains(a.tool.Required, place) && a.tool.Defaults[place] == nil || slices.Contains(a.tool.AnyOf, place) {
		a.set(place, ".")
	}
}

func (a *attempt) inputSet() bool {
	for n := range a.args {
		if s := a.tool.Args[n]; s != nil && s.PathRole == abi.RoleInput && (a.isRole(lexicon.RolePlace, n) || a.isRole(lexicon.RoleThing, n) || a.isRole(lexicon.RoleFolder, n)) {
			return true
		}
	}
	return false
}

// ask adds the question for arguments of which one is needed.
func (a *attempt) ask(args ...string) {
	s := a.tool.Args[args[0]]
	what := strings.ReplaceAll(args[0], "_", " ")
	verb := strings.ReplaceAll(a.tool.Name, "_", " ")
	a.lacks = append(a.lacks, args...)
	switch {
	case len(args) > 1 && (s == nil || s.PathRole == abi.RoleNone):
		ways := strings.ReplaceAll(strings.Join(args, ", "), "_", " ")
		a.problems = append(a.problems, fmt.Sprintf("How exactly? To %s, say one of these and what it should be: %s.", verb, ways))
	case s != nil && len(s.Enum) > 0:
		a.candidates = append(a.candidates, s.Enum...)
		a.problems = append(a.problems, fmt.Sprintf("Which %s: %s?", what, strings.Join(s.Enum, ", ")))
	case s != nil && s.PathRole == abi.RoleInput:
		a.candidates = append(a.candidates, a.q.req.Files...)
		a.problems = append(a.problems, fmt.Sprintf("Which files, and in which folder? To %s I need to know that.", verb))
	case s != nil && s.PathRole == abi.RoleOutput:
		a.problems = append(a.problems, fmt.Sprintf("Where should the result of %q go?", verb))
	default:
		a.problems = append(a.problems, fmt.Sprintf("Which %s? To %s I need to know that.", what, verb))
	}
}
