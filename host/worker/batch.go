package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/sandbox"
)

// Engine is a WASI command that a skill's steps may run.
type Engine struct {
	Module *Module // by [Cache.Engine]
	// MemoryBytes bounds the linear memory of one run; 0 is the default of
	// [DefaultLimits].
	MemoryBytes int64
	// Silence is how long a run may do nothing: no output, no file. There is
	// no other limit on its time than the caller's. 0 is DefaultSilence.
	Silence time.Duration
}

// DefaultSilence is how long an engine may do nothing, unless it says else: a
// slow encoder works on one large frame for seconds.
const DefaultSilence = 2 * time.Minute

// engines are the children of one engine. They are kept for the run, and each
// runs one job at a time.
type engines struct {
	name   string
	engine *Engine
	w      *Worker
	mu     sync.Mutex
	idle   []*process
}

// get returns a child that has nothing to do, or starts one.
func (e *engines) get() (*process, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.idle) > 0 {
		p := e.idle[len(e.idle)-1]
		e.idle = e.idle[:len(e.idle)-1]
		if !p.gone() {
			return p, nil
		}
		p.kill()
	}
	limits := Limits{MemoryBytes: e.memory(), Step: MaxLimits.Step, ResultBytes: maxStdout + maxStderr, Quotas: e.w.o.Limits.Quotas}
	return start(e.w.done, roleEngine, e.engine.Module, setup{Limits: limits}, e.w.o, e.w.tmp)
}

func (e *engines) put(p *process) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.idle = append(e.idle, p)
}

func (e *engines) close() {
	for _, p := range e.idle {
		p.kill()
	}
	e.idle = nil
}

func (e *engines) memory() int64 {
	return within(e.engine.MemoryBytes, DefaultLimits.MemoryBytes, MaxLimits.MemoryBytes)
}

// Bounds of one request for an engine.
const (
	maxRuns   = 4096
	maxArgs   = 4096
	maxArgv   = 128 << 10 // bytes of one command line and its environment
	maxStdout = 1 << 20   // bytes kept of one run
	maxStderr = 64 << 10
	maxSaid   = 16 << 20 // bytes kept of all runs
)

// engine serves a step that runs an engine. The step's clock rests: an engine
// has one of its own.
func (s *session) engine(request []byte) error {
	s.clock.pause()
	defer s.clock.resume()
	response, err := s.runs(request)
	var told *abi.Error
	switch {
	case errors.As(err, &told):
		response = abi.EngineResponse{Error: told}
	case err != nil:
		s.broken = true
		s.p.kill()
		return err
	}
	body, err := json.Marshal(response)
	if err != nil {
		return fault.New(fault.Internal, "encode the answer of an engine: %w", err)
	}
	if err := s.p.send(kindAnswer, nil, body); err != nil {
		return s.died(err)
	}
	return nil
}

// runs does what a step asks of an engine. An *abi.Error is for the step.
func (s *session) runs(request []byte) (abi.EngineResponse, error) {
	var r abi.EngineRequest
	if err := strictJSON(request, &r); err != nil {
		return abi.EngineResponse{}, badRun("the request cannot be read: %s", clean(err.Error(), 200))
	}
	if err := checkRuns(&r); err != nil {
		return abi.EngineResponse{}, err
	}
	if !s.c.Real {
		return abi.EngineResponse{}, s.garbage(errors.New("an engine outside of a step"))
	}
	// Whatever ends the call, the worker or the step's own child ends all jobs.
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.w.done, func() { cancel(context.Cause(s.w.done)) })()
	go func() {
		select {
		case <-s.p.dead:
			cancel(errors.New("its step is gone"))
		case <-ctx.Done():
		}
	}()
	e, err := s.w.engine(ctx, r.Engine)
	if err != nil {
		return abi.EngineResponse{}, err
	}
	b := &batch{s: s, e: e, r: r, ctx: ctx, cancel: cancel, claims: map[string]int{}, results: make([]abi.EngineResult, len(r.Runs))}
	err = b.run(min(max(r.Jobs, 1), len(r.Runs), runtime.GOMAXPROCS(0)))
	s.denials = append(s.denials, b.denials...)
	return abi.EngineResponse{Runs: b.results}, err
}

