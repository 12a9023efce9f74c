package guest

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"stepbox.dev/abi"
)

// Errorf returns an error with a code that the host and a person can act on.
// The message is lower case and says what, where and what to do.
func Errorf(code abi.Code, format string, args ...any) error {
	return &abi.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// asError gives every error a code.
func asError(err error) *abi.Error {
	var e *abi.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, fs.ErrNotExist):
		return &abi.Error{Code: abi.CodeNotFound, Message: err.Error()}
	case errors.Is(err, fs.ErrExist):
		return &abi.Error{Code: abi.CodeConflict, Message: err.Error()}
	case errors.Is(err, fs.ErrPermission):
		return &abi.Error{Code: abi.CodeDenied, Message: err.Error()}
	}
	return &abi.Error{Code: abi.CodeFailed, Message: err.Error()}
}

// IsNotExist reports whether an error says that a file is not there, or that
// what should be a folder above it is none.
func IsNotExist(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
