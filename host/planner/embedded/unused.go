package embedded

import (
	"slices"

	"stepbox.dev/host/lexicon"
)

// saying are the stretches of the clause, as written, that mark accepts and that
// say something: not the words that only carry the order, nor another name for
// what is done.
func (a *attempt) saying(mark func(int) bool) []string {
	var out []string
	for i := a.c.from; i < a.c.to; i++ {
		if !mark(i) {
			continue
		}
		j, says := i, false
		for j < a.c.to && mark(j) {
			says = says || !a.carries(j)
			j++
		}
		if says {
			out = append(out, a.q.text(i, j))
		}
		i = j - 1
	}
	return out
}

// carries reports whether token j says nothing that the call does not: a word
// such as "take", or a verb of another tool in an order that this one carries
// out, "convert concert.mp4 to flac". One that is joined on is an order of its
// own.
func (a *attempt) carries(j int) bool {
	if a.otherOrder(j) || a.q.joinedOn(j) {
		return false
	}
	return lexicon.IsLight(a.q.toks[j].Fold) || a.lightIn(j) || slices.ContainsFunc(a.q.matches, func(m lexicon.Match) bool {
		return m.Skill && (m.Meaning == lexicon.Verb && m.Weight >= 0.5 || m.Meaning == lexicon.Noun && m.Tool == a.tool.Name) && len(m.Filled) == 0 && slices.Contains(m.Words, j)
	})
}

// lightIn reports whether token j is part of a light word of several characters
// that are tokens of their own.
func (a *attempt) lightIn(j int) bool {
	if a.q.toks[j].Kind != lexicon.Han {
		return false
	}
	for from := max(a.c.from, j-3); from <= j; from++ {
		for to := j + 1; to <= min(a.c.to, from+4); to++ {
			if lexicon.IsLight(lexicon.Fold(a.q.text(from, to))) {
				return true
			}
		}
	}
	return false
}

// joinedOn reports whether "and" or "then" stands right before token j, small
// words aside.
func (q *reading) joinedOn(j int) bool {
	for j--; j >= 0 && (q.filler(j) && q.words[j].n == 0 || q.covered[j]); j-- {
	}
	return j >= 0 && (q.words[j].role == lexicon.And || q.words[j].role == lexicon.Then)
}

// asides are the words of the clause that stand beside the order and were used
// for nothing. Those with a number, a name or a kind of file may be meant for
// the order after all: they are unused.
func (a *attempt) asides() []string {
	beside := func(i int) bool {
		t := a.q.toks[i]
		return a.context[i] && !a.used[i] && t.Kind != lexicon.Punct && a.q.words[i].n == 0 && !a.q.covered[i] && !a.q.filler(i)
	}
	weighs := func(i int) bool {
		t := a.q.toks[i]
		return t.Kind == lexicon.Number || t.Kind == lexicon.Quoted || t.Kind == lexicon.Name || a.q.saysValue(i)
	}
	a.unused = append(a.unused, a.saying(func(i int) bool { return beside(i) && weighs(i) })...)
	return a.saying(func(i int) bool { return beside(i) && !weighs(i) })
}
