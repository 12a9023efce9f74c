// Package worker is the child process that runs modules, and the host's handle
// on it. A module never runs in the host process: the host starts a copy of
// its own executable, which confines itself, loads one module, and runs one
// call at a time in a fresh instance, until it is told to stop or killed.
//
// It is the only package that imports Extism or wazero's runtime.
package worker

import (
	"context"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/host/sandbox"
)

// RunIfAsked turns this process into a worker when it was started as one, and
// then never returns. It must be the first thing main or TestMain does.
func RunIfAsked() { panic("to be built") }

// Module is an admitted module whose compiled code lies in the cache.
type Module struct {
	Digest   string // SHA-256 of the wasm, hex
	wasm     []byte
	compiled string
}

// Cache is a folder of compiled modules. What is in it is native code: the
// folder is 0700 and every entry carries a MAC.
type Cache struct{ dir string }

// OpenCache opens or makes the cache.
func OpenCache(dir string) (*Cache, error) { panic("to be built") }

// Module admits wasm and compiles it in a compile-only child unless its code
// is in the cache. compiling, when not nil, is told that a compile starts.
func (c *Cache) Module(ctx context.Context, wasm []byte, compiling func()) (*Module, error) {
	panic("to be built")
}

// Limits bound a worker. A zero field means the default.
type Limits struct {
	MemoryBytes int64         // of the guest's linear memory
	Step        time.Duration // wall time of one call; rests while a person is asked
	ResultBytes int64
	OutputBytes int64 // stdout, stderr and log together, a call
	Quotas      sandbox.Quotas
}

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
	// Confirm asks the person; nil answers no.
	Confirm func(ctx context.Context, call int, r abi.ConfirmRequest) (bool, error)
	// Progress is told of progress; nil drops it.
	Progress func(call int, p abi.Progress)
	// Output gets what a guest prints, in lines, capped; nil drops it.
	Output func(line string)
}

// Worker is a running child.
type Worker struct{}

// Start starts the child and returns at once; the child confines itself and
// loads the module meanwhile. Errors of that surface in the first call.
func Start(ctx context.Context, o Options) (*Worker, error) { panic("to be built") }

// The calls. Each runs in a fresh instance, one at a time. Errors: *abi.Error
// when the module said that the call failed; *fault.Error of kind Stopped when
// a wall or a limit stopped it (a denied operation names tool, path, operation
// and the declaration that would allow it), StepFailed when it crashed or
// answered nonsense, Timeout at the deadline, Interrupted on cancel. After a
// Timeout, an Interrupted or a crash of the child the worker is gone.

// Describe asks the module what it is.
func (w *Worker) Describe(ctx context.Context) (abi.Description, error) { panic("to be built") }

// Expand expands an intent: no files, fixed clock and seed.
func (w *Worker) Expand(ctx context.Context, r abi.ExpandRequest) (abi.ExpandResponse, error) {
	panic("to be built")
}

// Summarize asks for one sentence about a call. ok is false when the module
// does not export it.
func (w *Worker) Summarize(ctx context.Context, r abi.SummarizeRequest) (text string, ok bool, err error) {
	panic("to be built")
}

// Preflight asks whether a call can work.
func (w *Worker) Preflight(ctx context.Context, r abi.PreflightRequest) (abi.PreflightResponse, error) {
	panic("to be built")
}

// Step runs one step in the mode, and seals its effects when it ends well.
func (w *Worker) Step(ctx context.Context, mode abi.Mode, r abi.StepRequest) (abi.StepResponse, error) {
	panic("to be built")
}

// Format asks for the results in words. ok is false when the module does not
// export it.
func (w *Worker) Format(ctx context.Context, r abi.FormatRequest) (resp abi.FormatResponse, ok bool, err error) {
	panic("to be built")
}

// Close kills the child and waits until it is gone. A stage may be read only
// after that.
func (w *Worker) Close() error { panic("to be built") }

// Wall is one wall of the sandbox, for stepbox doctor.
type Wall struct {
	Name   string `json:"name"`
	Stands bool   `json:"stands"`
	Detail string `json:"detail"`
}

// Walls reports which walls stand on this machine, by trying them in a child.
func Walls(ctx context.Context) ([]Wall, error) { panic("to be built") }
