package host_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host"
	"stepbox.dev/host/fault"
)

// parrot answers the bytes that its arguments hold.
const parrot = "./testdata/parrot"

// hostileHome is a sandbox beside a file that nobody may reach.
func hostileHome(t *testing.T) string {
	top := t.TempDir()
	dir := filepath.Join(top, "home")
	require.NoError(t, os.Mkdir(dir, 0o755))
	for name, text := range map[string]string{"a.txt": "a", "b.txt": "b", "$odd.txt": "odd", "$3.$2.$1": "dollars"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(top, "secret.txt"), []byte("secret"), 0o644))
	require.NoError(t, os.Symlink("../secret.txt", filepath.Join(dir, "out.txt")))
	return dir
}

// given is the text of a plan.
func given(t *testing.T, calls ...abi.Call) []byte {
	b, err := json.Marshal(map[string]any{"plan": calls})
	require.NoError(t, err)
	return b
}

// Rows 17 to 19 of the threat model, behind every wall at once: the guest's own
// bytes come out of a real module in a confined worker and go through the whole
// pipeline. Each must end as said, name the call, and leave the sandbox alone.
func TestHostileAnswersOfAModule(t *testing.T) {
	type m = map[string]any
	say := func(raw string) abi.Call { return abi.Call{Tool: "say", Args: m{"raw": raw}} }
	intent := func(tool, raw string) abi.Call { return abi.Call{Tool: tool, Args: m{"raw": raw}} }
	many := func(tool, raw string, n int) abi.Call {
		return abi.Call{Tool: tool, Args: m{"raw": raw, "times": n}}
	}
	let := func(c abi.Call, name string) abi.Call { c.Output = name; return c }
	scan := `{"tool":"say","args":{"raw":"{\"result\":1}"}}`

	for _, tc := range []struct {
		name  string
		calls []abi.Call
		kind  fault.Kind
		about []string
	}{
		// 17: what a step answers.
		{"no JSON", []abi.Call{say(`{"result":`)}, fault.StepFailed, []string{`"say" returned a broken answer`}},
		{"another type", []abi.Call{say(`{"result":1,"verified":"yes"}`)}, fault.StepFailed, []string{"verified"}},
		{"NaN", []abi.Call{say(`{"result":NaN}`)}, fault.StepFailed, []string{"JSON"}},
		{"one key twice", []abi.Call{say(`{"result":{"a":1,"a":2}}`)}, fault.StepFailed, []string{"twice"}},
		{"half a surrogate pair", []abi.Call{say(`{"result":"\ud800"}`)}, fault.StepFailed, []string{"surrogate"}},
		{"deep nesting", []abi.Call{say(`{"result":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`)}, fault.StepFailed, []string{"deep"}},
		{"nothing", []abi.Call{say(``)}, fault.StepFailed, []string{"say"}},
		{"a hundred megabytes", []abi.Call{many("say", strings.Repeat("x", 1<<10), 100<<10)}, fault.Stopped, []string{"bytes"}},
		{"it did not verify", []abi.Call{say(`{"result":1,"verified":false,"issues":["too short"]}`)}, fault.StepFailed, []string{"did not verify", "too short"}},

		// 18: a path that leads out, by way of a result.
		{"an absolute path", []abi.Call{let(say(`{"result":{"p":"/etc/passwd"}}`), "$x"), {Tool: "read", Args: m{"path": "$x.p"}}}, fault.Refused, []string{"call 2 (read)", "/etc/passwd"}},
		{"dots", []abi.Call{let(say(`{"result":{"p":"../secret.txt"}}`), "$x"), {Tool: "read", Args: m{"path": "$x.p"}}}, fault.Refused, []string{"../secret.txt"}},
		{"a list for a path", []abi.Call{let(say(`{"result":[["../secret.txt"]]}`), "$x"), {Tool: "read", Args: m{"path": "$x.0"}}}, fault.Refused, []string{"call 2 (read)"}},
		{"the view holds it alone", []abi.Call{let(say(`{"result":"../secret.txt"}`), "$x"), {Tool: "peek", Args: m{"where": "$x"}}}, fault.StepFailed, []string{"call 2 (peek)"}},
		{"the view holds an absolute one", []abi.Call{{Tool: "peek", Args: m{"where": "/proc/self/environ"}}}, fault.StepFailed, []string{"peek"}},
		{"a link that leads out", []abi.Call{{Tool: "read", Args: m{"path": "out.txt"}}}, fault.StepFailed, []string{"read"}},

		// 19: what an intent expands into.
		{"an unknown tool", []abi.Call{intent("change", `{"plan":[`+scan+`,{"tool":"format_disk"}]}`)}, fault.Refused, []string{`call 2 of what "change" expands to`, "no such tool"}},
		{"itself", []abi.Call{intent("change", `{"plan":[{"tool":"change","args":{"raw":%SELF%}}]}`)}, fault.Refused, []string{"nest deeper than 4"}},
		{"a hundred thousand calls", []abi.Call{many("change", scan, 100_000)}, fault.Refused, []string{"100000 calls"}},
		{"many calls of many calls", []abi.Call{many("change", `{"tool":"add","args":{"raw":"{\"tool\":\"say\",\"args\":{\"raw\":\"{\\\"result\\\":1}\"}}","times":900}}`, 900)}, fault.Refused, []string{"a program has at most"}},
		{"a forward reference", []abi.Call{intent("change", `{"plan":[{"tool":"read","args":{"path":"$late"}},{"tool":"say","args":{"raw":"1"},"output":"$late"}]}`)}, fault.Refused, []string{`call 1 of what "change"`, `"$late"`}},
		{"a destructive step under a safe intent", []abi.Call{intent("add", `{"plan":[`+scan+`,{"tool":"wipe","args":{"path":"a.txt"}}]}`)}, fault.Refused, []string{`call 2 of what "add"`, `"wipe"`, "may write"}},
		{"by way of another intent", []abi.Call{intent("look", `{"plan":[{"tool":"change","args":{"raw":"{}"}}]}`)}, fault.Refused, []string{`"change"`, "may write"}},
		{"a path outside", []abi.Call{intent("change", `{"plan":[{"tool":"wipe","args":{"path":"../secret.txt"}}]}`)}, fault.Refused, []string{`"wipe"`, "../secret.txt"}},
		{"a product over its source", []abi.Call{intent("change", `{"plan":[{"tool":"copy","args":{"path":"a.txt","output":"./a.txt"}}]}`)}, fault.Refused, []string{`call 1 of what "change"`, "overwrite"}},
		{"no plan at all", []abi.Call{intent("change", `{"plan":`)}, fault.StepFailed, []string{"change"}},
		{"no calls", []abi.Call{intent("change", `{"plan":[]}`)}, fault.Refused, []string{"no calls"}},
		{"one key twice in a plan", []abi.Call{intent("change", `{"plan":[],"plan":[`+scan+`]}`)}, fault.StepFailed, []string{"twice"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h, dir := open(t), hostileHome(t)
			before := tree(t, filepath.Dir(dir))
			_, err := h.Run(t.Context(), host.Request{Skill: parrot, Sandbox: dir, Plan: given(t, tc.calls...), Yes: true}, nil, nil)
			require.Equal(t, tc.kind, fault.Of(err), "%v", err)
			for _, s := range tc.about {
				require.ErrorContains(t, err, s)
			}
			require.NotContains(t, err.Error(), "secret\n")
			require.Equal(t, before, tree(t, filepath.Dir(dir)))
		})
	}
}

