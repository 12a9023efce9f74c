package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/sandbox"
	"stepbox.dev/host/stage"
	"stepbox.dev/host/worker"
)

// engineCache holds what the tests of engines compile, once for all of them.
var engineCache = sync.OnceValues(func() (*worker.Cache, error) {
	dir, err := os.MkdirTemp("", "engines-")
	if err != nil {
		return nil, err
	}
	engineDir = dir
	return worker.OpenCache(filepath.Join(dir, "cache"))
})

// engineDir is removed by TestMain.
var engineDir string

// caller is the skill fixtures/caller: its steps run engines as told.
var caller = sync.OnceValues(func() (*worker.Module, error) {
	c, err := engineCache()
	if err != nil {
		return nil, err
	}
	wasm, err := buildGuest("fixtures", "./caller")
	if err != nil {
		return nil, err
	}
	return c.Module(context.Background(), wasm, nil)
})

// tiny returns the tiny engine, written in Go or in C.
func tiny(t testing.TB, language string) *worker.Module {
	t.Helper()
	build := tinyGo
	if language == "C" {
		if _, err := exec.LookPath("clang"); err != nil {
			t.Skip("no clang: apt-get install clang lld wasi-libc libclang-rt-dev-wasm32 brings it")
		}
		build = tinyC
	}
	m, err := build()
	require.NoError(t, err)
	return m
}

var tinyGo = sync.OnceValues(func() (*worker.Module, error) {
	out := filepath.Join(os.TempDir(), "stepbox-tiny-engine.wasm")
	defer os.Remove(out)
	return compileTiny(out, exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", out, "./engine"))
})

var tinyC = sync.OnceValues(func() (*worker.Module, error) {
	dir, err := os.MkdirTemp("", "tiny-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "engine.wasm")
	args := []string{"--target=wasm32-wasi", "-O1", "-s", "-o", out, "engine/c/engine.c"}
	// Debian keeps the builtins of several versions apart from their compiler.
	if rt, _ := filepath.Glob("/usr/lib/llvm-*/lib/clang/*/lib/wasi/libclang_rt.builtins-wasm32.a"); len(rt) > 0 {
		args = append(args, "-nodefaultlibs", "-lc", rt[0])
	}
	return compileTiny(out, exec.Command("clang", args...))
})

func compileTiny(out string, cmd *exec.Cmd) (*worker.Module, error) {
	cmd.Dir = filepath.Join("..", "..", "fixtures")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOTOOLCHAIN=local")
	if msg, err := cmd.CombinedOutput(); err != nil {
		return nil, errors.New(string(msg))
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	c, err := engineCache()
	if err != nil {
		return nil, err
	}
	return c.Engine(context.Background(), wasm, nil, nil)
}

// bench is a worker of the caller, with an engine that it may run.
type bench struct {
	place
	w    *worker.Worker
	told []abi.Progress
}

// newBench starts it. What o and e leave open is filled in.
func newBench(t testing.TB, e worker.Engine, o worker.Options) *bench {
	t.Helper()
	b := &bench{place: newPlace(t)}
	var err error
	o.Module, err = caller()
	require.NoError(t, err)
	o.Sandbox, o.Stage = b.sandbox, b.stage
	o.SkillFiles = map[string][]byte{"secret.txt": []byte("of the skill")}
	o.Progress = func(_ int, p abi.Progress) { b.told = append(b.told, p) }
	o.Engine = func(_ context.Context, name string) (*worker.Engine, error) {
		if name != "tiny" {
			return nil, &abi.Error{Code: abi.CodeUnavailable, Message: "nowhere"}
		}
		return &e, nil
	}
	b.w, err = worker.Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.w.Close()) })
	return b
}

// asked is what a call of the caller's says.
type asked struct {
	Runs []abi.EngineResult `json:"runs"`
	Read string             `json:"read"`
}

