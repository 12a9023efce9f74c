package worker_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/worker"
)

// realGuest is a Go skill, from the file that STEPBOX_BENCH_WASM names.
func realGuest(b *testing.B) *worker.Module {
	path := os.Getenv("STEPBOX_BENCH_WASM")
	if path == "" {
		b.Skip("STEPBOX_BENCH_WASM names no module")
	}
	wasm, err := os.ReadFile(path)
	require.NoError(b, err)
	m, err := openCache(b).Module(b.Context(), wasm, nil)
	require.NoError(b, err)
	return m
}

// Start to the first answer of a Go guest, from a warm cache.
func BenchmarkColdWorker(b *testing.B) {
	m := realGuest(b)
	for b.Loop() {
		w, err := worker.Start(b.Context(), worker.Options{Module: m})
		require.NoError(b, err)
		_, err = w.Describe(b.Context())
		require.NoError(b, err)
		require.NoError(b, w.Close())
	}
}

// One call in a fresh instance of a Go guest, round trip included.
func BenchmarkFreshCall(b *testing.B) {
	m := realGuest(b)
	w, err := worker.Start(b.Context(), worker.Options{Module: m})
	require.NoError(b, err)
	defer w.Close()
	_, err = w.Describe(b.Context())
	require.NoError(b, err)
	for b.Loop() {
		_, err := w.Describe(b.Context())
		require.NoError(b, err)
	}
}

// The same of a module without a language runtime: the price of isolation.
func BenchmarkFreshCallBare(b *testing.B) {
	m, err := openCache(b).Module(b.Context(), good(), nil)
	require.NoError(b, err)
	w, err := worker.Start(b.Context(), worker.Options{Module: m})
	require.NoError(b, err)
	defer w.Close()
	for b.Loop() {
		_, err := step(b.Context(), w)
		require.NoError(b, err)
	}
}

// What a warm cache costs before a worker starts: digest and MAC.
func BenchmarkWarmCache(b *testing.B) {
	path := os.Getenv("STEPBOX_BENCH_WASM")
	if path == "" {
		b.Skip("STEPBOX_BENCH_WASM names no module")
	}
	wasm, err := os.ReadFile(path)
	require.NoError(b, err)
	c := openCache(b)
	_, err = c.Module(b.Context(), wasm, nil)
	require.NoError(b, err)
	b.SetBytes(int64(len(wasm)))
	for b.Loop() {
		_, err = c.Module(b.Context(), wasm, nil)
		require.NoError(b, err)
	}
}
