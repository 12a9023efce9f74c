package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/sandbox"
)

// session is one call seen from the host: it sends the call, serves what the
// child asks meanwhile, and watches the clock.
type session struct {
	w    *Worker
	p    *process
	ctx  context.Context
	c    call
	tool string
	// broken is set when the child cannot be used again.
	broken bool

	memory   int64            // that the child may use, for messages
	stalls   bool             // the clock begins anew with every sign of life
	denials  []sandbox.Denial // of engines
	clock    *stopwatch
	printed  int64
	confirms int
	shown    time.Time // when progress was last passed on
}

// Caps of what one call may bother a person with.
const (
	maxConfirms   = 16
	maxPrompt     = 500
	maxPreview    = 8000
	progressEvery = 40 * time.Millisecond
)

func (s *session) run(input []byte, resp any) (ok bool, err error) {
	if err := s.ready(); err != nil {
		return false, err
	}
	limit := s.w.o.Limits.Step
	if !s.c.Real {
		limit = min(limit, pureTime)
	}
	s.clock = newStopwatch(limit)
	defer s.clock.stop()
	if err := s.p.send(kindCall, s.c, input); err != nil {
		return false, s.died(err)
	}
	for {
		f, err := s.next()
		if err != nil {
			return false, err
		}
		if f.kind != kindResult {
			if err := s.serve(f); err != nil {
				return false, err
			}
			continue
		}
		var r result
		if err := f.decode(&r); err != nil {
			return false, s.garbage(err)
		}
		r.Denials = append(s.denials, r.Denials...)
		if r.OutputCut && s.w.o.Output != nil {
			s.w.o.Output(fmt.Sprintf("(%q printed more than %d bytes; the rest is not shown)", s.tool, s.w.o.Limits.OutputBytes))
		}
		ok, err := s.w.judge(s.c, s.tool, r, f.body, resp)
		if !s.c.Seals {
			return ok, err
		}
		keep := ok && err == nil
		if step, isStep := resp.(*abi.StepResponse); isStep && step.Verified != nil && !*step.Verified {
			keep = false
		}
		if serr := s.seal(keep); serr != nil && (err == nil || s.broken) {
			return false, serr
		}
		return ok, err
	}
}

// ready waits until the child has loaded the module.
func (s *session) ready() error {
	if s.p.ready {
		return nil
	}
	// Damaged code may first have to be compiled again, which has a limit of
	// its own.
	select {
	case <-s.p.asked:
	case <-s.ctx.Done():
	case <-s.w.done.Done():
	}
	s.clock = newStopwatch(loadTime)
	defer s.clock.stop()
	f, err := s.next()
	if err != nil {
		return err
	}
	var r ready
	if err := f.decode(&r); err != nil || f.kind != kindReady {
		return s.garbage(fmt.Errorf("frame %d before the child was ready: %w", f.kind, err))
	}
	if r.Fault != "" {
		s.broken = true
		if r.Wall {
			return fault.New(fault.Stopped, "the sandbox cannot be built on this machine: %s", r.Fault).
				Hint("run stepbox doctor to see which walls stand")
		}
		if r.DiskFull {
			return fault.New(fault.StepFailed, "there is no room for what the run would stage: the disk is full").Hint("free some space, then run it again")
		}
		return fault.New(fault.StepFailed, "the module cannot be loaded: %s", clean(r.Fault, 400))
	}
	s.p.ready = true
	return nil
}

// seal tells the child whether the call's effects count.
func (s *session) seal(keep bool) error {
	if err := s.p.send(kindSeal, seal{Keep: keep}); err != nil {
		return s.died(err)
	}
	f, err := s.next()
	if err != nil {
		return err
	}
	var r sealed
	if err := f.decode(&r); err != nil || f.kind != kindSealed {
		return s.garbage(fmt.Errorf("frame %d instead of a seal: %w", f.kind, err))
	}
	if keep && r.Fault != "" {
		return fault.New(fault.Stopped, "what %q made cannot be kept: %s", s.tool, clean(r.Fault, 400))
	}
	return nil
}

// next waits for a frame, the deadline, or the end of the call or the worker.
func (s *session) next() (frame, error) {
	select {
	case f, open := <-s.p.frames:
		if open {
			return f, nil
		}
		return frame{}, s.died(s.p.readErr)
	case <-s.clock.c():
		s.broken = true
		s.p.kill()
		if s.stalls {
			return frame{}, fault.New(fault.Timeout, "engine %q showed no sign of life for %s and was killed: %w", s.tool, s.clock.limit,
				context.DeadlineExceeded)
		}
		return frame{}, fault.New(fault.Timeout, "%q ran longer than %s and was killed: %w", s.tool, s.clock.limit,
			context.DeadlineExceeded)
	case <-s.ctx.Done():
		s.broken = true
		s.p.kill()
		return frame{}, ended(s.tool, context.Cause(s.ctx))
	case <-s.w.done.Done():
		s.broken = true
		s.p.kill()
		return frame{}, ended(s.tool, context.Cause(s.w.done))
	}
}

