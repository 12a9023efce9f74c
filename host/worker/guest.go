package worker

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	extism "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/experimental/sysfs"
	"github.com/tetratelabs/wazero/sys"

	"stepbox.dev/abi"
	"stepbox.dev/host/sandbox"
)

// guest is a loaded module. Each call gets an instance of its own.
type guest struct {
	c        *child
	compiled *extism.CompiledPlugin
	view     *sandbox.View
	memory   pool
	now      *running // the call in progress
}

// running is one call.
type running struct {
	call
	shown time.Time
}

// runtimeConfig is how modules are compiled and run. Both kinds of child use
// it, or the compiled code would not be found. There is no interruption
// (WithCloseOnContextDone): it makes code ten times slower, and a process that
// can be killed does not need it.
func runtimeConfig(cache wazero.CompilationCache, core api.CoreFeatures) wazero.RuntimeConfig {
	return wazero.NewRuntimeConfigCompiler().
		WithCoreFeatures(core).
		WithCompilationCache(cache).
		WithDebugInfoEnabled(false) // DWARF is parsed by code that trusts it
}

// newPlugin compiles wasm, or takes its code from the cache.
func newPlugin(ctx context.Context, wasm []byte, cache wazero.CompilationCache, memory int64,
	fns []extism.HostFunction) (*extism.CompiledPlugin, error) {
	return extism.NewCompiledPlugin(ctx, extism.Manifest{
		Wasm: []extism.Wasm{extism.WasmData{Data: wasm}},
		// All three limits: a literal that leaves one out sets it to 0.
		Memory: &extism.ManifestMemory{MaxPages: uint32(memory >> 16), MaxHttpResponseBytes: 0, MaxVarBytes: 1 << 20},
		// No AllowedPaths: they would replace the view by one that links can
		// leave. No AllowedHosts, no Timeout.
	}, extism.PluginConfig{EnableWasi: true, RuntimeConfig: runtimeConfig(cache, api.CoreFeaturesV2)}, fns)
}

func load(ctx context.Context, c *child) (*guest, error) {
	wasm, err := readCapped(filepath.Join(c.setup.Compiled, stubFile), maxCompiled)
	if err != nil {
		return nil, err
	}
	extism.SetLogLevel(extism.LogLevelInfo)
	cache, err := wazero.NewCompilationCacheWithDir(c.setup.Compiled)
	if err != nil {
		return nil, err
	}
	g := &guest{c: c}
	g.compiled, err = newPlugin(ctx, wasm, cache, c.setup.Limits.MemoryBytes, g.functions())
	if err != nil {
		return nil, errors.New(firstLine(err))
	}
	return g, nil
}

// call runs one call and sends its result.
func (g *guest) call(ctx context.Context, cl call, input []byte) error {
	g.now = &running{call: cl}
	fs := g.view.Call(cl.Index, cl.Mode)
	out := &printer{c: g.c, left: g.c.setup.Limits.OutputBytes}
	r, output := g.instance(ctx, cl, fs, out, input)
	r.OutputCut = out.finish()
	r.Denials, r.DiskFull = fs.Denials(), fs.DiskFull()
	if max := g.c.setup.Limits.ResultBytes; int64(len(output)) > max {
		r.End, r.Size, output = endTooBig, int64(len(output)), nil
	}
	if !cl.Seals {
		if err := fs.End(); err != nil {
			return err
		}
		return writeFrame(g.c.conn, kindResult, r, output)
	}
	if err := writeFrame(g.c.conn, kindResult, r, output); err != nil {
		return err
	}
	f, err := readFrame(g.c.in, maxSetup)
	if err != nil {
		return err
	}
	var s seal
	if err := f.decode(&s); err != nil || f.kind != kindSeal {
		return fmt.Errorf("frame %d instead of a seal: %w", f.kind, err)
	}
	var answer sealed
	if s.Keep {
		if err := fs.Seal(); err != nil {
			answer.Fault = err.Error()
		}
	}
	if err := fs.End(); err != nil && answer.Fault == "" {
		answer.Fault = err.Error()
	}
	return writeFrame(g.c.conn, kindSealed, answer)
}

// instance makes an instance, calls it once and closes it.
func (g *guest) instance(ctx context.Context, cl call, fs *sandbox.CallFS, out *printer, input []byte) (r result, output []byte) {
	// Go collects garbage beside the program, and in a module nothing runs beside
	// it: a handler that never waits fills its memory. So collecting stops it
	// instead. Other languages ignore the variable.
	cfg := wazero.NewModuleConfig().WithEnv("GODEBUG", "gcstoptheworld=1").WithStdout(out).WithStderr(out).
		WithFSConfig(wazero.NewFSConfig().(sysfs.FSConfig).WithSysFSMount(fs, "/"))
	if cl.Real {
		cfg = cfg.WithSysWalltime().WithSysNanotime().WithSysNanosleep().WithRandSource(rand.Reader)
	}
	// Without these, wazero's own: a clock that ticks by itself, sleep that
	// returns at once, random numbers from a fixed seed. The same input then
	// gives the same output for ever.
	ctx = experimental.WithMemoryAllocator(ctx, &g.memory)
	p, err := g.compiled.Instance(ctx, extism.PluginInstanceConfig{ModuleConfig: cfg})
	if err != nil {
		return result{End: endCrash, Text: firstLine(err)}, nil
	}
	defer func() {
		if err := p.Close(ctx); err != nil && r.End == endOK {
			r, output = result{End: endCrash, Text: firstLine(err)}, nil
		}
	}()
	p.SetLogger(func(_ extism.LogLevel, message string) { out.line(message) })
	if !p.FunctionExists(cl.Export) {
		return result{End: endMissing}, nil
	}
	rc, output, err := p.CallWithContext(ctx, cl.Export, input)
	switch said := p.GetErrorWithContext(ctx); {
	case err != nil && err.Error() == said, err == nil && rc != 0:
		return result{End: endError, Text: clip(said, 64<<10)}, nil
	case err != nil:
		return result{End: endCrash, Text: firstLine(err)}, nil
	}
	return result{End: endOK}, output
}

