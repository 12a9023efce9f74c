package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"stepbox.dev/abi"
	"stepbox.dev/host/registry"
)

// faultsOf validates a plan and returns "code pointer" for each fault.
func faultsOf(t *testing.T, text string) (codes []string, invalid *InvalidError) {
	r := testRegistry(t)
	_, err := Validate(Normalize(draftOf(t, text), r, testPaths), r)
	if err == nil {
		return nil, nil
	}
	require.ErrorAs(t, err, &invalid)
	for _, d := range invalid.Diagnostics {
		require.Equal(t, SeverityError, d.Severity)
		codes = append(codes, d.Code+" "+d.Pointer)
	}
	return codes, invalid
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name, plan string
		want       []string
		message    string // one of the messages, with its suggestion
	}{
		{"no calls", `[]`, []string{"empty_plan /plan"}, "no calls"},
		{"unknown tool", `[{"tool":"lok","args":{}}]`, []string{"unknown_tool /plan/0/tool"}, `did you mean "look"?`},
		{"internal tool", `[{"tool":"inner","args":{}}]`, []string{"internal_tool /plan/0/tool"}, "internal"},
		{"missing", `[{"tool":"look","args":{}}]`, []string{"missing_arg /plan/0/args/input"}, `missing required args: "input"`},
		{"any of", `[{"tool":"make","args":{}}]`, []string{"any_of /plan/0/args"}, "at least one of: text, from"},
		{"unsupported", `[{"tool":"act","args":{"titel":1}}]`, []string{"unsupported_arg /plan/0/args/titel"}, `did you mean "title"?`},
		{"a name that needs escaping in a pointer", `[{"tool":"act","args":{"a/b~c":1}}]`, []string{"unsupported_arg /plan/0/args/a~1b~0c"}, ""},
		{"type", `[{"tool":"act","args":{"title":{}}}]`, []string{"type /plan/0/args/title"}, "must be a string, not an object"},
		{"type inside a list", `[{"tool":"act","args":{"path":["a",{}]}}]`, []string{"type /plan/0/args/path/1"}, ""},
		{"not whole", `[{"tool":"act","args":{"count":1.5}}]`, []string{"type /plan/0/args/count"}, "whole number"},
		{"too small", `[{"tool":"act","args":{"count":0}}]`, []string{"bounds /plan/0/args/count"}, "must be >= 1"},
		{"too large", `[{"tool":"act","args":{"count":11}}]`, []string{"bounds /plan/0/args/count"}, "must be <= 10"},
		{"too many elements", `[{"tool":"act","args":{"path":["1","2","3","4","5"]}}]`, []string{"bounds /plan/0/args/path"}, "at most 4"},
		{"enum", `[{"tool":"act","args":{"kind":"small_fil"}}]`, []string{"enum /plan/0/args/kind"}, `did you mean "small_file"?`},
		{"enum of a list", `[{"tool":"act","args":{"kinds":["image","song"]}}]`, []string{"enum /plan/0/args/kinds/1"}, "must be one of image, video"},
		{"size", `[{"tool":"act","args":{"size":"big"}}]`, []string{"type /plan/0/args/size"}, `such as "10MB"`},
		{"date without a zone", `[{"tool":"act","args":{"day":"2026-01-05T10:00:00"}}]`, []string{"type /plan/0/args/day"}, "zone"},
		{"duration", `[{"tool":"act","args":{"time":"soon"}}]`, []string{"type /plan/0/args/time"}, ""},
		{"pattern", `[{"tool":"act","args":{"level":"3dB; rm"}}]`, []string{"pattern /plan/0/args/level"}, `"level" cannot be "3dB; rm" (like -3dB)`},
		{"a line behind a pattern", `[{"tool":"act","args":{"level":"3dB\n"}}]`, []string{"pattern /plan/0/args/level"}, ""},
		{"more than is matched", `[{"tool":"act","args":{"level":"` + strings.Repeat("3", 40<<10) + `dB"}},{"tool":"act","args":{"level":"` + strings.Repeat("3", 40<<10) + `dB"}}]`, []string{"pattern /plan/1/args/level"}, "longer than 64 KiB together"},
		{"object", `[{"tool":"act","args":{"object":[]}}]`, []string{"type /plan/0/args/object"}, ""},
		{"empty path", `[{"tool":"act","args":{"path":""}}]`, []string{"text /plan/0/args/path/0"}, "empty path"},
		{"zero byte", `[{"tool":"act","args":{"title":"a\u0000b"}}]`, []string{"text /plan/0/args/title"}, "zero byte"},
		{"absolute path", `[{"tool":"act","args":{"dst":"/etc/cron.d/x"}}]`, []string{"path_outside /plan/0/args/dst"}, `--sandbox "/etc/cron.d" would allow it`},
		{"a name that looks like a variable", `[{"tool":"act","args":{"path":["$odd.txt"]}}]`, []string{"variable /plan/0/args/path/0"}, `the text itself is written "$$odd.txt"`},
		{"a path at the top", `[{"tool":"act","args":{"dst":"/etc"}}]`, []string{"path_outside /plan/0/args/dst"}, `--sandbox "/etc" would allow it`},
		{"the root", `[{"tool":"act","args":{"dst":"/"}}]`, []string{"path_outside /plan/0/args/dst"}, `with a --sandbox that holds it`},
		{"path that goes up", `[{"tool":"act","args":{"path":["a/../../../../b"]}}]`, []string{"path_outside /plan/0/args/path/0"}, ""},
		{"path that goes up from a name", `[{"tool":"act","args":{"path":["inbox/todo.txt/.."],"dst":"a/b/../c"}}]`, []string{"text /plan/0/args/path/0", "text /plan/0/args/dst"}, `goes up with ".." behind a name`},
		{"path that goes up from a name, from the root", `[{"tool":"act","args":{"dst":"/srv/box/../box/a"}}]`, []string{"path_outside /plan/0/args/dst"}, `write the path without ".." behind a name`},
		{"no path in a list", `[{"tool":"act","args":{"path":[]}}]`, []string{"bounds /plan/0/args/path"}, "empty list"},
		{"beyond 64 bits", `[{"tool":"act","args":{"count":99999999999999999999}}]`, []string{"bounds /plan/0/args/count"}, "at most 64 bits"},
		{"more bytes than there can be", `[{"tool":"act","args":{"size":"8388608TiB"}}]`, []string{"type /plan/0/args/size"}, `such as "10MB"`},
		{"home", `[{"tool":"act","args":{"path":"~/x"}}]`, []string{"path_outside /plan/0/args/path/0"}, ""},
		{"a drive", `[{"tool":"act","args":{"path":"C:\\x"}}]`, []string{"path_outside /plan/0/args/path/0"}, ""},
		{"output", `[{"tool":"look","args":{"input":"a"},"output":"$a.b"}]`, []string{"output /plan/0/output"}, "identifier"},
		{"output that is no name", `[{"tool":"look","args":{"input":"a"},"output":"$1"}]`, []string{"output /plan/0/output"}, ""},
		{"output twice", `[{"tool":"look","args":{"input":"a"},"output":"$v"},{"tool":"look","args":{"input":"a"},"output":"$v"}]`,
			[]string{"output /plan/1/output"}, "assigned twice"},
		{"undefined variable", `[{"tool":"look","args":{"input":"a"},"output":"$files"},{"tool":"look","args":{"input":"$fils"}}]`,
			[]string{"variable /plan/1/args/input"}, `before it is assigned (did you mean "$files"?)`},
		{"its own output", `[{"tool":"look","args":{"input":"$v"},"output":"$v"}]`, []string{"variable /plan/0/args/input"}, ""},
		{"forward reference in a list", `[{"tool":"act","args":{"path":["a","$v"]}},{"tool":"look","args":{"input":"a"},"output":"$v"}]`,
			[]string{"variable /plan/0/args/path/1"}, ""},
		{"reference inside an object", `[{"tool":"act","args":{"note":{"b":{"a":"$v"}}}}]`, []string{"variable /plan/0/args/note/b/a"}, ""},
		{"empty field", `[{"tool":"look","args":{"input":"a"},"output":"$v"},{"tool":"look","args":{"input":"$v..x"}}]`,
			[]string{"variable /plan/1/args/input"}, "empty field"},
		{"a dollar that stands for itself", `[{"tool":"act","args":{"title":"$$home"}}]`, nil, ""},
		{"a price is no variable", `[{"tool":"act","args":{"title":"$5.00"}}]`, nil, ""},
		{"all at once", `[{"tool":"nope","args":{"a":"$x"}},{"tool":"look","args":{"b":1}},{"tool":"act","args":{"count":99,"kind":"y"}}]`,
			[]string{
				"unknown_tool /plan/0/tool", "variable /plan/0/args/a", "missing_arg /plan/1/args/input", "unsupported_arg /plan/1/args/b",
				"bounds /plan/2/args/count", "enum /plan/2/args/kind",
			}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			codes, invalid := faultsOf(t, `{"plan":`+c.plan+`}`)
			require.Equal(t, c.want, codes)
			if c.message != "" {
				require.Contains(t, invalid.Error(), c.message)
			}
		})
	}
}