// engine finds an engine once for the worker's life.
func (w *Worker) engine(ctx context.Context, name string) (*engines, error) {
	if e := w.engines[name]; e != nil {
		return e, nil
	}
	if w.o.Engine == nil {
		return nil, &abi.Error{Code: abi.CodeUnavailable, Message: fmt.Sprintf("engine %q is not there", clean(name, 80))}
	}
	found, err := w.o.Engine(ctx, name)
	if err != nil {
		return nil, err
	}
	if w.engines == nil {
		w.engines = map[string]*engines{}
	}
	w.engines[name] = &engines{name: name, engine: found, w: w}
	return w.engines[name], nil
}

func badRun(format string, args ...any) error {
	return &abi.Error{Code: abi.CodeBadRequest, Message: "engine: " + fmt.Sprintf(format, args...)}
}

// checkRuns refuses what no engine is started for.
func checkRuns(r *abi.EngineRequest) error {
	if n := len(r.Runs); n == 0 || n > maxRuns {
		return badRun("%d runs: between 1 and %d are taken at once", n, maxRuns)
	}
	for i, run := range r.Runs {
		if n := len(run.Argv); n == 0 || n > maxArgs {
			return badRun("run %d has %d arguments: the first is the program's name, and at most %d are taken", i+1, n, maxArgs)
		}
		size, nul := len(run.StdoutFile), strings.ContainsRune(run.StdoutFile, 0)
		for _, a := range run.Argv {
			size, nul = size+len(a), nul || strings.ContainsRune(a, 0)
		}
		for name, value := range run.Env {
			if !inList(name, abi.EngineEnv) {
				return badRun("run %d sets the variable %q; those that may be set are %s", i+1, clean(name, 80), strings.Join(abi.EngineEnv, ", "))
			}
			size, nul = size+len(value), nul || strings.ContainsRune(value, 0)
		}
		if p := run.Progress; p != nil {
			size += len(p.Pattern) + len(p.Label)
		}
		switch {
		case size > maxArgv:
			return badRun("the command line of run %d has %d bytes, and at most %d are taken", i+1, size, maxArgv)
		case nul:
			return badRun("the command line of run %d holds a NUL byte", i+1)
		}
	}
	return nil
}

func inList(s string, list []string) bool {
	for _, l := range list {
		if s == l {
			return true
		}
	}
	return false
}

// batch is the runs of one request, some of them at once.
type batch struct {
	s      *session
	e      *engines
	r      abi.EngineRequest
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu       sync.Mutex
	next     int            // run
	claims   map[string]int // what a run changes or made, for the whole batch
	results  []abi.EngineResult
	denials  []sandbox.Denial
	done     []float64 // of each run, as far as it told
	finished int
	shown    time.Time
	err      error // the first
}

// run runs everything, with so many jobs at once.
func (b *batch) run(jobs int) error {
	b.done = make([]float64, len(b.r.Runs))
	var wg sync.WaitGroup
	for range jobs {
		wg.Go(func() {
			if err := b.work(); err != nil {
				b.fail(err)
			}
		})
	}
	wg.Wait()
	return b.err
}

// fail ends the batch. What the other jobs say about that is no news.
func (b *batch) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
		b.cancel(err)
	}
}

// work runs one job after the other in one child.
func (b *batch) work() error {
	var s *session
	for {
		i, more := b.take()
		if !more {
			break
		}
		if s == nil {
			p, err := b.e.get()
			if err != nil {
				return err
			}
			s = &session{w: b.s.w, p: p, ctx: b.ctx, tool: b.e.name, memory: b.e.memory(), stalls: true}
		}
		if err := b.job(s, i); err != nil {
			s.p.kill()
			return err
		}
	}
	if s != nil {
		b.e.put(s.p)
	}
	return nil
}

func (b *batch) take() (i int, more bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i, b.next = b.next, b.next+1
	return i, i < len(b.r.Runs) && b.err == nil
}

