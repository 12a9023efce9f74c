package registry

import (
	"fmt"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
)

func parse(t *testing.T, text string) *Registry {
	r, err := Parse([]byte(text), Options{File: "tools.yaml"})
	require.NoError(t, err)
	return r
}

func TestParse(t *testing.T) {
	r := parse(t, `
filter: &filter
  path: {type: array, items: string, path_role: input, help: where to look}
  limit: {type: integer, min: 1}
find:
  description: Find files
  keywords: [find, "90", search]
  required_args: [query]
  optional_args: [limit, extra]
  any_of_args: [query, either]
  grounded_args: [query]
  arg_aliases: {where: path}
  defaults: {path: ["."], limit: 0x10}
  readonly: true
  arg_schemas:
    <<: *filter
    query: {type: string}
    by: {enum: [name, size], aliases: {length: size}}
  mock_args: {query: "{utterance_after:find}"}
remove:
  description: Remove files
  safety_category: destructive
  internal: true
  required_args: [path]
  arg_schemas: {<<: *filter, path: {type: string, path_role: output}}
`)
	require.Equal(t, []string{"find", "remove", Clarify, Reject, Done, Wait}, r.Names())
	find, ok := r.Tool("find")
	require.True(t, ok)
	require.Equal(t, []string{"query", "limit", "extra", "either", "by", "path"}, find.ArgOrder)
	require.Equal(t, []string{"find", "90", "search"}, find.Keywords)
	require.Equal(t, map[string]string{"where": "path"}, find.Aliases)
	require.Equal(t, "16", fmt.Sprint(find.Defaults["limit"]))
	require.Equal(t, []any{"."}, find.Defaults["path"])
	require.Equal(t, abi.ModeRead, find.Mode())
	require.Equal(t, 5, find.Line)
	require.True(t, find.Args["query"].Required)
	require.False(t, find.Args["path"].Required)
	require.Equal(t, abi.RoleInput, find.Args["path"].PathRole)
	require.Equal(t, "where to look", find.Args["path"].Help)
	require.Equal(t, 1.0, *find.Args["limit"].Min)
	require.Equal(t, abi.TypeEnum, find.Args["by"].Type)
	require.Equal(t, "size", find.Args["by"].Synonyms["length"])
	require.False(t, find.Args["extra"].Declared)

	remove, ok := r.Tool("remove")
	require.True(t, ok)
	require.Equal(t, abi.ModeWrite, remove.Mode())
	require.True(t, remove.Internal)
	require.Equal(t, abi.RoleOutput, remove.Args["path"].PathRole, "what stands nearer wins over what is merged")
	_, ok = r.Tool("filter")
	require.False(t, ok, "an anchor is no tool")
}

