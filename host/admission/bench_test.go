package admission

import (
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// moduleFile reads the module that an environment variable names, gzipped or
// not. Such modules are too large, or not ours, to lie in the repository.
func moduleFile(tb testing.TB, variable string) []byte {
	tb.Helper()
	path := os.Getenv(variable)
	if path == "" {
		tb.Skipf("%s names no module", variable)
	}
	f, err := os.Open(path)
	require.NoError(tb, err)
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		r, err = gzip.NewReader(f)
		require.NoError(tb, err)
	}
	b, err := io.ReadAll(r)
	require.NoError(tb, err)
	return b
}

// An engine with tags, tail calls, SIMD and extended constants is well formed.
func TestEnginePasses(t *testing.T) {
	require.NoError(t, Check(moduleFile(t, "STEPBOX_ENGINE_WASM"), Engine))
}

// Scanning must be faster than anything that happens to a module later.
func BenchmarkScan(b *testing.B) {
	wasm := moduleFile(b, "STEPBOX_BENCH_WASM")
	b.SetBytes(int64(len(wasm)))
	for b.Loop() {
		if err := Check(wasm, Skill); err != nil {
			b.Fatal(err)
		}
	}
}
