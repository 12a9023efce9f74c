package plan

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var testPaths = Paths{
	Sandbox: "/home/ann/work/box", Home: "/home/ann", Work: "/home/ann/work",
	Exists: func(p string) bool { return p == "inbox" || p == "." },
}

func TestNormalizeArguments(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{"alias", `{"where":["a"]}`, `{"path":["a"]}`},
		{"alias whose name is taken stays, for validation to report", `{"where":["a"],"path":["b"]}`, `{"where":["a"],"path":["b"]}`},
		{"null is absent", `{"title":null,"dst":"x"}`, `{"dst":"x"}`},
		{"scalar for a list", `{"path":"a"}`, `{"path":["a"]}`},
		{"number for a list of strings", `{"path":7}`, `{"path":["7"]}`},
		{"list of one for a scalar", `{"title":["a"]}`, `{"title":"a"}`},
		{"list of two for a scalar stays", `{"title":["a","b"]}`, `{"title":["a","b"]}`},
		{"number for a string", `{"title":1.50}`, `{"title":"1.50"}`},
		{"boolean for a string", `{"title":true}`, `{"title":"true"}`},
		{"string for a whole number", `{"count":" 3 "}`, `{"count":3}`},
		{"3.0 is whole", `{"count":3.0}`, `{"count":3}`},
		{"3e0 in a string is whole", `{"count":"3e0"}`, `{"count":3}`},
		{"3.5 is not", `{"count":"3.5"}`, `{"count":"3.5"}`},
		{"words are no number", `{"count":"three"}`, `{"count":"three"}`},
		{"hexadecimal is no number", `{"count":"0x3"}`, `{"count":"0x3"}`},
		{"infinity is no number", `{"title":"x","count":"Inf"}`, `{"title":"x","count":"Inf"}`},
		{"long whole numbers keep every digit", `{"count":9007199254740993}`, `{"count":9007199254740993}`},
		{"yes", `{"object":{},"keep":"Yes"}`, `{"object":{},"keep":true}`},
		{"0", `{"keep":0}`, `{"keep":false}`},
		{"maybe stays", `{"keep":"maybe"}`, `{"keep":"maybe"}`},
		{"enum synonym", `{"kind":"tiny"}`, `{"kind":"small_file"}`},
		{"enum case and separators", `{"kind":"Small File"}`, `{"kind":"small_file"}`},
		{"synonym in another case", `{"kind":"best"}`, `{"kind":"high quality"}`},
		{"enum in a list of one", `{"kind":["X"]}`, `{"kind":"x"}`},
		{"enum items", `{"kinds":"Photos"}`, `{"kinds":["image"]}`},
		{"unknown enum value stays", `{"kinds":["movie"]}`, `{"kinds":["movie"]}`},
		{"size", `{"size":"010 mb"}`, `{"size":"10MB"}`},
		{"size in words", `{"size":"1.50 gigabytes"}`, `{"size":"1.5GB"}`},
		{"bytes", `{"size":1024}`, `{"size":"1024"}`},
		{"binary size", `{"size":"5 MIB"}`, `{"size":"5MiB"}`},
		{"half a byte stays", `{"size":"0.5"}`, `{"size":"0.5"}`},
		{"negative size stays", `{"size":"-5MB"}`, `{"size":"-5MB"}`},
		{"date", `{"day":"2026/1/5"}`, `{"day":"2026-01-05"}`},
		{"date and time", `{"day":"2026-01-05 10:00:00z"}`, `{"day":"2026-01-05T10:00:00Z"}`},
		{"no such day stays", `{"day":"2026-02-30"}`, `{"day":"2026-02-30"}`},
		{"duration", `{"time":"90s"}`, `{"time":"1m30s"}`},
		{"duration in words", `{"time":"2 days 1 hour"}`, `{"time":"49h0m0s"}`},
		{"variables stay", `{"path":"$a.b","count":"$c","title":["$d"]}`, `{"path":"$a.b","count":"$c","title":"$d"}`},
		{"no variable comes of a path", `{"path":["./$v","./$w.x","./$$y","$$z/"]}`, `{"path":["$$v","$$w.x","$$$y","$$z"]}`},
		{"undeclared arguments stay", `{"note":{"a":[1,"2"]}}`, `{"note":{"a":[1,"2"]}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := testRegistry(t)
			d := Normalize(draftOf(t, `{"plan":[{"tool":"act","args":`+c.args+`}]}`), r, testPaths)
			want := draftOf(t, `{"plan":[{"tool":"act","args":`+c.want+`}]}`)
			require.Equal(t, want.Calls(), d.Calls())
			require.Equal(t, d.Calls(), Normalize(d, r, testPaths).Calls(), "not idempotent")
		})
	}
}

func TestNormalizeCalls(t *testing.T) {
	for _, c := range []struct{ name, plan, want string }{
		{"defaults come in canonical shape", `[{"tool":"ready","args":{}}]`,
			`[{"tool":"ready","args":{"keep":false,"kind":"small_file","path":["inbox"],"speed":2}}]`},
		{"defaults yield", `[{"tool":"ready","args":{"path":"a","keep":1,"kind":null,"speed":3}}]`,
			`[{"tool":"ready","args":{"keep":true,"kind":"small_file","path":["a"],"speed":3}}]`},
		{"absent args are none", `[{"tool":"inner"}]`, `[{"tool":"inner","args":{}}]`},
		{"input for inputs", `[{"tool":"look_all","args":{"input":"a"}}]`, `[{"tool":"look_all","args":{"inputs":["a"]}}]`},
		{"inputs for input", `[{"tool":"look","args":{"inputs":["a"]}}]`, `[{"tool":"look","args":{"input":"a"}}]`},
		{"several inputs for input stay", `[{"tool":"look","args":{"inputs":["a","b"]}}]`, `[{"tool":"look","args":{"inputs":["a","b"]}}]`},
		{"a variable is not wrapped", `[{"tool":"look","args":{"input":"a"},"output":"$v"},{"tool":"look_all","args":{"input":"$v.files"}}]`,
			`[{"tool":"look","args":{"input":"a"},"output":"$v"},{"tool":"look_all","args":{"inputs":"$v.files"}}]`},
		{"args.output moves to the call", `[{"tool":"look","args":{"input":"a","output":"$v"}}]`, `[{"tool":"look","args":{"input":"a"},"output":"$v"}]`},
		{"so it does where output is an argument and the variable new", `[{"tool":"make","args":{"text":"a","output":"$v"}}]`,
			`[{"tool":"make","args":{"text":"a"},"output":"$v"}]`},
		{"a variable that is set is a value", `[{"tool":"look","args":{"input":"a"},"output":"$v"},{"tool":"make","args":{"text":"a","output":"$v"}}]`,
			`[{"tool":"look","args":{"input":"a"},"output":"$v"},{"tool":"make","args":{"text":"a","output":"$v"}}]`},
		{"a path under output stays", `[{"tool":"make","args":{"text":"a","output":"./b/"}}]`, `[{"tool":"make","args":{"text":"a","output":"b/"}}]`},
		{"output without $", `[{"tool":"look","args":{"input":"a"},"output":"v"}]`, `[{"tool":"look","args":{"input":"a"},"output":"$v"}]`},
		{"unknown tools stay", `[{"tool":"nope","args":{"path":"a/"}}]`, `[{"tool":"nope","args":{"path":"a/"}}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := testRegistry(t)
			d := Normalize(draftOf(t, `{"plan":`+c.plan+`}`), r, Paths{})
			require.JSONEq(t, `{"plan":`+c.want+`}`, encoded(t, d.Calls()))
			require.Equal(t, d.Calls(), Normalize(d, r, Paths{}).Calls(), "not idempotent")
		})
	}
}