// Every fault says where it is and what was meant, and one hides no other.
func TestParseFaults(t *testing.T) {
	tool := func(body string) string { return "a:\n  description: A\n  " + body + "\n" }
	for _, c := range []struct{ name, text, want string }{
		{"not a mapping", "- a\n", "tools.yaml:1: must be a mapping from tool names to tools, not a list"},
		{"nothing", "", "tools.yaml:1: must be a mapping"},
		{"no YAML", "a:\n  b: [\n", "tools.yaml:"},
		{"tab", "a:\n\tb: 1\n", "tools.yaml:2: "},
		{"unknown field", tool("optinal_args: [x]"), "tools.yaml:3: unknown field \"optinal_args\"; did you mean \"optional_args\"?"},
		{"misspelt description", "a:\n  descripton: A\n", "tools.yaml:2: unknown field \"descripton\"; did you mean \"description\"?"},
		{"no description", "a:\n  keywords: [x]\n", "tools.yaml:1: tool \"a\" has no description"},
		{"empty description", "a:\n  description: ''\n", "tools.yaml:1: tool \"a\" has an empty description"},
		{"tool name", "a b:\n  description: A\n", "tools.yaml:1: tool name \"a b\" must be"},
		{"argument name", tool("required_args: [x/y]"), "argument name \"x/y\""},
		{"tool twice", "a:\n  description: A\na:\n  description: B\n", "tools.yaml:3: key \"a\" is already given on line 1"},
		{"list of a mapping", tool("keywords: {x: 1}"), "tools.yaml:3: keywords must be a list of strings, not a mapping"},
		{"element of a list", tool("keywords: [[x]]"), "keywords holds a list where a string belongs"},
		{"twice in a list", tool("required_args: [x, x]"), "required_args holds \"x\" twice"},
		{"flag", tool("readonly: 1"), "tools.yaml:3: readonly must be true or false, not a whole number"},
		{"safety", tool("safety_category: destructiv"), "must be safe or destructive; did you mean \"destructive\"?"},
		{"contradiction", tool("readonly: true\n  safety_category: destructive"), "cannot be readonly and destructive"},
		{"required and optional", tool("required_args: [x]\n  optional_args: [x]"), "both required and optional"},
		{"grounded", tool("required_args: [password]\n  grounded_args: [pasword]"), "names \"pasword\", which is no argument of \"a\"; did you mean \"password\"?"},
		{"alias to nowhere", tool("arg_aliases: {x: y}"), "sends \"x\" to \"y\", which is no argument"},
		{"alias of an argument", tool("optional_args: [x, y]\n  arg_aliases: {x: y}"), "is an argument of \"a\" itself"},
		{"default of nothing", tool("defaults: {x: 1}"), "defaults gives \"x\", which is no argument"},
		{"default null", tool("optional_args: [x]\n  defaults: {x: null}"), "gives \"x\" no value"},
		{"schema field", tool("arg_schemas: {x: {type: string, maximum: 1}}"), "unknown field \"maximum\""},
		{"schema type", tool("arg_schemas: {x: {type: strng}}"), "type \"strng\" must be one of"},
		{"schema without type", tool("arg_schemas: {x: {help: y}}"), "has a schema without a type"},
		{"schema that is none", tool("arg_schemas: {x: string}"), "the schema of \"x\" must be a mapping, not a string"},
		{"path role", tool("arg_schemas: {x: {type: string, path_role: in}}"), "path_role \"in\" must be one of input, output"},
		{"path role of a number", tool("arg_schemas: {x: {type: integer, path_role: input}}"), "must be a string or an array of strings"},
		{"enum without values", tool("arg_schemas: {x: {type: enum}}"), "is an enum without values"},
		{"values of a number", tool("arg_schemas: {x: {type: integer, enum: [1]}}"), "takes no enum"},
		{"alias of no value", tool("arg_schemas: {x: {enum: [low, high], aliases: {max: hihg}}}"), "stands for \"hihg\", which is no value of \"x\"; did you mean \"high\"?"},
		{"bounds", tool("arg_schemas: {x: {type: integer, min: 2, max: 1}}"), "min above its max"},
		{"bound of a string", tool("arg_schemas: {x: {type: string, min: 2}}"), "has no min and max"},
		{"bound that is no number", tool("arg_schemas: {x: {type: integer, min: low}}"), "min must be a number, not a string"},
		{"infinite bound", tool("arg_schemas: {x: {type: number, max: .inf}}"), "not a number that can be used"},
		{"pattern of a number", tool("arg_schemas: {x: {type: integer, pattern: '[0-9]+', help: y}}"), "which has no pattern"},
		{"pattern without words", tool("arg_schemas: {x: {type: string, pattern: '[0-9]+'}}"), "its help must say in words"},
		{"broken pattern", tool("arg_schemas: {x: {type: string, pattern: '(', help: y}}"), "is no RE2 expression"},
		{"pattern that closes the group around it", tool("arg_schemas: {x: {type: string, pattern: 'a)|(b', help: y}}"), "is no RE2 expression"},
		{"pattern of a million", tool("arg_schemas: {x: {type: string, pattern: '(a{1000}){1000}', help: y}}"), "is no RE2 expression"},
		{"pattern of many repeats", tool("arg_schemas: {x: {type: string, pattern: '" + strings.Repeat(".{1000}", 140) + "', help: y}}"), "more than 500 instructions"},
		{"pattern of many classes", tool("arg_schemas: {x: {type: string, pattern: '" + strings.Repeat(`\pL`, 300) + "', help: y}}"), "more than 500 instructions"},
		{"endless pattern", tool("arg_schemas: {x: {type: string, pattern: '" + strings.Repeat("a", maxPattern+1) + "', help: y}}"), "at most 1000"},
		{"items of no array", tool("arg_schemas: {x: {type: string, items: string}}"), "has no items"},
		{"custom tag", tool("keywords: !!binary aGk="), "is not used in contracts"},
		{"alias inside itself", "a: &x\n  description: A\n  defaults: *x\n", "stands inside itself"},
		{"second document", "a:\n  description: A\n---\nb: 1\n", "more than one YAML document"},
		{"merge of a list", "x: &x [1]\na:\n  description: A\n  <<: *x\n", "<< takes a mapping"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse([]byte(c.text), Options{File: "tools.yaml"})
			require.ErrorContains(t, err, c.want)
			require.Equal(t, fault.Usage, fault.Of(err))
		})
	}
	_, err := Parse([]byte("a:\n  description: A\n  keyword: [x]\n  readonly: yes\nb:\n  desription: B\n"), Options{File: "t.yaml"})
	require.Equal(t, 3, len(strings.Split(err.Error(), "\n")), err)
}