// call makes one call. args may hold write, text and read.
func (b *bench) call(ctx context.Context, mode abi.Mode, index int, r abi.EngineRequest, args map[string]any) (asked, error) {
	if r.Engine == "" {
		r.Engine = "tiny"
	}
	request, err := json.Marshal(r)
	if err != nil {
		return asked{}, err
	}
	all := map[string]any{"request": string(request)}
	for k, v := range args {
		all[k] = v
	}
	resp, err := b.w.Step(ctx, mode, abi.StepRequest{Tool: "run", Args: all, Ctx: abi.Context{Call: index}})
	if err != nil {
		return asked{}, err
	}
	var out asked
	return out, json.Unmarshal(resp.Result, &out)
}

// run runs one command line in call 0.
func (b *bench) run(t testing.TB, mode abi.Mode, argv ...string) abi.EngineResult {
	t.Helper()
	out, err := b.call(t.Context(), mode, 0, runs(1, argv), nil)
	require.NoError(t, err)
	return out.Runs[0]
}

func runs(jobs int, argvs ...[]string) abi.EngineRequest {
	r := abi.EngineRequest{Jobs: jobs}
	for _, a := range argvs {
		r.Runs = append(r.Runs, abi.EngineRun{Argv: append([]string{"tiny"}, a...)})
	}
	return r
}

// files are the names that the stage adds or changes, with their content. The
// worker is closed.
func (b *bench) files(t testing.TB) map[string]string {
	t.Helper()
	require.NoError(t, b.w.Close())
	log, err := os.ReadFile(filepath.Join(b.stage, "log"))
	require.NoError(t, err)
	tree, err := stage.Replay(log, stage.Options{Partial: true})
	require.NoError(t, err)
	all := map[string]string{}
	for _, n := range tree.Nodes() {
		if n.Kind == stage.File && !n.Dead && n.Blob != 0 {
			text, err := os.ReadFile(filepath.Join(b.stage, "b", stage.BlobName(n.Blob)))
			require.NoError(t, err)
			all[n.Path()] = string(text)
		} else if n.Kind == stage.Folder && !n.Dead && !n.HasOrigin {
			all[n.Path()+"/"] = ""
		}
	}
	return all
}

func bothLanguages(t *testing.T, f func(t *testing.T, engine *worker.Module)) {
	for _, language := range []string{"Go", "C"} {
		t.Run(language, func(t *testing.T) { f(t, tiny(t, language)) })
	}
}

// A step runs an engine as others run a subprocess.
func TestEngine(t *testing.T) {
	bothLanguages(t, func(t *testing.T, m *worker.Module) {
		b := newBench(t, worker.Engine{Module: m}, worker.Options{})
		require.Equal(t, abi.EngineResult{Stdout: "a  b * $HOME;\n"}, b.run(t, abi.ModeRead, "echo", "a ", "b", "*", "$HOME;"))
		require.Equal(t, 7, b.run(t, abi.ModeRead, "exit", "7").ExitCode)
		require.Equal(t, "", b.run(t, abi.ModeRead, "env").Stdout, "nothing of the host's environment")
		require.Equal(t, "old", b.run(t, abi.ModeRead, "cat", "old.txt").Stdout)
		require.Equal(t, "old", b.run(t, abi.ModeRead, "cat", "/old.txt").Stdout)
		require.NotContains(t, b.run(t, abi.ModeRead, "ls", "/").Stdout, "@")
		require.NotZero(t, b.run(t, abi.ModeRead, "cat", "/@skill/secret.txt").ExitCode, "the skill's files are not the engine's")

		out, err := b.call(t.Context(), abi.ModeRead, 0, abi.EngineRequest{Runs: []abi.EngineRun{
			{Argv: []string{"other name", "name"}}, {Argv: []string{"x", "cat"}, Stdin: []byte("stdin\x00")},
			{Argv: []string{"x", "env"}, Env: map[string]string{"TZ": "UTC"}},
		}}, nil)
		require.NoError(t, err)
		require.Equal(t, "other name\n", out.Runs[0].Stdout)
		require.Equal(t, "stdin\x00", out.Runs[1].Stdout)
		require.Equal(t, "TZ=UTC\n", out.Runs[2].Stdout)

		crash := b.run(t, abi.ModeRead, "crash")
		require.NotZero(t, crash.ExitCode)
		require.NotEmpty(t, crash.Stderr)
		require.NotZero(t, b.run(t, abi.ModeRead, "recurse").ExitCode)
		require.Equal(t, "still\n", b.run(t, abi.ModeRead, "echo", "still").Stdout, "the child survives a crash")
	})
}

