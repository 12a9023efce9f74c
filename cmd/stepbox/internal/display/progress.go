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
	call  int
	tool  string
	share float64 // that was told last
	// What is left is told by how fast it went since then, from that share on.
	began time.Time
	from  float64
}

// restart forgets how fast it went: what was spent on a question says nothing
// of what is left.
func (p *progress) restart(at time.Time, share float64) { p.began, p.from = at, share }

// draw shows how far a call has come. now draws without regard to the pace.
func (t *Text) draw(call int, tool string, p abi.Progress, now bool) {
	if !t.o.Terminal || t.prompt != "" {
		return
	}
	at := t.o.Now()
	if tool != "" {
		t.progress.call, t.progress.tool, t.progress.share = call, tool, 0
		t.progress.restart(at, 0)
	}
	share := 0.0
	if p.Total > 0 && p.Done >= 0 && !math.IsNaN(p.Done) {
		share = min(p.Done/p.Total, 1)
	}
	if share < t.progress.share { // done over again
		t.progress.restart(at, share)
	}
	t.progress.share = share
	if !now && at.Sub(t.progress.last) < pace {
		return
	}
	line := Clean(t.progress.tool)
	if t.steps > 1 {
		line = fmt.Sprintf("step %d of %d: %s", call+1, t.steps, line)
	}
	if p.Total > 0 && p.Done >= 0 && !math.IsNaN(p.Done) {
		const cells = 20
		full := int(share * cells)
		line += fmt.Sprintf(" [%s%s] %3.0f%%", strings.Repeat("=", full), strings.Repeat(" ", cells-full), share*100)
		if spent := at.Sub(t.progress.began); spent > 3*time.Second && share-t.progress.from > 0.02 {
			left := time.Duration(float64(spent) * (1 - share) / (share - t.progress.from))
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
