package host_test

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host"
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
