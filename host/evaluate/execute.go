package evaluate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"stepbox.dev/abi"
	"stepbox.dev/host"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/registry"
)

// Trial is a plan to run.
type Trial struct {
	Plan []byte
	// Fixture is the file that the request is about, "" when there is none, and
	// Reads are the paths that the plan reads and does not make. Fixtures are those
	// of all requests.
	Fixture  string
	Reads    []string
	Fixtures map[string]bool
}

// Runner runs plans where nothing that they change is kept, several at once.
type Runner interface {
	// Rehearse runs one. Its error is a MissingError when there is nothing to
	// run it on.
	Rehearse(ctx context.Context, t Trial) (host.Result, error)
}

// MissingError says which file a plan cannot do without.
type MissingError struct{ Name string }

// Error implements error.
func (e MissingError) Error() string { return fmt.Sprintf("there is no %q to run it on", e.Name) }

// Execution is what came of running the plans that are right.
type Execution struct {
	Planned int `json:"planned_right"` // requests
	// Routed are those of them that are scored by their plan alone, Refused
	// those that the skill refused before a step ran, Lacking those that nothing
	// could run on, for lack of the files in Missing, and Left those that had not
	// run when it was interrupted.
	Routed  int      `json:"routed"`
	Refused int      `json:"refused"`
	Lacking int      `json:"lacking"`
	Missing []string `json:"missing,omitempty"`
	Left    int      `json:"left"`

	Ran       int `json:"ran"`
	EndedWell int `json:"ended_well"` // of them
	// Judged are those that ran and have criteria; Passed of them ended well and
	// met them all. Score is the mean share that was met. Least is the share that
	// passed when those that were refused, and have criteria, count as failed.
	Judged int      `json:"judged"`
	Passed int      `json:"passed"`
	Share  *float64 `json:"pass_share,omitempty"`
	Least  *float64 `json:"pass_share_with_refused,omitempty"`
	Score  *float64 `json:"score,omitempty"`
	// Rows are judged rows of the corpus, RowsPassed those whose requests all
	// passed.
	Rows       int `json:"rows"`
	RowsPassed int `json:"rows_passed"`
	// The criteria of the plans that ended well: met, missed, and those that no
	// result has a field for.
	Met     int `json:"criteria_met"`
	Missed  int `json:"criteria_missed"`
	Unknown int `json:"criteria_unknown"`
	// Failed says what went wrong, in the order of the corpus.
	Failed []Failure `json:"failed"`
}

// Failure is one plan that did not end well or did not meet its criteria.
type Failure struct {
	ID        string `json:"id,omitempty"` // of the row
	Utterance string `json:"utterance"`
	Error     string `json:"error,omitempty"`
	Judged    bool   `json:"judged"` // it counts among those that did not pass
	*Verdict
}

// Progress is how far an execution has come.
type Progress struct{ Done, Of, Failed int }

// trial is a case on its way.
type trial struct {
	*Case
	verdict Verdict
	err     error
	ended   bool // it ran, or could not
}

func (t *trial) judged() bool { return len(t.row.Criteria)+len(t.row.Outputs) > 0 }

func (t *trial) failed() bool {
	return t.err != nil || !t.verdict.Passed()
}

// Execute runs the plan of every case that is planned right, as many at once as
// there are processors, and judges what came of it. It stops early only with an
// error, when ctx ends or the runner itself cannot go on; what it returns then
// is about those that had ended. progress may be nil.
func Execute(ctx context.Context, r Runner, reg *registry.Registry, cases []Case, progress func(Progress)) (Execution, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := Execution{Failed: []Failure{}}
	var trials []trial
	fixtures := map[string]bool{}
	for i := range cases {
		c := &cases[i]
		fixtures[c.row.Fixture] = true
		if !c.planned() {
			continue
		}
		out.Planned++
		if c.row.Grade == "routing" {
			out.Routed++
			continue
		}
		trials = append(trials, trial{Case: c})
	}
	queue := make(chan *trial)
	var mu sync.Mutex
	state := Progress{Of: len(trials)}
	var pool sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(trials)) {
		pool.Go(func() {
			for t := range queue {
				if err := t.run(ctx, r, reg, fixtures); err != nil {
					cancel(err)
					continue
				}
				mu.Lock()
				state.Done++
				if t.failed() {
					state.Failed++
				}
				if progress != nil {
					progress(state)
				}
				mu.Unlock()
			}
		})
	}
	for i := range trials {
		select {
		case queue <- &trials[i]:
		case <-ctx.Done():
		}
	}
	close(queue)
	pool.Wait()
	out.sum(trials)
	switch err := context.Cause(ctx); {
	case errors.Is(err, context.Canceled):
		return out, fault.New(fault.Interrupted, "interrupted: %d of %d plans did not run", out.Left, len(trials))
	case err != nil:
		return out, err
	}
	if out.Ran == 0 && out.Lacking > 0 {
		return out, fault.New(fault.Usage, "none of the %d plans could run: there is no %s", out.Lacking, strings.Join(out.Missing, ", ")).
			Hint("give the folder that holds these files with --sandbox")
	}
	return out, nil
}