func TestValidateTakesOnlyWhatWasParsed(t *testing.T) {
	_, err := Validate(Draft{}, testRegistry(t))
	require.ErrorContains(t, err, "after it is parsed")
}

// A hostile expansion can hold what no JSON text could.
func TestValidateHostileValues(t *testing.T) {
	deep := any("x")
	for range MaxDepth + 2 {
		deep = []any{deep}
	}
	for name, v := range map[string]any{
		"channel": make(chan int), "not a number": json.Number("NaN"), "code as a number": json.Number(`1,"x":2`),
		"deep": deep, "invalid UTF-8": "a\xff", "nil map": map[string]any(nil),
	} {
		t.Run(name, func(t *testing.T) {
			r := testRegistry(t)
			d := Normalize(NewDraft([]abi.Call{{Tool: "act", Args: map[string]any{"note": v}}}), r, Paths{})
			_, err := Validate(d, r)
			if name == "nil map" {
				require.NoError(t, err)
				return
			}
			var invalid *InvalidError
			require.ErrorAs(t, err, &invalid)
			require.Len(t, invalid.Diagnostics, 1)
		})
	}
}

func TestValidateCaps(t *testing.T) {
	calls := make([]abi.Call, MaxCalls+1)
	for i := range calls {
		calls[i] = abi.Call{Tool: "nope"}
	}
	r := testRegistry(t)
	_, err := Validate(NewDraft(calls), r)
	require.ErrorContains(t, err, "at most 1000")
	_, err = Validate(NewDraft(calls[1:]), r)
	var invalid *InvalidError
	require.True(t, errors.As(err, &invalid))
	require.Len(t, invalid.Diagnostics, maxDiagnostics)
}

