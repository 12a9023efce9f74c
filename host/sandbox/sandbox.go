// Package sandbox is what a guest sees: the jail and the stage as wazero's file
// system interface. Reads fall through to the sandbox (the lower layer), writes
// land on the stage; modes and quotas are enforced here. It runs inside the
// worker. The host trusts nothing it wrote: see host/commit.
//
// Every access is relative to the descriptor of the sandbox, resolved by the
// kernel in one openat2 that follows no link and leaves the folder by no way,
// so a process that swaps folders for links while a guest runs gains nothing.
// Links are followed by the view itself, step by step from its own root; one
// that leads out is never followed.
//
// The system calls it makes, for the worker's filter: openat2, openat, mkdirat,
// unlinkat, renameat2, readlinkat, fstat, newfstatat, getdents64, lseek,
// pread64, pwrite64, pwritev2, ftruncate, copy_file_range, fcntl with OFD
// locks and F_DUPFD_CLOEXEC, ioctl with FICLONE, mmap, munmap and close.
package sandbox

import (
	"os"

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

// Quotas bound a view. A zero field means the default in [DefaultQuotas], and
// nothing is more than that. When
// one bites, the guest gets an input/output error, as WASI has none that says
// more, and the call's Denials name it.
//
//	quota      default     counts
//	Bytes      64 GiB      all content a run stages and its scratch, holes too,
//	                       by all processes of the run together
//	FileBytes  64 GiB      the size of one file, holes too
//	Files      1,000,000   files, folders and links made that still are;
//	                       scratch files count for themselves
//	Depth      128         folders in each other, of what is made or moved
//	OpenFiles  256         open files and folders of one process
//	NameBytes  255         bytes of one name that is made
//
// The stage's own bound, stage.MaxLog, ends a run that makes and removes for
// ever.
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

// Keeper is who keeps the jobs of one batch apart, and watches one of them.
type Keeper struct {
	// Claim is asked before a job changes something, with a name of it that is
	// the same in all processes of the stage: has no other job claimed it?
	Claim func(what string) bool
	// Alive is told of operations, so that somebody may end a job that does
	// nothing any more.
	Alive func()
}

// Denial is one refused operation. Any denial fails the step, even when the
// guest swallowed the error.
type Denial struct {
	Op    string   `json:"op"`              // open, create, write, mkdir, rename, unlink, …
	Path  string   `json:"path"`            // below the sandbox root
	Needs abi.Mode `json:"needs"`           // the mode that would allow it; ModeNone when none would
	Quota string   `json:"quota,omitempty"` // the quota that refused it, in words
}
