package commit

import (
	"fmt"
	"strconv"

	"stepbox.dev/abi"
	"stepbox.dev/host/stage"
)

// guard checks every record against the declaration of its call.
type guard struct {
	source Source
	wrote  bool // a call that may write left effects
}

func (g *guard) record(t *stage.Tree, rec stage.Record) error {
	if rec.Call < 0 || rec.Call >= len(g.source.Modes) {
		return fmt.Errorf("it holds effects of call %d, which the program does not have", rec.Call)
	}
	mode := g.source.Modes[rec.Call]
	name := "call " + strconv.Itoa(rec.Call)
	if rec.Call < len(g.source.Tools) {
		name = fmt.Sprintf("%q (call %d)", g.source.Tools[rec.Call], rec.Call)
	}
	if rec.Mode > mode {
		return fmt.Errorf("%s acted in mode %s but is declared %s", name, rec.Mode, mode)
	}
	for i := range rec.Effects {
		e := &rec.Effects[i]
		if e.Op == stage.OpSeal {
			continue
		}
		if mode <= abi.ModeRead {
			return fmt.Errorf("%s is declared %s and changed something", name, mode)
		}
		if mode == abi.ModeWrite {
			g.wrote = true
			continue
		}
		if err := addsOnly(t, rec, e); err != nil {
			return fmt.Errorf("%s is declared safe and %w", name, err)
		}
	}
	return nil
}

// addsOnly refuses an effect on anything that was there before the run. t is
// the tree before the record, which may define what it then uses.
func addsOnly(t *stage.Tree, rec stage.Record, e *stage.Effect) error {
	origin := func(id stage.ID) (path string, known, has bool, kind stage.Kind) {
		if n := t.Node(id); n != nil {
			return n.Origin.Path, true, n.HasOrigin, n.Kind
		}
		for i := range rec.Effects {
			if d := &rec.Effects[i]; d.Op == stage.OpNode && d.ID == id {
				return d.Origin.Path, true, d.HasOrigin, d.Kind
			}
		}
		return "", false, false, 0
	}
	switch e.Op {
	case stage.OpContent, stage.OpTimes, stage.OpDies:
		if path, _, has, _ := origin(e.ID); has {
			return fmt.Errorf("changed %q, which was there before", path)
		}
	case stage.OpEntry:
		parent, _, hasParent, _ := origin(e.Parent)
		var old *stage.Entry
		if p := t.Node(e.Parent); p != nil {
			old = p.Entries[e.Name]
		}
		if old != nil && old.Node != nil && old.Node.HasOrigin {
			return fmt.Errorf("changed %q, which was there before", old.Node.Origin.Path)
		}
		path, _, has, kind := origin(e.ID)
		here := stage.Join(parent, e.Name)
		// A folder on the way to an addition gets a node in its own place.
		inPlace := has && kind == stage.Folder && hasParent && path == here
		if has && !inPlace {
			return fmt.Errorf("moved %q, which was there before", path)
		}
		if e.Hides && !inPlace && (old == nil || !old.Hides) {
			return fmt.Errorf("replaced or removed %q, which was there before", here)
		}
	}
	return nil
}
