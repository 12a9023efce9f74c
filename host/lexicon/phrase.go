package lexicon

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A phrase is a line of words as an author writes it:
//
//	larger than {min_size}      words and a slot that fills an argument
//	(not needed) over|above     either word
//	the? biggest                a word that may be missing
//	make ... smaller            anything between
//	verschieb*                  every word that begins so
//	older than {modified_before:ago}   a slot of a given kind
//
//	largest file!               that very form: no plural
//
// Words that carry no meaning ("the", "please") may stand between any two
// elements. Other words match their plural too, except verbs.

// element is one part of a phrase.
type element struct {
	words []string // alternatives, folded, "*" at the end for a prefix
	slot  *slot
	gap   bool
}

// slot takes a value from the request.
type slot struct {
	arg  string
	kind string // "" means by the argument's own type
}

// The kinds of slot.
const (
	slotAgo     = "ago"        // a duration back from now, as a date
	slotPeriod  = "period"     // a span of time: {after..before:period} sets both ends
	slotNamed   = "named"      // as period, but only words: "yesterday", "last month"
	slotAfter   = "after"      // the first moment after a period
	slotClock   = "clock"      // HH:MM:SS
	slotClocks  = "clocks"     // two of them: {start..end:clocks} takes "1-6s"
	slotMega    = "megabytes"  // a size as a number of MB
	slotSeconds = "seconds"    // a bare number of seconds, as HH:MM:SS: "second 5", "8th second"
	slotMinutes = "minutes"    // the same of minutes
	slotMore    = "more"       // a change upwards: 50% is 1.5, 6 dB is "6dB"
	slotLess    = "less"       // a change downwards: 25% is 0.75, 3x is a third, 6 dB is "-6dB"
	slotGain    = "gain"       // decibels or a share as they are: "6dB", "150%"
	slotDims    = "dimensions" // {width..height:dimensions} takes "1280x720"
	slotBitrate = "bitrate"    // "192k", "192 kbps"
	slotFrame   = "resolution" // "1080p", "4k", "1280x720"
	slotText    = "text"       // quoted text, or one word as written
	slotWord    = "word"       // as text, but no file name
	slotPath    = "path"       // a file or folder
	slotGlob    = "glob"       // a word, as *word*
	slotExt     = "ext"        // an extension
	slotAnyExt  = "globext"    // an extension, as *.ext
	slotNumber  = "number"
	slotSize    = "size"
	slotDate    = "date"
	slotRange   = "range"    // page ranges: 1-3,5
	slotFactor  = "factor"   // 2x, twice, half
	slotSpan    = "duration" // Go's form
	slotWhole   = "integer"
	slotBefore  = "start" // glob word*
	slotEnd     = "end"   // glob *word
	slotTail    = "tail"  // a word that can only stand behind a name: "_old", "-2"
	slotLead    = "lead"  // one that can only stand before it: "2026_"
	slotStem    = "stem"  // {pattern..find:stem} takes "invoice-*": the glob, and what stands before its star
)

var slotKinds = map[string]bool{
	slotAgo: true, slotClocks: true, slotMega: true, slotPeriod: true, slotNamed: true, slotAfter: true, slotClock: true, slotText: true, slotWord: true, slotPath: true, slotGlob: true,
	slotExt: true, slotAnyExt: true, slotNumber: true, slotSize: true, slotDate: true, slotRange: true, slotFactor: true, slotSpan: true,
	slotWhole: true, slotSeconds: true, slotMinutes: true, slotMore: true, slotLess: true, slotGain: true, slotDims: true, slotBitrate: true, slotFrame: true, slotBefore: true, slotEnd: true, slotTail: true, slotLead: true, slotStem: true,
}

// What one phrase may hold. A matcher has to try every gap at every length: the
// time for it grows with the power of their number.
const (
	maxElements     = 24
	maxGaps         = 2
	maxAlternatives = 60
)