// A file whose name looks like a variable is a file at every stage: in the plan,
// at the gates, through an intent, in the guest, and when a result names it.
func TestNamesThatLookLikeVariables(t *testing.T) {
	type m = map[string]any
	for name, calls := range map[string][]abi.Call{
		"in the plan":        {{Tool: "copy", Args: m{"path": "$$odd.txt", "output": "$$copy.txt"}}},
		"through an intent":  {{Tool: "change", Args: m{"raw": `{"plan":[{"tool":"copy","args":{"path":"$$odd.txt","output":"$$copy.txt"}}]}`}}},
		"named by a result":  {{Tool: "say", Args: m{"raw": `{"result":"$odd.txt"}`}, Output: "$x"}, {Tool: "copy", Args: m{"path": "$x", "output": "$$copy.txt"}}},
		"found by its stem":  {{Tool: "copy", Args: m{"path": "$$odd", "output": "$$copy.txt"}}},
		"without being one":  {{Tool: "copy", Args: m{"path": "$3.$2.$1", "output": "$$copy.txt"}}},
		"the product's path": {{Tool: "copy", Args: m{"path": "a.txt", "output": "./$copy.txt"}}},
	} {
		t.Run(name, func(t *testing.T) {
			h, dir := open(t), hostileHome(t)
			_, err := h.Run(t.Context(), host.Request{Skill: parrot, Sandbox: dir, Plan: given(t, calls...), Yes: true}, nil, nil)
			require.NoError(t, err)
			require.FileExists(t, filepath.Join(dir, "$copy.txt"))
		})
	}
	t.Run("without the second dollar it is a variable that nobody set", func(t *testing.T) {
		h, dir := open(t), hostileHome(t)
		_, err := h.Run(t.Context(), host.Request{Skill: parrot, Sandbox: dir, Plan: given(t, abi.Call{Tool: "read", Args: m{"path": "$odd.txt"}})}, nil, nil)
		require.Equal(t, fault.Usage, fault.Of(err), "%v", err)
		require.ErrorContains(t, err, `"$$odd.txt"`)
	})
}
