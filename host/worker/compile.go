package worker

import (
	"context"
	"runtime"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
)

// fillCache compiles wasm, and Extism's kernel with it, into dir.
func fillCache(dir string, wasm []byte) error {
	ctx := experimental.WithCompilationWorkers(context.Background(), runtime.GOMAXPROCS(0))
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return err
	}
	compiled, err := newPlugin(ctx, wasm, cache, MaxLimits.MemoryBytes, (&guest{}).functions())
	if err != nil {
		return err
	}
	return compiled.Close(ctx)
}
