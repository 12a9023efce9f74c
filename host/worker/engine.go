package worker

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	wsys "github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/experimental/sysfs"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"stepbox.dev/abi"
	"stepbox.dev/host/sandbox"
)

// engine is a child that runs one WASI command, job after job, each in a fresh
// instance.
type engine struct {
	c        *child
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	view     *sandbox.View
	memory   pool
	told     time.Time // when the host last heard of the job
}

// newEngine compiles the module of an engine, or takes its code from the cache.
func newEngine(ctx context.Context, wasm []byte, cache wazero.CompilationCache, memory int64,
	f flavour) (wazero.Runtime, wazero.CompiledModule, error) {
	core, err := f.core()
	if err != nil {
		return nil, nil, err
	}
	r := wazero.NewRuntimeWithConfig(ctx, runtimeConfig(cache, core).WithMemoryLimitPages(uint32(memory>>16)))
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r); err != nil {
		return nil, nil, err
	}
	compiled, err := r.CompileModule(ctx, wasm)
	if err != nil {
		return nil, nil, err
	}
	if compiled.ExportedFunctions()["_start"] == nil {
		return nil, nil, errors.New("it is no WASI command: it exports no _start")
	}
	return r, compiled, nil
}

// engine is run for an engine.
func (c *child) engine() error {
	o, rules := c.openFiles()
	if err := confine(rules, c.setup.MissingWallsOK); err != nil {
		return writeFrame(c.conn, kindReady, ready{Fault: err.Error(), Wall: true})
	}
	ctx := context.Background()
	e := &engine{c: c}
	if err := e.load(ctx); err != nil {
		return writeFrame(c.conn, kindReady, ready{Fault: firstLine(err)})
	}
	var err error
	if e.view, err = sandbox.Open(o); err != nil {
		return writeFrame(c.conn, kindReady, noStage(err))
	}
	if err := writeFrame(c.conn, kindReady, ready{}); err != nil {
		return err
	}
	for {
		f, err := readFrame(c.in, maxSetup)
		if err != nil {
			return nil // the host is done with us
		}
		var j job
		if err := f.decode(&j); err != nil || f.kind != kindJob {
			return fmt.Errorf("frame %d instead of a job: %w", f.kind, err)
		}
		if err := e.job(ctx, j, f.body); err != nil {
			return err
		}
	}
}

func (e *engine) load(ctx context.Context) error {
	wasm, err := readCapped(filepath.Join(e.c.setup.Compiled, stubFile), maxCompiled)
	if err != nil {
		return err
	}
	cache, err := wazero.NewCompilationCacheWithDir(e.c.setup.Compiled)
	if err != nil {
		return err
	}
	e.runtime, e.compiled, err = newEngine(ctx, wasm, cache, e.c.setup.Limits.MemoryBytes, e.c.setup.Flavour)
	return err
}

// job runs one command line and sends how it ended.
func (e *engine) job(ctx context.Context, j job, stdin []byte) error {
	fs := e.view.Job(j.Call, j.Mode, sandbox.Keeper{Claim: e.claim, Alive: e.alive})
	out, errs := &captured{max: j.Stdout}, &captured{max: j.Stderr, end: true}
	stdout, stderr := &sink{e: e, to: out}, &sink{e: e, to: errs}
	done := jobDone{}
	if p, err := newProgress(e, j.Progress); err != nil {
		done.Exit = 2
		errs.add([]byte(err.Error() + "\n"))
	} else {
		stdout.lines, stderr.lines = p.lines(), p.lines()
		done.Exit = e.instance(ctx, j, fs, stdin, stdout, stderr)
	}
	done.Denials, done.DiskFull = fs.Denials(), fs.DiskFull()
	changed, err := fs.EndJob(done.Exit == 0 && len(done.Denials) == 0 && !done.DiskFull)
	if err != nil {
		done.Fault = err.Error()
	}
	done.Changed = changed
	done.Stdout, done.StdoutCut, done.StderrCut = len(out.buf), out.cut, errs.cut
	return writeFrame(e.c.conn, kindJobDone, done, out.buf, errs.buf)
}

// instance makes an instance, which runs the command, and returns its exit
// code. What goes wrong besides is told on its standard error.
func (e *engine) instance(ctx context.Context, j job, fs *sandbox.CallFS, stdin []byte, stdout, stderr *sink) int {
	if j.StdoutFile != "" {
		f, errno := fs.OpenFile(j.StdoutFile, wsys.O_WRONLY|wsys.O_CREAT|wsys.O_TRUNC, 0o600)
		if errno != 0 {
			stderr.to.add([]byte(fmt.Sprintf("open %q for the standard output: %s\n", j.StdoutFile, errno)))
			return 1
		}
		defer f.Close()
		stdout.file = f
	}
	cfg := wazero.NewModuleConfig().WithName("").WithArgs(j.Argv...).
		WithStdin(bytes.NewReader(stdin)).WithStdout(stdout).WithStderr(stderr).
		WithFSConfig(wazero.NewFSConfig().(sysfs.FSConfig).WithSysFSMount(fs, "/")).
		WithSysWalltime().WithSysNanotime().WithSysNanosleep().WithRandSource(rand.Reader)
	for name, value := range j.Env {
		cfg = cfg.WithEnv(name, value)
	}
	m, err := e.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, &e.memory), e.compiled, cfg)
	if m != nil {
		defer m.Close(ctx)
	}
	var exit *sys.ExitError
	switch {
	case errors.As(err, &exit):
		return int(exit.ExitCode())
	case err != nil:
		stderr.to.add([]byte("crashed: " + firstLine(err) + "\n"))
		return abi.ExitCrashed
	}
	return 0
}

