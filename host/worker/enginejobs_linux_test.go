package worker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/worker"
)

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
