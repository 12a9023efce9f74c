package display

import (
	"fmt"
	"io"
	"strings"

	"github.com/dustin/go-humanize/english"

	"stepbox.dev/abi"
	"stepbox.dev/host/event"
)

// The most of a skill's words that a terminal gets in one run: of what it prints,
// of what it remarks, and of its results. A pipe and --json get all.
const (
	chatLines, chatBytes     = 200, 20 << 10
	noteLines, noteBytes     = 100, 10 << 10
	resultLines, resultBytes = 2000, 200 << 10
)

// allowance is how much of a skill's words a terminal still gets. What stepbox
// said before must not be scrolled away.
type allowance struct{ lines, bytes, hidden int }

// maxLine is how many columns of one line are shown.
const maxLine = 2000

// take returns the lines that may be shown, and counts the others.
func (a *allowance) take(lines []string) []string {
	for i, l := range lines {
		l = cut(l, maxLine)
		if a.lines == 0 || a.bytes < len(l) {
			a.hidden += len(lines) - i
			return lines[:i]
		}
		a.lines, a.bytes, lines[i] = a.lines-1, a.bytes-len(l), l
	}
	return lines
}

// chats shows what a skill says on the way, each line marked as its own.
func (t *Text) chats(left *allowance, lead, words string) {
	lines := Lines(words)
	lines[0] = lead + lines[0]
	if t.o.Terminal {
		lines = left.take(lines)
	}
	for _, l := range lines {
		t.say("%s", t.dim(bar+l))
	}
}

// hidden says how much was not shown since it was said last.
func (t *Text) hidden(a *allowance) {
	if a.hidden > 0 {
		t.say("  … and %d more %s of what the skill says", a.hidden, english.PluralWord(a.hidden, "line", ""))
		a.hidden = 0
	}
}

// result shows a skill's own words about what happened.
func (t *Text) result(e event.Result) error {
	t.clear()
	left := allowance{lines: resultLines, bytes: resultBytes}
	for _, item := range e.Items {
		// Where both streams are one terminal, nobody wants to read it twice.
		if t.o.Marked && t.o.Terminal && item.Kind == abi.ItemInfo && item.Path == "" && t.noted[item.Message] {
			continue
		}
		lines := Lines(item.Message)
		if item.Path != "" && !strings.Contains(item.Message, item.Path) {
			lines[len(lines)-1] += "  " + Clean(item.Path)
		}
		w, marked := t.o.Out, t.o.Marked
		switch item.Kind {
		case abi.ItemError:
			w, marked = t.o.Err, true
			lines[0] = "error: " + lines[0]
		case abi.ItemCommand:
			lines[0] = "$ " + lines[0]
			for i := range lines[1:] { // or they would read as commands too
				lines[i+1] = "  " + lines[i+1]
			}
		}
		if marked && (w != t.o.Err || t.o.Terminal) {
			lines = left.take(lines)
		}
		for _, l := range lines {
			if marked {
				l = bar + l
			}
			if _, err := fmt.Fprintln(w, l); err != nil && w == t.o.Out {
				return fmt.Errorf("cannot write the result: %w", err)
			}
		}
	}
	t.hidden(&left)
	return nil
}

// The most that is shown of what went wrong, which may hold a guest's words.
const failureLines, failureColumns = 60, 4000

// Failure prints what went wrong, answers that would fit, and what to do next.
// Errors that hold more than one line quote somebody: a guest, a compiler.
func Failure(w io.Writer, what string, candidates []string, next string) {
	lines := head(Lines(what), failureLines)
	fmt.Fprintf(w, "stepbox: %s\n", cut(lines[0], failureColumns))
	for _, l := range lines[1:] {
		fmt.Fprintf(w, "%s%s\n", bar, cut(l, failureColumns))
	}
	for i, c := range candidates {
		if i == listed {
			fmt.Fprintf(w, "  … and %d more\n", len(candidates)-i)
			break
		}
		fmt.Fprintf(w, "  - %s\n", Clip(c, 400))
	}
	if next != "" {
		for _, l := range head(Lines(next), failureLines) {
			fmt.Fprintf(w, "  %s\n", cut(l, failureColumns))
		}
	}
}

// The most of one text of a contract that is shown, and of a list of them.
const (
	saidLines, saidColumns = 40, 500
	saidTexts              = 60
)

// Said writes texts of a contract, each line marked as what the skill says.
// Empty texts are left out.
func Said(w io.Writer, texts ...string) {
	for i, text := range texts {
		if i == saidTexts {
			fmt.Fprintf(w, "  … and %d more\n", len(texts)-i)
			return
		}
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		for _, l := range head(Lines(text), saidLines) {
			fmt.Fprintf(w, "%s%s\n", bar, cut(l, saidColumns))
		}
	}
}

// asker is who asks a question in the middle of a run.
func (t *Text) asker() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.skill == "" {
		return "the skill"
	}
	return "the skill " + Clip(t.skill, 100)
}
