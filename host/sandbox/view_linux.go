package sandbox

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"stepbox.dev/abi"
	"stepbox.dev/host/stage"
)

// View is the merged view of one sandbox and one stage. Several processes may
// hold views of the same stage; a finished operation is visible to all.
type View struct {
	mu    sync.Mutex
	lower int        // the sandbox; -1: none
	near  near       // a folder of it
	log   *stage.Log // nil: nothing can be written
	tree  *stage.Tree
	skill *memDir
	tmp   int // -1: none
	quota Quotas
	used  *atomic.Int64 // bytes of what is staged and of scratch
	files map[*file]struct{}
	dirs  map[*dir]struct{}
	// skillOpen is how many files and folders of /@skill are open.
	skillOpen int
	scratch   int    // files and folders made in /@tmp
	scratchOf int    // the call they were made in
	dents     []byte // for listings
}

// Open makes the view and replays the stage. The descriptors in o stay the
// caller's; the view keeps copies of its own.
func Open(o Options) (*View, error) {
	v := &View{
		lower: -1, near: near{fd: -1}, tmp: -1, tree: stage.NewTree(), skill: newSkill(o.Skill), quota: o.Quotas.orDefaults(),
		used:  new(atomic.Int64),
		files: map[*file]struct{}{}, dirs: map[*dir]struct{}{},
	}
	if err := v.open(o); err != nil {
		v.Close()
		return nil, err
	}
	return v, nil
}

func (v *View) open(o Options) (err error) {
	if o.Lower != nil {
		if v.lower, err = reopenFolder(o.Lower); err != nil {
			return fmt.Errorf("open the sandbox: %w", err)
		}
	}
	if o.Tmp != nil {
		if v.tmp, err = reopenFolder(o.Tmp); err != nil {
			return fmt.Errorf("open the scratch folder: %w", err)
		}
	}
	if o.Stage == nil {
		return nil
	}
	if v.log, err = stage.OpenLog(o.Stage); err != nil {
		return err
	}
	v.tree, v.used = v.log.Tree, v.log.Used()
	return nil
}

// reopenFolder returns a descriptor of the view's own, and proves that the
// kernel has openat2.
func reopenFolder(f *os.File) (int, error) {
	fd, err := openBelow(int(f.Fd()), ".", unix.O_RDONLY|unix.O_DIRECTORY)
	if errors.Is(err, unix.ENOSYS) {
		return -1, errors.New("this kernel has no openat2: Linux 5.6 or newer is needed")
	}
	return fd, err
}

// Call begins call index i in the mode and returns its file system, for
// wazero's WithSysFSMount at "/".
func (v *View) Call(i int, mode abi.Mode) *CallFS {
	return &CallFS{v: v, call: i, mode: mode}
}

// Close releases the view. Files that a call left open are closed.
func (v *View) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	for h := range v.files {
		v.closeFile(h)
	}
	clear(v.dirs)
	v.near.close()
	for _, fd := range []*int{&v.lower, &v.tmp} {
		if *fd >= 0 {
			unix.Close(*fd)
			*fd = -1
		}
	}
	if v.log != nil {
		v.used = new(atomic.Int64)
		v.log.Close()
		v.log = nil
	}
	return nil
}

// refresh takes in what other processes did. The lock must be held.
func (v *View) refresh() error {
	if v.log == nil {
		return nil
	}
	err := v.log.Refresh()
	v.tree = v.log.Tree
	return err
}

// gen changes whenever the tree did.
func (v *View) gen() uint64 {
	if v.log == nil {
		return 0
	}
	return v.log.Gen
}

// orDefaults fills in defaults, which are the ceilings too.
func (q Quotas) orDefaults() Quotas {
	d := DefaultQuotas
	pick64 := func(a, b int64) int64 {
		if a > 0 {
			return min(a, b)
		}
		return b
	}
	pick := func(a, b int) int { return int(pick64(int64(a), int64(b))) }
	return Quotas{
		Bytes: pick64(q.Bytes, d.Bytes), FileBytes: pick64(q.FileBytes, d.FileBytes),
		Files: pick(q.Files, d.Files), Depth: pick(q.Depth, d.Depth),
		OpenFiles: pick(q.OpenFiles, d.OpenFiles), NameBytes: pick(q.NameBytes, d.NameBytes),
	}
}
