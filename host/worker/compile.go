package worker

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"

	"stepbox.dev/host/fault"
)

// compile is the compile-only child: it writes into one folder and never
// makes an instance.
func (c *child) compile(wasm []byte) error {
	if err := confine(wallRules{write: []string{c.setup.Compiled}, files: maxCompiled}, c.setup.MissingWallsOK); err != nil {
		return writeFrame(c.conn, kindReady, ready{Fault: err.Error(), Wall: true})
	}
	var r ready
	if err := fillEntry(c.setup.Compiled, wasm, c.setup.Flavour); err != nil {
		r = ready{Fault: firstLine(err), DiskFull: fault.NoRoom(err)}
	}
	return writeFrame(c.conn, kindReady, r)
}

// stubFile is the module that a worker loads; see prepare.
const stubFile = "module.wasm"

// fillEntry compiles wasm, and for a skill Extism's kernel with it, into dir,
// as an entry of the cache without its sum.
func fillEntry(dir string, wasm []byte, f flavour) error {
	full, stub, err := prepare(wasm)
	if err != nil {
		return err
	}
	work := filepath.Join(dir, "full")
	theirs, err := compileInto(work, full, f)
	if err != nil {
		return err
	}
	ours, err := compileInto(dir, stub, f)
	if err != nil {
		return err
	}
	// Both hold the kernel; what differs is the module's own code.
	from, to := without(theirs, ours), without(ours, theirs)
	if len(from) != len(to) || len(from) > 1 {
		return errPrepared(append(theirs, ours...))
	}
	if len(from) == 1 {
		if err := os.Rename(filepath.Join(work, from[0]), filepath.Join(dir, to[0])); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(work); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, stubFile), stub, 0o600)
}

// compileInto compiles a module with dir as the runtime's cache, and returns
// the files this left there, below dir.
func compileInto(dir string, wasm []byte, f flavour) ([]string, error) {
	ctx := experimental.WithCompilationWorkers(context.Background(), runtime.GOMAXPROCS(0))
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, err
	}
	if f.Engine {
		err = compileEngine(ctx, wasm, cache, f)
	} else {
		err = compilePlugin(ctx, wasm, cache)
	}
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "wazero-*", "*"))
	for i, f := range files {
		if files[i], err = filepath.Rel(dir, f); err != nil {
			return nil, err
		}
	}
	return files, err
}

func compilePlugin(ctx context.Context, wasm []byte, cache wazero.CompilationCache) error {
	compiled, err := newPlugin(ctx, wasm, cache, MaxLimits.MemoryBytes, (&guest{}).functions())
	if err != nil {
		return err
	}
	return compiled.Close(ctx)
}

func compileEngine(ctx context.Context, wasm []byte, cache wazero.CompilationCache, f flavour) error {
	r, compiled, err := newEngine(ctx, wasm, cache, MaxLimits.MemoryBytes, f)
	if err != nil {
		return err
	}
	if err := compiled.Close(ctx); err != nil {
		return err
	}
	return r.Close(ctx)
}

func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}
