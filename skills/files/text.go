package main

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"stepbox.dev/guest-sdk"
)

// count is "1 file" or "12,345 files".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func padLeft(s string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s))) + s
}

func padRight(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// joinAnd is "a", "a and b" or "a, b and c".
func joinAnd(list []string) string { return join(list, " and ") }

// joinOr is "a", "a or b" or "a, b or c".
func joinOr(list []string) string { return join(list, " or ") }

func join(list []string, last string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + last + list[len(list)-1]
}

// some is at most n of a list, and how many more there are: for errors that
// name clashes.
func some(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:n], ", ") + " and " + thousands(len(list)-n) + " more"
}

// isText reports whether a name is text, and remarks that it is left out when it
// is not: the view opens no such name, and no result can hold it.
func isText(ctx guest.Context, name string) bool {
	if utf8.ValidString(name) {
		return true
	}
	ctx.Issue("%q is left out: its name is not text", name)
	return false
}
