package host

import (
	"context"
	"errors"
	"time"

	"stepbox.dev/host/event"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/gate"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/planner"
	"stepbox.dev/host/prompt"
	"stepbox.dev/host/registry"
	"stepbox.dev/host/retrieval"
	"stepbox.dev/host/skill"
)

// retrieved is how many tools a planner is shown.
const retrieved = 8

// planning turns a request into a valid plan; on a terminal it is a
// conversation.
type planning struct {
	skill    *skill.Skill
	request  Request
	sandbox  *hostView // nil: no file need exist
	events   event.Handler
	person   Person
	competed bool

	utterance string // the request as it stands
	asked     asked
	planner   planner.Planner
	turns     []prompt.Turn           // that have run already
	meant     string                  // the request whose plan a person said yes to
	index     func() *retrieval.Index // a given plan needs none
	hits      []retrieval.Hit
	answer    planner.Answer
	draft     plan.Draft
}

// plan plans, asks, and plans again until a plan is valid or the run ends.
func (p *planning) plan(ctx context.Context) (plan.Valid, error) {
	if p.request.Plan != nil {
		return p.given()
	}
	p.utterance = p.request.Utterance
	if err := p.propose(ctx, p.utterance); err != nil {
		return plan.Valid{}, err
	}
	return p.settle(ctx)
}

// settle checks what was proposed, and asks until it stands.
func (p *planning) settle(ctx context.Context) (plan.Valid, error) {
	for {
		decision := p.check(p.utterance)
		doubted := false
		if decision.Outcome == gate.Proceed {
			valid, err := p.validate()
			if decision = p.refusedValue(err); decision.Outcome == gate.Proceed {
				if err != nil {
					return valid, err
				}
				if decision, doubted = p.doubtful(p.utterance); !doubted {
					return valid, p.leaveAside()
				}
			}
		}
		if err := p.converse(ctx, decision, doubted); err != nil {
			return plan.Valid{}, err
		}
	}
}

// propose asks the planner for a draft.
func (p *planning) propose(ctx context.Context, utterance string) error {
	p.hits = p.index().Search(utterance, retrieved)
	ev := event.Retrieved{Skill: p.skill.Name(), Competed: p.competed, Tools: []event.Tool{}}
	for _, h := range p.hits {
		ev.Tools = append(ev.Tools, event.Tool{Tool: h.Tool, Score: h.Score})
	}
	if err := p.events.Handle(ev); err != nil {
		return err
	}
	var err error
	if p.answer, err = p.planner.Plan(ctx, p.asking(utterance, p.hits)); err != nil {
		return err
	}
	p.draft, err = plan.Parse(p.answer.Text)
	return err
}

// asking is what a planner is given of a request.
func (p *planning) asking(utterance string, hits []retrieval.Hit) planner.Request {
	return planner.Request{
		Utterance: utterance, Skill: p.skill, Tools: hits, Files: p.request.Files, Now: time.Now(), Exists: p.sandbox.exists(), Names: p.sandbox.listed(),
		Turns: p.turns,
		Asking: func(a planner.Asking) {
			// The stream keeps its own error, and ends the run with it.
			_ = p.events.Handle(event.Asking{Planner: a.Planner, Model: a.Model, Why: a.Why, Bytes: a.Bytes})
		},
	}
}

// check normalizes the draft and runs the gates over it.
func (p *planning) check(utterance string) gate.Decision {
	var d gate.Decision
	p.draft, d = gate.Check(gate.Request{
		Utterance: utterance,
		Draft:     plan.Normalize(p.draft, p.skill.Registry(), p.sandbox.paths()),
		Registry:  p.skill.Registry(),
		Sandbox:   p.sandbox.fs(), SandboxPath: p.sandbox.paths().Sandbox,
		Files: p.request.Files,
	})
	if d.Outcome == gate.Clarify && len(d.Candidates) == 0 {
		d.Candidates = p.answer.Candidates
	}
	d.From = p.author(d)
	return d
}

// author is who wrote a decision's words, "" when it was stepbox: a question or a
// refusal that stands in the plan is the planner's.
func (p *planning) author(d gate.Decision) string {
	calls := p.draft.Calls()
	if d.Outcome == gate.Proceed || d.Call >= len(calls) || calls[d.Call].Tool != registry.Clarify && calls[d.Call].Tool != registry.Reject {
		return ""
	}
	switch {
	case p.request.Plan != nil:
		return "the plan"
	case p.answer.Model != "":
		return "the model " + p.answer.Model
	}
	return ""
}

// given takes a plan that nobody uttered: gates that compare with a request are
// skipped, and what is missing is a usage error, not a question.
func (p *planning) given() (plan.Valid, error) {
	var err error
	if p.draft, err = plan.Parse(p.request.Plan); err != nil {
		return plan.Valid{}, err
	}
	p.answer = planner.Answer{Planner: "given", Confidence: 1}
	p.draft = plan.Normalize(p.draft, p.skill.Registry(), p.sandbox.paths())
	if _, err := p.validate(); err != nil { // before the gates: a missing argument is no question here
		return plan.Valid{}, err
	}
	if err := decided(p.events, p.check("")); err != nil {
		return plan.Valid{}, err
	}
	return p.validate()
}

func (p *planning) validate() (plan.Valid, error) {
	v, err := plan.Validate(p.draft, p.skill.Registry())
	var invalid *plan.InvalidError
	if errors.As(err, &invalid) {
		for _, d := range invalid.Diagnostics {
			if d.Code == plan.CodePathOutside {
				return v, fault.New(fault.Refused, "%s", d.Message).Hint("%s", d.Suggestion)
			}
		}
		return v, fault.New(fault.Usage, "the plan does not validate: %w", err)
	}
	return v, err
}
