package lexicon

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Reader reads typed values out of tokens. Each method returns the value and
// how many tokens it took; 0 means there is none at i.
type Reader struct {
	Tokens []Token
	Now    time.Time
}

func (r Reader) at(i int) *Token {
	if i < 0 || i >= len(r.Tokens) {
		return nil
	}
	return &r.Tokens[i]
}

// Number reads "5", "1.5", "five", "half", "1/2".
func (r Reader) Number(i int) (float64, int) {
	t := r.at(i)
	if t == nil {
		return 0, 0
	}
	switch t.Kind {
	case Number:
		if v, rest, ok := leading(t.Fold); ok {
			switch rest {
			case "", "-те", "-та", "-то", "-х", "-ти", "-ми": // "3-те най-стари", "из 5-ти"
				return v, 1
			}
		}
		if a, b, ok := strings.Cut(t.Fold, "/"); ok {
			x, err1 := strconv.ParseFloat(a, 64)
			y, err2 := strconv.ParseFloat(b, 64)
			if err1 == nil && err2 == nil && y != 0 {
				return x / y, 1
			}
		}
	case Word:
		if v, ok := shared().numbers[t.Fold]; ok {
			return v, 1
		}
	case Han:
		return r.hanNumber(i)
	}
	return 0, 0
}

// hanNumber reads numerals such as 三, 十二, 二十, 三百.
func (r Reader) hanNumber(i int) (float64, int) {
	total, current, n := 0.0, 0.0, 0
	for t := r.at(i); t != nil && t.Kind == Han; t = r.at(i + n) {
		v, ok := shared().numbers[t.Fold]
		if !ok {
			break
		}
		if v == 10 || v == 100 {
			total += math.Max(current, 1) * v
			current = 0
		} else {
			current = v
		}
		n++
	}
	return total + current, n
}

// leading splits "10mb" into 10 and "mb". A comma is a decimal point, except
// before three digits.
func leading(s string) (float64, string, bool) {
	j := 0
	if j < len(s) && (s[j] == '-' || s[j] == '+') {
		j++
	}
	for j < len(s) && (s[j] >= '0' && s[j] <= '9' || (s[j] == '.' || s[j] == ',') && j+1 < len(s) && s[j+1] >= '0' && s[j+1] <= '9') {
		j++
	}
	num := s[:j]
	if c := strings.IndexByte(num, ','); c >= 0 {
		if len(num)-c-1 == 3 {
			num = strings.ReplaceAll(num, ",", "")
		} else {
			num = strings.Replace(num, ",", ".", 1)
		}
	}
	v, err := strconv.ParseFloat(num, 64)
	if err != nil || math.IsInf(v, 0) {
		return 0, "", false
	}
	return v, s[j:], true
}

// unitAt reads a unit's name.
func (r Reader) unitAt(i int) (string, int) {
	t := r.at(i)
	if t == nil {
		return "", 0
	}
	if t.Kind != Han {
		return shared().units[t.Fold], 1
	}
	text := ""
	best, n := "", 0
	for k := 0; k < 3; k++ {
		t := r.at(i + k)
		if t == nil || t.Kind != Han {
			break
		}
		text += t.Fold
		if u, ok := shared().units[text]; ok {
			best, n = u, k+1
		}
	}
	return best, n
}

// Quantity reads a number with its unit: "10MB", "10 MB", "five days", "2x". A
// bare number has the unit "".
func (r Reader) Quantity(i int) (float64, string, int) {
	t := r.at(i)
	if t == nil {
		return 0, "", 0
	}
	if t.Kind == Number {
		v, rest, ok := leading(t.Fold)
		if ok && rest != "" {
			rest = strings.Trim(rest, "-")
			if rest == "%" {
				return v, "percent", 1
			}
			if u, ok := shared().units[rest]; ok {
				return v, u, 1
			}
			return 0, "", 0
		}
	}
	v, n := r.Number(i)
	if n == 0 {
		return 0, "", 0
	}
	if one, k := r.Number(i + n); v == 0.5 && one == 1 && k == 1 { // "half a minute"
		if u, m := r.unitAt(i + n + 1); u != "" {
			return v, u, n + 1 + m
		}
	}
	if t := r.at(i + n); t != nil && t.Kind != Punct {
		if u, m := r.unitAt(i + n); u != "" {
			return v, u, n + m
		}
		if t.Fold == "%" {
			return v, "percent", n + 1
		}
	}
	return v, "", n
}

