package expand_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/expand"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/registry"
)

const contract = `
tidy: {description: "Tidy.", keywords: [tidy], required_args: [path], optional_args: [items], safety_category: destructive, arg_schemas: {path: {type: string, path_role: input}, items: {type: array, items: string, path_role: input}}}
collect: {description: "Collect.", keywords: [collect], required_args: [path], optional_args: [items], safety_category: safe, arg_schemas: {path: {type: string, path_role: input}, items: {type: array, items: string, path_role: input}}}
look: {description: "Look.", keywords: [look], required_args: [path], readonly: true, arg_schemas: {path: {type: string, path_role: input}}}
scan: {description: "Scan.", required_args: [path], readonly: true, internal: true, arg_schemas: {path: {type: string, path_role: input}}}
add: {description: "Add.", required_args: [items], safety_category: safe, internal: true, arg_schemas: {items: {type: array, items: string, path_role: input}}}
make: {description: "Make.", required_args: [path, output], safety_category: destructive, internal: true, arg_schemas: {path: {type: string, path_role: input}, output: {type: string, path_role: output}}}
drop: {description: "Drop.", required_args: [items], safety_category: destructive, internal: true, arg_schemas: {items: {type: array, items: string, path_role: input}}}
`

var intents = map[string]bool{"tidy": true, "collect": true, "look": true}

func kind(tool string) abi.Kind {
	if intents[tool] {
		return abi.KindIntent
	}
	return abi.KindStep
}

// native is a skill's expansion in this process.
type native map[string]func(args map[string]any) ([]abi.Call, error)

func (n native) Expand(_ context.Context, r abi.ExpandRequest) (abi.ExpandResponse, error) {
	f, ok := n[r.Tool]
	if !ok {
		return abi.ExpandResponse{}, &abi.Error{Code: abi.CodeUnsupported, Message: "no such intent"}
	}
	calls, err := f(r.Args)
	return abi.ExpandResponse{Plan: calls}, err
}

// answers always answers the same calls.
func answers(calls ...abi.Call) func(map[string]any) ([]abi.Call, error) {
	return func(map[string]any) ([]abi.Call, error) { return calls, nil }
}

type m = map[string]any

func list(s ...any) []any { return s }

func valid(t testing.TB, calls ...abi.Call) plan.Valid {
	t.Helper()
	r, err := registry.Parse([]byte(contract), registry.Options{File: "tools.yaml"})
	require.NoError(t, err)
	v, err := plan.Validate(plan.Normalize(plan.NewDraft(calls), r, plan.Paths{}), r)
	require.NoError(t, err)
	return v
}

// good is how an honest skill expands.
var good = native{
	"tidy": func(a map[string]any) ([]abi.Call, error) {
		return []abi.Call{
			{Tool: "scan", Args: m{"path": a["path"]}, Output: "$found"},
			{Tool: "drop", Args: m{"items": "$found.paths"}},
		}, nil
	},
	"look": func(a map[string]any) ([]abi.Call, error) {
		return []abi.Call{{Tool: "scan", Args: m{"path": a["path"]}, Output: "$found"}}, nil
	},
	"collect": func(a map[string]any) ([]abi.Call, error) {
		return []abi.Call{{Tool: "add", Args: m{"items": a["items"]}}}, nil
	},
}