func TestKeywordsClaimedByMany(t *testing.T) {
	tools := func(n int) string {
		text := ""
		for i := range n {
			text += fmt.Sprintf("t%d:\n  description: T\n  keywords: [%s, own%d]\n", i, []string{"Word", "word"}[i%2], i)
		}
		return text
	}
	parse(t, tools(4))
	_, err := Parse([]byte(tools(6)), Options{File: "tools.yaml"})
	require.ErrorContains(t, err, `keyword "Word" is claimed by more than 4 tools (t0, t1, t2, t3, t4)`)
}

func TestCoreTools(t *testing.T) {
	r := parse(t, "clarify:\n  description: Ask\n  required_args: [question]\n  safety_category: destructive\n  internal: true\na:\n  description: A\n")
	require.Equal(t, []string{"a", Clarify, Reject, Done, Wait}, r.Names())
	for _, name := range r.Names()[1:] {
		tool, _ := r.Tool(name)
		require.True(t, tool.Core && tool.Readonly && !tool.Destructive && !tool.Internal, name)
	}
	ask, _ := r.Tool(Clarify)
	require.Equal(t, []string{"question", "candidates"}, ask.ArgOrder)
}

func TestValueSets(t *testing.T) {
	r, err := Parse([]byte(`
a:
  description: A
  optional_args: [quality, file_type, depth]
  arg_schemas:
    depth: {type: integer}
    formats: {type: array, items: string}
    position: {type: enum, enum: [own]}
b:
  description: B
  arg_schemas: {file_type: {type: array, items: enum, enum: [song]}}
`), Options{File: "tools.yaml", ValueSets: map[string][]string{
		"quality": {"low", "high"}, "formats": {"pdf"}, "position": {"set"}, "depth": {"1"},
	}})
	require.NoError(t, err)
	a, _ := r.Tool("a")
	require.Equal(t, []string{"low", "high"}, a.Args["quality"].Enum)
	require.Equal(t, abi.TypeEnum, a.Args["quality"].Type)
	require.Equal(t, abi.TypeEnum, a.Args["formats"].Items)
	require.Equal(t, []string{"own"}, a.Args["position"].Enum)
	require.Empty(t, a.Args["depth"].Enum)
	require.Len(t, a.Args["file_type"].Enum, 8)
	b, _ := r.Tool("b")
	require.Equal(t, []string{"song"}, b.Args["file_type"].Enum)
}

func TestDisabledTools(t *testing.T) {
	text := []byte("move:\n  description: A\ncopy:\n  description: B\n")
	r, err := Parse(text, Options{File: "tools.yaml", Disabled: []string{"move"}})
	require.NoError(t, err)
	require.Equal(t, "copy", r.Names()[0])
	_, err = Parse(text, Options{File: "tools.yaml", Disabled: []string{"mov"}})
	require.ErrorContains(t, err, `disabled_tools names "mov", which is no tool; did you mean "move"?`)
}

// FuzzParse: whatever the text, a registry or an error that says where.
func FuzzParse(f *testing.F) {
	f.Add("a:\n  description: A\n  arg_schemas: {x: {type: array, items: enum, enum: [a]}}\n")
	f.Add("x: &x {description: A, <<: *x}\n? [a]\n: b\n")
	f.Add("a: &a [*a, *a]\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse([]byte(text), Options{File: "f.yaml"})
		if err != nil {
			require.Contains(t, err.Error(), "f.yaml")
			return
		}
		for _, tool := range r.Tools() {
			require.Len(t, tool.Args, len(tool.ArgOrder))
		}
	})
}

