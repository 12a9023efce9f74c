package embedded

import (
	"strings"

	"stepbox.dev/host/lexicon"
)

// findZone marks what stands behind "except", up to the next place or mark, and
// behind "keep" where the rest is named too.
func (a *attempt) findZone() {
	for i := a.c.from; i < a.c.to; i++ {
		f := a.q.words[i]
		if !a.leavesOut(f.role) || a.q.fixed[i] || a.zone[i] {
			continue
		}
		if a.q.lang == "zh" && i > a.c.from && a.zone[i-1] { // 除了…以外 begins, 以外 ends
			for k := i; k < i+f.n; k++ {
				a.zone[k] = true
			}
			continue
		}
		end := a.zoneEnd(i + f.n)
		if a.q.lang == "zh" && end == i+f.n {
			continue
		}
		for k := i; k < end; k++ {
			a.zone[k] = true
		}
		i = end - 1
	}
}

// leavesOut reports whether a function word begins what is left out.
func (a *attempt) leavesOut(r lexicon.Role) bool {
	return r == lexicon.Except || r == lexicon.Without || r == lexicon.Keep
}

// says reports whether the clause holds a function word of the role.
func (a *attempt) says(r lexicon.Role) bool {
	for i := a.c.from; i < a.c.to; i++ {
		if a.q.words[i].role == r {
			return true
		}
	}
	return false
}

func (a *attempt) zoneEnd(i int) int {
	items := 0
	for j := i; j < a.c.to; j++ {
		t, f := a.q.toks[j], a.q.words[j]
		switch {
		case f.role == lexicon.To, f.role == lexicon.Except, f.role == lexicon.Then, f.role == lexicon.Rest:
			return j
		case items > 0 && f.role == lexicon.And && !a.itemAfter(j):
			return j
		case (f.role == lexicon.In || f.role == lexicon.From) && items > 0 && (!a.q.filler(j) || a.plainly(j-1) && a.q.place[j+1] != ""):
			return j
		case items > 0 && (f.role == lexicon.With || a.q.fixed[j]):
			return j
		case t.Kind == lexicon.Punct && items > 0 && !a.itemAfter(j):
			return j
		case items > 0 && a.q.isVerb(j) && (a.q.lang == "de" || a.q.lang == "zh"):
			return j
		case f.n == 0 && !a.q.covered[j] && !a.q.filler(j) && t.Kind != lexicon.Punct:
			items++
		}
	}
	return a.c.to
}

// plainly reports whether token i is a name, an extension or a value: "of" behind
// it leads to a place and belongs to no name.
func (a *attempt) plainly(i int) bool {
	return a.q.toks[i].Kind == lexicon.Name || a.q.kindOfThing(i)
}

// itemAfter reports whether the list of exceptions goes on behind the mark.
func (a *attempt) itemAfter(j int) bool {
	for j++; j < a.c.to && (a.q.filler(j) || a.q.words[j].role == lexicon.And); j++ {
	}
	return j < a.c.to && a.q.words[j].n == 0 && !a.q.isVerb(j)
}

// exceptions turns the marked words into patterns and names to leave out. What
// cannot be said so stays unused, and becomes a question.
func (a *attempt) exceptions() {
	arg := a.arg(lexicon.RoleExcept)
	if arg == "" {
		return
	}
	found := false
	guess := true // unknown words may be parts of names
	for i := a.c.from; i < a.c.to; i++ {
		if r := a.q.words[i].role; r == lexicon.Except || r == lexicon.Without {
			guess = r == lexicon.Except
		} else if r == lexicon.Keep {
			guess = true
		}
		if !a.zone[i] || a.used[i] || a.q.fixed[i] && a.q.toks[i].Kind != lexicon.Name || !guess && !a.certain(i) {
			continue
		}
		for _, item := range a.exception(&i) {
			a.set(arg, item)
			found = true
		}
	}
	if !found {
		return
	}
	a.filters++
	for i := a.c.from; i < a.c.to; i++ {
		if a.zone[i] && (a.leavesOut(a.q.words[i].role) || a.q.words[i].role == lexicon.Named) {
			a.used[i] = true
		}
	}
}

// certain reports whether token i is a name, an extension or a value.
func (a *attempt) certain(i int) bool {
	t := a.q.toks[i]
	_, end := a.valueAt(i)
	return t.Kind == lexicon.Name || t.Kind == lexicon.Quoted || extensionOf(t) != "" || end > 0
}

// exception reads one item at token i and moves i to its last token.
func (a *attempt) exception(i *int) []string {
	t := a.q.toks[*i]
	if v, end := a.valueAt(*i); end > 0 && a.q.place[*i] == "" {
		globs := a.q.g.Lexicon().Globs[v.Arg][v.Value]
		if len(globs) > 0 {
			a.mark(*i, end)
			*i = end - 1
		}
		return globs
	}
	if a.q.words[*i].n > 0 || a.q.covered[*i] || a.q.filler(*i) {
		return nil
	}
	switch t.Kind {
	case lexicon.Name, lexicon.Quoted:
		a.used[*i] = true
		if t.Kind == lexicon.Name && strings.HasPrefix(t.Text, ".") && isExtension(t.Fold[1:]) {
			return []string{"*" + t.Fold}
		}
		return []string{trimPath(t.Text)}
	case lexicon.Word, lexicon.Han:
		if ext := extensionOf(t); ext != "" {
			a.used[*i] = true
			return []string{"*." + ext}
		}
		if lexicon.IsMeasure(t.Fold) || a.q.isVague(*i) {
			return nil
		}
		end := a.span(*i)
		if t.Kind == lexicon.Han {
			for end < a.c.to && a.zone[end] && a.q.toks[end].Kind == lexicon.Han && a.meaningful(end) && a.q.words[end].n == 0 {
				end++
			}
		}
		text := a.name(*i, end)
		beside := *i > 0 && a.q.words[*i-1].role == lexicon.Folder || end < a.c.to && a.q.words[end].role == lexicon.Folder
		folder := a.q.place[*i] != "" || a.q.exists(text) || beside || lexicon.IsFolderName(t.Fold)
		a.mark(*i, end)
		last := end - 1
		*i = last
		if folder || strings.Contains(text, "_") {
			return []string{text}
		}
		a.guesses++
		return []string{"*" + stem(a.q.toks[last], true) + "*"}
	}
	return nil
}

// valueAt is the longest value phrase of one of the tool's arguments at token i.
func (a *attempt) valueAt(i int) (*lexicon.Match, int) {
	for k := range a.q.matches {
		m := &a.q.matches[k]
		if m.Meaning == lexicon.Value && m.Start == i && a.tool.Args[m.Arg] != nil && a.q.g.Lexicon().Globs[m.Arg] != nil {
			return m, m.End
		}
	}
	return nil, 0
}
