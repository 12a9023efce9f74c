package display

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/host/event"
)

// listed is how many changes are shown before a person asks for all of them.
const listed = 12

// Options of NewText. Out gets results, Err everything else.
type Options struct {
	Out, Err io.Writer
	// Terminal says that Err is a terminal: progress is drawn there.
	Terminal bool
	// Marked says that Out is a terminal: results, which a skill words, are
	// marked there as what it says. A pipe gets them as they are.
	Marked bool
	// Color allows colours on Err.
	Color bool
	// Columns is the width of Err's terminal now; nil means 80.
	Columns func() int
	// Now is the clock that paces progress; nil means time.Now.
	Now func() time.Time
}

// Text renders the event stream for people. It is an event.Handler.
type Text struct {
	o         Options
	mu        sync.Mutex // events come from other goroutines while a person is asked
	prompt    string     // the question that is open, "" when none is
	skill     string     // that runs, "" while it is not known
	chat      allowance
	notes     allowance
	noted     map[string]bool // remarks that were shown
	steps     int
	progress  progress
	decision  event.Decision
	committed int // changes
	ended     bool
}

// NewText returns a renderer.
func NewText(o Options) *Text {
	if o.Columns == nil {
		o.Columns = func() int { return 80 }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Text{o: o, chat: allowance{lines: chatLines, bytes: chatBytes}, notes: allowance{lines: noteLines, bytes: noteBytes}, noted: map[string]bool{}}
}

// Ended reports whether the last event was seen, and with it everything about
// the outcome was said.
func (t *Text) Ended() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}

// Handle implements event.Handler. Only results that cannot be written are an
// error: a person who closed the other stream still wants the run to end well.
func (t *Text) Handle(e event.Event) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := e.(type) {
	case event.Notice:
		t.say("%s", t.dim(cut(Clean(e.Message), failureColumns)))
	case event.Retrieved:
		t.skill = e.Skill
		if e.Competed {
			t.say("%s", t.dim("using the skill "+Clean(e.Skill)))
		}
	case event.Asking:
		t.asking(e)
	case event.Turn:
		t.say("%s", t.dim(fmt.Sprintf("turn %d, planned from what came out of run %s", e.Turn, Clean(e.RunID))))
	case event.Planned:
		t.clear()
		t.skill = e.Skill
		t.planned(e)
	case event.Decision:
		t.decision = e
	case event.StepStart:
		t.steps = e.Of
		t.draw(e.Call, e.Tool, abi.Progress{}, true)
	case event.Progress:
		t.draw(e.Call, "", e.Progress, false)
	case event.Output:
		t.chats(&t.chat, "", e.Line)
	case event.StepEnd:
		t.clear()
		for _, issue := range e.Issues {
			t.chats(&t.notes, "note: ", issue)
			t.noted[issue] = t.notes.hidden == 0
		}
		t.hidden(&t.chat)
		t.hidden(&t.notes)
	case event.Confirm:
		t.staged(e)
	case event.Changes:
		t.changes(e)
	case event.Committing:
		t.steps = 0
		t.draw(0, "committing", abi.Progress{Done: float64(e.Done), Total: float64(e.Total)}, false)
	case event.Committed:
		t.clear()
		t.committed = e.Changes
	case event.Undone:
		t.undone(e)
	case event.Result:
		return t.result(e)
	case event.End:
		t.end(e)
	}
	return nil
}

var may = map[string]string{
	abi.ModeNone.String():   "sees no files",
	abi.ModeRead.String():   "only looks",
	abi.ModeCreate.String(): "may add files, changes none that are there",
	abi.ModeWrite.String():  "may change, move and delete files",
}

// May says in words what a mode allows.
func May(mode string) string {
	if s, ok := may[mode]; ok {
		return s
	}
	return Clean(mode)
}

// plannedMost is how many calls of a plan are shown.
const plannedMost = 50

func (t *Text) planned(e event.Planned) {
	for i, c := range e.Plan {
		if i == plannedMost {
			t.say("  … and %d more", len(e.Plan)-i)
			break
		}
		summary := ""
		if i < len(e.Summaries) {
			summary = e.Summaries[i]
		}
		if summary == "" {
			summary = Call(c)
		}
		number, indent := "", "  "
		if len(e.Plan) > 1 {
			number, indent = fmt.Sprintf("%d. ", i+1), "     "
		}
		// The summary is the skill's and marked so; what it may do stands on a
		// line of its own, where no summary can pretend to be it.
		t.say("%s", bar+number+Clip(summary, 400))
		if i < len(e.May) {
			t.say("%s", t.dim(indent+May(e.May[i])))
		}
	}
}

