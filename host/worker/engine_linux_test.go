package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
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

		b.told = nil
		heavy, light := one, one
		heavy.Progress = &abi.EngineProgress{Pattern: `step=(\d+)`, Total: 4, Weight: 30}
		light.Progress = &abi.EngineProgress{Pattern: `step=(\d+)`, Total: 4, Weight: 10}
		_, err = b.call(t.Context(), abi.ModeRead, 0, abi.EngineRequest{Runs: []abi.EngineRun{heavy, light}, Before: 50, Whole: 100}, nil)
		require.NoError(t, err)
		first, last := b.told[0], b.told[len(b.told)-1]
		require.Greater(t, first.Done, 50.0, "a second request goes on where the first ended")
		require.Equal(t, [2]float64{90, 100}, [2]float64{last.Done, last.Total})
		_, err = b.call(t.Context(), abi.ModeRead, 0, abi.EngineRequest{Runs: []abi.EngineRun{heavy}, Before: 1e9, Whole: 100}, nil)
		require.NoError(t, err)
		require.Equal(t, 100.0, b.told[len(b.told)-1].Done)
	})
}