// serve answers what a child says in the middle of a call.
func (s *session) serve(f frame) error {
	switch f.kind {
	case kindOutput:
		if s.printed += int64(len(f.body)) + 1; s.printed > s.w.o.Limits.OutputBytes+maxLine {
			return s.garbage(fmt.Errorf("more output than the cap"))
		}
		if s.w.o.Output != nil {
			s.w.o.Output(clean(string(f.body), maxLine))
		}
	case kindProgress:
		var p abi.Progress
		if err := f.decode(&p); err != nil {
			return s.garbage(err)
		}
		// The child keeps the pace; a child that does not is not believed.
		last := p.Total > 0 && p.Done >= p.Total
		if s.w.o.Progress != nil && s.c.Real && (last || time.Since(s.shown) >= progressEvery/2) {
			s.shown = time.Now()
			p.Label = clean(p.Label, 200)
			s.w.o.Progress(s.c.Index, p)
		}
	case kindConfirm:
		var r abi.ConfirmRequest
		if err := f.decode(&r); err != nil {
			return s.garbage(err)
		}
		yes, err := s.confirm(r)
		if err != nil {
			return err
		}
		body, err := json.Marshal(abi.ConfirmResponse{Confirmed: yes})
		if err != nil {
			return err
		}
		if err := s.p.send(kindAnswer, nil, body); err != nil {
			return s.died(err)
		}
	case kindEngine:
		return s.engine(f.body)
	default:
		return s.garbage(fmt.Errorf("frame %d in the middle of a call", f.kind))
	}
	return nil
}

// confirm asks the person. The clock rests, and the guest waits: it has one
// thread, and that one is in the question.
func (s *session) confirm(r abi.ConfirmRequest) (bool, error) {
	if s.confirms++; s.confirms > maxConfirms || s.w.o.Confirm == nil || !s.c.Real {
		return false, nil
	}
	s.clock.pause()
	defer s.clock.resume()
	r.Prompt = clean(r.Prompt, maxPrompt)
	lines := strings.Split(clip(r.Preview, maxPreview), "\n")
	for i := range lines {
		lines[i] = clean(lines[i], maxPreview)
	}
	r.Preview = strings.Join(lines, "\n")
	// Closing the worker takes the question back.
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	defer context.AfterFunc(s.w.done, cancel)()
	yes, err := s.w.o.Confirm(ctx, s.c.Index, r)
	if err != nil {
		s.broken = true
		if ctx.Err() != nil {
			return false, ended(s.tool, context.Cause(ctx))
		}
		return false, fmt.Errorf("ask for %q: %w", s.tool, err)
	}
	return yes, nil
}

// died explains a child that is gone.
func (s *session) died(err error) error {
	s.broken = true
	s.p.kill()
	// Ending the worker, or the call, kills the child, too.
	for _, ctx := range []context.Context{s.ctx, s.w.done} {
		if ctx.Err() != nil {
			return ended(s.tool, context.Cause(ctx))
		}
	}
	if refused := s.p.refused.Load(); refused != nil && !s.p.ready {
		return *refused
	}
	last := s.p.lastWords()
	switch {
	case strings.Contains(last, "out of memory"), strings.Contains(last, "cannot allocate memory"):
		return fault.New(fault.Stopped, "%q used more memory than its limit of %d MiB and was stopped", s.tool,
			s.memory>>20)
	case s.p.signal() == "SIGXCPU":
		return fault.New(fault.Stopped, "%q used more processor time than allowed and was stopped", s.tool)
	}
	e := fault.New(fault.StepFailed, "%q ended its worker (%s): %w", s.tool, s.p.status(), err)
	return e
}

// garbage ends a child that does not keep to the protocol.
func (s *session) garbage(err error) error {
	s.broken = true
	s.p.kill()
	return fault.New(fault.Stopped, "the worker of %q sent what it may not, and was killed: %w", s.tool, err)
}

// stopwatch is a deadline that can rest.
type stopwatch struct {
	limit time.Duration
	left  time.Duration
	since time.Time
	timer *time.Timer
}

func newStopwatch(limit time.Duration) *stopwatch {
	return &stopwatch{limit: limit, left: limit, since: time.Now(), timer: time.NewTimer(limit)}
}

func (s *stopwatch) c() <-chan time.Time { return s.timer.C }

func (s *stopwatch) stop() { s.timer.Stop() }

func (s *stopwatch) pause() {
	s.timer.Stop()
	s.left -= time.Since(s.since)
}

// restart gives the whole time again.
func (s *stopwatch) restart() { s.timer.Reset(s.limit) }

func (s *stopwatch) resume() {
	s.since = time.Now()
	s.timer.Reset(max(s.left, 0))
}