func TestExpand(t *testing.T) {
	for _, tc := range []struct {
		name    string
		plan    []abi.Call
		skill   native
		want    []abi.Call
		intents []int
	}{
		{"an intent", []abi.Call{{Tool: "tidy", Args: m{"path": "a"}}}, good,
			[]abi.Call{
				{Tool: "scan", Args: m{"path": "a"}, Output: "$found"},
				{Tool: "drop", Args: m{"items": "$found.paths"}},
			}, []int{0, 0}},
		{"variables of two intents are kept apart", []abi.Call{{Tool: "tidy", Args: m{"path": "a"}}, {Tool: "tidy", Args: m{"path": "b"}}}, good,
			[]abi.Call{
				{Tool: "scan", Args: m{"path": "a"}, Output: "$found"},
				{Tool: "drop", Args: m{"items": "$found.paths"}},
				{Tool: "scan", Args: m{"path": "b"}, Output: "$found_2"},
				{Tool: "drop", Args: m{"items": "$found_2.paths"}},
			}, []int{0, 0, 1, 1}},
		{"a variable across intents, of the last call", []abi.Call{
			{Tool: "look", Args: m{"path": "a"}, Output: "$seen"},
			{Tool: "collect", Args: m{"path": "a", "items": list("$seen.paths")}},
		}, good,
			[]abi.Call{
				{Tool: "scan", Args: m{"path": "a"}, Output: "$found"},
				{Tool: "add", Args: m{"items": list("$found.paths")}},
			}, []int{0, 1}},
		{"and of a last call that sets none itself", []abi.Call{
			{Tool: "look", Args: m{"path": "a"}, Output: "$seen"},
			{Tool: "collect", Args: m{"path": "a", "items": list("$seen.paths")}},
		}, native{"look": answers(abi.Call{Tool: "scan", Args: m{"path": "x"}, Output: "$seen"}, abi.Call{Tool: "scan", Args: m{"path": "y"}}), "collect": good["collect"]},
			[]abi.Call{
				{Tool: "scan", Args: m{"path": "x"}, Output: "$seen"},
				{Tool: "scan", Args: m{"path": "y"}, Output: "$seen_2"},
				{Tool: "add", Args: m{"items": list("$seen_2.paths")}},
			}, []int{0, 0, 1}},
		{"an intent in an intent", []abi.Call{{Tool: "tidy", Args: m{"path": "a"}}},
			native{
				"tidy":    answers(abi.Call{Tool: "look", Args: m{"path": "a"}, Output: "$x"}, abi.Call{Tool: "collect", Args: m{"path": "a", "items": list("$x.paths")}}),
				"look":    good["look"],
				"collect": good["collect"],
			},
			[]abi.Call{
				{Tool: "scan", Args: m{"path": "a"}, Output: "$found"},
				{Tool: "add", Args: m{"items": list("$found.paths")}},
			}, []int{0, 0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := expand.Expand(t.Context(), valid(t, tc.plan...), tc.skill, expand.Options{Kind: kind})
			require.NoError(t, err)
			require.Equal(t, tc.want, p.Calls())
			require.Equal(t, tc.intents, p.Intents())
		})
	}
}

