//go:build !linux

package sandbox

import (
	"fmt"
	"runtime"

	"github.com/tetratelabs/wazero/experimental/sys"

	"stepbox.dev/abi"
)

// View is the merged view of one sandbox and one stage.
type View struct{}

// Open fails: the view needs Linux.
func Open(Options) (*View, error) {
	return nil, fmt.Errorf("the sandbox's view needs Linux: %s has no openat2", runtime.GOOS)
}

// Call returns a file system on which nothing works.
func (v *View) Call(int, abi.Mode) *CallFS { return &CallFS{} }

// Job returns a file system on which nothing works.
func (v *View) Job(int, abi.Mode, Keeper) *CallFS { return &CallFS{} }

// Close does nothing.
func (v *View) Close() error { return nil }

// CallFS is a file system on which nothing works.
type CallFS struct{ sys.UnimplementedFS }

// Seal does nothing.
func (f *CallFS) Seal() error { return nil }

// End does nothing.
func (f *CallFS) End() error { return nil }

// EndJob does nothing.
func (f *CallFS) EndJob(bool) (changed string, err error) { return "", nil }

// Denials returns none.
func (f *CallFS) Denials() []Denial { return nil }

// DiskFull returns false.
func (f *CallFS) DiskFull() bool { return false }
