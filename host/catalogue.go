package host

import (
	"context"
	"slices"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/gate"
	"stepbox.dev/host/retrieval"
	"stepbox.dev/host/skill"
)

// catalogue holds the skills that some requests choose from, each loaded and
// indexed once. It serves one goroutine.
type catalogue struct {
	host  *Host
	named map[string]*skill.Skill
	index map[*skill.Skill]*retrieval.Index
	// phrases are the unsafe ones of each.
	phrases map[*skill.Skill]*gate.Phrases
	all     []*skill.Skill
	both    *retrieval.Index // of all
}

// choose finds the skill of a request: the one it names, else the winner of
// all that are known and not stale.
func (c *catalogue) choose(ctx context.Context, name, utterance string) (s *skill.Skill, competed bool, err error) {
	if name != "" {
		if s = c.named[name]; s != nil {
			return s, false, nil
		}
		if s, err = c.host.Skill(ctx, name); err != nil {
			return nil, false, err
		}
		if c.named == nil {
			c.named = map[string]*skill.Skill{}
		}
		c.named[name] = s
		return s, false, nil
	}
	all, index, err := c.competitors(ctx)
	if err != nil {
		return nil, true, err
	}
	best := index.Skills(utterance)
	if len(best) == 0 {
		return nil, true, fault.New(fault.Refused, "no known skill can do that").
			Hint("`stepbox skills list` says what the known skills do")
	}
	i := slices.IndexFunc(all, func(s *skill.Skill) bool { return s.Name() == best[0].Skill })
	return all[i], true, nil
}

// competitors are the skills that may answer a request that names none.
func (c *catalogue) competitors(ctx context.Context) ([]*skill.Skill, *retrieval.Index, error) {
	if c.both != nil {
		return c.all, c.both, nil
	}
	found, err := c.host.Skills(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range found {
		if f.Err == nil && !f.Skill.Stale() {
			c.all = append(c.all, f.Skill)
		}
	}
	if len(c.all) == 0 {
		return nil, nil, fault.New(fault.Usage, "no skill is known").
			Hint("name a skill's folder, for example ./skills/files, or give --skills DIR")
	}
	c.both = retrieval.New(c.all)
	return c.all, c.both, nil
}

// indexed returns the index of one skill's tools.
func (c *catalogue) indexed(s *skill.Skill) *retrieval.Index {
	x := c.index[s]
	if x == nil {
		x = retrieval.New([]*skill.Skill{s})
		if c.index == nil {
			c.index = map[*skill.Skill]*retrieval.Index{}
		}
		c.index[s] = x
	}
	return x
}
