package plan

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// leadingNumber splits a text into a leading decimal number and the rest. People
// write "1.5", "10" and ".5"; signs and exponents are no size.
func leadingNumber(s string) (number, rest string) {
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.') {
		i++
	}
	return s[:i], strings.TrimSpace(s[i:])
}

// shortDecimal writes a decimal without needless zeros: "010.50" is "10.5".
func shortDecimal(s string) (string, bool) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f < 0 || f >= 1<<53 || len(s) > 32 {
		return "", false
	}
	return strconv.FormatFloat(f, 'f', -1, 64), true
}

var sizeUnits = map[string]string{
	"": "", "b": "", "byte": "", "bytes": "",
	"k": "KB", "kb": "KB", "kilobyte": "KB", "kilobytes": "KB",
	"m": "MB", "mb": "MB", "megabyte": "MB", "megabytes": "MB",
	"g": "GB", "gb": "GB", "gigabyte": "GB", "gigabytes": "GB",
	"t": "TB", "tb": "TB", "terabyte": "TB", "terabytes": "TB",
	"ki": "KiB", "kib": "KiB", "mi": "MiB", "mib": "MiB", "gi": "GiB", "gib": "GiB", "ti": "TiB", "tib": "TiB",
}

// canonicalSize returns a size as number and unit without a space: "10MB",
// "1.5GiB", or the bytes alone.
func canonicalSize(s string) (string, bool) {
	number, rest := leadingNumber(strings.TrimSpace(s))
	unit, known := sizeUnits[strings.ToLower(rest)]
	short, ok := shortDecimal(number)
	if !known || !ok || unit == "" && strings.Contains(short, ".") {
		return "", false
	}
	if unit != "" { // more bytes than 63 bits count are no size
		f, _ := strconv.ParseFloat(short, 64)
		if f*math.Pow(1024, float64(1+strings.IndexByte("KMGT", unit[0]))) >= 1<<63 {
			return "", false
		}
	}
	return short + unit, true
}

// canonicalDate returns a date ("2026-01-31") or an RFC 3339 date-time. A
// date-time without a zone is neither: which zone is not for this package to
// guess.
func canonicalDate(s string) (string, bool) {
	s = strings.ToUpper(strings.TrimSpace(s))
	for _, layout := range []string{"2006-01-02", "2006/01/02", "2006-1-2", "2006/1/2"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.Format("2006-01-02"), true
		}
	}
	if len(s) > 10 && s[10] == ' ' {
		s = s[:10] + "T" + s[11:]
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t.Format(time.RFC3339Nano), true
	}
	return "", false
}

var durationUnits = map[string]time.Duration{
	"ms": time.Millisecond, "s": time.Second, "sec": time.Second, "second": time.Second, "seconds": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute, "minutes": time.Minute,
	"h": time.Hour, "hour": time.Hour, "hours": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour,
	"w": 7 * 24 * time.Hour, "week": 7 * 24 * time.Hour, "weeks": 7 * 24 * time.Hour,
}

// canonicalDuration returns a duration as Go writes it: "1h30m0s". It also
// reads days, weeks and words: "2 days", "1 hour 30 minutes".
func canonicalDuration(s string) (string, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	if d, err := time.ParseDuration(s); err == nil {
		return d.String(), d >= 0
	}
	var total time.Duration
	for rest := s; rest != ""; {
		number, tail := leadingNumber(rest)
		end := strings.IndexFunc(tail, func(r rune) bool { return r < 'a' || r > 'z' })
		if end < 0 {
			end = len(tail)
		}
		f, err := strconv.ParseFloat(number, 64)
		unit := durationUnits[tail[:end]]
		if err != nil || unit == 0 || f*float64(unit) > 1<<62 {
			return "", false
		}
		total += time.Duration(f * float64(unit))
		rest = strings.TrimSpace(tail[end:])
		if total < 0 {
			return "", false
		}
	}
	return total.String(), s != ""
}
