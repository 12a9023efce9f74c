package execute_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/event"
	"stepbox.dev/host/execute"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/registry"
)

const contract = `
scan: {description: "Scan.", keywords: [scan], required_args: [path], readonly: true, arg_schemas: {path: {type: string, path_role: input}}}
drop: {description: "Drop.", keywords: [drop], required_args: [items], optional_args: [note], safety_category: destructive, arg_schemas: {items: {type: array, items: string, path_role: input}, note: {type: string}}}
make: {description: "Make.", keywords: [make], required_args: [output], safety_category: safe, arg_schemas: {output: {type: string, path_role: output}}}
`

type m = map[string]any

func list(s ...any) []any { return s }

func program(t testing.TB, calls ...abi.Call) plan.Program {
	t.Helper()
	r, err := registry.Parse([]byte(contract), registry.Options{File: "tools.yaml"})
	require.NoError(t, err)
	v, err := plan.Validate(plan.Normalize(plan.NewDraft(calls), r, plan.Paths{}), r)
	require.NoError(t, err)
	intents := make([]int, len(v.Calls()))
	for i := range intents {
		intents[i] = i
	}
	p, err := plan.NewProgram(v, v.Calls(), intents)
	require.NoError(t, err)
	return p
}

// runner answers each call from a table and keeps what it was asked.
type runner struct {
	answers []func() (abi.StepResponse, error)
	asked   []abi.StepRequest
	modes   []abi.Mode
}

func (r *runner) Step(_ context.Context, mode abi.Mode, q abi.StepRequest) (abi.StepResponse, error) {
	r.asked, r.modes = append(r.asked, q), append(r.modes, mode)
	return r.answers[len(r.asked)-1]()
}

func result(text string) func() (abi.StepResponse, error) {
	return func() (abi.StepResponse, error) { return abi.StepResponse{Result: json.RawMessage(text)}, nil }
}

func failing(err error) func() (abi.StepResponse, error) {
	return func() (abi.StepResponse, error) { return abi.StepResponse{}, err }
}

// events keeps the stream as text.
type events struct {
	lines    []string
	verified []*bool // of each step that ended
}

func (e *events) Handle(ev event.Event) error {
	switch ev := ev.(type) {
	case event.StepStart:
		e.lines = append(e.lines, fmt.Sprintf("start %d/%d %s %v", ev.Call, ev.Of, ev.Tool, ev.Args))
	case event.StepEnd:
		e.lines = append(e.lines, fmt.Sprintf("end %d %s %t %s%s", ev.Call, ev.Tool, ev.OK, ev.Result, ev.Error))
		e.verified = append(e.verified, ev.Verified)
	}
	return nil
}

func TestRun(t *testing.T) {
	p := program(t,
		abi.Call{Tool: "scan", Args: m{"path": "inbox"}, Output: "$found"},
		abi.Call{Tool: "drop", Args: m{"items": "$found.paths", "note": "$found.label"}},
	)
	r := &runner{answers: []func() (abi.StepResponse, error){
		result(`{"paths":["inbox/a.pdf","inbox/~b\\c.pdf","$found"],"label":"two"}`),
		result(`{"dropped":2}`),
	}}
	var e events
	out, err := execute.Run(t.Context(), p, r, execute.Options{Context: abi.Context{RunID: "r1", Zone: "UTC"}, Events: &e})
	require.NoError(t, err)
	require.Equal(t, -1, out.Failed)
	require.Len(t, out.Results, 2)
	require.JSONEq(t, `{"dropped":2}`, string(out.Results[1].Result))

	// What a variable holds is data: a name with a tilde, a backslash or a dollar stays that name.
	require.Equal(t, m{"items": list("inbox/a.pdf", `inbox/~b\c.pdf`, "$found"), "note": "two"}, r.asked[1].Args)
	require.Equal(t, []abi.Mode{abi.ModeRead, abi.ModeWrite}, r.modes)
	require.Equal(t, 1, r.asked[1].Ctx.Call)
	require.Equal(t, "UTC", r.asked[1].Ctx.Zone)
	require.Equal(t, []string{
		"start 0/2 scan map[path:inbox]",
		`end 0 scan true {"paths":["inbox/a.pdf","inbox/~b\\c.pdf","$found"],"label":"two"}`,
		`start 1/2 drop map[items:[inbox/a.pdf inbox/~b\c.pdf $found] note:two]`,
		`end 1 drop true {"dropped":2}`,
	}, e.lines)
}