// What a hostile skill may answer, and how it is refused: each error names the
// offending call, and nothing of it reaches a program.
func TestHostileAnswers(t *testing.T) {
	scan := abi.Call{Tool: "scan", Args: m{"path": "a"}}
	many := make([]abi.Call, expand.MaxCalls+1)
	for i := range many {
		many[i] = scan
	}
	deep := any("x")
	for range 200 {
		deep = []any{deep}
	}
	for _, tc := range []struct {
		name  string
		tool  string
		skill native
		kind  fault.Kind
		about []string
	}{
		{"an unknown tool", "tidy", native{"tidy": answers(scan, abi.Call{Tool: "format_disk"})}, fault.Refused, []string{`call 2 of what "tidy" expands to`, `"format_disk"`, "no such tool"}},
		{"itself", "tidy", native{"tidy": answers(abi.Call{Tool: "tidy", Args: m{"path": "a"}})}, fault.Refused, []string{`"tidy"`, "nest deeper than 4"}},
		{"a loop of two", "tidy", native{
			"tidy":    answers(abi.Call{Tool: "collect", Args: m{"path": "a"}}),
			"collect": answers(abi.Call{Tool: "collect", Args: m{"path": "a"}}),
		}, fault.Refused, []string{"nest deeper than 4"}},
		{"too many calls", "tidy", native{"tidy": answers(many...)}, fault.Refused, []string{"1001 calls"}},
		{"too many calls by nesting", "tidy", native{
			"tidy":    answers(append(many[:900:900], abi.Call{Tool: "collect", Args: m{"path": "a"}})...),
			"collect": answers(many[:200]...),
		}, fault.Refused, []string{"200 calls"}},
		{"no calls", "tidy", native{"tidy": answers()}, fault.Refused, []string{"no calls"}},
		{"a forward reference", "tidy", native{"tidy": answers(abi.Call{Tool: "drop", Args: m{"items": list("$late")}}, abi.Call{Tool: "scan", Args: m{"path": "a"}, Output: "$late"})},
			fault.Refused, []string{`call 1 of what "tidy"`, `"$late"`}},
		{"its own output", "tidy", native{"tidy": answers(abi.Call{Tool: "scan", Args: m{"path": "$me"}, Output: "$me"})}, fault.Refused, []string{`"$me"`}},
		{"another's variable", "tidy", native{"tidy": answers(abi.Call{Tool: "drop", Args: m{"items": list("$seen.paths")}})}, fault.Refused, []string{`"$seen"`}},
		{"a variable it was not given", "tidy", native{"tidy": answers(abi.Call{Tool: "drop", Args: m{"items": list("$outer_1")}})}, fault.Refused, []string{`"$outer_1"`}},
		{"a reserved name", "tidy", native{"tidy": answers(abi.Call{Tool: "scan", Args: m{"path": "a"}, Output: "$outer_1"})}, fault.Refused, []string{"reserved"}},
		{"one variable twice", "tidy", native{"tidy": answers(abi.Call{Tool: "scan", Args: m{"path": "a"}, Output: "$x"}, abi.Call{Tool: "scan", Args: m{"path": "b"}, Output: "$x"})}, fault.Refused, []string{"set twice"}},
		{"a bad variable", "tidy", native{"tidy": answers(abi.Call{Tool: "scan", Args: m{"path": "a"}, Output: "$x.y"})}, fault.Refused, []string{`"$x.y"`}},
		{"a destructive step under a safe intent", "collect", native{"collect": answers(scan, abi.Call{Tool: "drop", Args: m{"items": list("a")}})},
			fault.Refused, []string{`call 2 of what "collect"`, `"drop"`, "may write", "declared to create only"}},
		{"by way of a nested intent", "collect", native{"collect": answers(abi.Call{Tool: "tidy", Args: m{"path": "a"}}), "tidy": good["tidy"]}, fault.Refused, []string{`"tidy"`, "may write"}},
		{"an action under a readonly intent", "look", native{"look": answers(abi.Call{Tool: "add", Args: m{"items": list("a")}})}, fault.Refused, []string{`"add"`, "declared to read only"}},
		{"a missing argument", "tidy", native{"tidy": answers(scan, abi.Call{Tool: "drop"})}, fault.Refused, []string{`call 2 of what "tidy"`, `"drop"`, "items"}},
		{"a wrong type", "tidy", native{"tidy": answers(abi.Call{Tool: "drop", Args: m{"items": m{"a": 1}}})}, fault.Refused, []string{`"drop"`}},
		{"a path outside", "tidy", native{"tidy": answers(abi.Call{Tool: "drop", Args: m{"items": list("../../etc/passwd")}})}, fault.Refused, []string{`"drop"`, "../../etc/passwd"}},
		{"a product over its source", "tidy", native{"tidy": answers(scan, abi.Call{Tool: "make", Args: m{"path": "a.txt", "output": "./a.txt"}})}, fault.Refused, []string{`call 2 of what "tidy"`, `"make"`, "overwrite"}},
		{"a product over another call's source", "tidy", native{"tidy": answers(abi.Call{Tool: "scan", Args: m{"path": "a.txt"}}, abi.Call{Tool: "make", Args: m{"path": "b.txt", "output": "a.txt"}})}, fault.Refused, []string{`call 2 of what "tidy"`, "overwrite"}},
		{"deep nesting", "tidy", native{"tidy": answers(abi.Call{Tool: "drop", Args: m{"items": deep}})}, fault.Refused, []string{`"drop"`, "deep"}},
		{"too much text", "tidy", native{"tidy": answers(abi.Call{Tool: "scan", Args: m{"path": strings.Repeat("a", expand.MaxBytes+1)}})}, fault.Refused, []string{"bytes"}},
		{"a question", "tidy", native{"tidy": answers(abi.Call{Tool: "clarify", Args: m{"question": "Which?"}})}, fault.Question, []string{"Which?"}},
		{"a refusal", "tidy", native{"tidy": answers(abi.Call{Tool: "reject", Args: m{"reason": "Never."}})}, fault.Refused, []string{"Never."}},
		{"an error", "tidy", native{"tidy": func(map[string]any) ([]abi.Call, error) {
			return nil, &abi.Error{Code: abi.CodeFailed, Message: "cannot"}
		}}, fault.StepFailed, []string{"tidy", "cannot"}},
		{"a wall", "tidy", native{"tidy": func(map[string]any) ([]abi.Call, error) { return nil, fault.New(fault.Stopped, "memory") }}, fault.Stopped, []string{"memory"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			calls := []abi.Call{{Tool: "look", Args: m{"path": "a"}, Output: "$seen"}, {Tool: tc.tool, Args: m{"path": "a"}}}
			skill := native{"look": good["look"]}
			for k, v := range tc.skill {
				skill[k] = v
			}
			p, err := expand.Expand(t.Context(), valid(t, calls...), skill, expand.Options{Kind: kind})
			require.Error(t, err)
			require.Equal(t, tc.kind, fault.Of(err), "%v", err)
			for _, s := range tc.about {
				require.Contains(t, err.Error(), s)
			}
			require.Empty(t, p.Calls())
		})
	}
}

