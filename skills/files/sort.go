package main

import (
	"path"
	"slices"
	"strings"
)

// sortEntries sorts by what the filter says; without that the order of the walk
// stays. Sizes and times begin with the largest and newest.
func sortEntries(list []*entry, f Filter) {
	var compare func(a, b *entry) int
	desc := false
	switch f.Sort {
	case "size":
		compare, desc = func(a, b *entry) int { return order(a.size, b.size) }, true
	case "modified":
		compare, desc = func(a, b *entry) int { return a.modified.Compare(b.modified) }, true
	case "accessed":
		compare, desc = func(a, b *entry) int { return a.accessed.Compare(b.accessed) }, true
	case "extension":
		compare = func(a, b *entry) int { return strings.Compare(extension(a.Path), extension(b.Path)) }
	case "name":
		compare = func(a, b *entry) int { return naturalCompare(path.Base(a.Path), path.Base(b.Path)) }
	default:
		if f.Order == "desc" {
			slices.Reverse(list)
		}
		return
	}
	if f.Order != "" {
		desc = f.Order == "desc"
	}
	slices.SortStableFunc(list, func(a, b *entry) int {
		if desc {
			return compare(b, a)
		}
		return compare(a, b)
	})
}

func order(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
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
