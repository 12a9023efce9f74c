package lexicon

import "unicode/utf8"

// Correct returns the known word that w is most likely a misspelling of: one
// letter wrong, missing, added or swapped with its neighbour. It returns "" when
// there is none or more than one. accept chooses which phrases count.
func (g *Grammar) Correct(w string, accept func(*Phrase) bool) string {
	if w == "" {
		return ""
	}
	best := ""
	for _, k := range g.spellings[w[0]] {
		if len(k) > len(w)+maxLetter || len(w) > len(k)+maxLetter || !oneEdit(w, k) {
			continue
		}
		for _, p := range g.exact[k] {
			if !accept(p) {
				continue
			}
			if best != "" && best != k {
				return ""
			}
			best = k
			break
		}
	}
	return best
}

// maxLetter is how many bytes one letter takes at most.
const maxLetter = utf8.UTFMax

// oneEdit reports whether a becomes b by one insertion, deletion, change or
// swap of neighbours.
func oneEdit(a, b string) bool {
	x, y := []rune(a), []rune(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	if len(y)-len(x) > 1 || a == b {
		return false
	}
	i := 0
	for i < len(x) && x[i] == y[i] {
		i++
	}
	if len(x) < len(y) {
		return equal(x[i:], y[i+1:])
	}
	if i+1 < len(x) && x[i] == y[i+1] && x[i+1] == y[i] && equal(x[i+2:], y[i+2:]) {
		return true
	}
	return equal(x[i+1:], y[i+1:])
}

func equal(a, b []rune) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
