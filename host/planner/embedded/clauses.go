package embedded

import (
	"stepbox.dev/host/lexicon"
)

// clause is a stretch of tokens with an action of its own. loose says that only
// a mark ends it, no "and" or "then".
type clause struct {
	from, to int
	loose    bool
	verb     string // the tool of the order before, whose verb holds for this as well
}

// clauses splits the request where one action ends and the next begins.
func (q *reading) clauses() []clause {
	var out []clause
	start := 0
	for i := 0; i < len(q.toks); {
		n, strong := q.separator(i)
		if n == 0 {
			i++
			continue
		}
		if i > start && q.action(start, i) && q.begins(i+n, strong) && (i+n >= len(q.toks) || !q.listed(i+n)) {
			out = append(out, clause{from: start, to: i, loose: !strong && q.onlyMarks(i, i+n)})
			start = i + n
		}
		i += n
	}
	return q.shareVerbs(append(out, clause{from: start, to: len(q.toks)}))
}

func (q *reading) onlyMarks(i, j int) bool {
	for ; i < j; i++ {
		if q.toks[i].Kind != lexicon.Punct {
			return false
		}
	}
	return true
}

// separator measures a run of words and marks that may join clauses; strong
// says that it can join nothing else.
func (q *reading) separator(i int) (n int, strong bool) {
	for j := i; j < len(q.toks); {
		f := q.words[j]
		t := q.toks[j]
		switch {
		case q.fixed[j] && t.Kind != lexicon.Punct:
			return j - i, strong
		case f.role == lexicon.Then:
			strong = true
			j += f.n
		case f.role == lexicon.And:
			j += f.n
		case t.Kind == lexicon.Punct && t.Fold != "→" && t.Fold != "(" && t.Fold != ")" && (t.Fold != ":" || q.g.Lexicon().Stories):
			j++
		default:
			return j - i, strong
		}
		n = j - i
	}
	return n, strong
}

func (q *reading) action(from, to int) bool {
	for i := range q.matches {
		m := &q.matches[i]
		if m.Start >= from && m.End <= to && votes(m) && q.placeOf(m) == "" {
			return true
		}
	}
	return false
}

// begins reports whether an action begins at token i. In German and Chinese
// the verb may stand anywhere in its clause, elsewhere it comes first.
func (q *reading) begins(i int, strong bool) bool {
	end := i
	for end < len(q.toks) {
		if n, s := q.separator(end); n > 0 && (s || q.toks[end].Kind == lexicon.Punct || q.words[end].role == lexicon.And) {
			break
		}
		end++
	}
	if strong || q.lang == "de" || q.lang == "zh" {
		return q.action(i, end)
	}
	for !q.orders(i, end) {
		if i >= end || !q.filler(i) && !q.covered[i] && q.words[i].role != lexicon.It && q.words[i].role != lexicon.Them {
			return false
		}
		i++
	}
	return true
}

// orders reports whether a phrase that names an action begins at token i.
func (q *reading) orders(i, end int) bool {
	for k := range q.matches {
		if m := &q.matches[k]; m.Start == i && m.End <= end && votes(m) && q.placeOf(m) == "" {
			return true
		}
	}
	return false
}
