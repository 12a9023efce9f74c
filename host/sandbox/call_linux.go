package sandbox

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/experimental/sys"
	"golang.org/x/sys/unix"

	"stepbox.dev/abi"
	"stepbox.dev/host/stage"
)

// CallFS is the file system of one call.
type CallFS struct {
	sys.UnimplementedFS
	v       *View
	call    int
	mode    abi.Mode
	sealed  bool
	wrote   bool // a record of this call is in the log
	job     *job // nil: the call's own guest
	rooted  bool // the root was opened once
	denials []Denial
	full    bool // the disk was full
}

// maxDenials is how many denials a call keeps.
const maxDenials = 64

// area is which part of the view a path lies in.
type area int

const (
	merged  area = iota
	inSkill      // /@skill
	inTmp        // /@tmp
)

// route tells the area of a path, and the path below that area's top.
func (f *CallFS) route(path string) (area, string) {
	path = strings.TrimLeft(path, "/")
	for strings.HasPrefix(path, "./") {
		path = strings.TrimLeft(path[2:], "/")
	}
	first, rest, _ := strings.Cut(path, "/")
	switch {
	case first == abi.SkillDir && f.v.skill != nil:
		return inSkill, rest
	case first == abi.TmpDir && f.v.tmp >= 0 && f.mode >= abi.ModeRead:
		return inTmp, rest
	}
	return merged, path
}

// Denials are the operations the mode, a reserved name or a quota refused, in
// order, at most 64.
func (f *CallFS) Denials() []Denial {
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	return append([]Denial(nil), f.denials...)
}

// DiskFull reports whether a write failed because the disk was full. A guest
// only sees an input/output error.
func (f *CallFS) DiskFull() bool {
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	return f.full
}

// deny notes a refusal and returns the errno for the guest.
func (f *CallFS) deny(d Denial) sys.Errno {
	d.Path = strings.Trim(d.Path, "/")
	if len(f.denials) < maxDenials {
		f.denials = append(f.denials, d)
	}
	if d.Quota != "" {
		return sys.EIO // wazero has no ENOSPC
	}
	return sys.EPERM
}

// need refuses an operation that the call's mode does not allow.
func (f *CallFS) need(mode abi.Mode, op, path string) sys.Errno {
	if (f.mode >= mode || !modesOn()) && (mode <= abi.ModeRead || f.v.log != nil && !f.sealed) {
		return 0
	}
	return f.deny(Denial{Op: op, Path: path, Needs: mode})
}

// look begins an operation that only looks: it takes in what other processes
// did. The caller unlocks the view.
func (f *CallFS) look(op, path string) sys.Errno {
	f.alive()
	if err := f.v.refresh(); err != nil {
		return f.failed(err)
	}
	return f.need(abi.ModeRead, op, path)
}

// change runs an operation that changes the view while no other process does.
func (f *CallFS) change(fn func() sys.Errno) sys.Errno {
	if f.v.log == nil {
		return sys.EPERM
	}
	if err := f.v.log.Lock(); err != nil {
		return f.failed(err)
	}
	defer f.v.log.Unlock()
	f.v.tree = f.v.log.Tree
	return fn()
}

// apply logs effects of this call. Its error is for the guest.
func (f *CallFS) apply(effects ...stage.Effect) sys.Errno {
	err := f.v.log.Append(stage.Record{Call: f.call, Mode: f.mode, Time: time.Now().UnixNano(), Effects: effects})
	f.v.tree = f.v.log.Tree
	switch {
	case errors.Is(err, stage.ErrFull):
		return f.deny(Denial{Op: "change", Quota: fmt.Sprintf("a run's changes may take at most %d bytes to note", stage.MaxLog)})
	case err != nil:
		return f.failed(err)
	}
	f.wrote = true
	return 0
}

// failed turns an error of the stage into an errno, and remembers a full disk.
func (f *CallFS) failed(err error) sys.Errno {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		f.full = true
	}
	return toErrno(err)
}

// Seal marks the call's effects as those of a call that ended well, after
// checking that no open handle can still change them.
func (f *CallFS) Seal() error {
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	for h := range f.v.files {
		if h.fs == f && h.write && !h.scratch {
			return fmt.Errorf("call %d still has %q open for writing", f.call, h.path)
		}
	}
	if f.sealed {
		return nil
	}
	f.sealed = true
	if f.v.log == nil {
		return nil
	}
	// An engine in another process may have written for this call.
	if err := f.v.log.Lock(); err != nil {
		return fmt.Errorf("seal call %d: %w", f.call, err)
	}
	defer f.v.log.Unlock()
	if !f.wrote && f.mode < abi.ModeCreate {
		return nil
	}
	err := f.v.log.Append(stage.Record{
		Call: f.call, Mode: f.mode, Time: time.Now().UnixNano(), Effects: []stage.Effect{{Op: stage.OpSeal}},
	})
	f.v.tree = f.v.log.Tree
	if err != nil {
		return fmt.Errorf("seal call %d: %w", f.call, err)
	}
	return nil
}

// closeAll closes what a guest left open. The lock must be held.
func (f *CallFS) closeAll() {
	for h := range f.v.files {
		if h.fs == f {
			f.v.closeFile(h)
		}
	}
	for d := range f.v.dirs {
		if d.fs == f {
			d.closed = true
			delete(f.v.dirs, d)
		}
	}
}

// End closes every file the call left open and empties its /@tmp. It does not
// seal.
func (f *CallFS) End() error {
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	f.closeAll()
	if f.v.tmp < 0 {
		return nil
	}
	f.v.scratch = 0
	if errno := f.v.emptyScratch(); errno != 0 {
		return fmt.Errorf("empty the scratch folder: %w", errno)
	}
	return nil
}
