package commit

import (
	"path/filepath"
)

// restored describes what a commit that was turned back put in its place again.
// The renames gave these objects a new change time, which must not look like
// somebody else's work when the same stage is committed later.
func (e *engine) restored() []byte {
	enc := &encoder{}
	for i := range e.j.items {
		it := &e.j.items[i]
		if it.from == "" {
			continue
		}
		if now, err := e.box.stat(it.from); err == nil && it.was.same(now) {
			enc.text(it.from)
			enc.identity(now)
		}
	}
	return seal(restoredMagic, enc.b)
}

const restoredMagic = "stepbox restored 1\n"

// readRestored reads it back. What is damaged excuses nothing.
func (r *Run) readRestored() map[string]identity {
	b, err := readBounded(filepath.Join(r.Data, nameRestored))
	if err != nil {
		return nil
	}
	body, err := unseal(restoredMagic, b)
	if err != nil {
		return nil
	}
	m := make(map[string]identity)
	for d := (&decoder{b: body}); len(d.b) > 0; {
		path := d.text()
		m[path] = d.identity()
		if d.err != nil {
			return nil
		}
	}
	return m
}
