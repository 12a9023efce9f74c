package sandbox

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"

	"stepbox.dev/abi"
	"stepbox.dev/host/stage"
)

// job is one run of an engine in the middle of a call. It runs in another
// process than the call's own guest, on the same stage and scratch, maybe
// beside other jobs of the same batch. What it made goes when it does not end
// well, and no other job of its batch may touch it.
type job struct {
	Keeper
	has map[stage.ID]bool // what the job claimed: true when it also made it
	// changed is the first thing of others that the job changed: taking that
	// back is left to the call, which fails.
	changed string
}

// Job begins one run of an engine in call i in the mode. It ends with EndJob.
func (v *View) Job(i int, mode abi.Mode, k Keeper) *CallFS {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.scratchOf != i {
		v.scratchOf, v.scratch = i, 0
	}
	return &CallFS{v: v, call: i, mode: mode, job: &job{Keeper: k, has: map[stage.ID]bool{}}}
}

// owns reports whether the job may change a node without asking.
func (f *CallFS) owns(id stage.ID) bool {
	if f.job == nil {
		return true
	}
	_, ok := f.job.has[id]
	return ok
}

// take claims a node that is about to change. The log is locked.
func (f *CallFS) take(id stage.ID, op, path string) sys.Errno {
	if f.owns(id) {
		return 0
	}
	if errno := f.takeName("#"+strconv.FormatUint(uint64(id), 10), op, path); errno != 0 {
		return errno
	}
	f.job.has[id] = false
	f.changes(path)
	return 0
}

// takePlace claims what lies at a place.
func (f *CallFS) takePlace(p *place, op string) sys.Errno {
	if p.node != nil {
		return f.take(p.node.ID, op, p.path)
	}
	f.changes(p.path)
	return 0
}

// takeName claims something by a name of its own.
func (f *CallFS) takeName(what, op, path string) sys.Errno {
	if f.job == nil || f.job.Claim(what) {
		return 0
	}
	return f.deny(Denial{Op: op, Path: path, Quota: "another job of the same batch writes it"})
}

// made claims a node that the job made. The log is still locked, so nobody
// else has seen it.
func (f *CallFS) made(id stage.ID, op, path string) sys.Errno {
	if f.job == nil {
		return 0
	}
	errno := f.takeName("#"+strconv.FormatUint(uint64(id), 10), op, path)
	f.job.has[id] = true
	return errno
}

// alive tells the keeper of an operation.
func (f *CallFS) alive() {
	if f.job != nil {
		f.job.Alive()
	}
}

func (f *CallFS) changes(path string) {
	if f.job != nil && f.job.changed == "" {
		f.job.changed = path
	}
}

// EndJob closes every file that the job left open. Unless the job ended well
// it takes back what the job made; changed then names something that was there
// before and that the job changed, which stays as it is: the call must not end
// well.
func (f *CallFS) EndJob(well bool) (changed string, err error) {
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	f.closeAll()
	if well || len(f.job.has) == 0 {
		return f.changedIf(!well), nil
	}
	errno := f.change(func() sys.Errno {
		for _, n := range f.makings() {
			if errno := f.takeBack(n); errno != 0 {
				return errno
			}
		}
		return 0
	})
	if errno != 0 {
		return "", fmt.Errorf("take back what a job made: %w", errno)
	}
	return f.job.changed, nil
}

func (f *CallFS) changedIf(failed bool) string {
	if failed {
		return f.job.changed
	}
	return ""
}

// makings are the living nodes that the job made, what lies deeper first.
func (f *CallFS) makings() (nodes []*stage.Node) {
	for id, made := range f.job.has {
		if n := f.v.tree.Node(id); made && n != nil && !n.Dead {
			nodes = append(nodes, n)
		}
	}
	depth := func(n *stage.Node) int { return strings.Count(n.Path(), "/") }
	slices.SortFunc(nodes, func(a, b *stage.Node) int { return depth(b) - depth(a) })
	return nodes
}

// takeBack removes a node that the job made. A folder in which others have put
// something stays.
func (f *CallFS) takeBack(n *stage.Node) sys.Errno {
	for _, e := range n.Entries {
		if e.Node != nil {
			return 0
		}
	}
	return f.applyAndDrop(n, stage.Effect{
		Op: stage.OpEntry, Parent: n.Parent.ID, Name: n.Name, Hides: n.Parent.Entries[n.Name].Hides,
	})
}
