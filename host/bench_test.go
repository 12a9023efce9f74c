package host_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host"
	"stepbox.dev/host/worker"
)

// BenchmarkBatch plans requests as plan --batch does, unexpanded: retrieval, the
// embedded planner, parse, normalize, gates and validate, over the fixture home
// and the requests of the files skill's own corpus. At least 5,000 a second on
// one core.
func BenchmarkBatch(b *testing.B) {
	f, err := os.Open(files + "/data/eval.jsonl")
	require.NoError(b, err)
	defer f.Close()
	var requests []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var row struct{ Utterance string }
		require.NoError(b, json.Unmarshal(lines.Bytes(), &row))
		requests = append(requests, row.Utterance)
	}
	require.NotEmpty(b, requests)
	h, err := host.New(b.Context(), host.Options{State: b.TempDir(), Cache: cache})
	require.NoError(b, err)
	batch, err := h.Batch(b.Context(), host.Request{Skill: files, Sandbox: "../fixtures/home"}, false, nil)
	require.NoError(b, err)
	defer batch.Close()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		batch.Plan(b.Context(), requests[i%len(requests)]) // questions and refusals are answers
		i++
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

// BenchmarkExpandInGuest expands one intent of the files skill in its module, in
// a fresh instance, round trip included: at most 6 ms at the median.
func BenchmarkExpandInGuest(b *testing.B) {
	h, err := host.New(b.Context(), host.Options{State: b.TempDir(), Cache: cache})
	require.NoError(b, err)
	s, err := h.Skill(b.Context(), files)
	require.NoError(b, err)
	wasm, err := s.Module(b.Context(), filepath.Join(cache, "built"), nil)
	require.NoError(b, err)
	compiled, err := worker.OpenCache(filepath.Join(cache, "compiled"))
	require.NoError(b, err)
	m, err := compiled.Module(b.Context(), wasm, nil)
	require.NoError(b, err)
	w, err := worker.Start(b.Context(), worker.Options{Module: m})
	require.NoError(b, err)
	defer w.Close()
	ask := abi.ExpandRequest{Tool: "make_archive", Args: map[string]any{"items": []any{"logs"}, "output": "logs.zip"}}
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		r, err := w.Expand(b.Context(), ask)
		require.NoError(b, err)
		require.NotEmpty(b, r.Plan)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-p50")
}