// alive tells the host, now and then, that the engine is at work.
func (e *engine) alive() {
	if time.Since(e.told) < aliveEvery {
		return
	}
	e.told = time.Now()
	_ = writeFrame(e.c.conn, kindAlive, nil) // a host that is gone ends this process anyway
}

// aliveEvery is how often an engine that works says so.
const aliveEvery = 100 * time.Millisecond

// claim asks the host for something that a job is about to change.
func (e *engine) claim(what string) bool {
	if err := writeFrame(e.c.conn, kindClaim, claim{What: what}); err != nil {
		return false
	}
	f, err := readFrame(e.c.in, maxSetup)
	var answer claimed
	return err == nil && f.kind == kindAnswer && f.decode(&answer) == nil && answer.Yes
}

// sink takes one output stream of an engine.
type sink struct {
	e     *engine
	to    *captured
	file  wsys.File // instead of to
	lines *lines    // looks for progress; nil: nobody asked
}

func (s *sink) Write(b []byte) (int, error) {
	s.e.alive()
	s.lines.take(b)
	if s.file == nil {
		s.to.add(b)
		return len(b), nil
	}
	n, errno := s.file.Write(b)
	if errno != 0 {
		return n, errno
	}
	return n, nil
}

// captured keeps the first bytes of a stream, or the last.
type captured struct {
	buf []byte
	max int
	end bool
	cut bool
}

func (c *captured) add(b []byte) {
	if !c.end {
		room := min(len(b), c.max-len(c.buf))
		c.buf, c.cut = append(c.buf, b[:room]...), c.cut || room < len(b)
		return
	}
	if over := len(b) - c.max; over > 0 {
		b, c.cut = b[over:], true
	}
	if over := len(c.buf) + len(b) - c.max; over > 0 {
		c.buf, c.cut = append(c.buf[:0], c.buf[over:]...), true
	}
	c.buf = append(c.buf, b...)
}

// progress turns output lines into progress.
type progress struct {
	e     *engine
	match *regexp.Regexp
	ask   abi.EngineProgress
	shown time.Time
}

// maxPattern bounds a pattern: it is compiled.
const maxPattern = 1000

func newProgress(e *engine, ask *abi.EngineProgress) (*progress, error) {
	if ask == nil {
		return nil, nil
	}
	if len(ask.Pattern) > maxPattern {
		return nil, fmt.Errorf("the pattern for progress has more than %d bytes", maxPattern)
	}
	match, err := regexp.Compile(ask.Pattern)
	if err != nil {
		return nil, fmt.Errorf("the pattern for progress: %w", err)
	}
	if match.NumSubexp() < 1 {
		return nil, fmt.Errorf("the pattern for progress, %q, has no group: the first is the number", ask.Pattern)
	}
	return &progress{e: e, match: match, ask: *ask}, nil
}

func (p *progress) lines() *lines {
	if p == nil {
		return nil
	}
	return &lines{p: p}
}

func (p *progress) line(line []byte) {
	found := p.match.FindSubmatch(line)
	if found == nil {
		return
	}
	done, ok := number(found[1])
	pause := progressEvery
	if p.ask.Total > 0 && done >= p.ask.Total {
		pause = time.Millisecond // the end is worth telling
	}
	if !ok || time.Since(p.shown) < pause {
		return
	}
	p.shown = time.Now()
	// A host that is gone ends this process anyway.
	_ = writeFrame(p.e.c.conn, kindProgress, abi.Progress{Done: done, Total: p.ask.Total, Label: clip(p.ask.Label, 400)})
}

// lines cuts a stream into lines. Of a long one only the beginning is looked at.
type lines struct {
	p    *progress
	part []byte
}

func (l *lines) take(b []byte) {
	if l == nil {
		return
	}
	for len(b) > 0 {
		i := bytes.IndexAny(b, "\r\n")
		line := b
		if i >= 0 {
			line = b[:i]
		}
		l.part = append(l.part, line[:min(len(line), maxLine-len(l.part))]...)
		if i < 0 {
			return
		}
		if len(l.part) > 0 {
			l.p.line(l.part)
		}
		l.part, b = l.part[:0], b[i+1:]
	}
}

// number reads a finite number.
func number(b []byte) (float64, bool) {
	n, err := strconv.ParseFloat(string(bytes.TrimSpace(b)), 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}
