package main

import (
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"stepbox.dev/guest-sdk"
)

// glob is one name or pattern. Without a slash it is matched against names,
// with one against paths. A text that is no valid pattern, or that stands in
// the name literally, matches as it is: report[1].pdf is a name first.
type glob struct {
	text    string
	literal string // as it was given
	fold    bool
	path    bool
}

func newGlob(text string, fold bool) glob {
	literal := text
	text = strings.ReplaceAll(text, `\`, "/")
	deep := strings.Contains(strings.TrimSuffix(text, "/"), "/")
	if deep {
		text = guest.Clean(text)
	} else {
		text = strings.TrimSuffix(text, "/")
	}
	if fold {
		text, literal = strings.ToLower(text), strings.ToLower(literal)
	}
	return glob{text: text, literal: literal, fold: fold, path: deep}
}

func (g glob) match(s string) bool {
	if g.fold {
		s = strings.ToLower(s)
	}
	if s == g.text || s == g.literal {
		return true
	}
	ok, err := doublestar.Match(g.text, s)
	return ok && err == nil
}

// matchAny reports whether one of the globs fits the entry: its name, its path
// below the folder looked in, or its path in the sandbox.
func matchAny(globs []glob, e *entry) bool {
	for _, g := range globs {
		if g.path {
			if g.match(e.Name) || g.match(e.Path) {
				return true
			}
		} else if g.match(path.Base(e.Path)) {
			return true
		}
	}
	return false
}

// naturalCompare orders names as people do: without regard to case, and file2
// before file10. Names that differ in nothing else are ordered by their bytes.
func naturalCompare(a, b string) int {
	x, y := a, b
	if !ascii(a) || !ascii(b) {
		x, y = strings.ToLower(a), strings.ToLower(b)
	}
	for x != "" && y != "" {
		nx, ny := digits(x), digits(y)
		if nx > 0 && ny > 0 {
			p, q := strings.TrimLeft(x[:nx], "0"), strings.TrimLeft(y[:ny], "0")
			if len(p) != len(q) {
				return len(p) - len(q)
			}
			if c := strings.Compare(p, q); c != 0 {
				return c
			}
			x, y = x[nx:], y[ny:]
			continue
		}
		if c := int(lower(x[0])) - int(lower(y[0])); c != 0 {
			return c
		}
		x, y = x[1:], y[1:]
	}
	if len(x) != len(y) {
		return len(x) - len(y)
	}
	return strings.Compare(a, b)
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// digits counts the leading decimal digits of s.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
