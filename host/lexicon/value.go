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

// Duration reads "90 seconds", "1h30m", "5 min", "00:01:30".
func (r Reader) Duration(i int) (time.Duration, int) {
	t := r.at(i)
	if t == nil {
		return 0, 0
	}
	if t.Kind == Number {
		if d, ok := clock(t.Fold); ok {
			return d, 1
		}
		if d, err := time.ParseDuration(t.Fold); err == nil {
			return d, 1
		}
	}
	var total time.Duration
	used := 0
	for {
		v, u, n := r.Quantity(i + used)
		unit := timeUnits[u]
		if n == 0 || unit == 0 || v > 1e6 {
			return total, used
		}
		total += time.Duration(v * float64(unit))
		used += n
	}
}

// Clocks reads a stretch of a recording: "1-6s", "3-5 seconds", "0:10-0:20".
func (r Reader) Clocks(i int) (from, to time.Duration, n int) {
	t := r.at(i)
	if t == nil || t.Kind != Number {
		return 0, 0, 0
	}
	a, b, ok := strings.Cut(t.Fold, "-")
	if !ok || a == "" || b == "" {
		return 0, 0, 0
	}
	n = 1
	unit := time.Duration(0)
	if rest := strings.TrimLeft(b, "0123456789.,:"); rest != "" {
		unit = timeUnits[shared().units[rest]]
		b = strings.TrimSuffix(b, rest)
	} else if u, k := r.unitAt(i + 1); timeUnits[u] > 0 {
		unit = timeUnits[u]
		n += k
	}
	read := func(s string) (time.Duration, bool) {
		if d, ok := clock(s); ok {
			return d, true
		}
		v, rest, ok := leading(s)
		return time.Duration(v * float64(unit)), ok && unit > 0 && v < 1e6 && (rest == "" || timeUnits[shared().units[rest]] == unit)
	}
	from, ok1 := read(a)
	to, ok2 := read(b)
	if !ok1 || !ok2 || to <= from {
		return 0, 0, 0
	}
	return from, to, n
}

var timeUnits = map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}

// Megabytes reads a size as a number of MB: "500 KB" is 0.5.
func (r Reader) Megabytes(i int) (float64, int) {
	v, u, n := r.Quantity(i)
	scale := map[string]float64{"B": 1e-6, "kB": 1e-3, "KiB": 1024e-6, "MB": 1, "MiB": 1 << 20 * 1e-6, "GB": 1e3, "GiB": 1 << 30 * 1e-6}[u]
	if n == 0 || scale == 0 || v <= 0 {
		return 0, 0
	}
	return math.Round(v*scale*1e6) / 1e6, n // 700 KB is 0.7, not a hair more
}

// clock reads MM:SS, HH:MM:SS and HH:MM:SS.mmm.
func clock(s string) (time.Duration, bool) {
	parts := strings.Split(s, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return 0, false
	}
	var total float64
	for _, p := range parts {
		v, err := strconv.ParseFloat(p, 64)
		if err != nil || v < 0 || v > 1e6 {
			return 0, false
		}
		total = total*60 + v
	}
	return time.Duration(total * float64(time.Second)), true
}

// Clock formats d as HH:MM:SS, with a fraction when it has one.
func Clock(d time.Duration) string {
	s := int64(d / time.Second)
	out := pad(s/3600) + ":" + pad(s/60%60) + ":" + pad(s%60)
	if ms := int64(d%time.Second) / 1e6; ms > 0 {
		out += "." + strings.TrimRight(strconv.FormatInt(1000+ms, 10)[1:], "0")
	}
	return out
}

func pad(n int64) string {
	if n < 10 {
		return "0" + strconv.FormatInt(n, 10)
	}
	return strconv.FormatInt(n, 10)
}

// Ago reads a span of time and returns the moment that long before Now: a day
// for days and longer, a time for less.
func (r Reader) Ago(i int) (string, int) {
	v, u, n := r.Quantity(i)
	if n == 0 {
		if u, m := r.unitAt(i); u != "" && m > 0 { // "in the last week"
			v, n = 1, m
			return r.back(v, u, n)
		}
		return "", 0
	}
	return r.back(v, u, n)
}

func (r Reader) back(v float64, u string, n int) (string, int) {
	if v < 0 || v > 1e5 {
		return "", 0
	}
	whole, half := int(v), v != math.Trunc(v)
	var at time.Time
	switch u {
	case "minute", "hour", "second":
		unit := map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour}[u]
		return r.Now.Add(-time.Duration(v * float64(unit))).Format(time.RFC3339), n
	case "day":
		at = r.Now.AddDate(0, 0, -int(math.Round(v)))
	case "week":
		at = r.Now.AddDate(0, 0, -int(math.Round(v*7)))
	case "fortnight":
		at = r.Now.AddDate(0, 0, -14*whole)
	case "month":
		at = monthsBack(r.Now, whole)
		if half {
			at = at.AddDate(0, 0, -15)
		}
	case "year":
		at = monthsBack(r.Now, int(v*12))
	default:
		return "", 0
	}
	return at.Format(time.DateOnly), n
}

// monthsBack goes back whole months; the 31st becomes a shorter month's last
// day instead of running over into the next.
func monthsBack(t time.Time, n int) time.Time {
	first := time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, t.Location()).AddDate(0, -n, 0)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1)
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