// A stranger's contract is refused before anything that takes long is done with
// what it lists.
func TestListsHaveAnEnd(t *testing.T) {
	list := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "w%d, ", i)
		}
		return "[" + b.String() + "]"
	}
	mapping := func(n int, value string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "w%d: %s, ", i, value)
		}
		return "{" + b.String() + "}"
	}
	for name, c := range map[string]struct{ line, want string }{
		"keywords":      {"keywords: " + list(100_000), "keywords lists more than 500"},
		"required":      {"required_args: " + list(60_000), "required_args lists more than 100"},
		"optional":      {"optional_args: " + list(101), "optional_args lists more than 100"},
		"any of":        {"any_of_args: " + list(60_000), "any_of_args lists more than 100"},
		"grounded":      {"grounded_args: " + list(60_000), "grounded_args lists more than 100"},
		"schemas":       {"arg_schemas: " + mapping(40_000, "{}"), "arg_schemas holds more than 100"},
		"defaults":      {"defaults: " + mapping(60_000, "1"), "defaults holds more than 100"},
		"mock":          {"mock_args: " + mapping(60_000, "1"), "mock_args holds more than 100"},
		"other names":   {"arg_aliases: " + mapping(60_000, "x"), "arg_aliases holds more than 2000"},
		"values":        {"arg_schemas: {x: {type: enum, enum: " + list(100_000) + "}}", "enum lists more than 2000"},
		"values' names": {"arg_schemas: {x: {type: enum, enum: [a], aliases: " + mapping(60_000, "a") + "}}", "aliases holds more than 2000"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte("look:\n  description: x\n  "+c.line+"\n"), Options{File: "tools.yaml"})
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := Parse([]byte("look:\n  description: x\n  keywords: "+list(maxKeywords)+"\n  optional_args: "+list(maxArgs)+"\n"), Options{})
	require.NoError(t, err)
}

// A word that is none is compared with all known ones, which a stranger can list
// by the thousand, for as many words as anybody reads about. Without an end this
// takes minutes.
func TestHintsHaveAnEnd(t *testing.T) {
	var values, aliases strings.Builder
	for i := range maxValues {
		fmt.Fprintf(&values, "%062dv, ", i)
		fmt.Fprintf(&aliases, "k%060d: %062dw, ", i, i)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "look:\n  description: x\n  arg_schemas:\n    a: &a {enum: [%s], aliases: {%s}}\n", values.String(), aliases.String())
	for i := range 40 {
		fmt.Fprintf(&text, "    a%d: *a\n", i)
	}
	_, err := Parse([]byte(text.String()), Options{})
	require.ErrorContains(t, err, "more faults")
	hints := strings.Count(err.Error(), "did you mean")
	require.Positive(t, hints)
	require.LessOrEqual(t, hints, 30)
}

// What the patterns of a contract compile to is counted before it is made, for
// each and for all of them.
func TestPatternsHaveAnEnd(t *testing.T) {
	contract := func(tools int) []byte {
		var b strings.Builder
		for i := range tools {
			fmt.Fprintf(&b, "look%d:\n  description: x\n  arg_schemas: {x: {type: string, pattern: '[a-z]{400}', help: y}}\n", i)
		}
		return []byte(b.String())
	}
	_, err := Parse(contract(20), Options{})
	require.NoError(t, err)
	_, err = Parse(contract(1000), Options{})
	require.ErrorContains(t, err, "more than 20000 instructions together")

	for _, pattern := range []string{"a", "abc", "[a-c]+", "(a|bc)*d?", "(ab){3,5}", "x{7,}", "x{0,9}", `(?i)hello|[a-z]`, "(a{0,15}){0,15}", "a|", "^$"} {
		tree, err := syntax.Parse(pattern, syntax.Perl)
		require.NoError(t, err)
		size := instructions(tree)
		prog, err := syntax.Compile(tree.Simplify())
		require.NoError(t, err)
		require.InDelta(t, len(prog.Inst), size, 10+float64(size)/2, pattern)
	}
}
