// Package worker is the child process that runs modules, and the host's handle
// on it. A module never runs in the host process: the host starts a copy of
// its own executable, which confines itself, loads one module, and runs one
// call at a time in a fresh instance, until it is told to stop or killed.
//
// It is the only package that imports Extism or wazero's runtime.
package worker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/sandbox"
)

// Limits bound a worker. A zero field means the default in [DefaultLimits].
type Limits struct {
	MemoryBytes int64         // of the guest's linear memory
	Step        time.Duration // wall time of one call; rests while a person is asked
	ResultBytes int64
	OutputBytes int64 // stdout, stderr and log together, a call
	Quotas      sandbox.Quotas
}

// DefaultLimits are what a skill gets that asks for nothing else.
var DefaultLimits = Limits{
	MemoryBytes: 512 << 20,
	Step:        10 * time.Minute,
	ResultBytes: 16 << 20,
	OutputBytes: 1 << 20,
}

// MaxLimits are the host's ceilings: no skill gets more.
var MaxLimits = Limits{
	MemoryBytes: 4 << 30,
	Step:        24 * time.Hour,
	ResultBytes: 64 << 20,
	OutputBytes: 64 << 20,
}

// filled returns l with defaults for zeros and ceilings applied.
func (l Limits) filled() Limits {
	l.MemoryBytes = within(l.MemoryBytes, DefaultLimits.MemoryBytes, MaxLimits.MemoryBytes)
	l.Step = within(l.Step, DefaultLimits.Step, MaxLimits.Step)
	l.ResultBytes = within(l.ResultBytes, DefaultLimits.ResultBytes, MaxLimits.ResultBytes)
	l.OutputBytes = within(l.OutputBytes, DefaultLimits.OutputBytes, MaxLimits.OutputBytes)
	return l
}

func within[T int64 | time.Duration](v, def, ceiling T) T {
	if v <= 0 {
		return def
	}
	return min(v, ceiling)
}

// Wall time of what a skill cannot ask more time for: getting ready, and the
// calls that are pure functions.
const (
	loadTime = 60 * time.Second
	pureTime = 10 * time.Second
)

// Options of Start.
type Options struct {
	Module *Module
	// Sandbox is the folder the guest sees; "" for none.
	Sandbox string
	// Stage is the folder effects go to; "" allows no mode above read.
	Stage string
	// SkillFiles are what /@skill shows.
	SkillFiles map[string][]byte
	Limits     Limits
	// Engine finds an engine that the skill may run, by name; nil: none. An
	// *abi.Error is told to the skill, any other ends the call.
	Engine func(ctx context.Context, name string) (*Engine, error)
	// Confirm asks the person; nil answers no.
	Confirm func(ctx context.Context, call int, r abi.ConfirmRequest) (bool, error)
	// Progress is told of progress; nil drops it.
	Progress func(call int, p abi.Progress)
	// Output gets what a guest prints, in lines, capped; nil drops it.
	Output func(line string)
	// AllowMissingWalls runs even where the system cannot confine the child.
	// Nothing then stands between a flaw of the runtime and the person's files.
	AllowMissingWalls bool
}

// Worker is a running child. Its methods may be called from several goroutines;
// they take turns.
type Worker struct {
	o      Options
	tmp    string
	mu     sync.Mutex // held during a call
	proc   *process
	closed bool
	// engines are the children of engines that were run, by name.
	engines map[string]*engines
	done    context.Context
	stop    context.CancelFunc
}

// Start starts the child and returns at once; the child confines itself and
// loads the module meanwhile. Errors of that surface in the first call. When
// ctx ends, the child is killed.
func Start(ctx context.Context, o Options) (*Worker, error) {
	if o.Module == nil {
		return nil, errors.New("start a worker: no module")
	}
	o.Limits = o.Limits.filled()
	w := &Worker{o: o}
	if o.Stage != "" {
		// Beside the stage, so that a crash leaves it where runs are pruned.
		tmp, err := os.MkdirTemp(filepath.Dir(o.Stage), "tmp-")
		if err != nil {
			return nil, fault.New(fault.Internal, "make a scratch folder for the worker: %w", err)
		}
		w.tmp = tmp
	}
	w.done, w.stop = context.WithCancel(ctx)
	p, err := startRun(w.done, o, w.tmp)
	if err != nil {
		_ = w.Close()
		return nil, err
	}
	w.proc = p
	return w, nil
}

// Close kills the child and waits until it is gone. A stage may be read only
// after that.
func (w *Worker) Close() error {
	w.stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.proc != nil {
		w.proc.kill()
		w.proc = nil
	}
	for _, e := range w.engines {
		e.close()
	}
	if w.tmp == "" {
		return nil
	}
	if err := os.RemoveAll(w.tmp); err != nil {
		return fault.New(fault.Internal, "remove the worker's scratch folder: %w", err)
	}
	return nil
}
