package lint

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"stepbox.dev/abi"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/skill"
)

// module answers from a table, as an author's guest would.
type module struct {
	kinds map[string]abi.Kind
	plans map[string][]abi.Call
	err   error
}

func (m module) Describe(context.Context) (abi.Description, error) {
	d := abi.Description{ABI: abi.Version}
	for name, kind := range m.kinds {
		d.Tools = append(d.Tools, abi.ToolDescription{Name: name, Kind: kind})
	}
	return d, m.err
}

func (m module) Expand(_ context.Context, r abi.ExpandRequest) (abi.ExpandResponse, error) {
	calls, ok := m.plans[r.Tool]
	if !ok {
		return abi.ExpandResponse{}, errors.New("cannot")
	}
	return abi.ExpandResponse{Plan: calls}, nil
}

func findings(t *testing.T, tools, prompt string, m Module) []string {
	dir := t.TempDir()
	for name, text := range map[string]string{"skill.yaml": "name: demo\ndescription: D\n", "tools.yaml": tools, "prompt.yaml": prompt} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	s, err := skill.Load(dir, skill.Options{})
	require.NoError(t, err)
	found, err := Skill(context.Background(), s, m)
	require.NoError(t, err)
	out := make([]string, len(found))
	for i, f := range found {
		out[i] = string(f.Severity) + " " + f.Code + " " + f.String()
	}
	return out
}

func TestContractAlone(t *testing.T) {
	for _, c := range []struct{ name, tool, want string }{
		{"nothing", "optional_args: [x]", ""},
		{"a default that does not fit", "defaults: {x: 11}\n  arg_schemas: {x: {type: integer, max: 10}}",
			`error default tools.yaml:1: the default of "x" in "a" does not fit its schema: "x" must be <= 10, not 11`},
		{"a default that fits once it is normalized", "defaults: {x: '7'}\n  arg_schemas: {x: {type: integer, max: 10}}", ""},
		{"a default that is a path outside", "defaults: {x: ../y}\n  arg_schemas: {x: {type: string, path_role: input}}", "lies outside"},
		{"a required argument with a default", "required_args: [x]\n  defaults: {x: 1}", `error required tools.yaml:1: argument "x" of "a" is required and has a default`},
		{"a readonly tool with outputs", "readonly: true\n  arg_schemas: {x: {type: string, path_role: output}}", `error readonly tools.yaml:1: tool "a" is readonly, but argument "x" is a path to make`},
		{"an alias that is a value", "arg_schemas: {x: {enum: [low, high], aliases: {Low: high}}}", `error alias tools.yaml:1: alias "Low" of "x" in "a" stands for "high", but "low" is a value itself`},
		{"one alias with two meanings", "arg_schemas: {x: {enum: [low, high], aliases: {to-p: low, to_p: high}}}", `one word with two meanings`},
		{"an alias for its own value", "arg_schemas: {x: {enum: [low], aliases: {LOW: low}}}", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := findings(t, "a:\n  description: A\n  keywords: [do]\n  "+c.tool+"\n", "", nil)
			if c.want == "" {
				require.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			require.Contains(t, got[0], c.want)
		})
	}
	require.Equal(t, []string{
		`warning keywords tools.yaml:1: tool "a" has no keywords: only the words of its name and description lead to it`,
		`error example prompt.yaml:3: the example "y" does not validate: /plan/0/args/z: "a" has unsupported args: "z"`,
	}, findings(t, "a:\n  description: A\n", "examples:\n- {request: x, output: {plan: [{tool: a}]}}\n- {request: y, output: {plan: [{tool: a, args: {z: 1}}]}}\n", nil))
}

const intents = `
big: {description: A, keywords: [a], safety_category: safe}
small: {description: B, keywords: [b]}
look: {description: C, internal: true, readonly: true}
wipe: {description: D, internal: true, safety_category: destructive}
`

func TestWithModule(t *testing.T) {
	examples := "examples:\n- {request: do it, output: {plan: [{tool: big}]}}\n- {request: what, output: {plan: [{tool: clarify, args: {question: 'Who?'}}]}}\n"
	m := module{
		kinds: map[string]abi.Kind{"big": abi.KindIntent, "small": abi.KindIntent, "look": abi.KindStep, "wipe": abi.KindStep},
		plans: map[string][]abi.Call{"big": {{Tool: "look"}, {Tool: "small"}}, "small": {{Tool: "look"}}},
	}
	require.Equal(t, []string{`error unused tools.yaml:5: no intent emits the internal tool "wipe" in any example`}, findings(t, intents, examples, m))

	m.plans["small"] = []abi.Call{{Tool: "nothing"}}
	got := findings(t, intents, examples, m)
	require.Contains(t, got[0], `error expansion prompt.yaml:2: the example "do it" does not expand: `)
	require.Contains(t, got[0], `"nothing"`)

	m.plans["small"] = []abi.Call{{Tool: "wipe"}}
	got = findings(t, intents, examples, m)
	require.Contains(t, got[0], "error expansion", "a step that may do more than its intent")

	m.plans["big"] = []abi.Call{{Tool: "look"}}
	got = findings(t, intents, examples, m)
	require.Equal(t, []string{
		`warning no_expansion tools.yaml:3: no example leads to the intent "small", so nothing shows what it expands into`,
		`warning unused tools.yaml:5: no intent that has an example emits the internal tool "wipe"`,
	}, got)

	delete(m.kinds, "look")
	require.True(t, strings.HasPrefix(findings(t, intents, examples, m)[0], `error described tools.yaml: tools.yaml declares tool "look"`))

	m.err = errors.New("gone")
	_, err := Skill(context.Background(), mustLoad(t), m)
	require.EqualError(t, err, "gone")
}

func mustLoad(t *testing.T) *skill.Skill {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "skill.yaml"), []byte("name: demo\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tools.yaml"), []byte("a: {description: A, keywords: [a]}\n"), 0o644))
	s, err := skill.Load(dir, skill.Options{})
	require.NoError(t, err)
	found, err := Skill(context.Background(), s, nil)
	require.NoError(t, err)
	require.Equal(t, []Finding{{CodeDescription, plan.SeverityWarning, "skill.yaml", 0, "the skill has no description: nobody can choose it"}}, found)
	return s
}

// The project's own skills have nothing to mend in their contracts.
func TestOwnSkills(t *testing.T) {
	dirs, err := filepath.Glob("../../skills/*/skill.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, dirs)
	for _, file := range dirs {
		s, err := skill.Load(filepath.Dir(file), skill.Options{})
		require.NoError(t, err)
		found, err := Skill(context.Background(), s, nil)
		require.NoError(t, err)
		require.Empty(t, found)
	}
}
