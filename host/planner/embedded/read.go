package embedded

import (
	"unicode/utf8"

	"stepbox.dev/host/lexicon"
	"stepbox.dev/host/planner"
)

// reading is a request with all that was found in it.
type reading struct {
	req     planner.Request
	g       *lexicon.Grammar
	toks    []lexicon.Token
	matches []lexicon.Match // best first
	lang    string
	words   []function // the function word that begins at each token
	covered []bool     // inside the function word of an earlier token
	place   []lexicon.Role
	fixed   []bool // part of a phrase of several words
	typos   int
}

// function is a function word of the request's language.
type function struct {
	role lexicon.Role
	n    int // tokens
}

// clause is a stretch of tokens with an action of its own. loose says that only
// a mark ends it, no "and" or "then".
type clause struct {
	from, to int
	loose    bool
}

func read(g *lexicon.Grammar, r planner.Request) *reading {
	q := &reading{req: r, g: g, toks: lexicon.Tokenize(r.Utterance)}
	q.match()
	if q.correct() {
		q.match()
	}
	return q
}

func (q *reading) match() {
	q.matches = q.g.Find(q.toks, q.req.Now)
	lexicon.Sort(q.matches)
	q.guessLanguage()
	q.findFixed()
	q.findFunctions()
	q.findPlaces()
}

// guessLanguage takes the language whose small words occur most often.
func (q *reading) guessLanguage() {
	count := map[string]int{}
	for _, m := range q.matches {
		if m.Meaning == lexicon.Function || m.Meaning == lexicon.Filler {
			count[m.Lang] += m.Literals()
		}
	}
	q.lang = "en"
	for _, l := range lexicon.Languages {
		if count[l] > count[q.lang] {
			q.lang = l
		}
	}
}

// findFixed marks the tokens of phrases of more than one part: a place or a
// clause does not begin inside one.
func (q *reading) findFixed() {
	q.fixed = make([]bool, len(q.toks))
	for i := range q.matches {
		m := &q.matches[i]
		if m.Meaning > lexicon.Verb || m.Literals()+len(m.Filled) < 2 || q.anyFixed(m) || q.reachesPlace(m) || q.alsoFunction(m) {
			continue
		}
		for _, w := range m.Words {
			q.fixed[w] = true
		}
		for _, s := range m.Filled {
			for k := s.Start; k < s.End; k++ {
				q.fixed[k] = true
			}
		}
	}
}

// reachesPlace reports whether a later word of a phrase with a gap stands
// behind "in" or "to": in "create a folder in archive" nothing is archived.
func (q *reading) reachesPlace(m *lexicon.Match) bool {
	for n, w := range m.Words {
		if n == 0 || w == m.Words[n-1]+1 {
			continue
		}
		j := w - 1
		for j > m.Words[n-1] && q.filler(j) && !q.functionAt(j) {
			j--
		}
		if j > m.Words[n-1] && q.functionAt(j) && len(m.Filled) == 0 {
			return true
		}
	}
	return false
}

func (q *reading) functionAt(j int) bool {
	for i := range q.matches {
		if m := &q.matches[i]; m.Start == j && m.Meaning == lexicon.Function && (m.Lang == q.lang || m.Lang == "en") && (m.Role == lexicon.In || m.Role == lexicon.From || m.Role == lexicon.To) {
			return true
		}
	}
	return false
}

// alsoFunction reports whether a function word takes all of the phrase.
func (q *reading) alsoFunction(m *lexicon.Match) bool {
	for i := range q.matches {
		if f := &q.matches[i]; f.Meaning == lexicon.Function && f.Start == m.Start && f.End >= m.End && q.toks[m.Start].Kind == lexicon.Han {
			return true
		}
	}
	return false
}

func (q *reading) anyFixed(m *lexicon.Match) bool {
	for _, w := range m.Words {
		if q.fixed[w] {
			return true
		}
	}
	return false
}

// findFunctions takes, at each token, the longest function word of the
// request's language; of another language only where it has none.
func (q *reading) findFunctions() {
	q.words = make([]function, len(q.toks))
	q.covered = make([]bool, len(q.toks))
	for _, own := range []bool{true, false} {
		for i := range q.matches {
			m := &q.matches[i]
			if m.Meaning != lexicon.Function || (m.Lang == q.lang) != own || q.covered[m.Start] || q.words[m.Start].n > 0 {
				continue
			}
			if !own && m.Lang != "en" && m.Lang != "zh" || !own && q.filler(m.Start) {
				continue
			}
			if len(m.Words) > 1 && (q.fixed[m.Start] || q.inside(m)) {
				continue
			}
			q.words[m.Start] = function{m.Role, m.End - m.Start}
			for k := m.Start + 1; k < m.End; k++ {
				q.covered[k] = true
			}
		}
	}
	for i, t := range q.toks {
		if t.Kind == lexicon.Punct && q.words[i].n == 0 {
			switch t.Fold {
			case "→":
				q.words[i] = function{lexicon.To, 1}
			case ",", "，", "、":
				q.words[i] = function{lexicon.And, 1}
			}
		}
	}
}

