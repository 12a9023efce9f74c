package host

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/host/commit"
	"stepbox.dev/host/event"
	"stepbox.dev/host/execute"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/gate"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/prompt"
	"stepbox.dev/host/retrieval"
	"stepbox.dev/host/skill"
	"stepbox.dev/host/store"
	"stepbox.dev/host/worker"
)

// Run takes a request from words to committed changes. The returned error's
// kind (fault.Of) is the outcome; the last event is always event.End.
func (h *Host) Run(ctx context.Context, r Request, p Person, e event.Handler) (Result, error) {
	return h.attempt(ctx, r, nil, p, e)
}

func (h *Host) attempt(ctx context.Context, r Request, stranger *store.Candidate, p Person, e event.Handler) (Result, error) {
	ctx, clock, stop := withDeadline(ctx, r.Timeout)
	defer stop()
	ctx, s := newStream(ctx, e)
	a := &attempt{host: h, request: r, events: s, person: resting(p, clock), stranger: stranger}
	res, err := a.inTurns(ctx)
	return res, s.end(ctx, res, err)
}

// attempt is one request on its way through the pipeline.
type attempt struct {
	host    *Host
	request Request
	events  *stream
	person  Person // nil: nobody to ask
	result  Result

	// stranger is the bundle that is tried, nil for any other run.
	stranger  *store.Candidate
	discarded bool // the person wants nothing of it kept

	skill   *skill.Skill
	run     *commit.Run
	record  *record
	module  *loading
	program plan.Program
	// summaries are the calls of the plan in words.
	summaries []string

	copied    []string // what was staged, to look at, and for which call of which run
	copiedFor string

	// Of the last question in the middle of the run: what nobody was there to
	// answer, or that the person said no.
	unanswered string
	declined   bool

	turns    []prompt.Turn // of the request that ran already, each a run of its own
	earlier  *Result       // of the last of them
	finished bool          // nothing was left to do
}

// stages are the pipeline of one request, top to bottom. Each returns early
// with an error that says how the run ends.
func (a *attempt) stages(ctx context.Context) error {
	if len(a.turns) == 0 {
		if err := a.events.Handle(event.Start{
			Version: event.Version, Verb: a.verb(), Sandbox: a.request.Sandbox, Request: a.request.Utterance,
		}); err != nil {
			return err
		}
	}
	planner, err := a.host.newPlanner(a.request, a.events)
	if err != nil {
		return err
	}

	// Which skill, and is the request one that it refuses outright?
	go a.host.expect(a.request.Skill)
	skills := catalogue{host: a.host}
	if a.stranger != nil {
		skills.named = map[string]*skill.Skill{a.request.Skill: a.stranger.Skill}
	}
	sk, competed, err := skills.choose(ctx, a.request.Skill, a.request.Utterance)
	if err != nil {
		return err
	}
	a.skill = sk
	if err := decided(a.events, skills.screened(a.skill, a.request)); err != nil {
		return err
	}

	// A run folder with an empty stage; the worker starts and loads the module
	// while the request is planned.
	if err := a.begin(ctx); err != nil {
		return err
	}
	a.module = a.host.load(ctx, a.skill, worker.Options{
		Limits:  a.ceilings(),
		Sandbox: a.run.Sandbox,
		Stage:   a.run.StageDir(),
		Confirm: a.confirm,
		Progress: func(call int, p abi.Progress) {
			a.events.Handle(event.Progress{Call: call, Progress: p})
		},
		Output: func(line string) { a.events.Handle(event.Output{Line: line}) },
	}, a.events)

	// Words to a valid plan: planner, parse, normalize, gates, validate.
	sandbox, err := openSandbox(a.run.Sandbox)
	if err != nil {
		return err
	}
	defer sandbox.close()
	pl := &planning{
		skill: a.skill, planner: planner, index: func() *retrieval.Index { return skills.indexed(a.skill) }, competed: competed,
		request: a.request, sandbox: sandbox, events: a.events, person: a.person, turns: a.turns,
	}
	valid, err := pl.plan(ctx)
	if err != nil {
		return err
	}
	if a.finished = a.nothingLeft(valid.Calls()); a.finished {
		return nil
	}

	// The plan to a program.
	w, valid, err := a.expanded(ctx, pl, valid)
	if err != nil {
		return err
	}
	a.record.Source = a.source()
	if err := a.show(ctx, w, pl, valid); err != nil {
		return err
	}
	if err := a.preflight(ctx, w); err != nil {
		return err
	}

	// Every step in the worker, all effects on the stage. What a later commit
	// needs is on disk before, whatever happens to this process.
	if err := a.record.save(a.run); err != nil {
		return err
	}
	done, err := execute.Run(ctx, a.program, w, execute.Options{
		Context: a.context(), Events: a.events, Paths: sandbox.paths(), Before: a.step, Confirm: a.confirm,
	})
	a.result.Results, a.result.Calls = done.Results, a.program.Intents()[:len(done.Results)]
	if err != nil {
		return a.explained(err)
	}
	words, ok, err := w.Format(ctx, abi.FormatRequest{Results: done.Results, DryRun: a.request.DryRun})
	if err != nil {
		return err
	}
	if !ok || len(words.Items) == 0 {
		words = plainWords(done.Results)
	}

	// The stage is read back as hostile data, once nobody can write to it.
	if err := w.Close(); err != nil {
		return err
	}
	changes, err := a.readBack(ctx)
	if err != nil {
		return err
	}
	if a.request.DryRun || changes.Empty() {
		return a.events.Handle(event.Result{Items: words.Items})
	}

	// Approved changes, and nothing else, reach the sandbox.
	approved, err := a.approve(ctx, changes)
	if err != nil {
		return err
	}
	if err := apply(ctx, a.events, changes, approved); err != nil {
		return err
	}
	return a.events.Handle(event.Result{Items: words.Items})
}