// Call returns a call as one line: its tool and arguments.
func Call(c abi.Call) string {
	var b strings.Builder
	b.WriteString(Clean(c.Tool))
	keys := make([]string, 0, len(c.Args))
	for k := range c.Args {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		fmt.Fprintf(&b, " %s=%s", Clean(k), Clip(Value(c.Args[k]), 120))
	}
	if c.Output != "" {
		b.WriteString(" → " + Clean(c.Output))
	}
	return b.String()
}

// Value returns an argument's value for a person: a string as it is when that
// is unmistakable, everything else as JSON.
func Value(v any) string {
	if s, ok := v.(string); ok && s != "" && !strings.ContainsAny(s, " \t\n\"'=[]{},") {
		return Clean(s)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "?"
	}
	return Clean(strings.TrimSpace(b.String()))
}

func (t *Text) changes(e event.Changes) {
	t.clear()
	if len(e.Changes) == 0 {
		if !e.Safe || e.DryRun {
			t.say("nothing would change")
		}
		return
	}
	head := "this would "
	if e.Safe && !e.DryRun {
		head = "this will "
	}
	t.say("%s", head+t.bold(Count(e.Changes))+":")
	shown, hidden := some(e.Changes, listed)
	for _, c := range shown {
		t.say("  %s", Describe(c))
	}
	if hidden > 0 {
		t.say("  … and %d more", hidden)
	}
	if e.DryRun {
		t.say("%s", t.dim("a dry run: nothing was changed"))
	}
}

// staged says where copies of what was made so far can be looked at, before the
// question that is about it.
func (t *Text) staged(e event.Confirm) {
	if len(e.Staged) == 0 {
		return
	}
	t.say("made so far, as copies to look at:")
	for i, f := range e.Staged {
		if i == listed {
			t.say("  … and %d more", len(e.Staged)-listed)
			break
		}
		t.say("  %s", Clean(f))
	}
}

func (t *Text) undone(e event.Undone) {
	v, head := undid, ""
	if e.DryRun {
		v, head = undoing, "undo would "
	}
	if len(e.Changes) > 0 {
		t.say("%s", head+v.sum(e.Changes))
	} else {
		t.say("nothing can be taken back")
	}
	shown, hidden := some(e.Changes, listed)
	for _, c := range shown {
		t.say("  %s", v.describe(c))
	}
	if hidden > 0 {
		t.say("  … and %d more", hidden)
	}
	for _, r := range e.Refused {
		t.say("  %s %s: %s", t.bad("kept"), Clean(r.Path), Clean(r.Reason))
	}
}

func (t *Text) end(e event.End) {
	t.clear()
	t.ended = true
	if e.ExitCode == 0 {
		if t.committed > 0 {
			t.say("%s", t.good("done")+"; take it back with: stepbox undo "+Clean(e.RunID))
		}
		return
	}
	next := e.Next
	if len(t.decision.Candidates) > 0 && strings.HasPrefix(next, "one of: ") {
		next = "" // the candidates are shown as a list
	}
	Failure(t.o.Err, e.Error, t.decision.Candidates, next)
	if e.Outcome != "not_approved" || e.Digest == "" {
		return
	}
	t.say("run    %s", Clean(e.RunID))
	t.say("digest %s", Clean(e.Digest))
	if commit := "stepbox commit " + e.RunID; !strings.Contains(e.Next, commit) {
		t.say("to commit exactly these changes: %s", Clean(commit))
	}
}

// say prints a line on Err. Whatever it is given must be clean. A question that
// is open is asked again below it, so that nobody answers something else.
func (t *Text) say(format string, args ...any) {
	t.clear()
	if t.prompt != "" {
		format = "\n" + format
	}
	fmt.Fprintf(t.o.Err, format+"\n%s", append(args, t.prompt)...)
}

// tell is say for those who do not hold the lock.
func (t *Text) tell(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.say(format, args...)
}

// open asks a question; answered ends it.
func (t *Text) open(prompt string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
	t.prompt = prompt
	fmt.Fprint(t.o.Err, prompt)
}

// answered ends an open question. newline moves on from a line that nobody
// ended by typing.
func (t *Text) answered(newline bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.prompt = ""
	t.progress.restart(t.o.Now(), t.progress.share)
	if newline {
		fmt.Fprintln(t.o.Err)
	}
}

func (t *Text) dim(s string) string  { return t.sgr("2", s) }
func (t *Text) bold(s string) string { return t.sgr("1", s) }
func (t *Text) good(s string) string { return t.sgr("32", s) }
func (t *Text) bad(s string) string  { return t.sgr("31", s) }

func (t *Text) sgr(code, s string) string {
	if !t.o.Color {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
