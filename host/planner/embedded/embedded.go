// Package embedded plans narrow requests in milliseconds with no model: it
// splits a request into clauses, ranks tools for each, fills arguments by type,
// and says how sure it is. It is driven by the contract and the lexicon alone
// and knows no tool or skill by name.
//
// One rule stands above all others: every word of a request that means
// something must have been used for something. What was not understood becomes
// a question that names it; it is never ignored.
package embedded

import (
	"context"
	"sync"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/lexicon"
	"stepbox.dev/host/planner"
	"stepbox.dev/host/skill"
)

// Planner is the embedded planner. The zero value works. It keeps the compiled
// vocabulary of each skill it has seen, and is safe for concurrent use.
type Planner struct {
	grammars sync.Map // *skill.Skill → *lexicon.Grammar
}

// name is who answered, in an answer.
const name = "embedded"

// maxUtterance bounds what is read, in bytes. Longer texts are no narrow
// requests.
const maxUtterance = 4000

// Plan implements planner.Planner.
func (p *Planner) Plan(ctx context.Context, r planner.Request) (planner.Answer, error) {
	if err := ctx.Err(); err != nil {
		return planner.Answer{}, err
	}
	if r.Skill == nil {
		return planner.Answer{}, fault.New(fault.Internal, "the embedded planner was given no skill")
	}
	g, err := p.grammar(r.Skill)
	if err != nil {
		return planner.Answer{}, err
	}
	if len(r.Utterance) > maxUtterance {
		return question(0.9, nil, "That is longer than I can read at once (%d bytes). What should be done, in a sentence or two?", len(r.Utterance)), nil
	}
	q := read(g, r)
	if q.leads(len(q.toks), 0) {
		return question(0.99, nil, "What should be done?"), nil
	}
	return q.plan(), nil
}

func (p *Planner) grammar(s *skill.Skill) (*lexicon.Grammar, error) {
	if g, ok := p.grammars.Load(s); ok {
		return g.(*lexicon.Grammar), nil
	}
	lex, err := s.Vocabulary()
	if err != nil {
		return nil, err
	}
	g, _ := p.grammars.LoadOrStore(s, lexicon.New(lex, s.Registry()))
	return g.(*lexicon.Grammar), nil
}
