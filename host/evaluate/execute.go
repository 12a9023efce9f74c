package evaluate

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host"
	"stepbox.dev/host/commit"
	"stepbox.dev/host/fault"
)

// Runner runs a plan on a stage that is thrown away.
type Runner interface {
	Rehearse(ctx context.Context, plan []byte) (host.Result, error)
}

// Execution is what came of running the plans.
type Execution struct {
	Ran       int `json:"ran"`        // plans
	EndedWell int `json:"ended_well"` // of them
	// Criteria of the corpus that the results can tell, and those they cannot.
	Met     int `json:"criteria_met"`
	Missed  int `json:"criteria_missed"`
	Unknown int `json:"criteria_unknown"`
	// Passed counts the plans that ended well and missed no criterion.
	Passed int `json:"passed"`
	// Failed says what went wrong, in the order of the corpus.
	Failed []Failure `json:"failed,omitempty"`
}

// Failure is one plan that did not end well or missed a criterion.
type Failure struct {
	Utterance string   `json:"utterance"`
	Error     string   `json:"error,omitempty"`
	Missed    []string `json:"missed,omitempty"`
}

// Execute runs the plan of every case that has one. It stops only when the
// runner itself cannot go on.
func Execute(ctx context.Context, r Runner, cases []Case) (Execution, error) {
	var out Execution
	for i := range cases {
		c := &cases[i]
		if c.Outcome != "plan" {
			continue
		}
		text, err := json.Marshal(struct {
			Plan []abi.Call `json:"plan"`
		}{c.Got})
		if err != nil {
			return out, err
		}
		result, err := r.Rehearse(ctx, text)
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		out.Ran++
		if err != nil {
			if fault.Of(err) == fault.Internal {
				return out, err
			}
			out.Failed = append(out.Failed, Failure{Utterance: c.Utterance, Error: err.Error()})
			continue
		}
		out.EndedWell++
		missed := out.judge(c, result)
		if len(missed) > 0 {
			out.Failed = append(out.Failed, Failure{Utterance: c.Utterance, Missed: missed})
			continue
		}
		out.Passed++
	}
	return out, nil
}

// judge compares criteria with what the run answered and made, and returns the
// names of those that are not met.
func (e *Execution) judge(c *Case, r host.Result) []string {
	var missed []string
	for _, name := range slices.Sorted(maps.Keys(c.criteria)) {
		met, known := meets(name, c.criteria[name], c.Got, r)
		switch {
		case !known:
			e.Unknown++
		case met:
			e.Met++
		default:
			e.Missed++
			missed = append(missed, name)
		}
	}
	return missed
}

// meets checks one criterion. expected_tool and output_exists are about the run
// itself; any other is a field of the same name in the last result that has one:
// equal, or for max_ and min_ before it a bound. A text with commas is a choice.
func meets(name string, want any, calls []abi.Call, r host.Result) (met, known bool) {
	switch name {
	case "expected_tool":
		tool, ok := want.(string)
		return slices.ContainsFunc(calls, func(c abi.Call) bool { return c.Tool == tool }), ok
	case "output_exists":
		made := slices.ContainsFunc(r.Changes, func(c commit.Change) bool { return c.Kind == commit.Create || c.Kind == commit.Replace })
		return made == (want == true), true
	}
	if v, ok := field(r, name); ok {
		return equal(v, want), true
	}
	bound, isNumber := want.(float64)
	for _, prefix := range []string{"max_", "min_"} {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok || !isNumber {
			continue
		}
		if v, ok := field(r, rest); ok {
			n, ok := v.(float64)
			return ok && (prefix == "max_" && n <= bound || prefix == "min_" && n >= bound), true
		}
	}
	return false, false
}

// field is a field of the last result that has it.
func field(r host.Result, name string) (any, bool) {
	for i := len(r.Results) - 1; i >= 0; i-- {
		var fields map[string]any
		if json.Unmarshal(r.Results[i].Result, &fields) != nil {
			continue
		}
		if v, ok := fields[name]; ok {
			return v, true
		}
	}
	return nil, false
}

func equal(got, want any) bool {
	if text, ok := want.(string); ok {
		for choice := range strings.SplitSeq(text, ",") {
			if got == strings.TrimSpace(choice) {
				return true
			}
		}
		return false
	}
	a, err1 := json.Marshal(got)
	b, err2 := json.Marshal(want)
	return err1 == nil && err2 == nil && string(a) == string(b)
}