// A tool that the module does not implement must not be taken for a step.
func TestUnknownKind(t *testing.T) {
	_, err := expand.Expand(t.Context(), valid(t, abi.Call{Tool: "tidy", Args: m{"path": "a"}}), good,
		expand.Options{Kind: func(string) abi.Kind { return "" }})
	require.Equal(t, fault.Refused, fault.Of(err))
	require.ErrorContains(t, err, "does not implement")
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := expand.Expand(ctx, valid(t, abi.Call{Tool: "tidy", Args: m{"path": "a"}}), good, expand.Options{Kind: kind})
	require.True(t, errors.Is(err, context.Canceled))
}

// The guest's answer stays the guest's: an embedding program may answer from a
// table.
func TestAnswerIsNotChanged(t *testing.T) {
	answer := []abi.Call{{Tool: "scan", Args: m{"path": "a"}, Output: "$found"}, {Tool: "scan", Args: m{"path": "$found.first"}}}
	before, err := json.Marshal(answer)
	require.NoError(t, err)
	for range 2 {
		_, err := expand.Expand(t.Context(), valid(t,
			abi.Call{Tool: "look", Args: m{"path": "a"}, Output: "$a"},
			abi.Call{Tool: "look", Args: m{"path": "a"}, Output: "$b"}), native{"look": answers(answer...)}, expand.Options{Kind: kind})
		require.NoError(t, err)
	}
	after, err := json.Marshal(answer)
	require.NoError(t, err)
	require.JSONEq(t, string(before), string(after))
}

