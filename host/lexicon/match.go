package lexicon

import (
	"math"
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
	w := 2 * (m.content + m.slots)
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

// Find returns every phrase that occurs in the tokens, in their order.
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
		if w == t.Fold {
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
	g    *Grammar
	fill []bool
}

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

// slot fills element e at token j and goes on.
func (f *finder) slot(m *Match, e, j int) (int, bool) {
	s := m.els[e].slot
	kind := m.kinds[e]
	arg := s.arg
	fill := func(v any, n int, path bool) (int, bool) {
		if n == 0 {
			return 0, false
		}
		m.Filled = append(m.Filled, Fills{Arg: arg, Value: v, Path: path, Raw: f.raw(j, j+n), Start: j, End: j + n})
		return f.match(m, e+1, j+n, true)
	}
	switch kind {
	case slotNumber:
		v, n := f.number(j)
		return fill(whole(v), n, false)
	case slotWhole:
		v, n := f.number(j)
		if q, u, k := f.r.Quantity(j); n == 0 && u == "degree" { // 90°
			v, n = q, k
		}
		if v != math.Trunc(v) {
			return 0, false
		}
		return fill(int64(v), n, false)
	case slotFactor:
		v, n := f.factor(j)
		if _, bare := f.number(j); m.words == 0 && bare == n {
			return 0, false
		}
		return fill(whole(v), n, false)
	case slotSize:
		v, n := f.size(j)
		if n == 0 && m.slots == 2 && len(m.Filled) == 0 { // "between 1 and 5 MB"
			v, n = f.r.sizeLike(j)
		}
		return fill(v, n, false)
	case slotAgo:
		v, n := f.ago(j)
		return fill(v, n, false)
	case slotDate:
		s, n := f.period(j)
		if n == 0 {
			return 0, false
		}
		return fill(s.from.Format(time.DateOnly), n, false)
	case slotAfter:
		s, n := f.period(j)
		if n == 0 {
			return 0, false
		}
		return fill(s.to.Format(time.DateOnly), n, false)
	case slotPeriod, slotNamed:
		get := f.period
		if kind == slotNamed {
			get = f.namedPeriod
			if _, day := shared().weekdays[f.r.Tokens[j].Fold]; day && len(f.r.Tokens[j].Fold) < 5 {
				return 0, false // "mon" and "sun" are words of other languages
			}
		}
		s, n := get(j)
		from, to := s.from, s.to
		if n == 0 {
			return 0, false
		}
		first, last, both := strings.Cut(arg, "..")
		if both && !to.After(f.r.Now) {
			m.Filled = append(m.Filled, Fills{Arg: last, Value: to.Format(time.DateOnly), Start: j, End: j + n})
		}
		arg = first
		return fill(from.Format(time.DateOnly), n, false)
	case slotSpan:
		d, n := f.duration(j)
		return fill(d.String(), n, false)
	case slotClock:
		d, n := f.duration(j)
		if v, k := f.number(j); n == 0 && k > 0 && m.slots == 2 && v >= 0 && v < 1e6 { // "from 1 to 6 seconds"
			d, n = time.Duration(v*float64(time.Second)), k
		}
		return fill(Clock(d), n, false)
	case slotClocks:
		from, to, n := f.r.Clocks(j)
		first, last, both := strings.Cut(arg, "..")
		if n == 0 || !both {
			return 0, false
		}
		m.Filled = append(m.Filled, Fills{Arg: last, Value: Clock(to), Start: j, End: j + n})
		arg = first
		return fill(Clock(from), n, false)
	case slotMega:
		v, n := f.r.Megabytes(j)
		return fill(whole(v), n, false)
	case slotRange:
		v, n := f.r.Ranges(j)
		return fill(v, n, false)
	case "enum":
		for _, p := range f.longestValue(arg, j) {
			if end, ok := fill(p.Value, p.End-j, false); ok {
				return end, ok
			}
		}
		return 0, false
	case slotExt, slotAnyExt:
		t := f.r.Tokens[j]
		ext := strings.TrimPrefix(strings.TrimPrefix(t.Fold, "*"), ".")
		if kind == slotAnyExt {
			fillPlain := fill
			fill = func(v any, n int, path bool) (int, bool) { return fillPlain("*."+ext, n, path) }
		}
		if ok, everyday := IsExtension(ext); t.Kind == Word && ok && !everyday || t.Kind == Name && len(ext) < 6 && strings.HasPrefix(t.Fold, ".") {
			return fill(ext, 1, false)
		}
		return 0, false
	}
	return f.word(m, e, j, kind, fill)
}

// whole returns v as an int64 when it is one.
func whole(v float64) any {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return int64(v)
	}
	return v
}

func (f *finder) raw(i, j int) string {
	var b strings.Builder
	for k := i; k < j; k++ {
		if k > i && f.r.Tokens[k].Start > f.r.Tokens[k-1].End {
			b.WriteByte(' ')
		}
		b.WriteString(f.r.Tokens[k].Text)
	}
	return b.String()
}

// word takes the text of a path, text or name slot: one token, or a stretch of
// characters in a script without spaces.
func (f *finder) word(m *Match, e, j int, kind string, fill func(any, int, bool) (int, bool)) (int, bool) {
	t := f.r.Tokens[j]
	value := func(n int) any {
		switch s := f.raw(j, j+n); kind {
		case slotGlob:
			return "*" + s + "*"
		case slotBefore:
			return s + "*"
		case slotEnd:
			return "*" + s
		default:
			return s
		}
	}
	path := kind == slotPath
	switch t.Kind {
	case Punct:
		return 0, false
	case Name:
		if kind == slotWord {
			return 0, false
		}
	case Han:
		for n := 1; n <= 8 && j+n <= len(f.r.Tokens) && f.r.Tokens[j+n-1].Kind == Han; n++ {
			words, slots := len(m.Words), len(m.Filled)
			last := e+1 == len(m.els)
			if last && j+n < len(f.r.Tokens) && f.r.Tokens[j+n].Kind == Han && !f.g.known[f.r.Tokens[j+n].Fold] {
				continue
			}
			if end, ok := fill(value(n), n, path); ok {
				return end, true
			}
			m.Words, m.Filled = m.Words[:words], m.Filled[:slots]
		}
		return 0, false
	case Word:
		if f.fill[j] || f.g.small[t.Fold] || path && f.knows(t) && !IsFolderName(t.Fold) {
			return 0, false
		}
	}
	return fill(value(1), 1, path)
}

// knows reports whether any phrase holds the word, in the plural too.
func (f *finder) knows(t Token) bool {
	for _, w := range forms(t) {
		if f.g.known[w] {
			return true
		}
	}
	return false
}

// longestValue finds values of an argument at token j, longest first.
func (f *finder) longestValue(arg string, j int) []Match {
	var out []Match
	for _, p := range f.g.values[arg] {
		out = f.try(out, p, j)
	}
	Sort(out)
	return out
}