// What the step wrote is there for the engine, and the reverse, in the view and
// in scratch.
func TestEngineCoherence(t *testing.T) {
	bothLanguages(t, func(t *testing.T, m *worker.Module) {
		b := newBench(t, worker.Engine{Module: m}, worker.Options{})
		for i, dir := range []string{"", "@tmp/"} {
			out, err := b.call(t.Context(), abi.ModeCreate, i, runs(1, []string{"cat", dir + "in"}, []string{"write", dir + "out", "from the engine"}),
				map[string]any{"write": dir + "in", "text": "from the step", "read": dir + "out"})
			require.NoError(t, err)
			require.Equal(t, "from the step", out.Runs[0].Stdout)
			require.Equal(t, "from the engine", out.Read)
		}
		out, err := b.call(t.Context(), abi.ModeRead, 2, runs(1, []string{"cat", "out"}, []string{"cat", "@tmp/out"}), nil)
		require.NoError(t, err)
		require.Equal(t, "from the engine", out.Runs[0].Stdout, "a later call sees it")
		require.NotZero(t, out.Runs[1].ExitCode, "scratch is of one call")
		require.Equal(t, map[string]string{"in": "from the step", "out": "from the engine"}, b.files(t))
	})
}

// A binary output goes to a file on the stage.
func TestEngineStdoutFile(t *testing.T) {
	b := newBench(t, worker.Engine{Module: tiny(t, "Go")}, worker.Options{})
	out, err := b.call(t.Context(), abi.ModeCreate, 0, abi.EngineRequest{Runs: []abi.EngineRun{
		{Argv: []string{"x", "cat"}, Stdin: []byte("\xff\x00\xfe"), StdoutFile: "bytes"},
		{Argv: []string{"x", "cat"}, Stdin: []byte("\xff")},
		{Argv: []string{"x", "echo"}, StdoutFile: "no/such/folder"},
	}}, nil)
	require.NoError(t, err)
	require.Equal(t, abi.EngineResult{}, out.Runs[0])
	require.Equal(t, "\uFFFD", out.Runs[1].Stdout)
	require.Equal(t, 1, out.Runs[2].ExitCode)
	require.Contains(t, out.Runs[2].Stderr, "no/such/folder")
	require.Equal(t, map[string]string{"bytes": "\xff\x00\xfe"}, b.files(t))
}

// Row 14: output is cut at the cap, and said so.
func TestEngineFlood(t *testing.T) {
	bothLanguages(t, func(t *testing.T, m *worker.Module) {
		b := newBench(t, worker.Engine{Module: m}, worker.Options{})
		r := b.run(t, abi.ModeRead, "flood", "50000000")
		require.Equal(t, 0, r.ExitCode)
		require.Len(t, r.Stdout, 1<<20)
		require.Len(t, r.Stderr, 64<<10)
		require.True(t, r.StdoutCut && r.StderrCut)
	})
}

func TestEngineProgress(t *testing.T) {
	bothLanguages(t, func(t *testing.T, m *worker.Module) {
		b := newBench(t, worker.Engine{Module: m}, worker.Options{})
		one := abi.EngineRun{Argv: []string{"x", "steps", "4", "50"},
			Progress: &abi.EngineProgress{Pattern: `step=(\d+)`, Total: 4, Label: "at work\x1b[2J"}}
		_, err := b.call(t.Context(), abi.ModeRead, 0, abi.EngineRequest{Runs: []abi.EngineRun{one}}, nil)
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(b.told), 3)
		last := b.told[len(b.told)-1]
		require.Equal(t, abi.Progress{Done: 4, Total: 4, Label: "at work[2J"}, last)

		b.told = nil
		_, err = b.call(t.Context(), abi.ModeRead, 0, abi.EngineRequest{Runs: []abi.EngineRun{one, one, one}, Jobs: 2}, nil)
		require.NoError(t, err)
		last = b.told[len(b.told)-1]
		require.Equal(t, [2]float64{12, 12}, [2]float64{last.Done, last.Total}, "several runs are told as one")
		for i := 1; i < len(b.told); i++ {
			require.GreaterOrEqual(t, b.told[i].Done, b.told[i-1].Done)
		}
	})
}

