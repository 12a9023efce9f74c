package guest

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Size is a number of bytes. It is written as a bare number or as text such as
// "10MB" (10⁶), "1.5 GiB" (2³⁰) or "900k".
type Size int64

// ParseSize reads a size. Units are those of SI (k, M, G, T, with or without B)
// or binary (Ki, Mi, Gi, Ti), in any case.
func ParseSize(s string) (Size, error) {
	t := strings.TrimSpace(s)
	cut := len(t)
	for i, r := range t {
		if (r < '0' || r > '9') && r != '.' {
			cut = i
			break
		}
	}
	n, err := strconv.ParseFloat(t[:cut], 64)
	unit := strings.ToLower(strings.TrimSpace(t[cut:]))
	factor, known := unitBytes(unit)
	switch {
	case err != nil || !known:
		return 0, fmt.Errorf("%q is not a size; write a number of bytes, or for example 10MB or 1.5GiB", s)
	case n*factor >= math.MaxInt64:
		return 0, fmt.Errorf("size %q is too large", s)
	}
	return Size(n * factor), nil
}

func unitBytes(unit string) (float64, bool) {
	switch unit {
	case "", "b", "byte", "bytes":
		return 1, true
	case "k", "kb":
		return 1e3, true
	case "m", "mb":
		return 1e6, true
	case "g", "gb":
		return 1e9, true
	case "t", "tb":
		return 1e12, true
	case "ki", "kib":
		return 1 << 10, true
	case "mi", "mib":
		return 1 << 20, true
	case "gi", "gib":
		return 1 << 30, true
	case "ti", "tib":
		return 1 << 40, true
	}
	return 0, false
}

// UnmarshalJSON reads a number of bytes or text.
func (s *Size) UnmarshalJSON(b []byte) error {
	text := string(b)
	if len(b) > 0 && b[0] == '"' {
		if err := json.Unmarshal(b, &text); err != nil {
			return err
		}
	}
	v, err := ParseSize(text)
	*s = v
	return err
}

// String is the size for a person: "512 B", "1.5 MB".
func (s Size) String() string {
	if s < 1000 {
		return strconv.FormatInt(int64(s), 10) + " B"
	}
	v, unit := float64(s), 0
	// 999.95 would be shown as 1000.0: it belongs to the next unit already.
	for v >= 999.95 && unit < 5 {
		v, unit = v/1000, unit+1
	}
	text := strconv.FormatFloat(v, 'f', 1, 64)
	return strings.TrimSuffix(text, ".0") + " " + string("kMGTP"[unit-1]) + "B"
}

// Date is a moment as text: an RFC 3339 date-time, or a date alone, which
// means its first moment in the person's zone.
type Date string

// In reads the date in the zone. The zero time stands for no date at all.
func (d Date) In(zone *time.Location) (time.Time, error) {
	if d == "" {
		return time.Time{}, nil
	}
	for _, layout := range [...]string{time.RFC3339, time.DateOnly, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(layout, string(d), zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a date; write for example 2026-01-31 or 2026-01-31T15:04:05Z", string(d))
}

// UnmarshalJSON reads text and checks that it is a date.
func (d *Date) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return fmt.Errorf("a date is text, such as \"2026-01-31\"")
	}
	if *d = Date(text); text == "" { // no date is said by leaving it out
		return fmt.Errorf("%q is not a date", text)
	}
	_, err := d.In(time.UTC)
	return err
}

// Duration is a length of time, written in Go's form: "1h30m", "90s".
type Duration time.Duration

// UnmarshalJSON reads text.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return fmt.Errorf("a duration is text, such as \"1h30m\"")
	}
	v, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("%q is not a duration; write for example 1h30m or 90s", text)
	}
	*d = Duration(v)
	return nil
}

// MarshalJSON writes Go's form.
func (d Duration) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(d).String())
}
