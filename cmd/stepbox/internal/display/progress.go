package display

import (
	"fmt"
	"math"
	"strings"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/host/event"
)

// pace is how often the progress line is drawn; faster only flickers.
const pace = 100 * time.Millisecond

// progress is the one line at the bottom of the terminal.
type progress struct {
	drawn bool
	last  time.Time
	began time.Time // of the call
	call  int
	tool  string
}

// draw shows how far a call has come. now draws without regard to the pace.
func (t *Text) draw(call int, tool string, p abi.Progress, now bool) {
	if !t.o.Terminal || t.prompt != "" {
		return
	}
	at := t.o.Now()
	if tool != "" {
		t.progress.call, t.progress.tool, t.progress.began = call, tool, at
	}
	if !now && at.Sub(t.progress.last) < pace {
		return
	}
	line := Clean(t.progress.tool)
	if t.steps > 1 {
		line = fmt.Sprintf("step %d of %d: %s", call+1, t.steps, line)
	}
	if p.Total > 0 && p.Done >= 0 && !math.IsNaN(p.Done) {
		share := min(p.Done/p.Total, 1)
		const cells = 20
		full := int(share * cells)
		line += fmt.Sprintf(" [%s%s] %3.0f%%", strings.Repeat("=", full), strings.Repeat(" ", cells-full), share*100)
		if spent := at.Sub(t.progress.began); spent > 3*time.Second && share > 0.02 {
			left := time.Duration(float64(spent) * (1 - share) / share)
			line += fmt.Sprintf(", about %s left", left.Round(time.Second))
		}
	}
	if p.Label != "" {
		line += " " + bar + Clean(p.Label)
	}
	fmt.Fprintf(t.o.Err, "\r\x1b[K%s", cut(line, t.o.Columns()-1))
	t.progress.drawn, t.progress.last = true, at
}

// asking says that a model is asked, and how far its answer has come.
func (t *Text) asking(e event.Asking) {
	if e.Bytes == 0 {
		why := ""
		if e.Why != "" {
			why = ": " + Clip(e.Why, 200)
		}
		t.say("%s", t.dim("asking "+Clean(e.Planner)+" ("+Clean(e.Model)+")"+why))
		return
	}
	at := t.o.Now()
	if !t.o.Terminal || t.prompt != "" || at.Sub(t.progress.last) < pace {
		return
	}
	fmt.Fprintf(t.o.Err, "\r\x1b[K%s", cut(fmt.Sprintf("%s answers: %d bytes", Clean(e.Planner), e.Bytes), t.o.Columns()-1))
	t.progress.drawn, t.progress.last = true, at
}

// clear takes the progress line away.
func (t *Text) clear() {
	if t.progress.drawn {
		fmt.Fprint(t.o.Err, "\r\x1b[K")
		t.progress.drawn = false
	}
}
