// Package fault says what kind of thing went wrong, in terms of who can act on
// it. Every room of the host returns its errors through it (or wraps them), so
// that the command line can choose an exit code without knowing the rooms.
package fault

import (
	"context"
	"errors"
	"fmt"
)

// Kind classifies a failure. Its values are the exit codes of the command line.
type Kind int

// The kinds.
const (
	Internal    Kind = 1   // a bug, or the machine failed us
	Usage       Kind = 2   // the person's command, plan or YAML is wrong
	Question    Kind = 3   // a person has to answer something first
	Refused     Kind = 4   // unsafe, out of scope, or outside the sandbox
	NotApproved Kind = 5   // nobody said yes
	StepFailed  Kind = 6   // a step failed, or its output did not verify
	Stopped     Kind = 7   // the sandbox or a limit stopped a step, or a wall is missing
	CheckFailed Kind = 8   // a check, a build, a commit or an undo found a conflict
	Timeout     Kind = 124 // out of time
	Interrupted Kind = 130 // cancelled by the person
)

// Error is a failure of a known kind.
type Error struct {
	Kind Kind
	// What happened and where, its cause included: lower case, no full stop.
	What string
	// Next is what the person can do about it; "" when there is nothing.
	Next string
	// Err is the cause, kept for errors.Is and errors.As; it may be nil.
	Err error
}

// Error returns what happened. What already includes the cause's text.
func (e *Error) Error() string { return e.What }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Hint returns a copy of e with the next step set.
func (e *Error) Hint(format string, args ...any) *Error {
	c := *e
	c.Next = fmt.Sprintf(format, args...)
	return &c
}

// New returns an error of the kind. A %w in the format keeps its operand as
// the cause.
func New(k Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: k, What: err.Error(), Err: errors.Unwrap(err)}
}

// Of returns the kind of err: that of the outermost [Error] in its chain, else
// Interrupted or Timeout for a context's end, else Internal. Of(nil) is 0.
func Of(err error) Kind {
	var e *Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e.Kind
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	case errors.Is(err, context.Canceled):
		return Interrupted
	}
	return Internal
}

// Next returns the next step that err names, or "".
func Next(err error) string {
	var e *Error
	for errors.As(err, &e) {
		if e.Next != "" {
			return e.Next
		}
		err = e.Err
		if err == nil {
			break
		}
	}
	return ""
}
