package lexicon

import "time"

// memo remembers what was read at each token of one request: many phrases have
// the same slot, and most tokens hold no date and no size.
type memo struct {
	r         Reader
	periods   []read[span]
	named     []read[span]
	numbers   []read[float64]
	factors   []read[float64]
	sizes     []read[string]
	agos      []read[string]
	durations []read[time.Duration]
}

// read is a value and how many tokens it takes; known says that it was read.
type read[T any] struct {
	value T
	n     int
	known bool
}

// span is a stretch of time.
type span struct{ from, to time.Time }

func remember[T any](list *[]read[T], size, i int, get func(int) (T, int)) (T, int) {
	if *list == nil {
		*list = make([]read[T], size)
	}
	r := &(*list)[i]
	if !r.known {
		r.value, r.n = get(i)
		r.known = true
	}
	return r.value, r.n
}

func (m *memo) period(i int) (span, int) {
	return remember(&m.periods, len(m.r.Tokens), i, func(i int) (span, int) {
		from, to, n := m.r.Period(i)
		return span{from, to}, n
	})
}

func (m *memo) namedPeriod(i int) (span, int) {
	return remember(&m.named, len(m.r.Tokens), i, func(i int) (span, int) {
		from, to, n := m.r.named(i)
		return span{from, to}, n
	})
}

func (m *memo) number(i int) (float64, int) {
	return remember(&m.numbers, len(m.r.Tokens), i, m.r.Number)
}

func (m *memo) factor(i int) (float64, int) {
	return remember(&m.factors, len(m.r.Tokens), i, m.r.Factor)
}

func (m *memo) size(i int) (string, int) {
	return remember(&m.sizes, len(m.r.Tokens), i, m.r.Size)
}

func (m *memo) ago(i int) (string, int) {
	return remember(&m.agos, len(m.r.Tokens), i, m.r.Ago)
}

func (m *memo) duration(i int) (time.Duration, int) {
	return remember(&m.durations, len(m.r.Tokens), i, m.r.Duration)
}

// starts reports whether a slot of the kind can begin at token i. It may say yes
// too often.
func (m *memo) starts(kind string, i int) bool {
	n := 1
	switch kind {
	case slotNumber, slotWhole:
		_, n = m.number(i)
		if n == 0 { // "90°"
			_, n = m.factor(i)
			n += int(m.r.Tokens[i].Kind & Number)
		}
	case slotFactor:
		_, n = m.factor(i)
	case slotClocks, slotDims, slotBitrate, slotFrame:
		return m.r.Tokens[i].Kind == Number
	case slotClock, slotMega, slotGain, slotMore, slotLess, slotSeconds, slotMinutes:
		_, n = m.number(i)
		return n > 0 || m.r.Tokens[i].Kind == Number
	case slotSize:
		_, n = m.size(i)
		if n == 0 {
			_, n = m.number(i)
		}
	case slotAgo:
		_, n = m.ago(i)
	case slotDate, slotAfter, slotPeriod:
		_, n = m.period(i)
	case slotNamed:
		_, n = m.namedPeriod(i)
	}
	return n > 0
}