// inside reports whether a token of m already belongs to another function word.
func (q *reading) inside(m *lexicon.Match) bool {
	for k := m.Start; k < m.End; k++ {
		if q.covered[k] || k > m.Start && q.words[k].n > 0 && q.words[k].n >= m.End-m.Start {
			return true
		}
	}
	return false
}

// findPlaces marks the tokens that stand behind "in", "from" or "to": they are
// names, whatever else the word may mean.
func (q *reading) findPlaces() {
	q.place = make([]lexicon.Role, len(q.toks))
	for i, f := range q.words {
		switch f.role {
		case lexicon.In, lexicon.From, lexicon.To:
		case lexicon.After:
			q.placeBefore(i)
			continue
		default:
			continue
		}
		if q.fixed[i] {
			continue
		}
		j := i + f.n
		for j < len(q.toks) && (q.filler(j) && q.words[j].n == 0 && !q.title(j) || q.words[j].role == lexicon.Folder || q.words[j].role == lexicon.Named) {
			j++
		}
		if j >= len(q.toks) || q.fixed[j] && q.toks[j].Kind != lexicon.Name || !q.nameable(j) {
			continue
		}
		if f.role == lexicon.To && q.toks[j].Kind == lexicon.Word && q.isVerb(j) && !q.verbBefore(i) {
			continue // "to delete"
		}
		if lexicon.IsMeasure(q.toks[j].Fold) && j+1 < len(q.toks) && q.words[j+1].role == lexicon.Files {
			continue // "into one file"
		}
		if q.kindOfThing(j) && (q.placeFollows(j+1) || j+1 < len(q.toks) && q.words[j+1].role == lexicon.Files) {
			continue // "from the photos in camera", "to the pdf files"
		}
		q.place[j] = f.role
		for k := j + 1; k < len(q.toks) && q.toks[k].Kind == lexicon.Han && q.toks[j].Kind == lexicon.Han && q.words[k].n == 0 && !q.isVerb(k); k++ {
			q.place[k] = f.role
		}
		for k := j + 1; q.lang != "de" && k < len(q.toks) && startsUpper(q.toks[j].Text) && q.toks[k].Kind == lexicon.Word && startsUpper(q.toks[k].Text) && q.toks[j].Kind == lexicon.Word && !q.fixed[k]; k++ {
			q.place[k] = f.role // a name of several words
		}
		for k := q.nextItem(j+1, len(q.toks)); k > 0; k = q.nextItem(k+1, len(q.toks)) {
			if f.role == lexicon.To {
				break // there is one destination
			}
			q.place[k] = f.role
		}
	}
}

// title reports whether a small word begins a name of several words: one that
// exists, or capitalized words, "My Pictures".
func (q *reading) title(j int) bool {
	for end := j + 2; q.req.Exists != nil && end <= len(q.toks) && end <= j+5; end++ {
		if q.exists(q.text(j, end)) {
			return true
		}
	}
	return q.lang != "de" && j > 0 && j+1 < len(q.toks) && startsUpper(q.toks[j].Text) && startsUpper(q.toks[j+1].Text)
}

// nextItem is the token of the next item of a list of names that goes on at
// token j, or -1.
func (q *reading) nextItem(j, to int) int {
	if j >= to || q.words[j].role != lexicon.And && q.words[j].role != lexicon.Or {
		return -1
	}
	k := j + q.words[j].n
	for k < to && (q.filler(k) && !q.title(k) || q.words[k].role == lexicon.And || q.words[k].role == lexicon.Or || q.words[k].role == lexicon.In || q.words[k].role == lexicon.From) {
		k++
	}
	if k >= to || !q.nameable(k) || q.fixed[k] || q.isVerb(k) && q.toks[k].Kind != lexicon.Name {
		return -1
	}
	switch t := q.toks[k]; t.Kind {
	case lexicon.Name, lexicon.Quoted, lexicon.Number:
		return k
	default:
		end := k+1 >= to
		follows := !end && (q.words[k+1].n > 0 && q.words[k+1].role != lexicon.Files || q.toks[k+1].Kind == lexicon.Punct)
		if end || follows || !q.kindOfThing(k) && q.fixed[k+1] {
			return k
		}
	}
	return -1
}

// kindOfThing reports whether token j is a value or an extension.
func (q *reading) kindOfThing(j int) bool {
	if extensionOf(q.toks[j]) != "" {
		return true
	}
	for i := range q.matches {
		if m := &q.matches[i]; m.Start == j && m.Meaning == lexicon.Value {
			return true
		}
	}
	return false
}

// placeFollows reports whether one of the next tokens begins a place.
func (q *reading) placeFollows(j int) bool {
	for k := j; k < len(q.toks) && k < j+3; k++ {
		if r := q.words[k].role; (r == lexicon.In || r == lexicon.From) && !q.fixed[k] {
			return true
		}
	}
	return false
}