// What cannot be served is said before anything runs.
func TestEngineRefusals(t *testing.T) {
	b := newBench(t, worker.Engine{Module: tiny(t, "Go")}, worker.Options{})
	run := func(change func(*abi.EngineRun)) abi.EngineRequest {
		r := abi.EngineRun{Argv: []string{"x", "echo"}}
		change(&r)
		return abi.EngineRequest{Runs: []abi.EngineRun{r}}
	}
	for name, c := range map[string]struct {
		r    abi.EngineRequest
		code abi.Code
		want string
	}{
		"an unknown engine":  {abi.EngineRequest{Engine: "other", Runs: []abi.EngineRun{{Argv: []string{"x"}}}}, abi.CodeUnavailable, "nowhere"},
		"no program":         {abi.EngineRequest{Runs: []abi.EngineRun{{}}}, abi.CodeBadRequest, "the first is the program's name"},
		"a forbidden name":   {run(func(r *abi.EngineRun) { r.Env = map[string]string{"LD_PRELOAD": "x"} }), abi.CodeBadRequest, "LD_PRELOAD"},
		"NUL in an argument": {run(func(r *abi.EngineRun) { r.Argv[1] = "a\x00b" }), abi.CodeBadRequest, "NUL"},
		"NUL in a variable":  {run(func(r *abi.EngineRun) { r.Env = map[string]string{"TZ": "\x00"} }), abi.CodeBadRequest, "NUL"},
		"a long command":     {run(func(r *abi.EngineRun) { r.Argv[1] = strings.Repeat("x", 200_000) }), abi.CodeBadRequest, "at most 131072"},
		"too many runs":      {runs(1, make([][]string, 5000)...), abi.CodeBadRequest, "4096"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := b.call(t.Context(), abi.ModeRead, 0, c.r, nil)
			var e *abi.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.code, e.Code)
			require.ErrorContains(t, err, c.want)
		})
	}
	for name, pattern := range map[string]string{"no RE2": `(`, "no group": `x`, "a bomb": strings.Repeat("(x{1000}", 1000)} {
		t.Run(name, func(t *testing.T) {
			out, err := b.call(t.Context(), abi.ModeRead, 0, run(func(r *abi.EngineRun) { r.Progress = &abi.EngineProgress{Pattern: pattern} }), nil)
			require.NoError(t, err)
			require.Equal(t, 2, out.Runs[0].ExitCode)
			require.Contains(t, out.Runs[0].Stderr, "pattern")
		})
	}
	t.Run("an engine that is none", func(t *testing.T) {
		c, err := engineCache()
		require.NoError(t, err)
		_, err = c.Engine(t.Context(), good(), nil, nil)
		require.ErrorContains(t, err, "not part of the ABI", "an engine imports WASI alone")
		_, err = c.Engine(t.Context(), good(), []string{"threads"}, nil)
		require.ErrorContains(t, err, "threads")
	})
	t.Run("an engine that is no command", func(t *testing.T) {
		c, err := engineCache()
		require.NoError(t, err)
		m := &mod{}
		m.fn("run", ok)
		_, err = c.Engine(t.Context(), m.bytes(), nil, nil)
		require.Equal(t, fault.CheckFailed, fault.Of(err), "%v", err)
		require.ErrorContains(t, err, "exports no _start")
	})
	t.Run("a feature that the manifest does not name", func(t *testing.T) {
		c, err := engineCache()
		require.NoError(t, err)
		m := &mod{}
		// v128.const 0, drop
		m.fn("_start", []byte{0xfd, 12}, make([]byte, 16), drop, ok)
		_, err = c.Engine(t.Context(), m.bytes(), nil, nil)
		require.Equal(t, fault.CheckFailed, fault.Of(err), "%v", err)
		_, err = c.Engine(t.Context(), m.bytes(), []string{"simd"}, nil)
		require.NoError(t, err)
	})
}