// The key is what makes a retried step recognizable, so it depends on the run,
// the place and the call, and on nothing else.
func TestIdempotencyKey(t *testing.T) {
	key := func(run, label string, calls ...abi.Call) string {
		r := &runner{}
		for range calls {
			r.answers = append(r.answers, result(fmt.Sprintf(`{"paths":["%s"]}`, label)))
		}
		_, err := execute.Run(t.Context(), program(t, calls...), r, execute.Options{Context: abi.Context{RunID: run}})
		require.NoError(t, err)
		return r.asked[len(calls)-1].Ctx.IdempotencyKey
	}
	scan := abi.Call{Tool: "scan", Args: m{"path": "a"}, Output: "$x"}
	drop := abi.Call{Tool: "drop", Args: m{"items": "$x.paths"}}
	base := key("r", "one", scan, drop)
	require.Len(t, base, 64)
	require.Equal(t, base, key("r", "one", scan, drop))
	require.Equal(t, base, key("r", "two", scan, drop), "what a retry resolves to may differ")
	require.NotEqual(t, base, key("s", "one", scan, drop))
	require.NotEqual(t, base, key("r", "one", scan, scan2(), drop))
	require.NotEqual(t, base, key("r", "one", scan, abi.Call{Tool: "drop", Args: m{"items": "$x.paths", "note": "n"}}))
}

func scan2() abi.Call { return abi.Call{Tool: "scan", Args: m{"path": "b"}} }

// Rows 17 and 18 of the threat model, for any runner: what a step answers is
// refused, and no later step runs.
func TestHostileResults(t *testing.T) {
	paths := func(s string) string { return fmt.Sprintf(`{"paths":%s}`, s) }
	no := false
	for _, tc := range []struct {
		name   string
		answer func() (abi.StepResponse, error)
		kind   fault.Kind
		about  string
		ran    int // calls that reached the runner
	}{
		{"nothing", result(""), fault.StepFailed, "no result", 1},
		{"blank", result(" \n"), fault.StepFailed, "no result", 1},
		{"no JSON", result("oops"), fault.StepFailed, "not valid JSON", 1},
		{"two values", result("{} {}"), fault.StepFailed, "not valid JSON", 1},
		{"NaN", result(`{"a":NaN}`), fault.StepFailed, "not valid JSON", 1},
		{"a key twice", result(`{"paths":["a"],"paths":["b"]}`), fault.StepFailed, `"paths"`, 1},
		{"half a surrogate pair", result(`{"paths":["\ud800"]}`), fault.StepFailed, "not valid JSON", 1},
		{"invalid UTF-8", result("{\"paths\":[\"\xff\"]}"), fault.StepFailed, "not valid JSON", 1},
		{"deep nesting", result(paths(strings.Repeat("[", 500) + strings.Repeat("]", 500))), fault.StepFailed, "deep", 1},
		{"very deep nesting", result(strings.Repeat("[", 1<<20)), fault.StepFailed, "deep", 1},
		{"too large", result(`"` + strings.Repeat("a", execute.MaxResult) + `"`), fault.StepFailed, "bytes", 1},
		{"a field that is not there", result(`{"path":[]}`), fault.StepFailed, "paths", 1},
		{"a path outside", result(paths(`["../../etc/passwd"]`)), fault.Refused, `call 2 (drop): items "../../etc/passwd" leads out`, 1},
		{"an absolute path", result(paths(`["a","/etc/passwd"]`)), fault.Refused, "leads out", 1},
		{"dots behind a folder", result(paths(`["a/b/../../.."]`)), fault.Refused, "leads out", 1},
		{"a NUL", result(paths(`["a\u0000b"]`)), fault.Refused, "NUL", 1},
		{"no path at all", result(paths(`[{"a":1}]`)), fault.Refused, "is not a path", 1},
		{"a name without end", result(paths(`["` + strings.Repeat("a", 5000) + `"]`)), fault.Refused, "longer", 1},
		{"not verified", func() (abi.StepResponse, error) {
			return abi.StepResponse{Result: json.RawMessage(`{}`), Verified: &no, Issues: []string{"2 files are missing"}}, nil
		}, fault.StepFailed, "did not verify: 2 files are missing", 1},
		{"an error of the module", failing(&abi.Error{Code: abi.CodeConflict, Message: "a.pdf is taken"}), fault.StepFailed, "call 1 (scan): a.pdf is taken", 1},
		{"a declined question", failing(&abi.Error{Code: abi.CodeDeclined, Message: "no"}), fault.NotApproved, "no", 1},
		{"a wall", failing(fault.New(fault.Stopped, "too many files")), fault.Stopped, "too many files", 1},
		{"any other error", failing(errors.New("broken pipe")), fault.StepFailed, "broken pipe", 1},
		{"cancelled", failing(context.Canceled), fault.Interrupted, "canceled", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := program(t,
				abi.Call{Tool: "scan", Args: m{"path": "inbox"}, Output: "$found"},
				abi.Call{Tool: "drop", Args: m{"items": "$found.paths"}},
			)
			r := &runner{answers: []func() (abi.StepResponse, error){tc.answer, result(`{}`)}}
			var e events
			out, err := execute.Run(t.Context(), p, r, execute.Options{Events: &e})
			require.Error(t, err)
			require.Equal(t, tc.kind, fault.Of(err), "%v", err)
			require.Contains(t, err.Error(), tc.about)
			require.Len(t, r.asked, tc.ran, "no step may run after one that did not end well")
			require.GreaterOrEqual(t, out.Failed, 0)
			require.Len(t, out.Results, out.Failed)
			require.NotEmpty(t, e.lines)
			if tc.name == "not verified" {
				require.Equal(t, []*bool{&no}, e.verified)
			}
		})
	}
}

