package embedded

import (
	"slices"

	"stepbox.dev/host/lexicon"
)

// saying are the stretches of the clause, as written, that mark accepts and that
// say something: not the words that only carry the order, such as "convert" in
// "convert concert.mp4 to flac".
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
// such as "take", or one more of the tool's own. One that is joined on is an
// order of its own.
func (a *attempt) carries(j int) bool {
	if a.otherOrder(j) || a.q.joinedOn(j) {
		return false
	}
	return lexicon.IsLight(a.q.toks[j].Fold) || a.lightIn(j) || slices.ContainsFunc(a.q.matches, func(m lexicon.Match) bool {
		return m.Skill && m.Tool == a.tool.Name && (m.Meaning == lexicon.Verb || m.Meaning == lexicon.Noun) && len(m.Filled) == 0 && slices.Contains(m.Words, j)
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
// for nothing. Those with a number, a name, a kind of file, a "not" or a word of
// the trade may be meant for the order after all: they are unused.
func (a *attempt) asides() []string {
	beside := func(i int) bool {
		t := a.q.toks[i]
		return a.context[i] && !a.used[i] && t.Kind != lexicon.Punct && (a.q.words[i].n == 0 && !a.q.covered[i] && !a.q.filler(i) || a.denies(i))
	}
	weighs := func(i int) bool {
		t := a.q.toks[i]
		return t.Kind == lexicon.Number || t.Kind == lexicon.Quoted || t.Kind == lexicon.Name || a.q.saysValue(i) || a.denies(i) || a.q.trade(i)
	}
	var out []string
	for i := a.c.from; i < a.c.to; i++ {
		j, heavy := i, false
		for j < a.c.to && beside(j) {
			heavy = heavy || weighs(j)
			j++
		}
		if parts := a.saying(func(k int) bool { return i <= k && k < j }); heavy {
			a.unused = append(a.unused, parts...)
		} else {
			out = append(out, parts...)
		}
		i = max(i, j-1)
	}
	return out
}

// denies reports whether a "not" or "except" begins at token i.
func (a *attempt) denies(i int) bool {
	r := a.q.words[i].role
	return r == lexicon.Not || r == lexicon.Except || r == lexicon.Without
}

// trade reports whether token i is one of the skill's own words for what can be
// done, and no light one.
func (q *reading) trade(i int) bool {
	return !lexicon.IsLight(q.toks[i].Fold) && slices.ContainsFunc(q.matches, func(m lexicon.Match) bool {
		return m.Skill && (m.Meaning == lexicon.Verb && m.Weight >= 0.5 || m.Meaning == lexicon.Sets && len(m.Filled) == 0) && slices.Contains(m.Words, i)
	})
}