// A job has the mode of its step.
func TestEngineModes(t *testing.T) {
	m := tiny(t, "Go")
	for name, c := range map[string]struct {
		mode abi.Mode
		argv []string
		want string
	}{
		"reading":               {abi.ModeRead, []string{"write", "new.txt", "x"}, `may not create "new.txt"`},
		"creating":              {abi.ModeCreate, []string{"write", "old.txt", "x"}, `may not write "old.txt"`},
		"creating and moving":   {abi.ModeCreate, []string{"mv", "old.txt", "x"}, `may not rename "old.txt"`},
		"a name of the view's":  {abi.ModeWrite, []string{"write", "@skill", "x"}, `may not open "@skill"`},
		"a link that leads out": {abi.ModeWrite, []string{"link", "../x", "l"}, `may not symlink "l"`},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, worker.Engine{Module: m}, worker.Options{})
			_, err := b.call(t.Context(), c.mode, 0, runs(1, c.argv), nil)
			require.Equal(t, fault.Stopped, fault.Of(err), "%v", err)
			require.ErrorContains(t, err, c.want)
			require.Empty(t, b.files(t))
			b.same(t)
		})
	}
	b := newBench(t, worker.Engine{Module: m}, worker.Options{})
	require.Equal(t, 0, b.run(t, abi.ModeWrite, "write", "old.txt", "new").ExitCode)
	require.Equal(t, map[string]string{"old.txt": "new"}, b.files(t))
	b.same(t)
}

// A job that fails leaves no half file; the others of its batch keep theirs.
func TestEngineFailedJob(t *testing.T) {
	bothLanguages(t, func(t *testing.T, m *worker.Module) {
		b := newBench(t, worker.Engine{Module: m}, worker.Options{})
		out, err := b.call(t.Context(), abi.ModeCreate, 0, runs(2,
			[]string{"mkdir", "d"}, []string{"half", "a"}, []string{"write", "b", "whole"}, []string{"halfcrash", "c"}), nil)
		require.NoError(t, err)
		require.NotZero(t, out.Runs[1].ExitCode)
		require.NotZero(t, out.Runs[3].ExitCode)
		out, err = b.call(t.Context(), abi.ModeCreate, 1, runs(1, []string{"half", "d/a"}, []string{"ls", "d"}, []string{"write", "a", "again"}), nil)
		require.NoError(t, err)
		require.Empty(t, out.Runs[1].Stdout)
		require.Equal(t, map[string]string{"b": "whole", "a": "again", "d/": ""}, b.files(t))
	})
}

// What was there before and a failed job changed cannot be given back: then
// nothing of the step is kept.
func TestEngineFailedChange(t *testing.T) {
	for name, argv := range map[string][]string{"of the sandbox": {"half", "old.txt"}, "of the step": {"half", "mine"}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, worker.Engine{Module: tiny(t, "Go")}, worker.Options{})
			_, err := b.call(t.Context(), abi.ModeWrite, 0, runs(1, argv), map[string]any{"write": "mine", "text": "mine"})
			require.Equal(t, fault.StepFailed, fault.Of(err), "%v", err)
			require.ErrorContains(t, err, "in the middle of changing")
			require.Empty(t, b.files(t))
			b.same(t)
		})
	}
}