var sizeUnits = map[string]bool{"B": true, "kB": true, "KiB": true, "MB": true, "MiB": true, "GB": true, "GiB": true, "TB": true, "TiB": true}

// Size reads a number of bytes in the contract's form: "10MB", "1.5GiB".
func (r Reader) Size(i int) (string, int) {
	v, u, n := r.Quantity(i)
	if n == 0 || !sizeUnits[u] || v < 0 {
		return "", 0
	}
	return sizeText(v, u), n
}

// sizeLike reads a bare number as a size in the unit of the size that stands
// two tokens on.
func (r Reader) sizeLike(i int) (string, int) {
	v, n := r.Number(i)
	_, u, k := r.Quantity(i + n + 1)
	if n == 0 || k == 0 || !sizeUnits[u] || v < 0 {
		return "", 0
	}
	return sizeText(v, u), n
}

func sizeText(v float64, unit string) string {
	switch unit {
	case "B":
		unit = ""
	case "kB":
		unit = "KB"
	}
	return strconv.FormatFloat(v, 'f', -1, 64) + unit
}

// Megabytes reads a size as a number of MB: "500 KB" is 0.5.
func (r Reader) Megabytes(i int) (float64, int) {
	v, u, n := r.Quantity(i)
	scale := map[string]float64{"B": 1e-6, "kB": 1e-3, "KiB": 1024e-6, "MB": 1, "MiB": 1 << 20 * 1e-6, "GB": 1e3, "GiB": 1 << 30 * 1e-6}[u]
	if n == 0 || scale == 0 || v <= 0 {
		return 0, 0
	}
	return math.Round(v*scale*1e6) / 1e6, n // 700 KB is 0.7, not a hair more
}

// Ranges reads page ranges and other lists of whole numbers: "3", "1-3",
// "1,3,5", "2 to 4", "4 and 6".
func (r Reader) Ranges(i int) (string, int) {
	first := r.pages(i)
	if first == "" {
		return "", 0
	}
	out, n := first, 1
	for {
		t := r.at(i + n)
		if t == nil {
			return out, n
		}
		next := r.pages(i + n + 1)
		if unit, _ := r.unitAt(i + n + 2); next == "" || unit != "" { // "page 3 and 90 degrees"
			return out, n
		}
		switch t.Fold {
		case "to", "through", "bis", "a", "al", "hasta", "до", "по", "到", "至":
			if strings.ContainsAny(first+next, "-,") || strings.HasSuffix(out, "-"+first) {
				return out, n
			}
			out += "-" + next
		case "and", "und", "y", "et", "и", "和", ",", "、":
			out += "," + next
		default:
			return out, n
		}
		first = next
		n += 2
	}
}

// pages is a token of numbers and ranges of numbers, "3", "4-6", "1,3", or "".
func (r Reader) pages(i int) string {
	t := r.at(i)
	if t == nil || t.Kind != Number {
		return ""
	}
	for _, c := range t.Fold {
		if (c < '0' || c > '9') && c != '-' && c != ',' {
			return ""
		}
	}
	return strings.Trim(t.Fold, ",-")
}

// Factor reads a multiplier: "2x", "twice", "half", "3 times", "150%".
func (r Reader) Factor(i int) (float64, int) {
	v, u, n := r.Quantity(i)
	switch u {
	case "times", "":
		return v, n
	case "percent":
		return v / 100, n
	}
	return 0, 0
}