func TestProgram(t *testing.T) {
	r := testRegistry(t)
	valid := func(text string) Valid {
		v, err := Validate(Normalize(draftOf(t, text), r, Paths{}), r)
		require.NoError(t, err)
		return v
	}
	look := valid(`{"plan":[{"tool":"look","args":{"input":"a"}}]}`)
	act := valid(`{"plan":[{"tool":"act","args":{}}]}`)

	p, err := NewProgram(act, []abi.Call{{Tool: "inner"}, {Tool: "act"}}, []int{0, 0})
	require.NoError(t, err)
	require.Equal(t, []abi.Mode{abi.ModeRead, abi.ModeWrite}, []abi.Mode{p.Mode(0), p.Mode(1)})

	_, err = NewProgram(look, []abi.Call{{Tool: "inner"}, {Tool: "act"}}, []int{0, 0})
	require.ErrorContains(t, err, `/plan/1: "act" may write, but "look", which it is a part of, is declared to read only`)
	_, err = NewProgram(act, []abi.Call{{Tool: "act", Args: map[string]any{"path": []any{"../x"}}}}, []int{0})
	require.ErrorContains(t, err, "lies outside")
	for name, intents := range map[string][]int{"too few": {}, "out of range": {1}, "negative": {-1}} {
		_, err = NewProgram(act, []abi.Call{{Tool: "act"}}, intents)
		require.Error(t, err, name)
	}
	_, err = NewProgram(Valid{}, nil, nil)
	require.Error(t, err)
}

func TestOptimize(t *testing.T) {
	for _, c := range []struct{ name, calls, want string }{
		{"a look before an action goes", "look act", "act"},
		{"a look that is used stays", "look>a act<a", "look>a act<a"},
		{"looks that only a dropped look uses go too", "look>a look<a act", "act"},
		{"a look that a used look uses stays", "look>a look<a>b act<b", "look>a look<a>b act<b"},
		{"looks alone stay", "look look>a", "look look>a"},
		{"a look after the last action stays", "act look", "act look"},
		{"a look at what an action made is a check", "act>a look<a act", "act>a look<a act"},
		{"a check by way of another look", "act>a look<a>b look<b act", "act>a look<a>b look<b act"},
		{"a question stays", "wait_for_confirmation act", "wait_for_confirmation act"},
		{"a look before a question and an action goes", "look wait_for_confirmation act", "wait_for_confirmation act"},
		{"actions stay in order", "act>a look act act<a", "act>a act act<a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := programOf(t, c.calls)
			require.Equal(t, c.want, shorthand(Optimize(p)))
			require.Equal(t, c.want, shorthand(Optimize(Optimize(p))))
		})
	}
}

// programOf makes a program from a shorthand: tool, <variable it uses, >variable
// it sets.
func programOf(t *testing.T, text string) Program { return programWith(t, testRegistry(t), text) }

func programWith(t *testing.T, r *registry.Registry, text string) Program {
	p := Program{registry: r}
	for _, word := range strings.Fields(text) {
		var c abi.Call
		word, out, _ := strings.Cut(word, ">")
		if out != "" {
			c.Output = "$" + out
		}
		tool, in, _ := strings.Cut(word, "<")
		c.Tool, c.Args = tool, map[string]any{}
		if in != "" {
			c.Args["x"] = []any{"$" + in + ".paths"}
		}
		spec, ok := p.registry.Tool(tool)
		require.True(t, ok, tool)
		p.calls, p.intents, p.tools = append(p.calls, c), append(p.intents, 0), append(p.tools, spec)
	}
	return p
}

func shorthand(p Program) string {
	words := make([]string, len(p.calls))
	for i, c := range p.calls {
		words[i] = c.Tool
		if v, ok := c.Args["x"]; ok {
			words[i] += "<" + strings.TrimSuffix(fmt.Sprint(v)[2:], ".paths]")
		}
		if c.Output != "" {
			words[i] += ">" + c.Output[1:]
		}
	}
	return strings.Join(words, " ")
}
