package embedded

import (
	"slices"
	"strings"
	"unicode/utf8"

	"stepbox.dev/abi"
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
	found   map[string]bool // what exists, as far as it was asked

	paths    []string // all that is in the sandbox, in lower case
	allPaths bool
}

// function is a function word of the request's language.
type function struct {
	role lexicon.Role
	n    int // tokens
}

func read(g *lexicon.Grammar, r planner.Request) *reading {
	q := &reading{req: r, g: g, toks: g.Split(lexicon.Tokenize(r.Utterance))}
	q.glue()
	q.spaced()
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
	q.dropParticles()
	q.dropKinds()
	q.findFixed()
	q.findFunctions()
	q.findPlaces()
}

// guessLanguage takes the language whose small words occur most often.
func (q *reading) guessLanguage() {
	count := map[string]int{}
	for _, m := range q.matches {
		switch m.Meaning {
		case lexicon.Function, lexicon.Filler, lexicon.Verb, lexicon.Sets:
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
		if m.Meaning == lexicon.Refuses && m.Start > 0 && q.functionAt(m.Start-1) {
			continue // "from mail to papers": a folder
		}
		for n, w := range m.Words {
			if n > 0 && n == len(m.Words)-1 && w > m.Words[n-1]+1 && w == m.End-1 && q.functionAt(w) {
				break // "get … into": a preposition as well
			}
			if n > 0 && w == m.End-1 && m.Meaning == lexicon.Sets && len(m.Filled) == 0 && q.functionAt(w) {
				break // "directly in logs" too
			}
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

// dropParticles forgets phrases with a gap that would end in a preposition: in
// "packe die Texte aus arbeit" nothing is packed out. A German particle stands
// last.
func (q *reading) dropParticles() {
	q.matches = slices.DeleteFunc(q.matches, func(m lexicon.Match) bool {
		n := len(m.Words)
		if m.Lang != "de" || n < 2 || m.Words[n-1] == m.Words[n-2]+1 || m.End != m.Words[n-1]+1 || m.End >= len(q.toks) || m.Meaning > lexicon.Verb || !q.functionAt(m.Words[n-1]) {
			return false
		}
		switch q.toks[m.End].Kind {
		case lexicon.Name, lexicon.Quoted, lexicon.Number:
			return true
		case lexicon.Word:
			for i := range q.matches {
				if f := &q.matches[i]; f.Start == m.End && (f.Meaning == lexicon.Function && f.Lang == q.lang || votes(f)) {
					return false
				}
			}
			return true
		}
		return false
	})
}

// dropKinds forgets phrases that take a kind of file for the name of one: "rename
// the photos in camera to lowercase" renames no file called photos.
func (q *reading) dropKinds() {
	q.matches = slices.DeleteFunc(q.matches, func(m lexicon.Match) bool {
		t, ok := q.req.Skill.Registry().Tool(m.Tool)
		return ok && len(m.Filled) > 2 && slices.ContainsFunc(m.Filled, func(f lexicon.Fills) bool {
			v, text := f.Value.(string)
			return text && t.Args[f.Arg] != nil && t.Args[f.Arg].PathRole == abi.RoleInput && q.kindOfThing(f.Start) && !q.exists(v)
		})
	})
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
	rest := slices.ContainsFunc(q.matches, func(m lexicon.Match) bool { return m.Role == lexicon.Rest })
	for _, own := range []bool{true, false} {
		for i := range q.matches {
			m := &q.matches[i]
			if m.Meaning != lexicon.Function || (m.Lang == q.lang) != own || q.covered[m.Start] || q.words[m.Start].n > 0 {
				continue
			}
			if !own && m.Lang != "en" && m.Lang != "zh" || !own && q.filler(m.Start) {
				continue
			}
			if len(m.Words) > 1 && (q.fixed[m.Start] || q.inside(m) || q.skipsName(m)) {
				continue
			}
			if m.Role == lexicon.Keep && !rest {
				continue // nothing is said about the others
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

// skipsName reports whether a match passes over an article that is a name:
// "in a to b" is not "into".
func (q *reading) skipsName(m *lexicon.Match) bool {
	for k := m.Start; k < m.End; k++ {
		if t := q.toks[k]; len(t.Text) == 1 && !slices.Contains(m.Words, k) && q.exists(t.Text) {
			return true
		}
	}
	return false
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

// foldersAt reports whether token j is a word for folders.
func (q *reading) foldersAt(j int) bool {
	for i := range q.matches {
		if m := &q.matches[i]; m.Start == j && m.Meaning == lexicon.Function && m.Role == lexicon.Folder {
			return true
		}
	}
	return false
}

func (q *reading) filler(j int) bool {
	t := q.toks[j]
	return (t.Kind == lexicon.Word || t.Kind == lexicon.Han) && q.g.IsFillerIn(t.Fold, q.lang)
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
		if q.place[w] != "" && q.toks[w].Kind != lexicon.Name { // a phrase about names means this one
			return q.place[w]
		}
	}
	return ""
}

// correct mends misspelled words: an action when the request has none, and long
// words of the skill's vocabulary. It reports whether anything changed.
func (q *reading) correct() bool {
	hasVerb := q.action(0, len(q.toks))
	changed := false
	for i := range q.toks {
		t := &q.toks[i]
		if t.Kind != lexicon.Word || q.g.Knows(t.Fold) || lexicon.IsFolderName(t.Fold) || q.g.Knows(strings.TrimSuffix(t.Fold, "s")) || q.place[i] != "" || q.touched(i) {
			continue
		}
		n := utf8.RuneCountInString(t.Fold)
		if n < 4 || hasVerb && n < 6 || q.exists(t.Text) {
			continue
		}
		accept := func(p *lexicon.Phrase) bool {
			if p.Lang != "" && p.Lang != q.lang && p.Lang != "en" {
				return false
			}
			switch p.Meaning {
			case lexicon.Verb:
				return !hasVerb && p.Weight >= 0.5
			case lexicon.Sets, lexicon.Value, lexicon.Noun:
				return n >= 6 && p.Skill
			case lexicon.Function:
				return n >= 5
			}
			return false
		}
		w := q.g.Correct(t.Fold, accept)
		if s := strings.TrimSuffix(t.Fold, "s"); w == "" && s != t.Fold { // vidoes
			w = q.g.Correct(s, accept)
		}
		if w != "" {
			t.Fold = w
			q.typos++
			changed = true
		}
	}
	return changed
}

// explained reports whether a phrase that is more than a value uses token i.
func (q *reading) explained(i int) bool {
	for k := range q.matches {
		m := &q.matches[k]
		if m.Meaning == lexicon.Value || m.Meaning == lexicon.Filler {
			continue
		}
		if slices.Contains(m.Words, i) || slices.ContainsFunc(m.Filled, func(s lexicon.Fills) bool { return s.Start <= i && i < s.End }) {
			return true
		}
	}
	return false
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

// exists reports whether a path names something in the sandbox. Many readings of
// a request ask about the same words.
func (q *reading) exists(path string) bool {
	if q.req.Exists == nil {
		return false
	}
	found, known := q.found[path]
	if !known {
		found, _ = q.req.Exists(path)
		if q.found == nil {
			q.found = map[string]bool{}
		}
		q.found[path] = found
	}
	return found
}
