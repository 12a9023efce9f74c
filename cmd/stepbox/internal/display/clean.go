// Package display shows a run to a person on a terminal and asks them what has
// to be asked. It renders the events of package event; what it prints that
// came from a guest, a file name, a plan or a model goes through [Clean] or
// [Lines] first, so that nothing can look like stepbox itself speaking.
package display

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks is how many combining marks in a row are printed as they are. Real
// scripts stack two or three; towers of them draw over the lines around.
const maxMarks = 4

// Clean returns s as one line that a terminal shows as it is: control
// characters, line breaks, bidirectional and other invisible characters, and
// bytes that are not UTF-8 become visible escapes. Clean of a cleaned string is
// that string.
func Clean(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	var prev rune
	marks := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if unicode.Is(unicode.M, r) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		case marks <= maxMarks && shown(r, prev):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		prev, i = r, i+n
	}
	return b.String()
}

// plain reports whether s is printable ASCII, which nearly every string is.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// shown reports whether a terminal may get r after prev. A zero width joiner is
// let through only inside an emoji; anywhere else it would make two names look
// the same.
func shown(r, prev rune) bool {
	const joiner = 0x200d
	if r == joiner {
		return unicode.In(prev, unicode.So, unicode.Sk) || prev == 0xfe0f
	}
	return unicode.IsPrint(r) || unicode.Is(unicode.Zs, r)
}

// Lines returns s cleaned line by line. Line breaks and tabs keep their
// meaning; everything else is as in Clean.
func Lines(s string) []string {
	lines := strings.Split(strings.TrimRight(strings.ReplaceAll(s, "\r\n", "\n"), "\n"), "\n")
	for i, l := range lines {
		lines[i] = Clean(strings.ReplaceAll(l, "\t", "    "))
	}
	return lines
}

// Clip returns s cleaned and, when it is longer than n characters, cut in its
// middle, where names differ least.
func Clip(s string, n int) string {
	s = Clean(s)
	r := []rune(s)
	if len(r) <= n || n < 5 {
		return s
	}
	head := (n - 1) / 2
	return string(r[:head]) + "…" + string(r[len(r)-(n-1-head):])
}

// Quote returns a skill's sentence as a line that is marked as what it says.
func Quote(s string) string { return bar + Clip(s, 400) }
