package store

import (
	"cmp"
	"strconv"
	"strings"
)

// compareVersions orders versions as semantic versioning does: by three
// numbers, then a version with a suffix before the one without, then by the
// suffix's parts, numbers before words.
func compareVersions(a, b string) int {
	na, sa, _ := strings.Cut(a, "-")
	nb, sb, _ := strings.Cut(b, "-")
	if c := compareParts(na, nb); c != 0 {
		return c
	}
	switch {
	case sa == sb:
		return 0
	case sa == "":
		return 1
	case sb == "":
		return -1
	}
	return compareParts(sa, sb)
}

func compareParts(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		x, xerr := strconv.ParseUint(as[i], 10, 64)
		y, yerr := strconv.ParseUint(bs[i], 10, 64)
		c := 0
		switch {
		case xerr == nil && yerr == nil:
			c = cmp.Compare(x, y)
		case xerr == nil:
			c = -1
		case yerr == nil:
			c = 1
		default:
			c = strings.Compare(as[i], bs[i])
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}
