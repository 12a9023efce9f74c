package lexicon

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// counted reads a bare number that a phrase says to be of seconds or minutes,
// "second 12", "the 8th second".
func (r Reader) counted(i int, minutes bool) (time.Duration, int) {
	unit := time.Second
	if minutes {
		unit = time.Minute
	}
	if t := r.at(i); t != nil && t.Kind == Number && strings.Contains(t.Fold, ":") { // "at minute 1:30"
		if d, ok := clock(t.Fold); ok {
			return d, 1
		}
		return 0, 0
	}
	v, n := r.Number(i)
	if t := r.at(i); n == 0 && t != nil && t.Kind == Number {
		if x, rest, ok := leading(t.Fold); ok && utf8.RuneCountInString(rest) <= 4 && shared().units[rest] == "" && rest != "%" {
			v, n = x, 1
		}
	}
	if n == 0 || v < 0 || v > 1e6 {
		return 0, 0
	}
	return time.Duration(v * float64(unit)), n
}

// Change reads how much something grows or shrinks. Shares and factors become a
// factor, decibels a text with their sign.
func (r Reader) Change(i int, more bool) (any, int) {
	v, u, n := r.Quantity(i)
	if n == 0 || v <= 0 {
		return nil, 0
	}
	switch u {
	case "decibel":
		if more {
			return number(v) + "dB", n
		}
		return number(-v) + "dB", n
	case "percent":
		switch {
		case more:
			v = 1 + v/100
		case v < 100:
			v = 1 - v/100
		default:
			return nil, 0
		}
	case "times", "":
		switch {
		case !more && v > 1: // "three times slower"
			v = 1 / v
		case more && v < 1: // "faster by half"
			v++
		}
	default:
		return nil, 0
	}
	return whole(math.Round(v*1e4) / 1e4), n
}

// Gain reads a level of sound as it is: decibels or a share.
func (r Reader) Gain(i int) (string, int) {
	v, u, n := r.Quantity(i)
	if n == 0 {
		return "", 0
	}
	switch u {
	case "decibel":
		return number(v) + "dB", n
	case "percent":
		return number(v) + "%", n
	}
	return "", 0
}

// Dimensions reads a width and a height: "1280x720", "1280×720", "640 x 360".
func (r Reader) Dimensions(i int) (w, h int64, n int) {
	t := r.at(i)
	if t == nil || t.Kind != Number {
		return 0, 0, 0
	}
	text := t.Fold
	n = 1
	if a, b := r.at(i+1), r.at(i+2); !strings.ContainsAny(text, "x×") && a != nil && b != nil && (a.Fold == "x" || a.Fold == "×" || a.Fold == "by") && b.Kind == Number {
		text, n = text+"x"+b.Fold, 3
	}
	x, y, ok := strings.Cut(strings.ReplaceAll(text, "×", "x"), "x")
	w, err1 := strconv.ParseInt(x, 10, 32)
	h, err2 := strconv.ParseInt(strings.TrimSuffix(y, "px"), 10, 32)
	if !ok || err1 != nil || err2 != nil || w < 16 || h < 16 { // 9x16 is a shape
		return 0, 0, 0
	}
	return w, h, n
}

// Resolution reads the size of a picture as one word: "1080p", "4k", "1280x720".
func (r Reader) Resolution(i int) (string, int) {
	t := r.at(i)
	if t == nil || t.Kind != Number {
		return "", 0
	}
	if w, h, n := r.Dimensions(i); n > 0 {
		return strconv.FormatInt(w, 10) + "x" + strconv.FormatInt(h, 10), n
	}
	lines, p := strings.CutSuffix(t.Fold, "p")
	k, thousands := strings.CutSuffix(t.Fold, "k")
	if v, err := strconv.Atoi(lines); p && err == nil && v > 0 {
		return t.Fold, 1
	}
	if v, err := strconv.Atoi(k); thousands && err == nil && v > 0 && v <= 16 {
		return t.Fold, 1
	}
	return "", 0
}

// Bitrate reads "192k", "192kbps", "192 kbit/s" as "192k".
func (r Reader) Bitrate(i int) (string, int) {
	t := r.at(i)
	if t == nil || t.Kind != Number {
		return "", 0
	}
	v, unit, ok := leading(t.Fold)
	n := 1
	if next := r.at(i + 1); ok && unit == "" && next != nil {
		unit, n = next.Fold, 2
	}
	if !ok || v < 8 || v > 100000 {
		return "", 0
	}
	switch unit {
	case "k", "kbps", "kbit", "kbits", "kbit/s", "kb/s", "kilobits":
		return number(v) + "k", n
	}
	return "", 0
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
