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