func TestNormalizeLeavesItsInputAlone(t *testing.T) {
	d := draftOf(t, `{"plan":[{"tool":"act","args":{"where":"a/","kinds":["photos","video"]}}]}`)
	before := encoded(t, d.Calls())
	Normalize(d, testRegistry(t), testPaths)
	require.Equal(t, before, encoded(t, d.Calls()))
}

func TestPaths(t *testing.T) {
	for _, c := range []struct{ name, input, want string }{
		{"plain", "inbox/a b.pdf", "inbox/a b.pdf"},
		{"the root", ".", "."},
		{"the root with a slash", "./", "."},
		{"dot slash", "./inbox", "inbox"},
		{"slash at the end", "inbox/", "inbox"},
		{"slashes in a row", "inbox//a", "inbox/a"},
		{"dots inside", "inbox/./a", "inbox/a"},
		{"up from a name", "inbox/todo.txt/..", "inbox/todo.txt/.."},
		{"up from a name, in between", "inbox/./a/../b", "inbox/./a/../b"},
		{"up from a name, by backslashes", `inbox\..\b`, "inbox/../b"},
		{"up from a name, from the working directory", "../work/../work/box/a", "../work/../work/box/a"},
		{"backslashes", `inbox\a`, "inbox/a"},
		{"absolute inside", "/home/ann/work/box/inbox/a", "inbox/a"},
		{"the sandbox itself", "/home/ann/work/box/", "."},
		{"absolute outside", "/etc/passwd", "/etc/passwd"},
		{"beside the sandbox, same beginning", "/home/ann/work/boxes/a", "/home/ann/work/boxes/a"},
		{"absolute that goes up and comes back", "/home/ann/work/box/../box/a", "/home/ann/work/box/../box/a"},
		{"home inside", "~/work/box/a", "a"},
		{"home outside", "~/other", "~/other"},
		{"a name that begins with a tilde", "~a", "~a"},
		{"as seen from the working directory", "box/inbox", "inbox"},
		{"the sandbox as seen from there", "box", "."},
		{"up and down again from there", "../work/box/a", "a"},
		{"up and away", "../x", "../x"},
		{"glob", "inbox/*.pdf", "inbox/*.pdf"},
		{"other scripts", "Рисунки/фото 1.jpg", "Рисунки/фото 1.jpg"},
		{"a leading dash", "-rf", "-rf"},
		{"a newline", "a\nb", "a\nb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testPaths.prepare()
			got := p.clean(c.input, "input")
			require.Equal(t, c.want, got)
			require.Equal(t, got, p.clean(got, "input"), "not idempotent")
			require.Equal(t, strings.HasPrefix(got, "../") || got == "~/other" || got[0] == '/', leadsOut(got))
		})
	}
	p := testPaths.prepare()
	require.Equal(t, "archive/", p.clean("./archive//", "output"), "an output keeps the slash that says folder")

	// With a folder of that name inside the sandbox, the person means that one.
	inside := testPaths
	inside.Exists = func(p string) bool { return p == "box" }
	p = inside.prepare()
	require.Equal(t, "box/inbox", p.clean("box/inbox", "input"))
}