// run runs the plan and judges it. Its error ends the whole execution.
func (t *trial) run(ctx context.Context, r Runner, reg *registry.Registry, fixtures map[string]bool) error {
	text, err := json.Marshal(struct {
		Plan []abi.Call `json:"plan"`
	}{t.Got})
	if err != nil {
		return err
	}
	result, err := r.Rehearse(ctx, Trial{Plan: text, Fixture: t.row.Fixture, Reads: reads(t.Got, reg), Fixtures: fixtures})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var own *abi.Error
	switch {
	case errors.As(err, &own) && own.Code == abi.CodeUnavailable: // an engine, which the others need too
		return err
	case fault.Of(err) == fault.Internal && !errors.As(err, new(MissingError)):
		return err
	}
	if t.err = err; err == nil {
		t.verdict = judge{reg, t.Got, result}.verdict(t.row)
	}
	t.ended = true
	return nil
}

// reads are the paths that a plan reads and does not make: no patterns, and
// nothing that only a run knows.
func reads(calls []abi.Call, reg *registry.Registry) (out []string) {
	made := map[string]bool{}
	for _, c := range calls {
		tool, ok := reg.Tool(c.Tool)
		if !ok {
			continue
		}
		var outputs []string
		for name, v := range c.Args {
			switch a := tool.Args[name]; {
			case a == nil:
			case a.PathRole == abi.RoleInput:
				for _, s := range texts(v) {
					if !made[s] && !strings.ContainsAny(s, "*?[{$") && !slices.Contains(out, s) {
						out = append(out, s)
					}
				}
			case a.PathRole == abi.RoleOutput:
				outputs = append(outputs, texts(v)...)
			}
		}
		for _, s := range outputs {
			made[s] = true
		}
	}
	slices.Sort(out)
	return out
}

// sum adds up what became of the trials.
func (e *Execution) sum(trials []trial) {
	type row struct{ judged, passed int }
	rows := map[*Row]*row{}
	score, refused := 0.0, 0
	for i := range trials {
		t := &trials[i]
		var missing MissingError
		switch {
		case !t.ended:
			e.Left++
			continue
		case errors.As(t.err, &missing):
			e.Lacking++
			if !slices.Contains(e.Missing, missing.Name) {
				e.Missing = append(e.Missing, missing.Name)
			}
			continue
		case fault.Of(t.err) == fault.Refused:
			e.Refused++
			if t.judged() {
				refused++
			}
			e.fail(t)
			continue
		}
		e.Ran++
		if t.err == nil {
			e.EndedWell++
			e.Met, e.Missed, e.Unknown = e.Met+t.verdict.Met, e.Missed+len(t.verdict.Missed), e.Unknown+len(t.verdict.Unknown)
		}
		if t.judged() {
			e.Judged++
			score += t.verdict.Score
			if rows[t.row] == nil {
				rows[t.row] = &row{}
			}
			rows[t.row].judged++
			if !t.failed() {
				e.Passed++
				rows[t.row].passed++
			}
		}
		if t.failed() {
			e.fail(t)
		}
	}
	for _, r := range rows {
		e.Rows++
		if r.judged == r.passed {
			e.RowsPassed++
		}
	}
	slices.Sort(e.Missing)
	if e.Judged > 0 {
		share := float64(e.Passed) / float64(e.Judged)
		least := float64(e.Passed) / float64(e.Judged+refused)
		score /= float64(e.Judged)
		e.Share, e.Least, e.Score = &share, &least, &score
	}
}

// fail lists a trial among those that failed.
func (e *Execution) fail(t *trial) {
	f := Failure{ID: t.ID, Utterance: t.Utterance, Judged: t.judged()}
	if t.err != nil {
		f.Error = t.err.Error()
	} else {
		f.Verdict = &t.verdict
	}
	e.Failed = append(e.Failed, f)
}

// text is the execution for a person; what failed is listed by the caller.
func (e *Execution) text() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-24s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("planned right", "%d", e.Planned)
	if e.Routed > 0 {
		line("  plan alone counts", "%d", e.Routed)
	}
	if e.Refused > 0 {
		line("  refused by the skill", "%d, before a step ran", e.Refused)
	}
	if e.Lacking > 0 {
		line("  not run", "%d, for lack of %s", e.Lacking, strings.Join(e.Missing, ", "))
	}
	if e.Left > 0 {
		line("  not run", "%d, because it was interrupted", e.Left)
	}
	line("  executed", "%d, of which %d ended well", e.Ran, e.EndedWell)
	if e.Judged == 0 {
		line("  with criteria", "0")
		return b.String()
	}
	line("  with criteria", "%d, of which %d passed: %.3f (mean share met %.3f)", e.Judged, e.Passed, *e.Share, *e.Score)
	if *e.Least != *e.Share {
		line("", "%.3f passed when the refused count as failed", *e.Least)
	}
	line("  their rows", "%d, of which %d passed with all their requests", e.Rows, e.RowsPassed)
	line("criteria", "%d met, %d missed, %d that no result tells", e.Met, e.Missed, e.Unknown)
	return b.String()
}

// Reason says in one line why a plan failed.
func (f Failure) Reason() string {
	if f.Verdict == nil {
		return f.Error
	}
	var parts []string
	if len(f.Missed) > 0 {
		parts = append(parts, "missed "+strings.Join(f.Missed, ", "))
	}
	if len(f.Unknown) > 0 {
		parts = append(parts, "no result tells "+strings.Join(f.Unknown, ", "))
	}
	return cmp.Or(strings.Join(parts, "; "), f.Error)
}