// firstLine is what an error says, without a stack.
func firstLine(err error) string {
	var exit *sys.ExitError
	if errors.As(err, &exit) {
		return fmt.Sprintf("it ended with exit code %d", exit.ExitCode())
	}
	s, _, _ := strings.Cut(err.Error(), "\n")
	return clip(s, 1000)
}

// functions are the host functions of the ABI.
func (g *guest) functions() []extism.HostFunction {
	fn := func(name string, most uint64, f func(in []byte) (any, error)) extism.HostFunction {
		h := extism.NewHostFunctionWithStack(name, func(_ context.Context, p *extism.CurrentPlugin, stack []uint64) {
			out, err := g.served(p, stack[0], most, f)
			if err != nil {
				panic(fmt.Errorf("%s: %w", name, err)) // a trap of the guest's own making
			}
			stack[0] = out
		}, []extism.ValueType{extism.ValueTypePTR}, []extism.ValueType{extism.ValueTypePTR})
		h.SetNamespace(abi.HostNamespace)
		return h
	}
	return []extism.HostFunction{
		fn(abi.HostConfirm, maxAsk, g.confirm), fn(abi.HostProgress, maxAsk, g.progress),
		fn(abi.HostEngine, maxEngineAsk, g.engine),
	}
}

// How long the input of a host function may be. What goes to an engine may
// hold its standard input.
const (
	maxAsk       = 1 << 20
	maxEngineAsk = 16 << 20
)

func (g *guest) served(p *extism.CurrentPlugin, off, most uint64, f func([]byte) (any, error)) (uint64, error) {
	if n, err := p.Length(off); err != nil || n > most {
		return 0, fmt.Errorf("input of %d bytes: at most %d are taken", n, most)
	}
	in, err := p.ReadBytes(off)
	if err != nil {
		return 0, err
	}
	answer, err := f(in)
	if err != nil {
		return 0, err
	}
	b, err := json.Marshal(answer)
	if err != nil {
		return 0, err
	}
	return p.WriteBytes(b)
}

func (g *guest) confirm(in []byte) (any, error) {
	var r abi.ConfirmRequest
	if err := strictJSON(in, &r); err != nil {
		return nil, err
	}
	if !g.now.Real {
		return abi.ConfirmResponse{}, nil
	}
	r.Prompt, r.Preview = clip(r.Prompt, maxPrompt*4), clip(r.Preview, maxPreview)
	if err := writeFrame(g.c.conn, kindConfirm, r); err != nil {
		return nil, err
	}
	f, err := readFrame(g.c.in, maxSetup)
	if err != nil || f.kind != kindAnswer {
		return nil, fmt.Errorf("no answer from the host: frame %d, %w", f.kind, err)
	}
	var a abi.ConfirmResponse
	if err := strictJSON(f.body, &a); err != nil {
		return nil, err
	}
	return a, nil
}

func (g *guest) progress(in []byte) (any, error) {
	var p abi.Progress
	if err := strictJSON(in, &p); err != nil {
		return nil, err
	}
	if !g.now.Real {
		return struct{}{}, nil
	}
	done := p.Total > 0 && p.Done >= p.Total
	if since := time.Since(g.now.shown); since >= progressEvery || done && since >= time.Millisecond {
		g.now.shown = time.Now()
		p.Label = clip(p.Label, 400)
		if err := writeFrame(g.c.conn, kindProgress, p); err != nil {
			return nil, err
		}
	}
	return struct{}{}, nil
}

func (g *guest) engine(in []byte) (any, error) {
	switch most := g.c.setup.Limits.ResultBytes; {
	case !g.now.Real:
		return abi.EngineResponse{Error: &abi.Error{Code: abi.CodeDenied, Message: "only a step may run engines"}}, nil
	case int64(len(in)) > most:
		return abi.EngineResponse{Error: &abi.Error{Code: abi.CodeLimit,
			Message: fmt.Sprintf("a request for an engine may have at most %d bytes", most)}}, nil
	}
	if err := writeFrame(g.c.conn, kindEngine, nil, in); err != nil {
		return nil, err
	}
	f, err := readFrame(g.c.in, maxSetup)
	if err != nil || f.kind != kindAnswer {
		return nil, fmt.Errorf("no answer from the host: frame %d, %w", f.kind, err)
	}
	return json.RawMessage(f.body), nil
}
