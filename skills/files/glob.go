package main

import (
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// glob is one name or pattern. Without a slash it is matched against names,
// with one against paths. A text that is no valid pattern, or that stands in
// the name literally, matches as it is: report[1].pdf is a name first.
type glob struct {
	given   string
	text    string
	literal string // as it was given, folded like text
	fold    bool
	path    bool
	plain   bool // no pattern at all: something is called so
	named   bool // something fits literally
}

func newGlob(given string, fold bool) *glob {
	text, literal := strings.ReplaceAll(given, `\`, "/"), given
	deep := strings.Contains(strings.TrimSuffix(text, "/"), "/")
	if deep {
		text = guest.Clean(text)
	} else {
		text = strings.TrimSuffix(text, "/")
	}
	if fold {
		text, literal = strings.ToLower(text), strings.ToLower(literal)
	}
	return &glob{given: given, text: text, literal: literal, fold: fold, path: deep}
}

// asNamed makes a glob with a backslash match literally alone when something in
// the roots is called so: on most systems a backslash is part of a name, and
// taken for a slash it would take another file.
func (g *glob) asNamed(files *guest.Files, roots []string) {
	if !strings.Contains(g.given, `\`) {
		return
	}
	for _, root := range append([]string{"."}, roots...) {
		if _, err := files.Lstat(path.Join(root, g.given)); err == nil {
			g.plain, g.path = true, strings.Contains(g.given, "/")
			return
		}
	}
}

// fault tells of a pattern that is none, unless it is the name of something: it
// would match nothing for ever, and an exclusion would keep nothing.
func (g *glob) fault(files *guest.Files, arg string) error {
	if g.named || g.plain || doublestar.ValidatePattern(g.text) {
		return nil
	}
	if _, err := files.Lstat(g.given); err == nil {
		return nil
	}
	return guest.Errorf(abi.CodeBadRequest, "%s: %q is no valid pattern (is a bracket or brace left open?), and nothing is called exactly that", arg, g.given)
}

func (g *glob) match(s string) bool {
	if g.fold {
		s = strings.ToLower(s)
	}
	if s == g.literal || s == g.text && !g.plain {
		g.named = true
		return true
	}
	if g.plain {
		return false
	}
	ok, err := doublestar.Match(g.text, s)
	return ok && err == nil
}

// matchAny reports whether one of the globs fits the entry: its name, its path
// below the folder looked in, or its path in the sandbox.
func matchAny(globs []*glob, e *entry) bool {
	for _, g := range globs {
		if g.path {
			if g.match(e.Name) || g.match(e.Path) || strings.Contains(g.given, `\`) && path.Base(e.Path) == g.given {
				return true
			}
		} else if g.match(path.Base(e.Path)) {
			return true
		}
	}
	return false
}
