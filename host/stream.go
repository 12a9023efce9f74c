package host

import (
	"context"
	"errors"
	"sync"

	"stepbox.dev/host/event"
	"stepbox.dev/host/fault"
)

// stream hands events to a handler one at a time, whatever goroutine they come
// from. The first error of the handler ends the run.
type stream struct {
	mu      sync.Mutex
	handler event.Handler
	failed  *fault.Error
	done    bool // changes were committed
	cancel  context.CancelCauseFunc
}

// newStream also returns the context that ends when the handler fails.
func newStream(ctx context.Context, h event.Handler) (context.Context, *stream) {
	if h == nil {
		h = event.Discard
	}
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &stream{handler: h, cancel: cancel}
}

// Handle implements event.Handler.
func (s *stream) Handle(e event.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, is := e.(event.Committed); is {
		s.done = true
	}
	if s.failed != nil {
		return s.failed
	}
	if err := s.handler.Handle(e); err != nil {
		s.failed = fault.New(fault.Internal, "events: %w", err)
		s.cancel(s.failed)
		return s.failed
	}
	return nil
}

// end sends the last event and returns the run's error with its kind settled.
func (s *stream) end(ctx context.Context, res Result, err error) error {
	err = settle(ctx, err)
	end := event.End{Outcome: Outcome(err), ExitCode: int(fault.Of(err)), RunID: res.RunID, Digest: res.Digest}
	if err != nil {
		end.Error, end.Next = err.Error(), fault.Next(err)
	}
	if herr := s.Handle(end); err == nil {
		err = herr
	}
	if s.failed != nil && s.done && err != nil { // what cannot be told was done all the same
		err = fault.New(fault.Of(err), "the changes are made, but not all could be told: %w", err).
			Hint("take them back with: stepbox undo %s", res.RunID)
	}
	s.cancel(nil)
	return err
}

// settle gives an error that came from the end of the run's context the kind of
// what ended it: a room that was cut off sees only that it was cut off.
func settle(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	k := fault.Of(err)
	if ctx.Err() == nil || k != fault.Interrupted && k != fault.Timeout && !errors.Is(err, context.Canceled) {
		return err
	}
	cause := context.Cause(ctx)
	var f *fault.Error
	switch {
	case errors.As(cause, &f):
		return f
	case errors.Is(cause, context.DeadlineExceeded):
		return fault.New(fault.Timeout, "out of time: %w", cause).Hint("--timeout gives a run more time")
	}
	return fault.New(fault.Interrupted, "interrupted; nothing was changed")
}

// Outcome is the word for an error's kind in the last event.
func Outcome(err error) string {
	switch fault.Of(err) {
	case 0:
		return "done"
	case fault.Usage:
		return "usage"
	case fault.Question:
		return "clarify"
	case fault.Refused:
		return "reject"
	case fault.NotApproved:
		return "not_approved"
	case fault.StepFailed:
		return "step_failed"
	case fault.Stopped:
		return "stopped"
	case fault.CheckFailed:
		return "conflict"
	case fault.Timeout:
		return "timeout"
	case fault.Interrupted:
		return "interrupted"
	}
	return "internal"
}
