// Package evaluate scores a skill's contract and a planner on a corpus of
// requests: is the right thing decided, with the right tool and the right
// arguments, how sure is the planner, and how fast. Execute runs the plans too, on
// stages that are thrown away.
package evaluate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"
	"unicode"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/plan"
)

// Row is one line of a corpus. It comes in two forms: one utterance with its
// gold plan, or one intent with its paraphrases and what is expected of them.
type Row struct {
	ID         string   `json:"id"`
	Utterance  string   `json:"utterance"`
	Utterances []string `json:"utterances"`
	Tags       []string `json:"tags"`
	// Plan is the gold plan, nil when the row has none.
	Plan json.RawMessage `json:"plan"`
	// Outcome is plan, clarify or reject.
	Outcome string   `json:"expected_outcome"`
	Tool    string   `json:"expected_tool"`  // the first one
	Tools   []string `json:"expected_tools"` // the whole sequence
	Fixture string   `json:"fixture"`        // the file that the request is about
	// Criteria are what a run of the plan must come to.
	Criteria map[string]any `json:"success_criteria"`
	// Outputs are the criteria of each call of the plan; then Criteria are not
	// looked at.
	Outputs []Output `json:"outputs"`
	// Grade is full, or routing for a row whose plan alone is scored.
	Grade string `json:"grade"`
	// Now is the clock of the request, RFC 3339; Clock when empty.
	Now string `json:"now"`

	gold  []abi.Call
	draft plan.Draft
	at    time.Time
}

// Output is what one call of a plan must come to.
type Output struct {
	Criteria map[string]any `json:"criteria"`
}

// Clock is the time at which rows without one are planned, so that scores do
// not depend on the day.
var Clock = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

// maxLine bounds one row, in bytes.
const maxLine = 1 << 20

// Load reads a corpus of one JSON object a line. Keys it does not know are
// ignored. name is for errors.
func Load(r io.Reader, name string) ([]Row, error) {
	var rows []Row
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxLine)
	n := 1
	for ; sc.Scan(); n++ {
		line := bytes.TrimSpace(sc.Bytes())
		if len(line) == 0 {
			continue
		}
		var row Row
		if err := json.Unmarshal(line, &row); err != nil {
			return nil, fault.New(fault.Usage, "%s:%d: %w", name, n, err)
		}
		if err := row.finish(); err != nil {
			return nil, fault.New(fault.Usage, "%s:%d: %w", name, n, err)
		}
		rows = append(rows, row)
	}
	if err := sc.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fault.New(fault.Usage, "%s:%d: the line is longer than %d KiB", name, n, maxLine>>10)
	} else if err != nil {
		return nil, fault.New(fault.Usage, "%s: %w", name, err)
	}
	if len(rows) == 0 {
		return nil, fault.New(fault.Usage, "%s holds no rows", name)
	}
	return rows, nil
}

// finish completes what the form of a row leaves to be understood.
func (r *Row) finish() error {
	if r.Utterance != "" {
		r.Utterances = append([]string{r.Utterance}, r.Utterances...)
	}
	if len(r.Utterances) == 0 {
		return fault.New(fault.Usage, "a row needs an utterance")
	}
	r.at = Clock
	if r.Now != "" {
		t, err := time.Parse(time.RFC3339, r.Now)
		if err != nil {
			return fault.New(fault.Usage, "now %q is no RFC 3339 time", r.Now)
		}
		r.at = t
	}
	if len(r.Plan) > 0 && string(r.Plan) != "null" {
		d, err := plan.Parse(r.Plan)
		if err != nil {
			return fault.New(fault.Usage, "gold plan: %w", err)
		}
		r.draft, r.gold = d, d.Calls()
	}
	if len(r.gold) > 0 {
		first := r.gold[0].Tool
		switch first {
		case "clarify", "reject":
			r.Outcome = first
		default:
			r.Outcome = "plan"
			r.Tools = nil
			for _, c := range r.gold {
				r.Tools = append(r.Tools, c.Tool)
			}
		}
		r.Tool = first
	}
	switch r.Grade {
	case "", "full", "routing":
	default:
		return fault.New(fault.Usage, "grade %q must be full or routing", r.Grade)
	}
	switch r.Outcome {
	case "plan":
	case "clarify", "reject":
		r.Tool = r.Outcome
	default:
		return fault.New(fault.Usage, "expected_outcome %q must be plan, clarify or reject", r.Outcome)
	}
	return nil
}

// script is the writing that an utterance is sliced by: cjk, cyrillic, latin
// (with letters beyond ASCII) or ascii.
func script(s string) string {
	out := "ascii"
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			return "cjk"
		case unicode.Is(unicode.Cyrillic, r):
			out = "cyrillic"
		case r > unicode.MaxASCII && unicode.IsLetter(r) && out == "ascii":
			out = "latin"
		}
	}
	return out
}
