package plan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"stepbox.dev/abi"
)

func TestResolve(t *testing.T) {
	var v Variables
	require.NoError(t, v.Set("$a", []byte(`{"paths":["x","y"],"n":12345678901234567890,"deep":{"er":[{"k":"v"}]},"trap":"$b"}`)))
	require.NoError(t, v.Set("$b", []byte(`"secret"`)))
	for _, c := range []struct{ name, args, want, wrong string }{
		{"whole", `{"x":"$b"}`, `{"x":"secret"}`, ""},
		{"field", `{"x":"$a.paths"}`, `{"x":["x","y"]}`, ""},
		{"numbers lose nothing", `{"x":"$a.n"}`, `{"x":12345678901234567890}`, ""},
		{"element", `{"x":"$a.paths.1"}`, `{"x":"y"}`, ""},
		{"deep", `{"x":"$a.deep.er.0.k"}`, `{"x":"v"}`, ""},
		{"spliced into a list", `{"x":["w","$a.paths","z"]}`, `{"x":["w","x","y","z"]}`, ""},
		{"a list in a list that no variable brought stays", `{"x":[["$b"]]}`, `{"x":[["secret"]]}`, ""},
		{"in an object", `{"x":{"y":{"z":"$b"}}}`, `{"x":{"y":{"z":"secret"}}}`, ""},
		{"whole values only", `{"x":"pre $b","y":"$b-post","z":"${b}"}`, `{"x":"pre $b","y":"$b-post","z":"${b}"}`, ""},
		{"what a result holds is never resolved", `{"x":"$a.trap"}`, `{"x":"$b"}`, ""},
		{"two dollars stand for one", `{"x":"$$b","y":["$$$"]}`, `{"x":"$b","y":["$$"]}`, ""},
		{"not set", `{"x":"$c"}`, "", `"$c" has no value yet`},
		{"no such field", `{"x":"$a.path"}`, "", `did you mean "paths"?`},
		{"no such element", `{"x":"$a.paths.2"}`, "", `no element "2"`},
		{"no such index", `{"x":"$a.paths.-1"}`, "", `no element "-1"`},
		{"field of a string", `{"x":"$b.y"}`, "", "a string has no fields"},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := draftOf(t, `{"plan":[{"tool":"t","args":`+c.args+`}]}`).Calls()[0].Args
			got, err := v.Resolve(args)
			if c.wrong != "" {
				require.ErrorContains(t, err, c.wrong)
				return
			}
			require.NoError(t, err)
			require.Equal(t, draftOf(t, `{"plan":[{"tool":"t","args":`+c.want+`}]}`).Calls()[0].Args, got)
		})
	}
}

func TestSetRefusesHostileResults(t *testing.T) {
	for name, result := range map[string]string{
		"nothing": ``, "not JSON": `{`, "two values": `1 2`, "duplicate keys": `{"a":1,"a":2}`, "NaN": `NaN`,
		"half a surrogate pair": `"\ud800"`, "invalid UTF-8": "\"\xff\"", "deep": strings.Repeat("[", 100) + strings.Repeat("]", 100),
	} {
		t.Run(name, func(t *testing.T) {
			var v Variables
			require.Error(t, v.Set("$a", []byte(result)))
		})
	}
	var v Variables
	for _, name := range []string{"", "a", "$", "$a.b", "$1"} {
		require.Error(t, v.Set(name, []byte(`1`)), name)
	}
}

// A result that is used over and over must not fill the memory.
func TestResolveIsBounded(t *testing.T) {
	var v Variables
	require.NoError(t, v.Set("$a", []byte(`"`+strings.Repeat("x", 1<<20)+`"`)))
	list := make([]any, 100)
	for i := range list {
		list[i] = "$a"
	}
	_, err := v.Resolve(map[string]any{"x": list})
	require.ErrorContains(t, err, "MiB")
}

func TestLiteral(t *testing.T) {
	var v Variables
	for _, s := range []string{"", "a", "$", "$5", "$a", "$RECYCLE.BIN", "$$", "$$a", "$$$a"} {
		out, err := v.Resolve(map[string]any{"x": Literal(s)})
		require.NoError(t, err)
		require.Equal(t, s, out["x"])
		require.Equal(t, s, Meant(Literal(s)))
	}
}

func TestUsesVariables(t *testing.T) {
	call := func(v any) abi.Call { return abi.Call{Args: map[string]any{"x": v}} }
	require.True(t, UsesVariables(call("$a")))
	require.True(t, UsesVariables(call([]any{map[string]any{"y": "$a.b"}})))
	require.False(t, UsesVariables(call([]any{"a", "$$b", "$1", "$"})))
}

// FuzzResolve: whatever the argument's text, resolving it neither panics nor
// brings in anything but the variables' values.
func FuzzResolve(f *testing.F) {
	for _, s := range []string{"$a", "$a.b.0", "$$a", "$a.", "$a..b", "$", "$é", "$a.b.99"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var v Variables
		require.NoError(t, v.Set("$a", []byte(`{"b":["one"]}`)))
		out, err := v.Resolve(map[string]any{"x": s})
		name, _, ref := Reference(s)
		switch {
		case err != nil:
			require.True(t, ref)
		case !ref:
			if strings.HasPrefix(s, "$$") {
				s = s[1:]
			}
			require.Equal(t, s, out["x"])
		default:
			require.Equal(t, "$a", name)
		}
	})
}