// begin makes the run's folder and its record.
func (a *attempt) begin(ctx context.Context) (err error) {
	if err := a.host.retain(ctx, a.events); err != nil {
		return err
	}
	if a.run, err = commit.Begin(ctx, a.host.state, a.request.Sandbox, a.host.cache, a.host.store.Dir()); err != nil {
		return err
	}
	a.result.RunID = a.run.ID
	a.record = &record{RunInfo: RunInfo{
		ID: a.run.ID, Began: a.run.Began, Verb: a.verb(), Request: a.request.Utterance,
		Skill: a.skill.Name(), Sandbox: a.run.Sandbox, Status: statusRunning,
	}}
	return a.record.save(a.run)
}

func (a *attempt) verb() string {
	if a.request.Plan != nil {
		return "exec"
	}
	return "run"
}

// show tells what will run, in the skill's own words.
func (a *attempt) show(ctx context.Context, w *worker.Worker, pl *planning, valid plan.Valid) error {
	a.record.Plan = valid.Calls()
	ev := event.Planned{Skill: a.skill.Name(), Planner: pl.answer.Planner, Model: pl.answer.Model, Why: pl.answer.Why, Confidence: pl.answer.Confidence, Plan: valid.Calls()}
	var err error
	if ev.Summaries, ev.May, err = told(ctx, w, valid, a.program); err != nil {
		return err
	}
	if a.record.Request == "" { // a given plan: its own words tell it from others
		a.record.Request = strings.Join(ev.Summaries, "; ")
	}
	if err := a.events.Handle(ev); err != nil {
		return err
	}
	if err := a.events.Handle(event.Program{Digest: a.program.Digest().String(), Calls: a.program.Calls()}); err != nil {
		return err
	}
	if a.request.Step && a.person == nil {
		return fault.New(fault.NotApproved, "--step asks about each intent, and there is nobody to ask").
			Hint("leave --step out, or run it on a terminal")
	}
	a.summaries = ev.Summaries
	return nil
}

// step asks, with --step, before the first call of each intent: what came out of
// those before it has been seen by then.
func (a *attempt) step(ctx context.Context, call int) error {
	intents := a.program.Intents()
	if !a.request.Step || call > 0 && intents[call-1] == intents[call] {
		return nil
	}
	yes, err := a.person.Proceed(ctx, a.summaries[intents[call]])
	if err == nil && !yes {
		err = fault.New(fault.NotApproved, "not run; nothing was changed")
	}
	return err
}

