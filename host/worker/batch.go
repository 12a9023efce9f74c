package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/sandbox"
)

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
	held     int            // bytes of claims
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
			s = &session{w: b.s.w, p: p, ctx: b.ctx, tool: b.e.name, memory: b.e.memory(), stalls: !b.e.engine.Whole}
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
		if s.stalls {
			s.clock.restart()
		}
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
			return b.end(s, i, j, f)
		default:
			return s.garbage(fmt.Errorf("frame %d in the middle of a job", f.kind))
		}
	}
}

// maxClaims bounds what the host remembers of a batch, in bytes. A job that
// makes as many files as its quota allows stays far below.
const maxClaims = 256 << 20

// perClaim is what a claim takes beside its name.
const perClaim = 64

// claim gives a thing to the first run that asks.
func (b *batch) claim(i int, what string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	owner, taken := b.claims[what]
	switch {
	case taken:
		return owner == i
	case b.held+len(what)+perClaim > maxClaims:
		return false
	}
	b.held += len(what) + perClaim
	b.claims[what] = i
	return true
}

// end takes the result of run i.
func (b *batch) end(s *session, i int, j job, f frame) error {
	var d jobDone
	if err := f.decode(&d); err != nil {
		return s.garbage(err)
	}
	if d.Stdout < 0 || d.Stdout > min(len(f.body), j.Stdout) || len(f.body)-d.Stdout > j.Stderr {
		return s.garbage(errors.New("more output than it was asked for"))
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
	if room := maxDenials - len(b.denials); room > 0 {
		b.denials = append(b.denials, d.Denials[:min(room, len(d.Denials))]...)
	}
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
		if p.Total, p.Label = own.Total, clean(own.Label, 200); p.Total > 0 {
			p.Done = min(done, p.Total)
		}
	}
	if len(b.r.Runs) > 1 || b.r.Whole > 0 {
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

// mostWork bounds the weight of a run: a guest says it, and a sum of several has to
// stay a number.
const mostWork = 1e15

// sum is how far all runs have come, and, of a call of several requests, what
// it had done before them.
func (b *batch) sum() (done, total float64) {
	for i, r := range b.r.Runs {
		if r.Progress == nil || r.Progress.Total <= 0 {
			return float64(b.finished), float64(len(b.r.Runs))
		}
		weight := r.Progress.Weight
		if weight <= 0 {
			weight = r.Progress.Total
		}
		weight = min(weight, mostWork)
		done, total = done+weight*min(max(b.done[i]/r.Progress.Total, 0), 1), total+weight
	}
	if b.r.Whole > 0 {
		return min(max(b.r.Before, 0)+done, b.r.Whole), b.r.Whole
	}
	return done, total
}
