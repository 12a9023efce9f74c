package lexicon

import (
	"math"
	"strings"
	"time"
)

// slot fills element e at token j and goes on.
func (f *finder) slot(m *Match, e, j int) (int, bool) {
	s := m.els[e].slot
	kind := m.kinds[e]
	arg := s.arg
	fill := func(v any, n int, path bool) (int, bool) {
		if n == 0 || n == 1 && f.fill[j] && counts(kind) {
			return 0, false // an article is no number
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
	case slotSeconds, slotMinutes:
		d, n := f.r.counted(j, kind == slotMinutes)
		return fill(Clock(d), n, false)
	case slotMore, slotLess:
		v, n := f.r.Change(j, kind == slotMore)
		return fill(v, n, false)
	case slotDims:
		w, h, n := f.r.Dimensions(j)
		first, last, both := strings.Cut(arg, "..")
		if n == 0 || !both {
			return 0, false
		}
		m.Filled = append(m.Filled, Fills{Arg: last, Value: h, Start: j, End: j + n})
		arg = first
		return fill(w, n, false)
	case slotBitrate:
		v, n := f.r.Bitrate(j)
		return fill(v, n, false)
	case slotFrame:
		v, n := f.r.Resolution(j)
		return fill(v, n, false)
	case slotGain:
		v, n := f.r.Gain(j)
		return fill(v, n, false)
	case slotRange:
		v, n := f.r.Ranges(j)
		return fill(v, n, false)
	case slotStem:
		stem, star := strings.CutSuffix(f.r.Tokens[j].Text, "*")
		if !star || stem == "" || strings.ContainsAny(stem, "*?[/") {
			return 0, false
		}
		first, last, both := strings.Cut(arg, "..")
		if arg = first; both {
			m.Filled = append(m.Filled, Fills{Arg: first, Value: stem + "*", Start: j, End: j + 1})
			arg = last
		}
		return fill(stem, 1, false)
	case slotTail, slotLead:
		t := f.r.Tokens[j].Text
		if at := strings.IndexAny(t, "_-"); at < 0 || len(t) < 2 || kind == slotTail && at != 0 || kind == slotLead && strings.LastIndexAny(t, "_-") != len(t)-1 {
			return 0, false
		}
		return fill(t, 1, false)
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
		if ok, everyday := IsExtension(ext); t.Kind == Word && ok && !everyday || t.Kind == Name && len(ext) < 6 && strings.HasPrefix(strings.TrimPrefix(t.Fold, "*"), ".") {
			return fill(ext, 1, false)
		}
		return 0, false
	}
	return f.word(m, e, j, kind, fill)
}

// counts reports whether a slot takes a number without a unit.
func counts(kind string) bool {
	return kind == slotWhole || kind == slotFactor || kind == slotSeconds || kind == slotMinutes || kind == slotMore || kind == slotLess
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
		if n := f.run(j); e+1 == len(m.els) && kind == slotText && n > 1 {
			return fill(value(n), n, path) // all that is left is the text: 改名为音乐
		}
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

// run is how many characters stand from token j to the end of the request, if
// nothing else does and none of them can join another order on.
func (f *finder) run(j int) int {
	n := len(f.r.Tokens) - j
	if n > 8 {
		return 0
	}
	for _, t := range f.r.Tokens[j:] {
		if t.Kind != Han || strings.Contains("并然再和后且", t.Fold) {
			return 0
		}
	}
	return n
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