// parsePhrase reads one phrase. A phrase with words that may be missing becomes
// several lists of elements.
func parsePhrase(s string) ([][]element, error) {
	if strings.Contains(s, "{") {
		s = strings.ReplaceAll(s, "{", " {")
		s = strings.ReplaceAll(s, "}", "} ")
	}
	out := [][]element{make([]element, 0, 4)}
	literals := false
	for _, f := range strings.Fields(s) {
		optional := false
		if len(f) > 1 && strings.HasSuffix(f, "?") && !strings.HasSuffix(f, "...?") {
			optional = true
			f = f[:len(f)-1]
		}
		els, err := parseElement(f)
		if err != nil {
			return nil, err
		}
		literals = literals || els[0].words != nil
		n := len(out)
		for i := 0; i < n; i++ {
			if optional {
				out = append(out, append(slices.Clone(out[i]), els...))
			} else {
				out[i] = append(out[i], els...)
			}
		}
		if len(out) > 16 {
			return nil, errors.New("has more than four words that may be missing")
		}
	}
	kept := out[:0]
	for _, els := range out {
		if len(els) > 0 {
			kept = append(kept, els)
		}
	}
	switch {
	case len(kept) == 0:
		return nil, errors.New("is empty")
	case !literals && !selfEvident(kept):
		return nil, errors.New("needs at least one word beside its slots")
	}
	for _, els := range kept {
		if els[0].gap || els[len(els)-1].gap {
			return nil, errors.New("may not begin or end with ...")
		}
		gaps := 0
		for i, e := range els {
			if !e.gap {
				continue
			}
			gaps++
			if els[i-1].gap {
				return nil, errors.New("has ... twice in a row")
			}
		}
		if gaps > maxGaps || len(els) > maxElements {
			return nil, fmt.Errorf("has more than %d parts or more than %d times ...", maxElements, maxGaps)
		}
	}
	return kept, nil
}

// selfEvident reports whether a phrase is one slot whose value shows by its unit
// what it is: 2x, 00:01:30.
func selfEvident(lists [][]element) bool {
	if len(lists) != 1 || len(lists[0]) != 1 || lists[0][0].slot == nil {
		return false
	}
	switch lists[0][0].slot.kind {
	case slotFactor, slotClock, slotClocks, slotNamed, slotDims, slotBitrate, slotMega, slotGain:
		return true
	}
	return false
}

func parseElement(f string) ([]element, error) {
	switch {
	case f == "...":
		return []element{{gap: true}}, nil
	case strings.HasPrefix(f, "{"):
		if !strings.HasSuffix(f, "}") {
			return nil, fmt.Errorf("slot %q has no closing brace", f)
		}
		arg, kind, _ := strings.Cut(f[1:len(f)-1], ":")
		if arg == "" {
			return nil, fmt.Errorf("slot %q names no argument", f)
		}
		if kind != "" && !slotKinds[kind] {
			return nil, fmt.Errorf("slot %q has an unknown kind %q", f, kind)
		}
		if strings.Contains(arg, "..") && kind != slotPeriod && kind != slotNamed && kind != slotClocks && kind != slotDims && kind != slotStem {
			return nil, fmt.Errorf("slot %q sets two arguments: only the kinds period, named, clocks and dimensions do that, and stem", f)
		}
		return []element{{slot: &slot{arg: arg, kind: kind}}}, nil
	}
	if strings.ContainsAny(f, "{}") {
		return nil, fmt.Errorf("%q: a slot stands alone", f)
	}
	if plain(f) {
		return []element{{words: []string{f}}}, nil
	}
	var e element
	for alt := range strings.SplitSeq(f, "|") {
		if len(e.words) == maxAlternatives {
			return nil, fmt.Errorf("%.20q: more than %d alternatives", f, maxAlternatives)
		}
		if plain(alt) {
			e.words = append(e.words, alt)
			continue
		}
		prefix, exact := strings.HasSuffix(alt, "*"), len(alt) > 1 && strings.HasSuffix(alt, "!")
		toks := AppendTokens(make([]Token, 0, 2), strings.TrimRight(alt, "*!"))
		if len(toks) == 0 {
			return nil, fmt.Errorf("%q holds an empty word", f)
		}
		if len(toks) > 1 {
			if strings.Contains(f, "|") {
				return nil, fmt.Errorf("%q: alternatives must be single words", f)
			}
			var out []element
			for _, t := range toks {
				out = append(out, element{words: []string{t.Fold}})
			}
			return out, nil
		}
		w := toks[0].Fold
		if prefix {
			if len([]rune(w)) < 3 {
				return nil, fmt.Errorf("%q: a prefix needs three letters", f)
			}
			w += "*"
		}
		if exact {
			w += "!"
		}
		e.words = append(e.words, w)
	}
	return []element{e}, nil
}

// plain reports whether a word is its own token as it stands.
func plain(w string) bool {
	for i := 0; i < len(w); i++ {
		if w[i] < 'a' || w[i] > 'z' {
			return false
		}
	}
	return w != ""
}
