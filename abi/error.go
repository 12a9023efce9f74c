package abi

import "encoding/json"

// Code classifies an [Error] so that a host or a caller can act on it.
type Code string

// The error codes.
const (
	CodeBadRequest  Code = "bad_request" // the arguments cannot be served
	CodeNotFound    Code = "not_found"   // a file or a tool is missing
	CodeConflict    Code = "conflict"    // a name is taken, two results would get one name
	CodeDenied      Code = "denied"      // the view refused an operation
	CodeUnsupported Code = "unsupported" // the skill cannot do this
	CodeBadInput    Code = "bad_input"   // a file's content is broken or hostile
	CodeDeclined    Code = "declined"    // a person said no
	CodeLimit       Code = "limit"       // the skill's own limit was reached
	CodeFailed      Code = "failed"      // anything else
	CodePanic       Code = "panic"       // the handler panicked
	CodeUnavailable Code = "unavailable" // an engine or resource is not there now
)

// Error is how a module says that a call failed. It travels as JSON in
// Extism's error slot.
type Error struct {
	Code      Code   `json:"code"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable,omitempty"`
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// JSON returns the error as it travels.
func (e *Error) JSON() string {
	b, err := json.Marshal(e)
	if err != nil { // strings and a bool always marshal
		return `{"code":"failed","message":"error could not be encoded"}`
	}
	return string(b)
}
