package evaluate

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host"
	"stepbox.dev/host/commit"
	"stepbox.dev/host/registry"
)

// Verdict is what became of the criteria of one request.
type Verdict struct {
	Met int `json:"met"`
	// Missed are those that are not met, Unknown those that no result has a
	// field for, by name; those of the second output and so on as "2.name".
	Missed  []string `json:"missed,omitempty"`
	Unknown []string `json:"unknown,omitempty"`
	// Score is the share that is met, the mean over the outputs.
	Score float64 `json:"score"`
}

// Passed reports whether all is met.
func (v Verdict) Passed() bool { return len(v.Missed)+len(v.Unknown) == 0 }

// judge compares what a row asks for with what a run answered and made.
type judge struct {
	registry *registry.Registry
	calls    []abi.Call // the plan
	run      host.Result
}

// verdict is about the criteria of the row: those of its outputs, where it has
// some, each against the results of the call of the plan that it is about.
func (j judge) verdict(row *Row) (v Verdict) {
	if len(row.Outputs) == 0 {
		v.Score = j.all(&v, "", row.Criteria, func(int) bool { return true })
		return v
	}
	for i, o := range row.Outputs {
		name := ""
		if i > 0 {
			name = strconv.Itoa(i+1) + "."
		}
		score := j.all(&v, name, o.Criteria, func(call int) bool { return call == i })
		v.Score += score / float64(len(row.Outputs))
	}
	return v
}

// all judges criteria by the results of some calls, and returns the share met.
func (j judge) all(v *Verdict, prefix string, criteria map[string]any, of func(call int) bool) float64 {
	met := 0
	for _, name := range slices.Sorted(maps.Keys(criteria)) {
		switch ok, known := j.meets(name, criteria[name], of); {
		case !known:
			v.Unknown = append(v.Unknown, prefix+name)
		case ok:
			met++
		default:
			v.Missed = append(v.Missed, prefix+name)
		}
	}
	v.Met += met
	if len(criteria) == 0 {
		return 1
	}
	return float64(met) / float64(len(criteria))
}

// meets checks one criterion. expected_tool and output_exists are about the run
// itself; any other is a field of the same name in the last result that has one,
// or for max_ and min_ before it a bound of that field.
func (j judge) meets(name string, want any, of func(call int) bool) (met, known bool) {
	switch name {
	case "expected_tool":
		tool, ok := want.(string)
		return slices.ContainsFunc(j.calls, func(c abi.Call) bool { return c.Tool == tool }), ok
	case "output_exists":
		made := slices.ContainsFunc(j.run.Changes, func(c commit.Change) bool { return c.Kind == commit.Create || c.Kind == commit.Replace })
		return made == (want == true), true
	}
	if v, ok := j.field(name, of); ok {
		return j.equal(name, v, want), true
	}
	bound, isNumber := want.(float64)
	for _, prefix := range []string{"max_", "min_"} {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok || !isNumber {
			continue
		}
		if v, ok := j.field(rest, of); ok {
			n, ok := v.(float64)
			return ok && (prefix == "max_" && n <= bound || prefix == "min_" && n >= bound), true
		}
	}
	return false, false
}

// field is a field of the last result that has it.
func (j judge) field(name string, of func(call int) bool) (any, bool) {
	for i := len(j.run.Results) - 1; i >= 0; i-- {
		var fields map[string]any
		if i < len(j.run.Calls) && !of(j.run.Calls[i]) || json.Unmarshal(j.run.Results[i].Result, &fields) != nil {
			continue
		}
		if v, ok := fields[name]; ok {
			return v, true
		}
	}
	return nil, false
}

// equal compares a field with what it should be. Texts are lists of names with
// commas between them, of which one must be the same; a list is of texts that
// the field must contain, all of them; anything else is the same or not.
func (j judge) equal(name string, got, want any) bool {
	switch want := want.(type) {
	case string:
		have, ok := got.(string)
		if !ok {
			return false
		}
		names := j.names(name, have)
		return slices.ContainsFunc(j.names(name, want), func(s string) bool { return slices.Contains(names, s) })
	case []any:
		have := texts(got)
		return !slices.ContainsFunc(want, func(w any) bool {
			part, ok := w.(string)
			return !ok || !slices.ContainsFunc(have, func(s string) bool { return strings.Contains(s, part) })
		})
	}
	a, err1 := json.Marshal(got)
	b, err2 := json.Marshal(want)
	return err1 == nil && err2 == nil && string(a) == string(b)
}

// names are the parts of a text with commas, each as the contract calls it: by
// the other names of values of an argument that is called like the criterion.
// "none" is no name at all.
func (j judge) names(criterion, text string) []string {
	list := strings.Split(strings.ToLower(text), ",")
	for i, s := range list {
		if s = strings.TrimSpace(s); s == "none" {
			s = ""
		}
		list[i] = s
		for _, t := range j.registry.Tools() {
			if a := t.Args[criterion]; a != nil && a.Synonyms[s] != "" {
				list[i] = a.Synonyms[s]
				break
			}
		}
	}
	return list
}

// texts are the texts of a field that is one or a list of some.
func texts(v any) (out []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, e := range v {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}