// Both t/back\slash.tmp and t/back/slash.tmp may be there: read as a separator,
// the name of the one would delete the other.
func TestBackslashInNames(t *testing.T) {
	if filepath.Separator == '\\' {
		t.Skip("no name holds a backslash on this system")
	}
	paths := testPaths
	paths.Exists = func(p string) bool {
		return slices.Contains([]string{`t/back\slash.tmp`, "t/back/slash.tmp", `od\d`, "inbox/a"}, p)
	}
	p := paths.prepare()
	for input, want := range map[string]string{
		`t/back\slash.tmp`:                    `t/back\slash.tmp`,
		`./t//back\slash.tmp`:                 `t/back\slash.tmp`,
		`/home/ann/work/box/t/back\slash.tmp`: `t/back\slash.tmp`,
		`box/t/back\slash.tmp`:                `t/back\slash.tmp`,
		"t/back/slash.tmp":                    "t/back/slash.tmp",
		`t\back\slash.tmp`:                    "t/back/slash.tmp",
		`od\d/new.txt`:                        `od\d/new.txt`,
		`inbox\a`:                             "inbox/a",
		`..\x`:                                "../x",
		`C:\x`:                                "C:/x",
	} {
		got := p.clean(input, "output")
		require.Equal(t, want, got, input)
		require.Equal(t, got, p.clean(got, "output"), "not idempotent")
	}
}
