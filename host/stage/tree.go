package stage

import (
	"errors"
	"fmt"
	"sort"
)

// Tree is what the records of a log amount to.
type Tree struct {
	nodes    map[ID]*Node
	byOrigin map[string]*Node
	last     ID // highest number used
	made     int
	call     int
	sealed   map[int]bool
}

// Node is a file, folder or link. Its fields are to be read only.
type Node struct {
	ID           ID
	Kind         Kind
	HasOrigin    bool
	Origin       Origin
	Target       string // of a link without an origin
	Blob         ID     // its content; 0: its origin's
	BlobCall     int    // the call that made the blob
	Atime, Mtime int64  // recorded, or Own
	Changed      int64  // when it was made or, of a folder, an entry changed; 0: never
	Call         int    // the call that changed it last
	Dead         bool
	Parent       *Node // nil: the root, or a dead node
	Name         string
	// Entries of a folder, by name. A dead folder keeps its whiteouts: they
	// say which of the sandbox's names were removed one by one.
	Entries map[string]*Entry
}

// Entry is what a name in a folder leads to.
type Entry struct {
	Node  *Node // nil: nothing
	Hides bool  // the sandbox has something of its own here
	Call  int   // the call that set it last
}

// NewTree returns the tree of an empty log.
func NewTree() *Tree {
	root := &Node{ID: Root, Kind: Folder, HasOrigin: true, Atime: Own, Mtime: Own}
	return &Tree{
		nodes:    map[ID]*Node{Root: root},
		byOrigin: map[string]*Node{"": root},
		last:     Root,
		sealed:   map[int]bool{},
	}
}

// Root returns the sandbox's node.
func (t *Tree) Root() *Node { return t.nodes[Root] }

// Node returns a node, dead ones too, or nil.
func (t *Tree) Node(id ID) *Node { return t.nodes[id] }

// ByOrigin returns the node that stands for a path of the sandbox, or nil.
func (t *Tree) ByOrigin(path string) *Node { return t.byOrigin[path] }

// Last is the highest number in use.
func (t *Tree) Last() ID { return t.last }

// Made is how many living nodes have no origin.
func (t *Tree) Made() int { return t.made }

// Sealed reports whether the call ended well.
func (t *Tree) Sealed(call int) bool { return t.sealed[call] }

// Nodes returns all nodes by ascending number, dead ones too.
func (t *Tree) Nodes() []*Node {
	list := make([]*Node, 0, len(t.nodes))
	for _, n := range t.nodes {
		list = append(list, n)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].ID < list[j].ID })
	return list
}

// Path is where a living node lies in the view, "" for the root.
func (n *Node) Path() string {
	if n.Parent == nil {
		return ""
	}
	if n.Parent.Parent == nil {
		return n.Name
	}
	return n.Parent.Path() + "/" + n.Name
}

// InPlace reports whether a node is where its origin is: its parent stands for
// the folder that the origin lies in, and its name is the origin's.
func (n *Node) InPlace() bool {
	p := n.Parent
	if !n.HasOrigin || n.Dead || p == nil {
		return n.ID == Root
	}
	return p.HasOrigin && n.Origin.Path == Join(p.Origin.Path, n.Name)
}

// Apply checks a record against the rules and applies it. After an error the
// tree is no longer of use.
func (t *Tree) Apply(r Record) error {
	if len(r.Effects) == 0 {
		return errors.New("record without effects")
	}
	if r.Call < t.call || t.sealed[r.Call] {
		return fmt.Errorf("record of call %d after call %d, or after the call was sealed", r.Call, t.call)
	}
	t.call = r.Call
	if r.Effects[0].Op == OpSeal {
		if len(r.Effects) > 1 {
			return errors.New("seal beside other effects")
		}
		t.sealed[r.Call] = true
		return nil
	}
	a := applier{Tree: t, rec: &r}
	for i := range r.Effects {
		if err := a.apply(&r.Effects[i]); err != nil {
			return fmt.Errorf("effect %d: %w", i, err)
		}
	}
	return a.end()
}

// applier applies one record: what it took out of the tree must have found a
// place, or died, when the record ends.
type applier struct {
	*Tree
	rec      *Record
	detached []*Node
	origins  []*Node
}

func (a *applier) apply(e *Effect) error {
	switch e.Op {
	case OpNode:
		return a.define(e)
	case OpContent:
		return a.content(e)
	case OpTimes:
		n, err := a.living(e.ID)
		if err != nil {
			return err
		}
		n.Atime, n.Mtime, n.Call = e.Atime, e.Mtime, a.rec.Call
		return nil
	case OpEntry:
		return a.entry(e)
	case OpDies:
		return a.dies(e)
	}
	return fmt.Errorf("effect %d is out of place", e.Op)
}

func (a *applier) living(id ID) (*Node, error) {
	n := a.nodes[id]
	if n == nil || n.Dead {
		return nil, fmt.Errorf("node %d is unknown or gone", id)
	}
	return n, nil
}