// job runs run i.
func (b *batch) job(s *session, i int) error {
	if err := s.ready(); err != nil {
		return err
	}
	run := &b.r.Runs[i]
	share := maxSaid / len(b.r.Runs)
	j := job{Call: b.s.c.Index, Mode: b.s.c.Mode, Argv: run.Argv, Env: run.Env, StdoutFile: run.StdoutFile, Progress: run.Progress,
		Stdout: min(maxStdout, share/2), Stderr: min(maxStderr, share/2)}
	silence := b.e.engine.Silence
	if silence <= 0 {
		silence = DefaultSilence
	}
	s.clock = newStopwatch(silence)
	defer s.clock.stop()
	if err := s.p.send(kindJob, j, run.Stdin); err != nil {
		return s.died(err)
	}
	for {
		f, err := s.next()
		if err != nil {
			return err
		}
		s.clock.restart()
		switch f.kind {
		case kindAlive:
		case kindProgress:
			var p abi.Progress
			if err := f.decode(&p); err != nil {
				return s.garbage(err)
			}
			b.progress(i, p.Done)
		case kindClaim:
			var c claim
			if err := f.decode(&c); err != nil {
				return s.garbage(err)
			}
			if err := s.p.send(kindAnswer, claimed{Yes: b.claim(i, c.What)}); err != nil {
				return s.died(err)
			}
		case kindJobDone:
			return b.end(s, i, f)
		default:
			return s.garbage(fmt.Errorf("frame %d in the middle of a job", f.kind))
		}
	}
}

// maxClaims bounds what the host remembers of a batch. A run that makes more
// files than its quota is stopped long before.
const maxClaims = 4 << 20

// claim gives a thing to the first run that asks.
func (b *batch) claim(i int, what string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	owner, taken := b.claims[what]
	switch {
	case taken:
		return owner == i
	case len(b.claims) >= maxClaims:
		return false
	}
	b.claims[what] = i
	return true
}

// end takes the result of run i.
func (b *batch) end(s *session, i int, f frame) error {
	var d jobDone
	if err := f.decode(&d); err != nil {
		return s.garbage(err)
	}
	if d.Stdout < 0 || d.Stdout > len(f.body) {
		return s.garbage(errors.New("a standard output that is not there"))
	}
	switch {
	case d.Fault != "":
		return fault.New(fault.Stopped, "engine %q: %s", b.e.name, clean(d.Fault, 400))
	case d.DiskFull:
		return diskFull("engine", b.e.name)
	case len(d.Denials) == 0 && d.Changed != "":
		return fault.New(fault.StepFailed, "engine %q ended with exit code %d in the middle of changing %q", b.e.name, d.Exit, clean(d.Changed, 300)).
			Hint("nothing of the step is kept")
	}
	b.mu.Lock()
	b.results[i] = abi.EngineResult{
		ExitCode: d.Exit, StdoutCut: d.StdoutCut, StderrCut: d.StderrCut,
		Stdout: strings.ToValidUTF8(string(f.body[:d.Stdout]), "\uFFFD"),
		Stderr: strings.ToValidUTF8(string(f.body[d.Stdout:]), "\uFFFD"),
	}
	b.denials = append(b.denials, d.Denials...)
	b.finished++
	b.mu.Unlock()
	done := 0.0
	if p := b.r.Runs[i].Progress; p != nil {
		done = p.Total
	}
	b.progress(i, done)
	return nil
}

// progress tells how far run i has come. Several runs are told as one: by what
// they have to do together when all of them said that, else by their number.
func (b *batch) progress(i int, done float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done[i] = done
	p := abi.Progress{Done: done}
	own := b.r.Runs[i].Progress
	if own != nil {
		p.Total, p.Label = own.Total, clean(own.Label, 200)
	}
	if len(b.r.Runs) > 1 {
		p.Done, p.Total = b.sum()
	} else if own == nil {
		return
	}
	if b.s.w.o.Progress == nil || time.Since(b.shown) < progressEvery/2 && (p.Total == 0 || p.Done < p.Total) {
		return
	}
	b.shown = time.Now()
	b.s.w.o.Progress(b.s.c.Index, p)
}

func (b *batch) sum() (done, total float64) {
	for i, r := range b.r.Runs {
		if r.Progress == nil || r.Progress.Total <= 0 {
			return float64(b.finished), float64(len(b.r.Runs))
		}
		done, total = done+min(b.done[i], r.Progress.Total), total+r.Progress.Total
	}
	return done, total
}