// placeBefore marks a name that stands before a word such as 里.
func (q *reading) placeBefore(i int) {
	j := i - 1
	for j >= 0 && (q.words[j].role == lexicon.Folder || q.covered[j]) {
		j--
	}
	if j < 0 || !q.nameable(j) || q.fixed[j] {
		return
	}
	if q.toks[j].Kind != lexicon.Han {
		if q.place[j] == "" {
			q.place[j] = lexicon.In
		}
		return
	}
	for ; j >= 0 && q.toks[j].Kind == lexicon.Han && q.words[j].n == 0 && !q.covered[j] && !q.fixed[j] && !q.filler(j) && q.place[j] == ""; j-- {
		q.place[j] = lexicon.In
	}
}

// nameable reports whether a token can be, or begin, a name.
func (q *reading) nameable(j int) bool {
	t := q.toks[j]
	switch t.Kind {
	case lexicon.Name, lexicon.Quoted:
		return true
	case lexicon.Word, lexicon.Han:
		switch q.words[j].role {
		case "", lexicon.Then, lexicon.All, lexicon.With:
		default:
			return false
		}
		return q.words[j].n == 0 && !q.covered[j] && (!q.filler(j) || q.title(j))
	case lexicon.Number: // a folder called 2025
		return q.words[j].n == 0 && !q.g.Lexicon().Stories
	}
	return false
}

func (q *reading) filler(j int) bool {
	t := q.toks[j]
	return (t.Kind == lexicon.Word || t.Kind == lexicon.Han) && q.g.IsFiller(t.Fold)
}

func (q *reading) isVerb(j int) bool {
	for i := range q.matches {
		m := &q.matches[i]
		if m.Start == j && votes(m) {
			return true
		}
	}
	return false
}

// votes reports whether a match names an action.
func votes(m *lexicon.Match) bool {
	return m.Meaning == lexicon.Verb && m.Weight >= 0.3 || m.Meaning == lexicon.Sets && m.Tool != "" || m.Meaning == lexicon.Asks
}

func (q *reading) verbBefore(i int) bool {
	for k := range q.matches {
		if m := &q.matches[k]; m.Start < i && votes(m) && q.placeOf(m) == "" {
			return true
		}
	}
	return false
}

// placeOf is the role of the place that a word of the match stands on: it is a
// name there.
func (q *reading) placeOf(m *lexicon.Match) lexicon.Role {
	if len(m.Filled) > 0 {
		return ""
	}
	for _, w := range m.Words {
		if q.place[w] != "" {
			return q.place[w]
		}
	}
	return ""
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
		if i > start && q.action(start, i) && q.begins(i+n, strong) {
			out = append(out, clause{start, i, !strong && q.onlyMarks(i, i+n)})
			start = i + n
		}
		i += n
	}
	return append(out, clause{from: start, to: len(q.toks)})
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
		case t.Kind == lexicon.Punct && t.Fold != "→" && t.Fold != "(" && t.Fold != ")":
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
	for i < end && (q.filler(i) || q.covered[i] || q.words[i].role == lexicon.It || q.words[i].role == lexicon.Them) {
		if q.action(i, i+1) {
			return true
		}
		i++
	}
	for k := range q.matches {
		if m := &q.matches[k]; m.Start == i && m.End <= end && votes(m) && q.placeOf(m) == "" {
			return true
		}
	}
	return false
}

// correct mends misspelled words: an action when the request has none, and long
// words of the skill's vocabulary. It reports whether anything changed.
func (q *reading) correct() bool {
	hasVerb := q.action(0, len(q.toks))
	changed := false
	for i := range q.toks {
		t := &q.toks[i]
		if t.Kind != lexicon.Word || q.g.Knows(t.Fold) || q.place[i] != "" || q.touched(i) {
			continue
		}
		n := utf8.RuneCountInString(t.Fold)
		if n < 4 || hasVerb && n < 6 || q.exists(t.Text) {
			continue
		}
		w := q.g.Correct(t.Fold, func(p *lexicon.Phrase) bool {
			switch p.Meaning {
			case lexicon.Verb:
				return !hasVerb && p.Weight >= 0.5
			case lexicon.Sets, lexicon.Value, lexicon.Noun:
				return n >= 6 && p.Skill
			case lexicon.Function:
				return n >= 5
			}
			return false
		})
		if w != "" {
			t.Fold = w
			q.typos++
			changed = true
		}
	}
	return changed
}

// touched reports whether any phrase uses token i.
func (q *reading) touched(i int) bool {
	for k := range q.matches {
		m := &q.matches[k]
		for _, w := range m.Words {
			if w == i {
				return true
			}
		}
		for _, s := range m.Filled {
			if s.Start <= i && i < s.End {
				return true
			}
		}
	}
	return false
}

func (q *reading) exists(path string) bool {
	if q.req.Exists == nil {
		return false
	}
	found, _ := q.req.Exists(path)
	return found
}