func (a *applier) define(e *Effect) error {
	if err := a.number(e.ID); err != nil {
		return err
	}
	if e.Kind < File || e.Kind > Link {
		return fmt.Errorf("node %d has the unknown kind %d", e.ID, e.Kind)
	}
	if len(a.nodes) >= MaxNodes {
		return fmt.Errorf("more than %d nodes", MaxNodes)
	}
	n := &Node{
		ID: e.ID, Kind: e.Kind, HasOrigin: e.HasOrigin, Origin: e.Origin, Target: e.Target,
		Atime: Own, Mtime: Own, Call: a.rec.Call,
	}
	switch {
	case e.HasOrigin:
		if err := checkPath(e.Origin.Path); err != nil {
			return err
		}
		if a.byOrigin[e.Origin.Path] != nil {
			return fmt.Errorf("a second node for %q", e.Origin.Path)
		}
		a.byOrigin[e.Origin.Path] = n
		a.origins = append(a.origins, n)
	case e.Kind == Link:
		if err := checkTarget(e.Target); err != nil {
			return err
		}
		fallthrough
	default:
		n.Changed = a.rec.Time
		a.made++
	}
	a.nodes[e.ID] = n
	a.detached = append(a.detached, n)
	return nil
}

// number claims an ascending number, so that no number names two things.
func (a *applier) number(id ID) error {
	if id <= a.last {
		return fmt.Errorf("number %d after %d", id, a.last)
	}
	a.last = id
	return nil
}

func (a *applier) content(e *Effect) error {
	n, err := a.living(e.ID)
	if err != nil {
		return err
	}
	if n.Kind != File {
		return fmt.Errorf("content for node %d, which is no file", e.ID)
	}
	if err := a.number(e.Blob); err != nil {
		return err
	}
	n.Blob, n.BlobCall, n.Call = e.Blob, a.rec.Call, a.rec.Call
	return nil
}

func (a *applier) entry(e *Effect) error {
	p, err := a.living(e.Parent)
	if err != nil {
		return err
	}
	if p.Kind != Folder {
		return fmt.Errorf("entry in node %d, which is no folder", e.Parent)
	}
	if err := checkName(e.Name, e.Parent == Root); err != nil {
		return err
	}
	old := p.Entries[e.Name]
	if old != nil && old.Hides && !e.Hides {
		return fmt.Errorf("entry %q shows again what it hid", e.Name)
	}
	if e.Hides && !p.HasOrigin {
		return fmt.Errorf("entry %q hides something in a new folder", e.Name)
	}
	var n *Node
	if e.ID != 0 {
		if n, err = a.living(e.ID); err != nil {
			return err
		}
		if n.Parent != nil || n.ID == Root {
			return fmt.Errorf("node %d in two places", e.ID)
		}
		if err := a.notBelow(p, n); err != nil {
			return err
		}
	}
	if old != nil && old.Node != nil {
		old.Node.Parent = nil
		a.detached = append(a.detached, old.Node)
	}
	p.Changed, p.Call = a.rec.Time, a.rec.Call
	if n == nil && !e.Hides {
		delete(p.Entries, e.Name)
		return nil
	}
	if p.Entries == nil {
		p.Entries = map[string]*Entry{}
	}
	p.Entries[e.Name] = &Entry{Node: n, Hides: e.Hides, Call: a.rec.Call}
	if n != nil {
		n.Parent, n.Name, n.Call = p, e.Name, a.rec.Call
	}
	return nil
}

// notBelow refuses to put n into itself.
func (a *applier) notBelow(p, n *Node) error {
	depth := 0
	for q := p; q != nil; q = q.Parent {
		if q == n {
			return fmt.Errorf("node %d inside itself", n.ID)
		}
		if depth++; depth > MaxDepth {
			return fmt.Errorf("more than %d folders deep", MaxDepth)
		}
	}
	return nil
}

func (a *applier) dies(e *Effect) error {
	n, err := a.living(e.ID)
	if err != nil {
		return err
	}
	if n.Parent != nil || n.ID == Root {
		return fmt.Errorf("node %d is gone but has a place", e.ID)
	}
	for name, c := range n.Entries {
		if c.Node != nil {
			return fmt.Errorf("node %d is gone but holds %q", e.ID, name)
		}
	}
	n.Dead, n.Call = true, a.rec.Call
	if !n.HasOrigin {
		a.made--
	}
	return nil
}

// end checks what must hold between records: every living node has one place,
// and every origin's own place is hidden, so that nothing shows twice.
func (a *applier) end() error {
	for _, n := range a.detached {
		if n.Parent == nil && !n.Dead {
			return fmt.Errorf("node %d has no place", n.ID)
		}
	}
	for _, n := range a.origins {
		dir, base := Split(n.Origin.Path)
		p := a.byOrigin[dir]
		if p == nil || p.Kind != Folder || p.Entries[base] == nil || !p.Entries[base].Hides {
			return fmt.Errorf("%q is not hidden in its own place", n.Origin.Path)
		}
	}
	return nil
}

// checkDepth refuses a tree that moves of folders made too deep.
func (t *Tree) checkDepth() error {
	depth := make(map[*Node]int, len(t.nodes))
	for _, n := range t.nodes {
		var way []*Node
		q := n
		for ; q != nil; q = q.Parent {
			if _, ok := depth[q]; ok {
				break
			}
			way = append(way, q)
		}
		d := 0
		if q != nil {
			d = depth[q] + 1
		}
		for i := len(way) - 1; i >= 0; i-- {
			if depth[way[i]] = d; d > MaxDepth {
				return fmt.Errorf("more than %d folders deep", MaxDepth)
			}
			d++
		}
	}
	return nil
}
