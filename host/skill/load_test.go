package skill

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/fault"
	"stepbox.dev/internal/hometest"
)

const (
	minimal = "name: demo\n"
	tools   = "a:\n  description: A\n  optional_args: [x]\nb:\n  description: B\n"
)

// folder writes a skill's files and returns its folder.
func folder(t testing.TB, files map[string]string) string {
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

func TestLoad(t *testing.T) {
	dir := folder(t, map[string]string{
		"skill.yaml": `
name: demo
description: " A demonstration. "
version: 1.2.3-beta.1
status: stale
display: {title: Demo, tagline: "Try it.", category: tests}
safety: {unsafe_phrases: ["rm -rf"]}
arg_value_sets: {x: [low, high]}
data: {train: data/train.jsonl, eval: data/eval.jsonl}
limits: {memory_mb: 64, step_seconds: 5, output_mb: 10, files: 100}
engines: [{name: ffmpeg, digest: ` + strings.Repeat("a1", 32) + `}]
licence: MIT
wasm_features: [simd128]
recommended_model: some-model
skill_class: ignored
runtimes: {python: ignored}
dependencies: {a: [ignored]}
pipeline: ignored
`,
		"tools.yaml": tools,
		"prompt.yaml": `
system_header: "Plan."
examples:
  - request: do a
    output: {plan: [{tool: a, args: {x: 1.50}, output: $v}, {tool: b}]}
`,
		"SKILL.md":     "---\nname: demo\ndescription: D\n---\n\nDo this.\n",
		"lexicon.yaml": "verbs: {a: [do]}\n", "profiles/one.yaml": "p: 1\n", "notes/read me.txt": "text",
		"main.go": "package main\n", "main_test.go": "package main\n", "go.mod": "module x\n", "go.sum": "", ".hidden": "x", "_draft/x": "x",
		"testdata/big.txt": "x", ".git/config": "x", "internal/x.go": "package internal\n", "other.wasm": "\x00asm",
	})
	s, err := Load(dir, Options{})
	require.NoError(t, err)
	require.Equal(t, "demo", s.Name())
	require.Equal(t, "A demonstration.", s.Description())
	require.Equal(t, "1.2.3-beta.1", s.Version())
	require.True(t, s.Stale())
	require.Equal(t, []string{"Demo", "Try it.", "tests"}, []string{s.Title(), s.Tagline(), s.Category()})
	require.Equal(t, []string{"rm -rf"}, s.UnsafePhrases())
	require.Equal(t, Limits{64, 5, 10, 100}, s.Limits())
	require.Equal(t, []Engine{{"ffmpeg", strings.Repeat("a1", 32)}}, s.Engines())
	require.Equal(t, "data/train.jsonl", s.Data()["train"], "a data file may be absent")
	require.Equal(t, []string{"MIT", "some-model", "simd128"}, []string{s.Licence(), s.RecommendedModel(), s.WasmFeatures()[0]})
	require.Equal(t, "Do this.", s.Instructions())
	require.Equal(t, "verbs: {a: [do]}\n", string(s.Lexicon()))
	require.Equal(t, "Plan.", s.Prompt().Header)
	require.Equal(t, "[{a map[x:1.5] $v} {b map[] }]", fmt.Sprint(s.Prompt().Examples[0].Plan))
	a, _ := s.Registry().Tool("a")
	require.Equal(t, []string{"low", "high"}, a.Args["x"].Enum)
	require.True(t, s.Source())
	require.Equal(t, dir, s.Dir())
	var names []string
	for name := range s.Files() {
		names = append(names, name)
	}
	require.ElementsMatch(t, []string{"skill.yaml", "tools.yaml", "prompt.yaml", "SKILL.md", "lexicon.yaml", "profiles/one.yaml", "notes/read me.txt"}, names)
}

func TestLoadFaults(t *testing.T) {
	with := func(name, text string) map[string]string {
		files := map[string]string{"skill.yaml": minimal, "tools.yaml": tools}
		files[name] = text
		return files
	}
	manifest := func(more string) map[string]string { return with("skill.yaml", minimal+more+"\n") }
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"no manifest", map[string]string{"tools.yaml": tools}, "is no skill: it has no skill.yaml"},
		{"no tools", map[string]string{"skill.yaml": minimal}, `skill.yaml:1: the contract has no "tools.yaml"`},
		{"no name", with("skill.yaml", "version: 1.0.0\n"), "skill.yaml:1: the skill has no name"},
		{"name", with("skill.yaml", "name: ../x\n"), "must be lower case letters"},
		{"unknown key", manifest("verson: 1.0.0"), `skill.yaml:2: unknown field "verson"; did you mean "version"?`},
		{"version", manifest("version: ../1"), "must be three numbers"},
		{"status", manifest("status: actve"), `did you mean "active"?`},
		{"engine", manifest("kind: engine"), "an engine, not a skill"},
		{"limit of nothing", manifest("limits: {memory_mb: 0}"), "skill.yaml:2: limit memory_mb must be a whole number above 0"},
		{"negative limit", manifest("limits: {files: -1}"), "must be a whole number above 0"},
		{"fraction of a limit", manifest("limits: {files: 1.5}"), "must be a whole number above 0"},
		{"unknown limit", manifest("limits: {memory: 1}"), `unknown limit "memory"; did you mean`},
		{"module elsewhere", manifest("module: ../x.wasm"), "must name a .wasm file beside"},
		{"module that is missing", manifest("module: x.wasm"), `names the module "x.wasm", which is not there`},
		{"tools elsewhere", manifest("tools: ../tools.yaml"), "must name a file inside the skill"},
		{"data elsewhere", manifest("data: {train: /etc/passwd}"), "must name a file inside the skill"},
		{"prompt that is missing", manifest("prompt: p.yaml"), `prompt names "p.yaml", which is not there`},
		{"lexicon that is missing", manifest("lexicon: l.yaml"), `lexicon names "l.yaml", which is not there`},
		{"engine without digest", manifest("engines: [{name: x}]"), "needs the digest"},
		{"empty value set", manifest("arg_value_sets: {x: []}"), `gives "x" no values`},
		{"example without plan", with("prompt.yaml", "examples: [{request: x, output: {}}]"), "prompt.yaml:1: an example needs an output with a plan"},
		{"example with a typo", with("prompt.yaml", "examples: [{request: x, output: {plan: [{tol: a}]}}]"), `unknown field "tol"; did you mean "tool"?`},
		{"SKILL.md without front matter", with("SKILL.md", "# Demo\n"), "SKILL.md:1: must begin with front matter"},
		{"SKILL.md of another skill", with("SKILL.md", "---\nname: other\ndescription: D\n---\n"), `is not that of the skill, "demo"`},
		{"all files at once", map[string]string{"skill.yaml": "nme: x\n", "tools.yaml": "a:\n  description: A\n  x: 1\n"}, `tools.yaml:3: unknown field "x"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Load(folder(t, c.files), Options{})
			require.ErrorContains(t, err, c.want)
			require.Equal(t, fault.Usage, fault.Of(err))
		})
	}
	_, err := Load(filepath.Join(t.TempDir(), "nothing"), Options{})
	require.ErrorContains(t, err, "there is no skill at")
	dir := folder(t, map[string]string{"x.txt": ""})
	_, err = Load(filepath.Join(dir, "x.txt"), Options{})
	require.ErrorContains(t, err, "neither a folder nor a .wasm file")
}

// Nothing but regular files of the folder itself gets into a skill.
func TestHostileFolders(t *testing.T) {
	base := func() string { return folder(t, map[string]string{"skill.yaml": minimal, "tools.yaml": tools}) }
	for name, c := range map[string]struct {
		prepare func(dir string) error
		want    string
	}{
		"a link to the outside": {func(dir string) error { return os.Symlink("/etc/passwd", filepath.Join(dir, "x.txt")) }, "link or a device"},
		"a link inside":         {func(dir string) error { return os.Symlink("tools.yaml", filepath.Join(dir, "x.txt")) }, "link or a device"},
		"a linked folder":       {func(dir string) error { return os.Symlink("/etc", filepath.Join(dir, "x")) }, "link or a device"},
		"a FIFO":                {func(dir string) error { return hometest.FIFO(filepath.Join(dir, "x")) }, "link or a device"},
		"a FIFO as contract": {func(dir string) error {
			os.Remove(filepath.Join(dir, "tools.yaml"))
			return hometest.FIFO(filepath.Join(dir, "tools.yaml"))
		}, "link or a device"},
		"a linked contract": {func(dir string) error {
			os.Remove(filepath.Join(dir, "tools.yaml"))
			return os.Symlink("/etc/passwd", filepath.Join(dir, "tools.yaml"))
		}, "link or a device"},
		"a name that is no text": {func(dir string) error { return os.WriteFile(filepath.Join(dir, "x\xff"), nil, 0o644) }, "not valid UTF-8"},
		"too many files": {func(dir string) error {
			for i := range maxFiles {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o644); err != nil {
					return err
				}
			}
			return nil
		}, "more than 1000 files"},
		"a large file": {func(dir string) error {
			f, err := os.Create(filepath.Join(dir, "x"))
			if err == nil {
				err = f.Truncate(1 << 40)
			}
			return err
		}, "larger than 8 MiB"},
		"folders without end": {func(dir string) error {
			return os.MkdirAll(filepath.Join(dir, strings.Repeat("d/", 50)), 0o755)
		}, "nests deeper"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := base()
			require.NoError(t, c.prepare(dir))
			_, err := Load(dir, Options{})
			require.ErrorContains(t, err, c.want)
			require.Equal(t, fault.Usage, fault.Of(err))
		})
	}
}

func TestOverrides(t *testing.T) {
	dir := folder(t, map[string]string{
		"skill.yaml": minimal + "version: 1.0.0\nlimits: {files: 10, memory_mb: 64}\nsafety: {unsafe_phrases: [one, two]}\n",
		"tools.yaml": tools, "lexicon.yaml": "verbs: {a: [do, make], b: [be]}\n",
		"prompt.yaml": "system_header: Old\nexamples: [{request: x, output: {plan: [{tool: a}]}}]\n",
	})
	plain, err := Load(dir, Options{})
	require.NoError(t, err)
	first := folder(t, map[string]string{
		"skill.yaml":   "limits: {files: 20, memory_mb: null}\nsafety: {unsafe_phrases: [three]}\ndisabled_tools: [b]\n",
		"tools.yaml":   "a: {keywords: [extra], optional_args: [x, y]}\n",
		"lexicon.yaml": "verbs: {a: [act]}\n",
		"prompt.yaml":  "examples: []\n", "README.md": "why",
	})
	second := folder(t, map[string]string{"skill.yaml": "limits: {files: 30}\n", "lexicon.yaml": "verbs: {b: null}\n"})
	s, err := Load(dir, Options{Overrides: []string{first, second}})
	require.NoError(t, err)
	require.Equal(t, Limits{Files: 30}, s.Limits(), "mappings merge, null removes, the later layer wins")
	require.Equal(t, []string{"three"}, s.UnsafePhrases(), "lists are replaced")
	require.Empty(t, s.Prompt().Examples)
	require.Equal(t, "Old", s.Prompt().Header)
	require.YAMLEq(t, "verbs: {a: [act]}", string(s.Lexicon()))
	a, ok := s.Registry().Tool("a")
	require.True(t, ok)
	require.Equal(t, []string{"x", "y"}, a.ArgOrder)
	require.Equal(t, "A", a.Description)
	_, ok = s.Registry().Tool("b")
	require.False(t, ok)
	require.NotEqual(t, plain.Digest(), s.Digest())

	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"renaming":           {map[string]string{"skill.yaml": "name: other\n"}, "cannot rename"},
		"misspelt file":      {map[string]string{"tool.yaml": ""}, `which is no contract file; did you mean "tools.yaml"?`},
		"nothing":            {map[string]string{"README.md": ""}, "holds no contract file"},
		"fault in the layer": {map[string]string{"tools.yaml": "a:\n  optinal_args: [x]\n"}, "tools.yaml:2: unknown field"},
		"unknown tool":       {map[string]string{"skill.yaml": "disabled_tools: [c]\n"}, "disabled_tools names \"c\""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(dir, Options{Overrides: []string{folder(t, c.files)}})
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestDigest(t *testing.T) {
	digest := func(files map[string]string) string {
		files["skill.yaml"], files["tools.yaml"] = minimal, tools
		s, err := Load(folder(t, files), Options{})
		require.NoError(t, err)
		return s.Digest()
	}
	same := digest(map[string]string{"a": "bc"})
	require.Equal(t, same, digest(map[string]string{"a": "bc", "main.go": "package main"}), "source is the module's business")
	require.NotEqual(t, same, digest(map[string]string{"ab": "c"}))
	require.NotEqual(t, same, digest(map[string]string{"a": "bc", "d": ""}))
}
