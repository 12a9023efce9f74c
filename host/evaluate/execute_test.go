package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host"
	"stepbox.dev/host/commit"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/registry"
)

const media = `
cut:
  description: Cut.
  required_args: [input]
  optional_args: [output, codec]
  arg_schemas:
    input: {type: array, items: string, path_role: input}
    output: {type: string, path_role: output}
    codec: {type: enum, enum: [h264, hevc], aliases: {avc: h264, h265: hevc}}
`

func contractOf(t *testing.T) *registry.Registry {
	t.Helper()
	r, err := registry.Parse([]byte(media), registry.Options{File: "tools.yaml"})
	require.NoError(t, err)
	return r
}

func results(texts ...string) (out []abi.CallResult) {
	for _, s := range texts {
		out = append(out, abi.CallResult{Result: json.RawMessage(s)})
	}
	return out
}

// What a corpus asks for is compared with what a run answered: neither does a
// name that differs by an alias fail, nor does what nobody can tell pass.
func TestVerdict(t *testing.T) {
	run := host.Result{
		Results: results(`{"pages":1}`, `{"pages":3,"width":640,"codec":"h264","kind":"mov,mp4","silent":false,"sound":"","chain":["crop=2:2,scale=4:4","volume=2"]}`, `[]`),
		Calls:   []int{0, 1, 1},
		Changes: []commit.Change{{Kind: commit.Create}},
	}
	for name, c := range map[string]struct {
		row             string
		met             int
		missed, unknown []string
		score           float64
	}{
		"none":                      {`{}`, 0, nil, nil, 1},
		"the last that has it":      {`{"success_criteria":{"pages":3}}`, 1, nil, nil, 1},
		"another value":             {`{"success_criteria":{"pages":1}}`, 0, []string{"pages"}, nil, 0},
		"bounds":                    {`{"success_criteria":{"max_width":640,"min_width":641}}`, 1, []string{"min_width"}, nil, 0.5},
		"a choice":                  {`{"success_criteria":{"codec":"hevc, h264"}}`, 1, nil, nil, 1},
		"a choice on both sides":    {`{"success_criteria":{"kind":"mp4,avi"}}`, 1, nil, nil, 1},
		"no part of a name":         {`{"success_criteria":{"kind":"mp"}}`, 0, []string{"kind"}, nil, 0},
		"the contract's other name": {`{"success_criteria":{"codec":"AVC"}}`, 1, nil, nil, 1},
		"an alias of another value": {`{"success_criteria":{"codec":"h265"}}`, 0, []string{"codec"}, nil, 0},
		"an empty field":            {`{"success_criteria":{"sound":"none"}}`, 1, nil, nil, 1},
		"no empty field":            {`{"success_criteria":{"codec":"none"}}`, 0, []string{"codec"}, nil, 0},
		"false is a value":          {`{"success_criteria":{"silent":true}}`, 0, []string{"silent"}, nil, 0},
		"parts":                     {`{"success_criteria":{"chain":["scale","volume"]}}`, 1, nil, nil, 1},
		"a part that is missing":    {`{"success_criteria":{"chain":["scale","pad"]}}`, 0, []string{"chain"}, nil, 0},
		"something was made":        {`{"success_criteria":{"output_exists":true}}`, 1, nil, nil, 1},
		"the tool of the plan":      {`{"success_criteria":{"expected_tool":"cut"}}`, 1, nil, nil, 1},
		"what no result tells":      {`{"success_criteria":{"sharpness":3,"pages":3}}`, 1, nil, []string{"sharpness"}, 0.5},
		"a bound that is no number": {`{"success_criteria":{"max_codec":5}}`, 0, []string{"max_codec"}, nil, 0},
		"outputs, each by its call": {`{"success_criteria":{"pages":9},"outputs":[{"criteria":{"pages":1}},{"criteria":{"pages":3}}]}`, 2, nil, nil, 1},
		"the mean over outputs":     {`{"outputs":[{"criteria":{"codec":"h264"}},{"criteria":{"pages":3,"width":1,"kind":"mov","codec":"h264"}}]}`, 3, []string{"2.width"}, []string{"codec"}, 0.375},
		"an output nobody made":     {`{"outputs":[{},{},{"criteria":{"pages":3}}]}`, 0, nil, []string{"3.pages"}, 2. / 3},
	} {
		t.Run(name, func(t *testing.T) {
			var row Row
			require.NoError(t, json.Unmarshal([]byte(c.row), &row))
			v := judge{contractOf(t), []abi.Call{{Tool: "cut"}}, run}.verdict(&row)
			require.Equal(t, c.met, v.Met)
			require.Equal(t, c.missed, v.Missed)
			require.Equal(t, c.unknown, v.Unknown)
			require.InDelta(t, c.score, v.Score, 1e-9)
			require.Equal(t, len(c.missed)+len(c.unknown) == 0, v.Passed())
		})
	}
}

// runner answers what a run would, by the name of the file that is read.
type runner func(ctx context.Context, t Trial) (host.Result, error)

func (r runner) Rehearse(ctx context.Context, t Trial) (host.Result, error) { return r(ctx, t) }

// planned is a case whose plan cuts the file and is what the row asks for.
func planned(file, row string) Case {
	c := Case{Utterance: "cut " + file, Outcome: "plan", Expected: "plan", Tool: "cut", WantTool: "cut", row: &Row{},
		Got: []abi.Call{{Tool: "cut", Args: map[string]any{"input": []any{file}}}}}
	if err := json.Unmarshal([]byte(row), c.row); err != nil {
		panic(err)
	}
	return c
}

