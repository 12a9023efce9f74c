// Package nearest finds the known word that somebody most likely meant by an
// unknown one, for "did you mean" in error messages. It guesses for people
// only: nothing is ever decided by it.
package nearest

import "strings"

// longest is the length in bytes above which a word is no slip of the pen; it
// also bounds the work a hostile word can cause.
const longest = 64

// Of returns the element of known that is closest to word, or "" when none is
// close. Ties go to the first.
func Of(word string, known []string) string {
	if len(word) > longest {
		return ""
	}
	best, bestDistance := "", limit(word)+1
	folded := fold(word)
	for _, k := range known {
		if d := len(k) - len(word); len(k) > longest || k == word || d >= bestDistance || -d >= bestDistance {
			continue
		}
		if d := distance(folded, fold(k), bestDistance); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// Hint is Of as the end of a message: "; did you mean \"x\"?", or "".
func Hint(word string, known []string) string {
	if k := Of(word, known); k != "" {
		return "; did you mean \"" + k + "\"?"
	}
	return ""
}

// limit is how many edits still look like the same word.
func limit(word string) int {
	switch n := len(word); {
	case n <= 2:
		return 1
	case n <= 5:
		return 2
	default:
		return 3
	}
}

var separators = strings.NewReplacer("-", "_", " ", "_")

func fold(s string) string { return separators.Replace(strings.ToLower(s)) }

// distance counts insertions, deletions, substitutions and swaps of neighbours
// between a and b, or returns most when it would be that or more.
func distance(a, b string, most int) int {
	if d := len(a) - len(b); d >= most || -d >= most {
		return most
	}
	before, previous, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(previous[j]+1, row[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, previous, row = previous, row, before
	}
	return min(previous[len(b)], most)
}
