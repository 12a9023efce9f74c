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
	wasm := large()
	b.SetBytes(int64(len(wasm)))
	for b.Loop() {
		if err := Check(wasm, Skill); err != nil {
			b.Fatal(err)
		}
	}
}

// large is a module of 32 MB: functions of the shape that compilers emit.
func large() []byte {
	body := join([]byte{1, 4, 0x7e}, rep(400, 0x20, 0, 0x41, 0x80, 0x02, 0x6a, 0x21, 1, 0x20, 1, 0x28, 2, 0x10, 0x02, 0x40, 0x20, 0, 0x0d, 0, 0x10, 5, 0x1a, 0x0b),
		[]byte{0x0b})
	one := append(leb(len(body)), body...)
	n := (32 << 20) / len(one)
	code := leb(n)
	for range n {
		code = append(code, one...)
	}
	return module(section(1, 1, 0x60, 0, 0), section(3, append(leb(n), make([]byte, n)...)...), section(10, code...))
}