// Of two jobs that write one name, the second is refused by name: whichever
// way they do it, and whether they run at once or not.
func TestEngineOneNameTwice(t *testing.T) {
	m := tiny(t, "Go")
	for name, c := range map[string][][]string{
		"one after the other": {{"write", "x", "1"}, {"write", "x", "2"}},
		"appending":           {{"write", "x", "1"}, {"append", "x", "2"}},
		"removing":            {{"write", "x", "1"}, {"rm", "x"}},
		"moving onto it":      {{"write", "x", "1"}, {"mv", "old.txt", "x"}},
		"what was there":      {{"write", "old.txt", "1"}, {"write", "old.txt", "2"}},
		"in scratch":          {{"write", "@tmp/x", "1"}, {"write", "@tmp/x", "2"}},
	} {
		for jobs := 1; jobs <= 2; jobs++ {
			t.Run(name, func(t *testing.T) {
				b := newBench(t, worker.Engine{Module: m}, worker.Options{})
				_, err := b.call(t.Context(), abi.ModeWrite, 0, runs(1, c...), nil)
				require.Equal(t, fault.Stopped, fault.Of(err), "%v", err)
				want := "x"
				if name == "what was there" {
					want = "old.txt"
				} else if name == "in scratch" {
					want = "@tmp/x"
				}
				if name != "moving onto it" {
					require.ErrorContains(t, err, `"`+want+`": another job of the same batch`)
				}
				require.Empty(t, b.files(t))
			})
		}
	}
	t.Run("at once", func(t *testing.T) {
		b := newBench(t, worker.Engine{Module: m}, worker.Options{})
		_, err := b.call(t.Context(), abi.ModeCreate, 0, runs(2, []string{"writesleep", "x", "300"}, []string{"writesleep", "x", "300"}), nil)
		require.ErrorContains(t, err, `"x": another job of the same batch`)
	})
	t.Run("in two batches", func(t *testing.T) {
		b := newBench(t, worker.Engine{Module: m}, worker.Options{})
		b.run(t, abi.ModeCreate, "write", "x", "1")
		_, err := b.call(t.Context(), abi.ModeCreate, 1, runs(1, []string{"write", "x", "2"}), nil)
		require.NoError(t, err)
		require.Equal(t, map[string]string{"x": "2"}, b.files(t))
	})
}

// Rows 8 and 9: an engine that does nothing any more is killed when its time
// to be silent is over, one that works may go on for ever.
func TestEngineSilence(t *testing.T) {
	for _, argv := range [][]string{{"spin"}, {"sleep", "3600000"}, {"halfspin", "half"}} {
		t.Run(argv[0], func(t *testing.T) {
			b := newBench(t, worker.Engine{Module: tiny(t, "Go"), Silence: deadline}, worker.Options{})
			b.run(t, abi.ModeRead, "echo") // loads it
			begin := time.Now()
			_, err := b.call(t.Context(), abi.ModeCreate, 0, runs(2, argv, argv), nil)
			took := time.Since(begin)
			require.Equal(t, fault.Timeout, fault.Of(err), "%v", err)
			require.ErrorContains(t, err, "no sign of life")
			require.Less(t, took, 2*deadline+grace)
			out, err := b.call(t.Context(), abi.ModeCreate, 1, runs(1, []string{"echo", "again"}), nil)
			require.NoError(t, err)
			require.Equal(t, "again\n", out.Runs[0].Stdout)
			require.Empty(t, b.files(t))
			hostWorks(t)
		})
	}
	t.Run("a start function", func(t *testing.T) {
		m := &mod{types: [][]byte{{0x60, 0, 0}}, fns: []fn{{0, cat([]byte{0}, forever, []byte{0x0b})}}, start: 1}
		m.fn("_start", ok)
		c, err := engineCache()
		require.NoError(t, err)
		e, err := c.Engine(t.Context(), m.bytes(), nil, nil)
		require.NoError(t, err)
		b := newBench(t, worker.Engine{Module: e, Silence: deadline}, worker.Options{})
		_, err = b.call(t.Context(), abi.ModeRead, 0, runs(1, nil), nil)
		require.Equal(t, fault.Timeout, fault.Of(err), "%v", err)
	})
	t.Run("an engine that works", func(t *testing.T) {
		b := newBench(t, worker.Engine{Module: tiny(t, "Go"), Silence: 2 * deadline},
			worker.Options{Limits: worker.Limits{Step: 3 * deadline}})
		out, err := b.call(t.Context(), abi.ModeRead, 0, runs(1, []string{"steps", "25", "50"}), nil)
		require.NoError(t, err, "longer than both limits")
		require.Equal(t, 0, out.Runs[0].ExitCode)
	})
}

