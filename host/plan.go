package host

import (
	"context"
	"errors"

	"stepbox.dev/abi"
	"stepbox.dev/host/event"
	"stepbox.dev/host/expand"
	"stepbox.dev/host/gate"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/retrieval"
	"stepbox.dev/host/worker"
)

// Planned is the answer of Plan, as plan --json prints it.
type Planned struct {
	Outcome     string            `json:"outcome"` // plan, clarify, reject
	Skill       string            `json:"skill"`
	Plan        []abi.Call        `json:"plan"`
	Question    string            `json:"question,omitempty"`
	Candidates  []string          `json:"candidates,omitempty"`
	Reason      string            `json:"reason,omitempty"`
	Retrieved   []retrieval.Hit   `json:"retrieved"`
	Program     *PlannedProgram   `json:"program,omitempty"`
	Diagnostics []plan.Diagnostic `json:"diagnostics"`
	Planner     string            `json:"planner"`
	Confidence  float64           `json:"confidence"`
	// Summaries is one sentence for each call; May is what its steps may do.
	Summaries []string `json:"-"`
	May       []string `json:"-"`
}

// PlannedProgram is the expanded plan.
type PlannedProgram struct {
	Digest string     `json:"digest"`
	Calls  []abi.Call `json:"calls"`
}

// Plan plans a request and runs nothing but, with expanded, the expansion of
// its intents. A question or a refusal is an outcome, and also the error
// (fault.Question, fault.Refused) that a command line exits with.
func (h *Host) Plan(ctx context.Context, r Request, expanded bool, e event.Handler) (Planned, error) {
	ctx, s := newStream(ctx, e)
	defer s.cancel(nil)
	out := Planned{Outcome: string(gate.Reject), Plan: []abi.Call{}, Retrieved: []retrieval.Hit{}, Diagnostics: []plan.Diagnostic{}}
	err := settle(ctx, h.planOnly(ctx, r, expanded, s, &out))
	var invalid *plan.InvalidError
	if errors.As(err, &invalid) {
		out.Diagnostics = invalid.Diagnostics
	}
	return out, err
}

func (h *Host) planOnly(ctx context.Context, r Request, expanded bool, s *stream, out *Planned) error {
	catch := &decisionCatcher{next: s, out: out}
	sk, competed, err := h.choose(ctx, r.Skill, r.Utterance)
	if err != nil {
		return err
	}
	out.Skill = sk.Name()
	if err := decided(catch, screened(sk, r)); err != nil {
		return err
	}
	view, err := openSandbox(r.Sandbox)
	if err != nil {
		return err
	}
	defer view.close()
	p := &planning{skill: sk, request: r, sandbox: view, events: catch, competed: competed}
	valid, err := p.plan(ctx)
	out.Plan, out.Planner, out.Confidence = p.draft.Calls(), p.answer.Planner, p.answer.Confidence
	out.Retrieved = p.hits
	if err != nil {
		return err
	}
	out.Outcome, out.Plan = string(gate.Proceed), valid.Calls()
	if !expanded {
		return nil
	}
	l := h.load(ctx, sk, worker.Options{}, s)
	defer l.stop()
	w, kinds, err := l.wait(ctx)
	if err != nil {
		return err
	}
	program, err := expand.Expand(ctx, valid, w, expand.Options{Kind: kinds, Paths: view.paths()})
	if err != nil {
		return err
	}
	program = plan.Optimize(program)
	out.Program = &PlannedProgram{Digest: program.Digest().String(), Calls: program.Calls()}
	return nil
}
