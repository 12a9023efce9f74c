package lexicon

import (
	"sort"
	"strings"
	"time"
)

// Match is a phrase found in a request.
type Match struct {
	*Phrase
	Start, End int     // tokens [Start, End)
	Words      []int   // tokens that are the phrase's own words
	Filled     []Fills // its slots
}

// Fills is a slot's value.
type Fills struct {
	Arg        string
	Value      any    // string, int64 or float64
	Path       bool   // a file or folder of the request
	Raw        string // as written
	Start, End int
}

// weight orders matches: more words and slots first, those that name an action
// before others, then longer ones.
func (m *Match) weight() int {
	slots := m.slots
	for _, f := range m.Filled { // a value of several words explains them all
		slots = max(slots, f.End-f.Start)
	}
	w := 2 * (m.content + slots)
	if m.Meaning == Sets && m.Tool != "" {
		w++
	}
	return w*1000 + m.chars
}

// Sort orders matches by how much of the request they explain, best first. The
// order is the same every time.
func Sort(ms []Match) {
	sort.SliceStable(ms, func(i, j int) bool {
		a, b := &ms[i], &ms[j]
		if x, y := a.weight(), b.weight(); x != y {
			return x > y
		}
		if a.Meaning != b.Meaning {
			return a.Meaning < b.Meaning
		}
		return a.Start < b.Start
	})
}

// Find returns every phrase that occurs in the tokens, in their order; none when
// there is no end to looking for them.
func (g *Grammar) Find(toks []Token, now time.Time) []Match {
	f := finder{g: g, memo: memo{r: Reader{Tokens: toks, Now: now}}, fill: make([]bool, len(toks))}
	for i, t := range toks {
		f.fill[i] = (t.Kind == Word || t.Kind == Han) && g.IsFiller(t.Fold)
	}
	var out []Match
	for i, t := range toks {
		for _, group := range g.floating {
			if !f.starts(group.kind, i) {
				continue
			}
			for _, p := range group.phrases {
				out = f.try(out, p, i)
			}
		}
		if t.Kind != Word && t.Kind != Han && t.Kind != Number && t.Kind != Name && t.Kind != Punct {
			continue
		}
		for n, form := range forms(t) {
			for _, p := range g.exact[form] {
				if n == 0 || p.plural() {
					out = f.try(out, p, i)
				}
			}
		}
		if f.steps > maxSteps {
			return nil // half of the phrases would be another request than all of them
		}
		if t.Kind == Word {
			for n := 3; n <= len(t.Fold) && n <= g.longest; n++ {
				for _, p := range g.prefix[t.Fold[:n]] {
					out = f.try(out, p, i)
				}
			}
		}
	}
	return out
}

// forms are the spellings under which a token may be listed: itself and, for a
// Latin plural, its singular.
func forms(t Token) []string {
	out := make([]string, 1, 3)
	out[0] = t.Fold
	if w := t.Fold; t.Kind == Word && len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
		out = append(out, w[:len(w)-1])
		if len(w) > 4 && strings.HasSuffix(w, "es") {
			out = append(out, w[:len(w)-2])
		}
	}
	return out
}

// plural reports whether the phrase also matches with a plural s: verbs do not,
// or "the emails" would be an order to email, nor small words, or "notes" would
// be "not".
func (p *Phrase) plural() bool { return p.Meaning == Sets || p.Meaning == Value || p.Meaning == Noun }

func matches(words []string, t Token, plural bool) bool {
	if t.Kind == Quoted {
		return false
	}
	for _, w := range words {
		if stem, ok := strings.CutSuffix(w, "*"); ok {
			if strings.HasPrefix(t.Fold, stem) {
				return true
			}
			continue
		}
		if exact, ok := strings.CutSuffix(w, "!"); ok {
			if exact == t.Fold {
				return true
			}
			continue
		}
		if w == t.Fold || t.Kind == Name && strings.HasPrefix(w, "*.") && strings.HasSuffix(t.Fold, w[1:]) {
			return true
		}
		if plural && len(t.Fold) > len(w) && t.Kind == Word && strings.HasPrefix(t.Fold, w) && len(t.Fold) > 3 && !strings.HasSuffix(t.Fold, "ss") {
			if rest := t.Fold[len(w):]; rest == "s" || rest == "es" {
				return true
			}
		}
	}
	return false
}

type finder struct {
	memo
	g     *Grammar
	fill  []bool
	steps int
}

// maxSteps bounds the work for one request: hundreds of times what the longest
// sensible ones take.
const maxSteps = 4_000_000

func (f *finder) try(out []Match, p *Phrase, i int) []Match {
	m := Match{Phrase: p, Start: i}
	if end, ok := f.match(&m, 0, i, false); ok {
		m.End = end
		out = append(out, m)
	}
	return out
}

const (
	maxGap   = 8 // tokens that "..." may span
	maxSkips = 2 // fillers between two elements
)

// match matches elements from e at token j. free says that fillers may come
// first.
func (f *finder) match(m *Match, e, j int, free bool) (int, bool) {
	if f.steps++; f.steps > maxSteps {
		return 0, false
	}
	if e == len(m.els) {
		return j, true
	}
	toks := f.r.Tokens
	el := m.els[e]
	if el.gap {
		for k := j; k < len(toks) && k <= j+maxGap; k++ {
			if end, ok := f.match(m, e+1, k, false); ok {
				return end, true
			}
			if t := toks[k]; t.Kind == Punct && (t.Fold == "." || t.Fold == ";" || t.Fold == "。") {
				return 0, false
			}
		}
		return 0, false
	}
	for skip := 0; j < len(toks); j++ {
		words, slots := len(m.Words), len(m.Filled)
		if el.slot != nil {
			if end, ok := f.slot(m, e, j); ok {
				return end, true
			}
		} else if matches(el.words, toks[j], m.plural()) {
			m.Words = append(m.Words, j)
			if end, ok := f.match(m, e+1, j+1, true); ok {
				return end, true
			}
		}
		m.Words, m.Filled = m.Words[:words], m.Filled[:slots]
		if !free || !f.fill[j] || skip == maxSkips {
			return 0, false
		}
		skip++
	}
	return 0, false
}