// The same plan is the same program for ever, whatever order maps come in.
func TestExpansionIsDeterministic(t *testing.T) {
	skill := native{
		"look": good["look"],
		"tidy": func(a map[string]any) ([]abi.Call, error) {
			items := a["items"].([]any)
			return []abi.Call{{Tool: "scan", Args: m{"path": items[0]}}, {Tool: "drop", Args: m{"items": items[1:]}}}, nil
		},
	}
	var first string
	for range 50 {
		p, err := expand.Expand(t.Context(), valid(t,
			abi.Call{Tool: "look", Args: m{"path": "a"}, Output: "$b"},
			abi.Call{Tool: "look", Args: m{"path": "a"}, Output: "$a"},
			abi.Call{Tool: "tidy", Args: m{"path": "$b.x", "items": list("$a.y", "$b.z", "$a.x")}}), skill, expand.Options{Kind: kind})
		require.NoError(t, err)
		text, err := json.Marshal(p.Calls())
		require.NoError(t, err)
		if first == "" {
			first = string(text)
		}
		require.Equal(t, first, string(text))
	}
	require.Contains(t, first, "$found_2.y")
}

// FuzzExpand feeds answers of every shape: whatever a skill says, the outcome
// is a program within its declaration, or an error.
func FuzzExpand(f *testing.F) {
	for _, s := range []string{
		`[]`, `[{"tool":"scan","args":{"path":"a"},"output":"$x"},{"tool":"drop","args":{"items":["$x.paths"]}}]`,
		`[{"tool":"tidy","args":{"path":"a"}}]`, `[{"tool":"collect","args":{"path":"$outer_1","items":["$$"]},"output":"$outer_1"}]`,
		`[{"tool":"clarify","args":{}}]`, `[{"tool":"drop","args":null,"output":"$"}]`,
	} {
		f.Add(s, s)
	}
	r := valid(f, abi.Call{Tool: "look", Args: m{"path": "a"}, Output: "$seen"}, abi.Call{Tool: "collect", Args: m{"path": "a", "items": list("$seen.x")}})
	f.Fuzz(func(t *testing.T, one, two string) {
		read := func(s string) ([]abi.Call, error) {
			var calls []abi.Call
			if err := json.Unmarshal([]byte(s), &calls); err != nil {
				return nil, fmt.Errorf("no answer: %w", err)
			}
			return calls, nil
		}
		skill := native{
			"look":    func(map[string]any) ([]abi.Call, error) { return read(one) },
			"collect": func(map[string]any) ([]abi.Call, error) { return read(two) },
		}
		p, err := expand.Expand(t.Context(), r, skill, expand.Options{Kind: kind})
		if err != nil {
			return
		}
		require.NotEmpty(t, p.Calls())
		require.LessOrEqual(t, len(p.Calls()), expand.MaxCalls)
		set := map[string]bool{}
		for i, c := range p.Calls() {
			require.NotEqual(t, abi.ModeWrite, p.Mode(i), "neither intent may write")
			require.NotEqual(t, abi.KindIntent, kind(c.Tool))
			if c.Output != "" {
				require.False(t, set[c.Output], "%q is set twice", c.Output)
				set[c.Output] = true
			}
		}
	})
}

// A person's answer may go into an argument of the very call that was planned,
// and into nothing else that an answer names.
func TestWhatAQuestionIsAbout(t *testing.T) {
	asks := func(arg any) func(map[string]any) ([]abi.Call, error) {
		return answers(abi.Call{Tool: "clarify", Args: m{"question": "Which?", "arg": arg}})
	}
	for _, tc := range []struct {
		name  string
		skill native
		arg   string
	}{
		{"its own", native{"tidy": asks("path")}, "path"},
		{"none that there is", native{"tidy": asks("password")}, ""},
		{"no text", native{"tidy": asks(7)}, ""},
		{"of an intent within", native{"tidy": answers(abi.Call{Tool: "look", Args: m{"path": "a"}}), "look": asks("path")}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := expand.Expand(t.Context(), valid(t, abi.Call{Tool: "tidy", Args: m{"path": "a"}}), tc.skill, expand.Options{Kind: kind, Skill: "tidier"})
			require.Equal(t, fault.Question, fault.Of(err))
			var asked *expand.Asked
			require.ErrorAs(t, err, &asked)
			require.Equal(t, expand.Asked{Skill: "tidier", Question: "Which?", Arg: tc.arg}, *asked)
		})
	}
}
