package worker_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/worker"
)

func openCache(t testing.TB) *worker.Cache {
	t.Helper()
	c, err := worker.OpenCache(filepath.Join(t.TempDir(), "cache"))
	require.NoError(t, err)
	return c
}

func start(t testing.TB, wasm []byte, o worker.Options) *worker.Worker {
	t.Helper()
	m, err := openCache(t).Module(t.Context(), wasm, nil)
	require.NoError(t, err)
	o.Module = m
	w, err := worker.Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	return w
}

func step(ctx context.Context, w *worker.Worker) (abi.StepResponse, error) {
	return w.Step(ctx, abi.ModeRead, abi.StepRequest{Tool: "go", Args: map[string]any{}})
}

func TestGoodModule(t *testing.T) {
	w := start(t, good(), worker.Options{})
	d, err := w.Describe(t.Context())
	require.NoError(t, err)
	require.Equal(t, "hand/1", d.SDK)
	for range 3 {
		works(t, w)
	}
	_, ok, err := w.Summarize(t.Context(), abi.SummarizeRequest{Tool: "go"})
	require.NoError(t, err)
	require.False(t, ok, "an export that is not there is not an error")
	_, ok, err = w.Format(t.Context(), abi.FormatRequest{})
	require.NoError(t, err)
	require.False(t, ok)
	_, err = w.Expand(t.Context(), abi.ExpandRequest{Tool: "go"})
	require.ErrorContains(t, err, abi.ExportExpand)
	p, err := w.Preflight(t.Context(), abi.PreflightRequest{Tool: "go"})
	require.NoError(t, err)
	require.Empty(t, p.Problems)
}

// works checks that a worker of the good module does its work.
func works(t testing.TB, w *worker.Worker) {
	t.Helper()
	r, err := step(t.Context(), w)
	require.NoError(t, err)
	require.JSONEq(t, `{"n":1}`, string(r.Result))
}

// hostWorks checks that, after whatever a guest did, the host can still run a
// good module.
func hostWorks(t testing.TB) {
	t.Helper()
	works(t, start(t, good(), worker.Options{}))
}
