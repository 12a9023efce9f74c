package display

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// bar begins every line that a skill, a plan or a model wrote. Nothing that
// stepbox says itself begins so.
const bar = "| "

// continued begins what of one of stepbox's own lines did not fit into the
// terminal: such lines hold file names, which a guest may have chosen.
const continued = "    … "

// leastColumns is how narrow a terminal may be; a narrower one wraps by itself.
const leastColumns = 20

// Folding writes lines to a terminal and breaks those that are wider than it.
// Left to the terminal, the rest of a line would begin at its left edge, where
// it reads as a line of its own: a guest that pads with spaces could speak for
// stepbox. What goes on begins with the mark of the line it belongs to.
//
// A path that stands alone on a line is left to the terminal, so that it can be
// copied, when it has nothing to pad with: see whole.
//
// Each Write begins at the left edge.
type Folding struct {
	w       io.Writer
	columns func() int
}

// NewFolding returns a writer to w. columns is the width of the terminal now; 0
// is none, and everything is written as it is.
func NewFolding(w io.Writer, columns func() int) *Folding { return &Folding{w, columns} }

// Write implements io.Writer.
func (f *Folding) Write(p []byte) (int, error) {
	text := string(p)
	if n := f.columns(); n >= leastColumns {
		text = fold(text, n)
	}
	if _, err := io.WriteString(f.w, text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// fold breaks the lines of a text that are wider than so many columns, in front of
// a word where it fits into the next line. Escape sequences, which are stepbox's
// own, take none.
func fold(text string, columns int) string {
	var b strings.Builder
	at, mark := 0, ""
	gap := false // a space was the last
	for i := 0; i < len(text); {
		if n := whole(text[i:]); at == 0 && n > 0 {
			b.WriteString(text[i : i+n])
			i += n
			continue
		}
		if n := sequence(text[i:]); n > 0 {
			b.WriteString(text[i : i+n])
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		switch w := cells(r); {
		case r == '\n', r == '\r':
			at, mark = 0, ""
		case at+w > columns, gap && at+word(text[i:], columns) > columns && Width(mark)+word(text[i:], columns) <= columns:
			b.WriteString("\n" + mark)
			at = Width(mark) + w
		case at == 0 && strings.HasPrefix(text[i:], bar):
			at, mark = w, bar
		case at == 0:
			at, mark = w, continued
		default:
			at += w
		}
		gap = r == ' '
		b.WriteString(text[i : i+n])
		i += n
	}
	return b.String()
}

// word is how many columns the word takes that begins s, when it is no more than
// so many.
func word(s string, most int) (n int) {
	for _, r := range s {
		if r <= ' ' || n > most {
			break
		}
		n += cells(r)
	}
	return n
}

// whole is how long a line is, without its end, that holds an absolute path and
// nothing else, 0 for any other. Without spaces, and characters that look like
// one, what a terminal wraps of it cannot read as words of stepbox's.
func whole(s string) int {
	if !strings.HasPrefix(s, "  /") {
		return 0
	}
	for i, r := range s[2:] {
		switch {
		case r == '\n':
			return 2 + i
		case r <= ' ' || r >= 0x300 || !unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S):
			return 0
		}
	}
	return len(s)
}

// sequence is how long the escape sequence is that begins s, 0 for none.
func sequence(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	for i := 2; i < len(s); i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
	}
	return 0
}

// cells is the most columns that a terminal may take for a character. Terminals
// differ about emoji and marks; one that takes more than was counted would wrap,
// one that takes less only gets a shorter line.
func cells(r rune) int {
	switch {
	case r < 0x1100, r >= 0x2010 && r <= 0x2027, r >= 0x2190 && r <= 0x2193: // letters, …, →
		return 1
	}
	return 2
}

// cut shortens a clean line to so many columns.
func cut(s string, columns int) string {
	n, keep := 0, 0
	for i, r := range s {
		if n += cells(r); n <= columns-1 {
			keep = i + utf8.RuneLen(r)
		}
	}
	if n <= columns {
		return s
	}
	return s[:keep] + "…"
}
