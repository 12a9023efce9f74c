package host

import (
	"context"
	"errors"

	"stepbox.dev/abi"
	"stepbox.dev/host/event"
	"stepbox.dev/host/expand"
	"stepbox.dev/host/gate"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/planner"
	"stepbox.dev/host/retrieval"
	"stepbox.dev/host/skill"
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
	Confidence  float64           `json:"confidence"` // 0: the planner cannot tell
	Model       string            `json:"model,omitempty"`
	Why         string            `json:"why,omitempty"` // this planner planned
	// Summaries is one sentence for each call, and May what its steps may do;
	// they come with the program.
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
	b, err := h.Batch(ctx, r, expanded, e)
	if err != nil {
		return Planned{}, err
	}
	defer b.Close()
	return b.Plan(ctx, r.Utterance)
}

// Batch plans many requests for one sandbox, as Plan does, and loads each skill
// once. It serves one goroutine.
type Batch struct {
	host     *Host
	request  Request
	expanded bool
	events   event.Handler
	skills   catalogue
	planner  planner.Planner
	sandbox  *hostView
	workers  map[*skill.Skill]*loading
}

// Batch begins a batch. The utterance of the request is not used.
func (h *Host) Batch(ctx context.Context, r Request, expanded bool, e event.Handler) (*Batch, error) {
	pl, err := h.newPlanner(r, e)
	if err != nil {
		return nil, err
	}
	view, err := openSandbox(r.Sandbox)
	if err != nil {
		return nil, err
	}
	return &Batch{
		host: h, request: r, expanded: expanded, events: e, sandbox: view, planner: pl,
		skills: catalogue{host: h}, workers: map[*skill.Skill]*loading{},
	}, nil
}

// Close ends the workers that expansions needed.
func (b *Batch) Close() {
	for _, l := range b.workers {
		l.stop()
	}
	b.sandbox.close()
}

// Plan plans one request.
func (b *Batch) Plan(ctx context.Context, utterance string) (Planned, error) {
	ctx, s := newStream(ctx, b.events)
	defer s.cancel(nil)
	out := Planned{Outcome: string(gate.Reject), Plan: []abi.Call{}, Retrieved: []retrieval.Hit{}, Diagnostics: []plan.Diagnostic{}}
	err := settle(ctx, b.plan(ctx, utterance, s, &out))
	var invalid *plan.InvalidError
	if errors.As(err, &invalid) {
		out.Diagnostics = invalid.Diagnostics
	}
	return out, err
}

func (b *Batch) plan(ctx context.Context, utterance string, s *stream, out *Planned) error {
	r := b.request
	r.Utterance = utterance
	catch := &decisionCatcher{next: s, out: out}
	sk, competed, err := b.skills.choose(ctx, r.Skill, utterance)
	if err != nil {
		return err
	}
	out.Skill = sk.Name()
	if err := decided(catch, b.skills.screened(sk, r)); err != nil {
		return err
	}
	p := &planning{skill: sk, planner: b.planner, index: func() *retrieval.Index { return b.skills.indexed(sk) }, request: r, sandbox: b.sandbox, events: catch, competed: competed}
	valid, err := p.plan(ctx)
	out.Planner, out.Model, out.Why, out.Confidence = p.answer.Planner, p.answer.Model, p.answer.Why, p.answer.Confidence
	out.Plan = append(out.Plan, p.draft.Calls()...)
	out.Retrieved = append(out.Retrieved, p.hits...)
	if err != nil {
		return err
	}
	out.Outcome, out.Plan = string(gate.Proceed), valid.Calls()
	if !b.expanded {
		return nil
	}
	l := b.workers[sk]
	if l == nil {
		// The worker outlives this request: its own context would end it.
		l = b.host.load(context.WithoutCancel(ctx), sk, worker.Options{}, s)
		b.workers[sk] = l
	}
	w, kinds, err := l.wait(ctx)
	if err != nil {
		return err
	}
	program, err := expand.Expand(ctx, valid, w, expand.Options{Kind: kinds, Skill: sk.Name(), Paths: b.sandbox.paths(), Sandbox: b.sandbox.fs()})
	if err != nil {
		return err
	}
	program = plan.Optimize(program)
	if out.Summaries, out.May, err = told(ctx, w, valid, program); err != nil {
		return err
	}
	out.Program = &PlannedProgram{Digest: program.Digest().String(), Calls: program.Calls()}
	return nil
}
