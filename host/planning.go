package host

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"stepbox.dev/abi"
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

// maxQuestions ends a conversation that leads nowhere.
const maxQuestions = 5

// planning turns a request into a valid plan; on a terminal it is a
// conversation.
type planning struct {
	skill    *skill.Skill
	request  Request
	sandbox  *hostView // nil: no file need exist
	events   event.Handler
	person   Person
	competed bool

	planner planner.Planner
	turns   []prompt.Turn           // that have run already
	meant   string                  // the request whose plan a person said yes to
	index   func() *retrieval.Index // a given plan needs none
	hits    []retrieval.Hit
	answer  planner.Answer
	draft   plan.Draft
}

// plan plans, asks, and plans again until a plan is valid or the run ends.
func (p *planning) plan(ctx context.Context) (plan.Valid, error) {
	if p.request.Plan != nil {
		return p.given()
	}
	utterance := p.request.Utterance
	if err := p.propose(ctx, utterance); err != nil {
		return plan.Valid{}, err
	}
	for asked := 0; ; asked++ {
		decision := p.check(utterance)
		doubted := false
		if decision.Outcome == gate.Proceed {
			valid, err := p.validate()
			if err != nil {
				return valid, err
			}
			if decision, doubted = p.doubtful(utterance); !doubted {
				return valid, p.leaveAside()
			}
		}
		switch {
		case decision.Outcome == gate.Reject, p.person == nil, asked == maxQuestions:
			return plan.Valid{}, decided(p.events, decision)
		}
		answer, err := p.ask(ctx, decision, doubted, utterance)
		if err != nil {
			return plan.Valid{}, err
		}
		if p.meant == utterance && doubted {
			continue
		}
		if strings.TrimSpace(answer) == "" {
			return plan.Valid{}, decided(p.events, decision)
		}
		if decision.Arg == "" && p.answer.Lacks != "" {
			decision.Call, decision.Arg = 0, p.answer.Lacks
			p.answer.Text, p.answer.Lacks = p.answer.Partial, "" // what it proposes from now on
			if p.draft, err = plan.Parse(p.answer.Text); err != nil {
				return plan.Valid{}, err
			}
		}
		if decision.Arg != "" { // the answer is one argument's value: the rest of the plan stands
			utterance += " " + answer
			p.draft = p.draft.WithCalls(answered(p.draft.Calls(), decision, p.named(decision, answer)))
			continue
		}
		if utterance, err = p.replied(ctx, utterance, answer); err != nil {
			return plan.Valid{}, err
		}
	}
}

// ask puts a question to the person. A yes to a plan that was doubted is noted.
func (p *planning) ask(ctx context.Context, d gate.Decision, doubted bool, utterance string) (string, error) {
	if !doubted {
		return p.person.Clarify(ctx, event.Decision{Outcome: string(d.Outcome), Question: d.Question, Candidates: d.Candidates, From: d.From})
	}
	yes, instead, err := p.meantIt(ctx, d)
	if yes {
		p.meant = utterance
	}
	return instead, err
}

// named is what an answer says: the path in it where a path was asked for, unless
// it is offered or there as it stands.
func (p *planning) named(d gate.Decision, answer string) string {
	t, ok := p.skill.Registry().Tool(p.draft.Calls()[d.Call].Tool)
	if !ok || t.Args[d.Arg] == nil || t.Args[d.Arg].PathRole == abi.RoleNone || slices.Contains(d.Candidates, answer) {
		return answer
	}
	if exists := p.sandbox.exists(); exists != nil {
		if found, _ := exists(answer); found {
			return answer
		}
	}
	return gate.PathAnswer(answer)
}

// answered returns the calls with a person's answer in the place that was asked
// about: an argument, or one of its values. It is a name or a text as it
// stands, also when it begins with "$".
func answered(calls []abi.Call, d gate.Decision, answer string) []abi.Call {
	calls = slices.Clone(calls)
	c := calls[d.Call]
	c.Args = maps.Clone(c.Args)
	if c.Args == nil {
		c.Args = map[string]any{}
	}
	answer = plan.Literal(answer)
	if list, ok := c.Args[d.Arg].([]any); ok && d.Value != "" {
		list = slices.Clone(list)
		for i, v := range list {
			if v == any(d.Value) {
				list[i] = answer
			}
		}
		c.Args[d.Arg] = list
	} else {
		c.Args[d.Arg] = answer
	}
	calls[d.Call] = c
	return calls
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
	p.answer, err = p.planner.Plan(ctx, planner.Request{
		Utterance: utterance, Skill: p.skill, Tools: p.hits, Files: p.request.Files, Now: time.Now(), Exists: p.sandbox.exists(), Names: p.sandbox.listed(),
		Turns: p.turns,
		Asking: func(a planner.Asking) {
			// The stream keeps its own error, and ends the run with it.
			_ = p.events.Handle(event.Asking{Planner: a.Planner, Model: a.Model, Why: a.Why, Bytes: a.Bytes})
		},
	})
	if err != nil {
		return err
	}
	p.draft, err = plan.Parse(p.answer.Text)
	return err
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
