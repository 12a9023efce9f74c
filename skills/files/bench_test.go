package main

import (
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
	"stepbox.dev/host/skill"
	"stepbox.dev/host/worker"
	"stepbox.dev/internal/hometest"
)

// One step of this skill in a fresh, isolated instance, round trip included,
// beside the same handler called natively. The target is 5 ms at p50.
func BenchmarkFreshStep(b *testing.B) {
	home := hometest.NewOdd(b).Dir
	look := abi.StepRequest{Tool: "scan_files", Args: args{"path": []string{"."}, "recursive": true, "show": "names"}}

	b.Run("natively", func(b *testing.B) {
		n := guest.Native{Dir: home, Now: now}
		p50(b, func() {
			_, err := n.Run(served, guest.Call{Tool: look.Tool, Args: look.Args})
			require.NoError(b, err)
		})
	})
	s, err := skill.Load(".", skill.Options{})
	require.NoError(b, err)
	wasm, err := s.Module(b.Context(), filepath.Join(cache, "built"), nil)
	require.NoError(b, err)
	c, err := worker.OpenCache(filepath.Join(cache, "compiled"))
	require.NoError(b, err)
	m, err := c.Module(b.Context(), wasm, nil)
	require.NoError(b, err)
	w, err := worker.Start(b.Context(), worker.Options{Module: m, Sandbox: home, Stage: b.TempDir()})
	require.NoError(b, err)
	defer w.Close()
	step := func(b *testing.B, mode abi.Mode, r abi.StepRequest) {
		_, err := w.Step(b.Context(), mode, r)
		require.NoError(b, err)
	}
	b.Run("looking", func(b *testing.B) {
		p50(b, func() { step(b, abi.ModeRead, look) })
	})
	made := 0 // calls of a run are numbered
	b.Run("making", func(b *testing.B) {
		p50(b, func() {
			made++
			step(b, abi.ModeCreate, abi.StepRequest{
				Tool: "make_folder", Args: args{"paths": []string{"made/" + strconv.Itoa(made)}}, Ctx: abi.Context{Call: made},
			})
		})
	})
}

// p50 runs f and reports the median besides the mean.
func p50(b *testing.B, f func()) {
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		f()
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
}
