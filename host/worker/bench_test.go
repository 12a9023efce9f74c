package worker_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/worker"
)

// filesWasm is the files skill, built once.
var filesWasm = sync.OnceValues(func() ([]byte, error) { return buildGuest(".", "./skills/files") })

// realGuest is the files skill, compiled.
func realGuest(b *testing.B) *worker.Module {
	b.Helper()
	wasm, err := filesWasm()
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
	wasm, err := filesWasm()
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