func TestIssuesAreCut(t *testing.T) {
	many := make([]string, 500)
	for i := range many {
		many[i] = strings.Repeat("é", 5000)
	}
	r := &runner{answers: []func() (abi.StepResponse, error){func() (abi.StepResponse, error) {
		return abi.StepResponse{Result: json.RawMessage(`{}`), Issues: many}, nil
	}}}
	out, err := execute.Run(t.Context(), program(t, scan2()), r, execute.Options{})
	require.NoError(t, err)
	issues := out.Results[0].Issues
	require.Len(t, issues, 101)
	require.Equal(t, "and 400 more", issues[100])
	require.Less(t, len(issues[0]), 2100)
}

// The core tools that every skill has run in the host, not in the module.
func TestCoreTools(t *testing.T) {
	yes := func(context.Context, int, abi.ConfirmRequest) (bool, error) { return true, nil }
	for _, tc := range []struct {
		name    string
		call    abi.Call
		confirm func(context.Context, int, abi.ConfirmRequest) (bool, error)
		kind    fault.Kind
	}{
		{"done", abi.Call{Tool: "done"}, nil, 0},
		{"clarify", abi.Call{Tool: "clarify", Args: m{"question": "Which?"}}, nil, fault.Question},
		{"reject", abi.Call{Tool: "reject", Args: m{"reason": "No."}}, nil, fault.Refused},
		{"nobody to confirm", abi.Call{Tool: "wait_for_confirmation"}, nil, fault.NotApproved},
		{"confirmed", abi.Call{Tool: "wait_for_confirmation"}, yes, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := &runner{answers: []func() (abi.StepResponse, error){result(`{}`)}}
			_, err := execute.Run(t.Context(), program(t, tc.call, scan2()), r, execute.Options{Confirm: tc.confirm})
			require.Equal(t, tc.kind, fault.Of(err), "%v", err)
			if err == nil {
				require.Len(t, r.asked, 1)
			} else {
				require.Empty(t, r.asked)
			}
		})
	}
}

// A preview may be what an earlier call made; the person sees it.
func TestConfirmShowsAResult(t *testing.T) {
	r := &runner{answers: []func() (abi.StepResponse, error){result(`{"paths":["a"]}`)}}
	var asked abi.ConfirmRequest
	_, err := execute.Run(t.Context(), program(t,
		abi.Call{Tool: "scan", Args: m{"path": "a"}, Output: "$x"},
		abi.Call{Tool: "wait_for_confirmation", Args: m{"prompt": "Go on?", "preview": "$x.paths"}},
	), r, execute.Options{Confirm: func(_ context.Context, call int, q abi.ConfirmRequest) (bool, error) {
		require.Equal(t, 1, call)
		asked = q
		return true, nil
	}})
	require.NoError(t, err)
	require.Equal(t, abi.ConfirmRequest{Prompt: "Go on?", Preview: `["a"]`}, asked)
}

func TestBeforeEndsTheRun(t *testing.T) {
	r := &runner{answers: []func() (abi.StepResponse, error){result(`{}`), result(`{}`)}}
	out, err := execute.Run(t.Context(), program(t, scan2(), scan2()), r, execute.Options{
		Before: func(_ context.Context, call int) error {
			if call == 1 {
				return fault.New(fault.NotApproved, "declined")
			}
			return nil
		},
	})
	require.Equal(t, fault.NotApproved, fault.Of(err))
	require.Equal(t, 1, out.Failed)
	require.Len(t, r.asked, 1)
}

type deaf struct{ after int }

func (d *deaf) Handle(event.Event) error {
	if d.after--; d.after < 0 {
		return errors.New("reader is gone")
	}
	return nil
}

// A reader that went away ends the run, but never hides why a step failed.
func TestEventsFail(t *testing.T) {
	r := &runner{answers: []func() (abi.StepResponse, error){result(`{}`), result(`{}`)}}
	_, err := execute.Run(t.Context(), program(t, scan2(), scan2()), r, execute.Options{Events: &deaf{after: 1}})
	require.ErrorContains(t, err, "reader is gone")
	require.Len(t, r.asked, 1)

	r = &runner{answers: []func() (abi.StepResponse, error){failing(&abi.Error{Code: abi.CodeFailed, Message: "disk full"})}}
	_, err = execute.Run(t.Context(), program(t, scan2()), r, execute.Options{Events: &deaf{after: 1}})
	require.ErrorContains(t, err, "disk full")
}
