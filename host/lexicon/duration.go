package lexicon

import (
	"math"
	"strconv"
	"strings"
	"time"
)

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
