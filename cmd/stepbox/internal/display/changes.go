package display

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"stepbox.dev/host/commit"
)

// order is how kinds are told: what a person would regret first.
var order = []commit.Kind{commit.Move, commit.Delete, commit.Replace, commit.Create, commit.Touch}

// verbs say what is done to how many; lines begin each change of a list.
type verbs struct{ count, line map[commit.Kind]string }

var doing = verbs{
	map[commit.Kind]string{
		commit.Move: "move", commit.Delete: "delete", commit.Replace: "replace", commit.Create: "create",
		commit.Touch: "set the times of",
	},
	map[commit.Kind]string{
		commit.Move: "move", commit.Delete: "delete", commit.Replace: "replace", commit.Create: "create", commit.Touch: "times",
	},
}

// An undo's changes are told as what they are to a person: what an undo creates
// comes back, and what it deletes was not there before the run.
var (
	undoing = verbs{
		map[commit.Kind]string{
			commit.Move: "move back", commit.Delete: "remove", commit.Replace: "restore", commit.Create: "bring back",
			commit.Touch: "reset the times of",
		},
		map[commit.Kind]string{
			commit.Move: "back", commit.Delete: "remove", commit.Replace: "restore", commit.Create: "back", commit.Touch: "times",
		},
	}
	undid = verbs{
		map[commit.Kind]string{
			commit.Move: "moved back", commit.Delete: "removed", commit.Replace: "restored", commit.Create: "brought back",
			commit.Touch: "reset the times of",
		},
		undoing.line,
	}
)

// Count says in words how many changes of each kind there are: "move 12 files,
// delete 3, replace 1". A noun is said again only when it differs.
func Count(list []commit.Change) string { return doing.sum(list) }

func (v verbs) sum(list []commit.Change) string {
	if len(list) == 0 {
		return "no changes"
	}
	n := map[commit.Kind]map[commit.Entry]int{}
	for _, c := range list {
		if n[c.Kind] == nil {
			n[c.Kind] = map[commit.Entry]int{}
		}
		n[c.Kind][c.Entry]++
	}
	var parts []string
	said := ""
	for _, k := range order {
		var nouns []string
		for _, e := range []commit.Entry{commit.File, commit.Folder, commit.Link} {
			count := n[k][e]
			if count == 0 {
				continue
			}
			if len(nouns) == 0 && said == string(e) {
				nouns = append(nouns, humanize.Comma(int64(count)))
				continue
			}
			nouns = append(nouns, humanize.Comma(int64(count))+" "+english.PluralWord(count, string(e), ""))
			said = string(e)
		}
		if len(nouns) > 0 {
			parts = append(parts, v.count[k]+" "+strings.Join(nouns, " and "))
		}
	}
	return strings.Join(parts, ", ")
}

// Describe returns one change as a line for a person.
func Describe(c commit.Change) string { return doing.describe(c) }

func (v verbs) describe(c commit.Change) string {
	path := name(c.Path, c.Entry)
	var s string
	switch c.Kind {
	case commit.Move:
		s = name(c.From, c.Entry) + " → " + path
	default:
		s = path
		if c.Entry == commit.File && c.Kind != commit.Touch && c.Size != commit.UnknownSize {
			s += "  (" + Size(c.Size) + ")"
		}
		if c.Entry == commit.Link {
			s += "  (a link)"
		}
	}
	s = fmt.Sprintf("%-8s%s", v.line[c.Kind], s)
	if c.Note != "" {
		s += "  (" + Clean(c.Note) + ")"
	}
	if c.Protected != "" {
		s += "  ! " + Clean(c.Protected)
	}
	return s
}

// Size returns a size in bytes for a person.
func Size(n int64) string { return humanize.Bytes(uint64(max(n, 0))) }

func name(path string, e commit.Entry) string {
	if e == commit.Folder {
		return Clean(path) + "/"
	}
	return Clean(path)
}

// some returns at most n changes. Protected ones come first, so that none of
// them hides in the rest.
func some(list []commit.Change, n int) (shown []commit.Change, hidden int) {
	if len(list) <= n {
		return list, 0
	}
	for _, c := range list {
		if c.Protected != "" {
			shown = append(shown, c)
		}
	}
	for _, c := range list {
		if len(shown) >= n {
			break
		}
		if c.Protected == "" {
			shown = append(shown, c)
		}
	}
	return shown, len(list) - len(shown)
}