// preflight asks the guest about every call that needs no result of another,
// where the guest has something to ask.
func (a *attempt) preflight(ctx context.Context, w *worker.Worker) error {
	for i, c := range a.program.Calls() {
		if !a.module.tools[c.Tool].Preflight || plan.UsesVariables(c) {
			continue
		}
		args, err := new(plan.Variables).Resolve(c.Args) // there are none: names are said as they are
		if err != nil {
			return err
		}
		at := a.context()
		at.Call = i
		resp, err := w.Preflight(ctx, abi.PreflightRequest{Tool: c.Tool, Args: args, Ctx: at})
		if err != nil {
			return err
		}
		for _, p := range resp.Problems {
			d := gate.Decision{Outcome: gate.Reject, Reason: p.Message, Call: i, From: "the skill " + a.skill.Name()}
			if p.Kind == abi.ProblemMissing {
				d = gate.Decision{Outcome: gate.Clarify, Question: p.Message, Call: i, From: "the skill " + a.skill.Name()}
			}
			return decided(a.events, d)
		}
	}
	return nil
}

func (a *attempt) context() abi.Context {
	return abi.Context{
		RunID: a.run.ID, DryRun: a.request.DryRun && !a.request.Rehearse, Confirmed: a.request.Yes,
		Now: a.run.Began.Local().Format(time.RFC3339Nano), Zone: zone(), Locale: "en",
		Cores: runtime.GOMAXPROCS(0),
	}
}

// zone is the IANA name of the person's time zone, "UTC" when nothing tells it.
func zone() string {
	if name := os.Getenv("TZ"); name != "" {
		if _, err := time.LoadLocation(name); err == nil {
			return name
		}
	}
	if link, err := os.Readlink("/etc/localtime"); err == nil {
		if _, name, ok := strings.Cut(link, "zoneinfo/"); ok {
			return name
		}
	}
	return "UTC"
}

// source is what the stage is checked against, now or in a later commit.
func (a *attempt) source() source {
	src := source{Program: a.program.Digest().String(), Extra: a.module.identity()}
	for i, c := range a.program.Calls() {
		src.Tools = append(src.Tools, c.Tool)
		src.Modes = append(src.Modes, a.program.Mode(i))
	}
	return src
}

// readBack computes the changes.
func (a *attempt) readBack(ctx context.Context) (*commit.Changes, error) {
	checked, err := a.record.Source.open()
	if err != nil {
		return nil, err
	}
	changes, err := commit.Read(ctx, a.run, checked)
	if err != nil {
		return nil, err
	}
	list := a.unmade(changes.List())
	a.record.Changes, a.record.Digest = list, changes.Digest().String()
	a.result.Changes, a.result.Digest = list, a.record.Digest
	return changes, a.events.Handle(event.Changes{
		Digest: a.record.Digest, Changes: list, Safe: changes.Safe(), DryRun: a.request.DryRun,
	})
}

// close stops the worker and settles the run's record. A run that ended before
// its first step leaves nothing behind, a run that staged nothing only its
// record.
func (a *attempt) close(err error) error {
	if a.module != nil {
		a.module.stop()
	}
	if a.run == nil {
		return nil
	}
	defer a.run.Close()
	defer os.RemoveAll(filepath.Join(a.run.Dir, previewName))
	rec := a.record
	if a.finished {
		a.run.Close()
		return commit.Remove(a.run)
	}
	switch fault.Of(err) {
	case 0:
		switch {
		case a.request.DryRun:
			rec.Status = statusDry
		case len(rec.Changes) == 0:
			rec.Status = statusDone
		default:
			rec.Status = statusCommitted
		}
	case fault.Interrupted:
		rec.Status = statusInterrupted
	case fault.Question, fault.Refused, fault.Usage, fault.NotApproved:
		if rec.Status = statusFailed; a.discarded {
			rec.Status = statusDiscarded
		} else if rec.Digest != "" {
			rec.Status = statusWaiting // for an answer to its changes
		} else if len(a.result.Results) == 0 {
			a.result.RunID = ""
			a.run.Close()
			return commit.Remove(a.run)
		}
	default:
		rec.Status = statusFailed
	}
	if a.run.Committed() { // also when only a part was kept, or something failed after it
		rec.Status = statusCommitted
	}
	if err != nil {
		rec.Error = err.Error()
	}
	if rec.Status != statusWaiting && rec.Status != statusCommitted && !rec.Partial {
		if derr := commit.Discard(a.run); derr != nil {
			return derr
		}
	}
	return rec.save(a.run)
}