// Cancel and deadline kill every job within a moment, and leave nothing.
func TestEngineCancel(t *testing.T) {
	m := tiny(t, "Go")
	for name, end := range map[string]func(b *bench, ctx context.Context) context.Context{
		"cancelled": func(_ *bench, ctx context.Context) context.Context {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(deadline, cancel)
			return ctx
		},
		"out of time": func(_ *bench, ctx context.Context) context.Context {
			ctx, cancel := context.WithTimeout(ctx, deadline)
			context.AfterFunc(ctx, cancel)
			return ctx
		},
		"closed": func(b *bench, ctx context.Context) context.Context {
			time.AfterFunc(deadline, func() { _ = b.w.Close() })
			return ctx
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, worker.Engine{Module: m}, worker.Options{})
			_, err := b.call(t.Context(), abi.ModeRead, 0, runs(2, []string{"sleep", "100"}, []string{"sleep", "100"}), nil)
			require.NoError(t, err)
			begin := time.Now()
			_, err = b.call(end(b, t.Context()), abi.ModeCreate, 0, runs(2, []string{"halfspin", "a"}, []string{"writesleep", "b", "60000"}, []string{"spin"}), nil)
			took := time.Since(begin)
			kind := fault.Interrupted
			if name == "out of time" {
				kind = fault.Timeout
			}
			require.Equal(t, kind, fault.Of(err), "%v", err)
			require.Less(t, took, deadline+grace)
			require.Empty(t, b.files(t))
			b.same(t)
		})
	}
}

// One child an engine and job, kept for the run.
func TestEngineIsKept(t *testing.T) {
	b := newBench(t, worker.Engine{Module: tiny(t, "Go")}, worker.Options{})
	before := children(t)
	b.run(t, abi.ModeRead, "echo")
	one := children(t)
	require.Len(t, one, len(before)+1)
	_, err := b.call(t.Context(), abi.ModeRead, 0, runs(2, []string{"sleep", "50"}, []string{"sleep", "50"}, []string{"echo"}), nil)
	require.NoError(t, err)
	two := children(t)
	require.Subset(t, two, one)
	require.LessOrEqual(t, len(two), len(before)+2)
	require.NoError(t, b.w.Close())
	for _, pid := range two {
		if _, running := before[pid]; !running {
			require.NotContains(t, children(t), pid)
		}
	}
}

// children are the processes of this one.
func children(t testing.TB) map[string]string {
	t.Helper()
	all := map[string]string{}
	lists, err := filepath.Glob("/proc/self/task/*/children")
	require.NoError(t, err)
	for _, l := range lists {
		b, err := os.ReadFile(l)
		if err != nil {
			continue // a thread that ended
		}
		for _, pid := range strings.Fields(string(b)) {
			all[pid] = pid
		}
	}
	return all
}

// Rows 10, 12, 13, 15: what an engine may use up is bounded, and it is told.
func TestEngineGreed(t *testing.T) {
	bothLanguages(t, func(t *testing.T, m *worker.Module) {
		o := worker.Options{Limits: worker.Limits{Quotas: sandbox.Quotas{Bytes: 8 << 20, Files: 100, Depth: 20, OpenFiles: 32}}}
		b := newBench(t, worker.Engine{Module: m, MemoryBytes: 128 << 20}, o)
		alloc := b.run(t, abi.ModeRead, "alloc")
		require.NotZero(t, alloc.ExitCode)
		require.Contains(t, strings.ToLower(alloc.Stderr), "memory")
		for name, c := range map[string]struct {
			argv []string
			want string
		}{
			"open files":       {[]string{"opens", "old.txt"}, "32 files may be open"},
			"a sparse file":    {[]string{"sparse", "big", "100000000000"}, "bytes"},
			"many files":       {[]string{"many", ".", "1000"}, "at most 100 files"},
			"deep folders":     {[]string{"deep", "1000"}, "20 deep"},
			"scratch":          {[]string{"many", "@tmp", "1000"}, "100 scratch files"},
			"a sparse scratch": {[]string{"sparse", "@tmp/big", "100000000000"}, "bytes"},
		} {
			t.Run(name, func(t *testing.T) {
				b := newBench(t, worker.Engine{Module: m}, o)
				_, err := b.call(t.Context(), abi.ModeCreate, 0, runs(1, c.argv), nil)
				require.Equal(t, fault.Stopped, fault.Of(err), "%v", err)
				require.ErrorContains(t, err, c.want)
				require.Empty(t, b.files(t))
			})
		}
		hostWorks(t)
	})
}
