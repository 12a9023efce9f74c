// Package sandbox is what a guest sees: the jail and the stage as wazero's file
// system interface. Reads fall through to the sandbox (the lower layer), writes
// land on the stage; modes and quotas are enforced here. It runs inside the
// worker. The host trusts nothing it wrote: see host/commit.
package sandbox

import (
	"os"

	"github.com/tetratelabs/wazero/experimental/sys"

	"stepbox.dev/abi"
)

// Options of Open.
type Options struct {
	// Lower is the sandbox folder, opened for reading. Nil: a view with no files.
	Lower *os.File
	// Stage is the stage folder, opened. Nil: nothing can be written.
	Stage *os.File
	// Skill is what /@skill shows, by slash path.
	Skill map[string][]byte
	// Tmp is an empty folder for /@tmp of the calls. Nil: no /@tmp.
	Tmp *os.File
	// Quotas bound what the stage may hold; zero fields mean the defaults.
	Quotas Quotas
}

// Quotas bound a view. A zero field means the default in [DefaultQuotas].
type Quotas struct {
	Bytes     int64 // staged content, all files together
	FileBytes int64 // one file, sparse or not
	Files     int   // files and folders made
	Depth     int   // of folders
	OpenFiles int   // at once
	NameBytes int   // one path element
}

// DefaultQuotas are the defaults and the host's ceilings.
var DefaultQuotas = Quotas{
	Bytes: 64 << 30, FileBytes: 64 << 30, Files: 1_000_000, Depth: 128, OpenFiles: 256, NameBytes: 255,
}

// View is the merged view of one sandbox and one stage. Several processes may
// hold views of the same stage; a finished operation is visible to all.
type View struct{}

// Open makes the view and replays the stage.
func Open(o Options) (*View, error) { panic("to be built") }

// Call begins call index i in the mode and returns its file system, for
// wazero's WithSysFSMount at "/".
func (v *View) Call(i int, mode abi.Mode) *CallFS { panic("to be built") }

// Close releases the view.
func (v *View) Close() error { panic("to be built") }

// CallFS is the file system of one call.
type CallFS struct{ sys.UnimplementedFS }

// Seal marks the call's effects as those of a call that ended well, after
// checking that no open handle can still change them.
func (f *CallFS) Seal() error { panic("to be built") }

// End closes every file the call left open and empties its /@tmp. It does not
// seal.
func (f *CallFS) End() error { panic("to be built") }

// Denials are the operations the mode, a reserved name or a quota refused, in
// order, at most 64.
func (f *CallFS) Denials() []Denial { panic("to be built") }

// Denial is one refused operation. Any denial fails the step, even when the
// guest swallowed the error.
type Denial struct {
	Op    string   `json:"op"`              // open, create, write, mkdir, rename, unlink, …
	Path  string   `json:"path"`            // below the sandbox root
	Needs abi.Mode `json:"needs"`           // the mode that would allow it; ModeNone when none would
	Quota string   `json:"quota,omitempty"` // the quota that refused it, in words
}
