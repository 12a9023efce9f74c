package lexicon

import (
	"strconv"
	"strings"
	"time"
)

// Period reads a day, week, month or year, absolute or relative to Now:
// "2024-01-31", "31.12.2025", "March 2024", "2024", "yesterday", "last week",
// "monday". It returns the first moment and the first one after it.
func (r Reader) Period(i int) (from, to time.Time, n int) {
	t := r.at(i)
	if t == nil {
		return
	}
	if from, to, n = r.named(i); n > 0 {
		return
	}
	switch t.Kind {
	case Number, Name:
		if d, ok := r.numeric(t.Fold); ok {
			return d, d.AddDate(0, 0, 1), 1
		}
		if len(t.Fold) == 7 && t.Fold[4] == '-' {
			if d, err := time.ParseInLocation("2006-01", t.Fold, r.Now.Location()); err == nil {
				return d, d.AddDate(0, 1, 0), 1
			}
		}
		if y, ok := year(t.Fold); ok {
			d := r.day(y, 1, 1)
			n := 1
			if u := r.at(i + 1); u != nil && u.Fold == "年" {
				n = 2
				if m, k := r.Number(i + 2); k > 0 && m >= 1 && m <= 12 {
					if u := r.at(i + 2 + k); u != nil && u.Fold == "月" {
						d = r.day(y, int(m), 1)
						return d, d.AddDate(0, 1, 0), 3 + k
					}
				}
			}
			return d, d.AddDate(1, 0, 0), n
		}
		if day, k := r.ordinal(i); k > 0 { // 5 March, 5. März 2024
			j := i + k
			if p := r.at(j); p != nil && (p.Fold == "." || p.Fold == "of" || p.Fold == "de") {
				j++
			}
			if m := r.month(j); m > 0 {
				return r.monthDay(m, day, j+1, i)
			}
		}
		if m, k := r.Number(i); k > 0 && m >= 1 && m <= 12 {
			if u := r.at(i + k); u != nil && u.Fold == "月" {
				return r.wholeMonth(int(m), i+k+1, i)
			}
		}
	case Word:
		m := r.month(i)
		if m == 0 {
			return
		}
		if day, k := r.ordinal(i + 1); k > 0 && day <= 31 {
			return r.monthDay(m, day, i+1+k, i)
		}
		return r.wholeMonth(m, i+1, i)
	}
	return
}

// named reads "today", "last week" and the days of the week.
func (r Reader) named(i int) (from, to time.Time, n int) {
	if t := r.at(i); t == nil || !shared().dateWords[t.Fold] {
		return
	}
	key := ""
	meaning := ""
	for k := 0; k < 5; k++ {
		t := r.at(i + k)
		if t == nil || t.Kind == Punct {
			break
		}
		if k > 0 {
			key += " "
		}
		key += t.Fold
		if m, ok := shared().dates[key]; ok {
			meaning, n = m, k+1
		}
	}
	now := r.Now
	today := r.day(now.Year(), int(now.Month()), now.Day())
	monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7)
	month := r.day(now.Year(), int(now.Month()), 1)
	year := r.day(now.Year(), 1, 1)
	switch meaning {
	case "today":
		return today, today.AddDate(0, 0, 1), n
	case "yesterday":
		return today.AddDate(0, 0, -1), today, n
	case "this week":
		return monday, monday.AddDate(0, 0, 7), n
	case "last week":
		return monday.AddDate(0, 0, -7), monday, n
	case "this month":
		return month, month.AddDate(0, 1, 0), n
	case "last month":
		return month.AddDate(0, -1, 0), month, n
	case "this year":
		return year, year.AddDate(1, 0, 0), n
	case "last year":
		return year.AddDate(-1, 0, 0), year, n
	}
	n = 0
	t := r.at(i)
	skip := 0
	if t.Fold == "last" {
		skip = 1
		if t = r.at(i + 1); t == nil {
			return
		}
	}
	if d, ok := shared().weekdays[t.Fold]; ok {
		back := (int(today.Weekday()) + 6 - d) % 7
		if back == 0 && skip == 1 {
			back = 7
		}
		from = today.AddDate(0, 0, -back)
		return from, from.AddDate(0, 0, 1), skip + 1
	}
	return
}

func (r Reader) day(y, m, d int) time.Time {
	return time.Date(y, time.Month(m), d, 0, 0, 0, 0, r.Now.Location())
}

func (r Reader) month(i int) int {
	t := r.at(i)
	if t == nil || t.Kind != Word {
		return 0
	}
	return shared().months[t.Fold]
}

// wholeMonth takes a year behind a month; without one it is the latest such
// month that has begun.
func (r Reader) wholeMonth(m, next, i int) (from, to time.Time, n int) {
	from, n = r.inYear(m, 1, next, i)
	return from, from.AddDate(0, 1, 0), n
}

func (r Reader) monthDay(m, day, next, i int) (from, to time.Time, n int) {
	from, n = r.inYear(m, day, next, i)
	if from.Day() != day { // the 31st of a shorter month
		return time.Time{}, time.Time{}, 0
	}
	return from, from.AddDate(0, 0, 1), n
}

func (r Reader) inYear(m, day, next, i int) (time.Time, int) {
	j := next
	for t := r.at(j); t != nil && (t.Fold == "," || t.Fold == "of" || t.Fold == "de" || t.Fold == "del"); t = r.at(j) {
		j++
	}
	if t := r.at(j); t != nil {
		if y, ok := year(t.Fold); ok {
			return r.day(y, m, day), j + 1 - i
		}
	}
	d := r.day(r.Now.Year(), m, day)
	if d.After(r.Now) {
		d = r.day(r.Now.Year()-1, m, day)
	}
	return d, next - i
}

// ordinal reads a day of the month: 5, 5th, 1st.
func (r Reader) ordinal(i int) (int, int) {
	t := r.at(i)
	if t == nil || t.Kind != Number {
		return 0, 0
	}
	s := t.Fold
	for _, suffix := range []string{"st", "nd", "rd", "th"} {
		s = strings.TrimSuffix(s, suffix)
	}
	d, err := strconv.Atoi(s)
	if err != nil || d < 1 || d > 31 {
		return 0, 0
	}
	return d, 1
}

func year(s string) (int, bool) {
	y, err := strconv.Atoi(s)
	return y, err == nil && len(s) == 4 && y >= 1970 && y < 2200
}

// numeric reads a date in digits. 01/02/2024 is February to some and January to
// others: it is left to be asked about.
func (r Reader) numeric(s string) (time.Time, bool) {
	if len(s) < 8 || !strings.ContainsAny(s, "-/.") {
		return time.Time{}, false
	}
	for _, layout := range []string{time.DateOnly, "2006/01/02", "2.1.2006", "2/1/2006", "2-1-2006"} {
		if d, err := time.ParseInLocation(layout, s, r.Now.Location()); err == nil {
			either := (layout == "2/1/2006" || layout == "2-1-2006") && d.Day() <= 12 && d.Day() != int(d.Month())
			return d, !either
		}
	}
	return time.Time{}, false
}
