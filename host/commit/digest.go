package commit

import (
	"crypto/sha256"

	"stepbox.dev/host/plan"
)

// digestOf covers everything that an approval is about.
func digestOf(r *Run, s Source, c *Changes) plan.Digest {
	e := &encoder{}
	e.text("stepbox changes 2", string(s.Program[:]), r.Sandbox)
	e.uints(r.ino, uint64(len(s.Modes)))
	for _, m := range s.Modes {
		e.uints(uint64(m))
	}
	e.uints(uint64(len(s.Extra)))
	e.text(s.Extra...)
	e.uints(uint64(len(c.list)))
	for _, ch := range c.list {
		e.text(string(ch.Kind), string(ch.Entry), ch.Path, ch.From, ch.Protected, ch.Within, ch.Note)
		e.ints(ch.Size)
	}
	for i, it := range c.items {
		m := c.made[i]
		e.text(m.target, string(m.sum[:]))
		e.uints(uint64(m.blob))
		e.ints(m.times.atime, m.times.mtime, it.new.atime, it.new.mtime)
	}
	return plan.Digest(sha256.Sum256(e.b))
}
