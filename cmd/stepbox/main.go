// Command stepbox turns a request in plain words into a reviewed plan, runs it
// sandboxed, and changes only what was approved. One file holds one verb; this
// one turns errors into exit codes, and is the only one that does.
package main

import (
	"context"
	"io"
	"math"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"syscall"

	"stepbox.dev/cmd/stepbox/internal/display"
	"stepbox.dev/host"
	"stepbox.dev/host/fault"
)

func main() {
	host.RunWorkerIfAsked()
	collectLate()
	ctx, interrupted := untilInterrupted()
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if code == int(fault.Internal) && interrupted.Load() {
		code = int(fault.Interrupted)
	}
	os.Exit(code)
}

// collectLate keeps the garbage collector from running before there are 64 MB to
// look at: most commands end with less, and in a process that lives for a tenth
// of a second every collection is felt. From the first one on it works as ever.
func collectLate() {
	percent, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(-1)
	if percent != 100 || limit != math.MaxInt64 { // somebody has set it
		debug.SetGCPercent(percent)
		return
	}
	debug.SetMemoryLimit(64 << 20)
	runtime.AddCleanup(new([16]byte), func(int) {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}, 0)
}

// run is the whole command; it returns the exit code.
func run(ctx context.Context, args []string, in *os.File, out, errs io.Writer) int {
	a := newApp(in, out, errs)
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	if !a.began { // cobra's own errors come before any verb runs
		err = usage(err)
	}
	if a.told {
		return int(fault.Of(err))
	}
	display.Failure(a.errs, err.Error(), nil, fault.Next(err))
	if wantsJSON(cmd, args) && !a.printed {
		_ = a.failure(cmd, err) // stderr has said it
	}
	return int(fault.Of(err))
}

// untilInterrupted returns a context that ends with the first Ctrl-C, SIGTERM
// or SIGHUP, so that a run can end cleanly: nothing is left half done. A second
// one ends the process at once; the next start then finishes a commit that was
// under way. A reader of stdout that goes away is an ordinary write error, not
// a death in the middle of a commit.
func untilInterrupted() (context.Context, *atomic.Bool) {
	ctx, cancel := context.WithCancel(context.Background())
	var interrupted atomic.Bool
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		<-signals
		interrupted.Store(true)
		cancel()
		<-signals
		os.Exit(int(fault.Interrupted))
	}()
	return ctx, &interrupted
}