// The report counts what ran and what did not, and says why: neither a plan that
// is wrong, nor one that nobody judges, nor one without a file counts.
func TestExecuteCounts(t *testing.T) {
	wrong := planned("a", `{}`)
	wrong.Tool = "turn"
	short := planned("a", `{"expected_tools":["cut","turn"]}`)
	question := planned("a", `{}`)
	question.Outcome = "clarify"
	shared := planned("well", `{"success_criteria":{"pages":3}}`)
	alike := shared
	alike.Got = planned("badly", `{}`).Got
	cases := []Case{
		wrong, short, question, shared, alike,
		planned("well", `{"grade":"routing","success_criteria":{"pages":3}}`),
		planned("well", `{}`),
		planned("well", `{"success_criteria":{"pages":4}}`),
		planned("nowhere", `{"success_criteria":{"pages":3}}`),
		planned("badly", `{}`),
		planned("never", `{"success_criteria":{"pages":4}}`),
	}
	var mu sync.Mutex
	seen := 0
	e, err := Execute(t.Context(), runner(func(_ context.Context, trial Trial) (host.Result, error) {
		switch trial.Reads[0] {
		case "nowhere":
			return host.Result{}, MissingError{"nowhere"}
		case "never":
			return host.Result{}, fault.New(fault.Refused, "never")
		case "badly":
			return host.Result{}, fault.New(fault.StepFailed, "no")
		}
		return host.Result{Results: results(`{"pages":3}`), Calls: []int{0}}, nil
	}), contractOf(t), cases, func(p Progress) {
		mu.Lock()
		defer mu.Unlock()
		seen++
		require.Equal(t, Progress{Done: seen, Of: 7, Failed: p.Failed}, p)
	})
	require.NoError(t, err)
	require.Equal(t, 7, seen)
	require.Equal(t, []int{8, 1, 1, 1, 0, 5, 3, 3, 1}, []int{e.Planned, e.Routed, e.Refused, e.Lacking, e.Left, e.Ran, e.EndedWell, e.Judged, e.Passed})
	require.Equal(t, []string{"nowhere"}, e.Missing)
	require.Equal(t, []int{2, 0}, []int{e.Rows, e.RowsPassed}, "a row passes with all its requests")
	require.InDelta(t, 1./3, *e.Share, 1e-9)
	require.InDelta(t, 1./4, *e.Least, 1e-9)
	var failed []string
	for _, f := range e.Failed {
		failed = append(failed, fmt.Sprint(f.Utterance, ": ", f.Reason(), " ", f.Judged))
	}
	require.Equal(t, []string{"cut well: no true", "cut well: missed pages true", "cut badly: no false", "cut never: never true"}, failed)
	text := e.text()
	for _, want := range []string{"planned right            8", "refused by the skill   1", "0.250 passed when the refused count", "plan alone counts      1", "not run                1, for lack of nowhere", "executed               5, of which 3 ended well", "with criteria          3, of which 1 passed: 0.333"} {
		require.Contains(t, text, want)
	}
}

// What had run when somebody interrupts is told.
func TestExecuteInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var cases []Case
	for i := range 50 {
		cases = append(cases, planned(fmt.Sprint(i), `{"success_criteria":{"pages":3}}`))
	}
	e, err := Execute(ctx, runner(func(ctx context.Context, trial Trial) (host.Result, error) {
		if trial.Reads[0] == "0" {
			return host.Result{Results: results(`{"pages":3}`), Calls: []int{0}}, nil
		}
		<-ctx.Done()
		return host.Result{}, ctx.Err()
	}), contractOf(t), cases, func(Progress) { cancel() })
	require.Equal(t, fault.Interrupted, fault.Of(err))
	require.Equal(t, []int{1, 1, 49}, []int{e.Ran, e.Passed, e.Left})
	require.Contains(t, e.text(), "49, because it was interrupted")
}

// A broken machine is no bad score, and neither is a folder without files or an
// engine that is not there.
func TestExecuteCannot(t *testing.T) {
	for want, err := range map[string]error{
		"broken": errors.New("broken"),
		"none of the 2 plans could run: there is no clip.mp4": MissingError{"clip.mp4"},
		"no engine": &fault.Error{Kind: fault.StepFailed, What: "no engine", Err: &abi.Error{Code: abi.CodeUnavailable}},
	} {
		e, got := Execute(t.Context(), runner(func(context.Context, Trial) (host.Result, error) { return host.Result{}, err }), contractOf(t),
			[]Case{planned("a", `{}`), planned("b", `{}`)}, nil)
		require.ErrorContains(t, got, want)
		require.Zero(t, e.Ran)
	}
}

// What a plan reads is known before it runs, but for what it makes itself.
func TestReads(t *testing.T) {
	call := func(output string, input ...any) abi.Call {
		c := abi.Call{Tool: "cut", Args: map[string]any{"input": input, "codec": "h264"}}
		if output != "" {
			c.Args["output"] = output
		}
		return c
	}
	for want, calls := range map[string][]abi.Call{
		"a b":   {call("", "b", "a"), call("", "a")},
		"a":     {call("x", "a"), call("y", "x"), call("", "y")},
		"a x":   {call("", "x"), call("x", "a")},
		"a.mov": {call("", "*.mp4", "$files.paths", "a.mov")},
		"":      {{Tool: "nothing", Args: map[string]any{"input": "a"}}},
	} {
		require.Equal(t, want, strings.Join(reads(calls, contractOf(t)), " "))
	}
}
