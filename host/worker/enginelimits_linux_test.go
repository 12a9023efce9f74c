package worker_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/sandbox"
	"stepbox.dev/host/worker"
)

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
	t.Run("a stranger's that works", func(t *testing.T) {
		b := newBench(t, worker.Engine{Module: tiny(t, "Go"), Silence: 2 * deadline, Whole: true}, worker.Options{})
		b.run(t, abi.ModeRead, "echo")
		_, err := b.call(t.Context(), abi.ModeRead, 0, runs(1, []string{"steps", "1000", "50"}), nil)
		require.Equal(t, fault.Timeout, fault.Of(err), "%v", err)
		require.ErrorContains(t, err, "ran longer than")
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
