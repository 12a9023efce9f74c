package worker

import (
	"errors"
	"os"
)

const (
	openDirectory = 0
	openNoFollow  = 0
)

// private trusts what the person's own profile folder gives.
func private(string) error { return nil }

// Windows hands a child no further descriptors, so there is no worker yet:
// every run refuses.
func socketPair() (ours, theirs *os.File, err error) {
	return nil, nil, errors.New("workers are not supported on Windows")
}

func (p *process) signal() string { return "" }

func isSocket(int) bool { return false }
