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
	// Whole makes Silence the limit of a whole run, however busy it is: a
	// stranger's engine must not work for ever.
	Whole bool
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

	maxDenials = 64 // of all runs
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
