package main

import (
	"fmt"
	"strconv"
	"strings"
)

// clock reads a time: "00:01:30", "1:30", "90", "90s", "1m30s", each with a
// fraction.
func clock(text string) (float64, bool) {
	t := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(text), ",", "."))
	total := 0.0
	if strings.Contains(t, ":") {
		parts := strings.Split(t, ":")
		if len(parts) > 3 {
			return 0, false
		}
		for _, p := range parts {
			v, err := plainNumber(p)
			if err != nil {
				return 0, false
			}
			total = total*60 + v
		}
		return total, true
	}
	for _, unit := range []struct {
		sign  string
		worth float64
	}{{"h", 3600}, {"m", 60}, {"s", 1}} {
		if before, after, found := strings.Cut(t, unit.sign); found {
			v, err := plainNumber(before)
			if err != nil {
				return 0, false
			}
			total, t = total+v*unit.worth, strings.TrimSpace(after)
			if t == "" {
				return total, true
			}
		}
	}
	v, err := plainNumber(t)
	return total + v, err == nil
}

// plainNumber is a number as people write one: no exponent, no sign.
func plainNumber(text string) (float64, error) {
	text = strings.TrimSpace(text)
	if text == "" || strings.Trim(text, "0123456789.") != "" || len(text) > 15 {
		return 0, fmt.Errorf("%q is no number", text)
	}
	return strconv.ParseFloat(text, 64)
}

// times reads the times of a call into the options. What it returns is a
// question when one cannot be read or they contradict each other, and the
// argument that it is about, if it is one.
func (o *options) times(given map[string]string) (arg, ask string) {
	into := map[string]*float64{"start": &o.Start, "end": &o.End, "duration": &o.Duration, "last": &o.Last, "cut_last": &o.CutLast}
	for _, name := range []string{"start", "end", "duration", "last", "cut_last"} {
		if given[name] == "" {
			continue
		}
		v, ok := clock(given[name])
		if !ok {
			return name, fmt.Sprintf("%q is no time for %s. Which time, like 00:01:30, is meant?", given[name], name)
		}
		*into[name] = v
	}
	switch {
	case given["end"] != "" && o.End <= o.Start:
		return "end", fmt.Sprintf("The end, %s, is not after the start. When should it end?", given["end"])
	case given["end"] != "" && given["duration"] != "" && o.End-o.Start != o.Duration:
		return "", "An end and a duration are given. Which of the two counts?"
	case o.Last > 0 && (o.Start > 0 || o.End > 0 || o.Duration > 0 || o.CutLast > 0):
		return "", "The last part is asked for, and another. Which of them should be kept?"
	case o.CutLast > 0 && (o.End > 0 || o.Duration > 0):
		return "", "An end is given twice. Which of the two counts?"
	}
	return "", ""
}

// kilobits reads a bit rate of sound: "192k", "192 kbps", "192". 0 is none.
func kilobits(text string) int {
	t := strings.ToLower(strings.ReplaceAll(text, " ", ""))
	for _, unit := range []string{"kbit/s", "kbits/s", "kb/s", "kbps", "kbit", "kb", "k"} {
		if rest, ok := strings.CutSuffix(t, unit); ok {
			t = rest
			break
		}
	}
	v, err := plainNumber(t)
	if err == nil && v >= 8000 { // in bits
		v /= 1000
	}
	if err != nil || v < 24 || v > 512 {
		return 0
	}
	return int(v)
}

// gain reads how loud: decibels, a factor, percent, or words. It returns what
// ffmpeg's filter takes.
func gain(text string) (string, bool) {
	t := strings.ToLower(strings.NewReplacer(" ", "", "−", "-", ",", ".").Replace(text))
	switch t {
	case "louder", "boost", "increase", "higher", "raise", "amplify", "up", "lauter":
		return "6dB", true
	case "quieter", "lower", "reduce", "decrease", "softer", "down", "quiet", "leiser":
		return "-6dB", true
	case "half", "halve":
		return "0.5", true
	case "double", "twice":
		return "2", true
	}
	sign := ""
	if t != "" && strings.Contains("+-", t[:1]) {
		sign, t = strings.TrimPrefix(t[:1], "+"), t[1:]
		if _, err := plainNumber(t); err == nil {
			t += "db" // a change with a sign is one in decibels
		}
	}
	unit := strings.TrimLeft(t, "0123456789.")
	v, err := plainNumber(strings.TrimSuffix(t, unit))
	if err != nil {
		return "", false
	}
	switch {
	case unit == "db" && v <= 60:
		return sign + seconds(v) + "dB", true
	case unit == "%" && sign == "" && v <= 1000:
		return seconds(v / 100), true
	case (unit == "" || unit == "x") && sign == "" && (v <= 4 || unit == "x" && v <= 10):
		return seconds(v), true
	}
	return "", false // 6 could be a factor and could be decibels
}
