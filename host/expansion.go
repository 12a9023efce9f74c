package host

import (
	"context"
	"errors"

	"stepbox.dev/host/expand"
	"stepbox.dev/host/gate"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/worker"
)

// expanded takes the plan to a program: intents expand in the guest, which sees no
// file. Nothing has run yet, so a question that the skill has about an argument is
// put to the person like the planner's own, and its answer checked like theirs.
func (a *attempt) expanded(ctx context.Context, pl *planning, valid plan.Valid) (*worker.Worker, plan.Valid, error) {
	w, kinds, err := a.module.wait(ctx)
	if err != nil {
		return nil, valid, err
	}
	for {
		program, err := expand.Expand(ctx, valid, w, expand.Options{Kind: kinds, Skill: a.skill.Name(), Paths: pl.sandbox.paths(), Sandbox: pl.sandbox.fs()})
		var asked *expand.Asked
		if errors.As(err, &asked) && asked.Arg != "" && a.person != nil && a.request.Plan == nil {
			if valid, err = pl.asks(ctx, asked); err == nil {
				continue
			}
		}
		if err == nil {
			a.program = plan.Optimize(program)
		}
		return w, valid, err
	}
}

// asks puts a skill's question about an argument to the person, and plans on with
// the answer.
func (p *planning) asks(ctx context.Context, q *expand.Asked) (plan.Valid, error) {
	d := gate.Decision{Outcome: gate.Clarify, Question: q.Question, Call: q.Call, Arg: q.Arg, From: "the skill " + q.Skill}
	if a := p.argument(d); a != nil {
		d.Candidates = a.Enum
	}
	if err := p.converse(ctx, d, false); err != nil {
		return plan.Valid{}, err
	}
	return p.settle(ctx)
}
