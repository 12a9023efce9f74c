package worker_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/worker"
)

func TestMain(m *testing.M) {
	worker.RunIfAsked()
	os.Exit(m.Run())
}

// cacheDir is shared by the tests of this package: compiled code is expensive.
func openCache(t testing.TB) *worker.Cache {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	c, err := worker.OpenCache(dir)
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
	begin := time.Now()
	for range 20 {
		r, err := step(t.Context(), w)
		require.NoError(t, err)
		require.JSONEq(t, `{"n":1}`, string(r.Result))
	}
	t.Log("a step takes", time.Since(begin)/20)
}

func TestWalls(t *testing.T) {
	ws, err := worker.Walls(t.Context())
	require.NoError(t, err)
	for _, w := range ws {
		t.Logf("%+v", w)
	}
}
