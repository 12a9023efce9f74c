// Package execute walks a program: resolve variables, re-check paths, run one
// step after the other, stop at the first that does not end well.
//
// It runs nothing itself: a StepRunner does, inside the worker. What a step
// answers is hostile data until it has been checked here.
package execute

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/host/event"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/registry"
)

// StepRunner runs one step. *worker.Worker is one.
type StepRunner interface {
	Step(ctx context.Context, mode abi.Mode, r abi.StepRequest) (abi.StepResponse, error)
}

// Options of Run. The zero value runs without events and with nobody to ask.
type Options struct {
	Context abi.Context // Call and IdempotencyKey are filled in a call
	Events  event.Handler
	Paths   plan.Paths
	// Before is called before each call runs, with its index; its error ends
	// the run. Nil: nothing is asked between calls.
	Before func(ctx context.Context, call int) error
	// Confirm answers wait_for_confirmation. Nil is nobody: the answer is no.
	Confirm func(ctx context.Context, call int, r abi.ConfirmRequest) (bool, error)
}

// Outcome is how a program ended. Results holds one entry for each call that
// ended well, in order.
type Outcome struct {
	Results []abi.CallResult
	// Failed is the index of the call that did not end well, -1 when all did.
	Failed int
}

// Run runs the program. On error the outcome still says how far it came. The
// kind of the error (fault.Of): StepFailed when a step failed, answered
// nonsense or did not verify; Refused when a resolved path leads out; Question,
// Refused or NotApproved for the core tools; otherwise that of the runner.
func Run(ctx context.Context, p plan.Program, r StepRunner, o Options) (Outcome, error) {
	if o.Events == nil {
		o.Events = event.Discard
	}
	w := walk{program: p, runner: r, options: o}
	out := Outcome{Failed: -1}
	for i := range p.Calls() {
		result, err := w.call(ctx, i)
		if err != nil {
			out.Failed = i
			return out, err
		}
		out.Results = append(out.Results, result)
	}
	return out, nil
}

// walk is the state of one Run.
type walk struct {
	program   plan.Program
	runner    StepRunner
	options   Options
	variables plan.Variables
	held      int // bytes of results that variables keep
}

// call runs call i from its announcement to its bound variable.
func (w *walk) call(ctx context.Context, i int) (abi.CallResult, error) {
	c := w.program.Calls()[i]
	if err := ctx.Err(); err != nil {
		return abi.CallResult{}, err
	}
	if w.options.Before != nil {
		if err := w.options.Before(ctx, i); err != nil {
			return abi.CallResult{}, err
		}
	}
	args, err := w.resolve(i)
	if err != nil {
		return abi.CallResult{}, err
	}
	start := event.StepStart{Call: i, Tool: c.Tool, Args: args, Of: len(w.program.Calls())}
	if err := w.options.Events.Handle(start); err != nil {
		return abi.CallResult{}, err
	}
	began := time.Now()
	resp, err := w.run(ctx, i, args)
	end := event.StepEnd{
		Call: i, Tool: c.Tool, OK: err == nil, Result: resp.Result, Verified: resp.Verified, Issues: resp.Issues, Elapsed: time.Since(began),
	}
	if err != nil {
		end.Error = err.Error()
	}
	// The step's own failure matters more than a reader that went away.
	if eventErr := w.options.Events.Handle(end); err == nil {
		err = eventErr
	}
	if err == nil && c.Output != "" {
		err = w.bind(i, resp.Result)
	}
	if err != nil {
		return abi.CallResult{}, err
	}
	return abi.CallResult{Tool: c.Tool, Args: args, Result: resp.Result, Issues: resp.Issues}, nil
}

// resolve gives call i its values, and checks every path among them again: a
// result of an earlier call is hostile data.
func (w *walk) resolve(i int) (map[string]any, error) {
	c := w.program.Calls()[i]
	args, err := w.variables.Resolve(c.Args)
	if err != nil {
		return nil, fault.New(fault.StepFailed, "call %d (%s): %w", i+1, c.Tool, err)
	}
	t, ok := w.program.Registry().Tool(c.Tool)
	if !ok {
		return nil, fault.New(fault.Internal, "call %d: no tool %q in the registry", i+1, c.Tool)
	}
	if arg, path, why := leaves(t, args); why != "" {
		return nil, fault.New(fault.Refused, "call %d (%s): %s %q %s", i+1, c.Tool, arg, path, why).
			Hint("a step may only name files below the sandbox %s", w.options.Paths.Sandbox)
	}
	return args, nil
}

// bind keeps a result under the call's output name.
func (w *walk) bind(i int, result json.RawMessage) error {
	c := w.program.Calls()[i]
	if w.held += len(result); w.held > MaxVariables {
		return fault.New(fault.Stopped, "call %d (%s): variables would hold more than %d bytes", i+1, c.Tool, MaxVariables)
	}
	if err := w.variables.Set(c.Output, result); err != nil {
		return fault.New(fault.StepFailed, "call %d (%s): %w", i+1, c.Tool, err)
	}
	return nil
}

// run runs call i with resolved arguments: a core tool here, any other tool in
// the runner.
func (w *walk) run(ctx context.Context, i int, args map[string]any) (abi.StepResponse, error) {
	c := w.program.Calls()[i]
	if t, _ := w.program.Registry().Tool(c.Tool); t.Core {
		return w.core(ctx, i, args)
	}
	step := w.options.Context
	step.Call = i
	key, err := idempotencyKey(step.RunID, i, c)
	if err != nil {
		return abi.StepResponse{}, err
	}
	step.IdempotencyKey = key
	resp, err := w.runner.Step(ctx, w.program.Mode(i), abi.StepRequest{Tool: c.Tool, Args: args, Ctx: step})
	if err != nil {
		return abi.StepResponse{}, stepError(i, c.Tool, err)
	}
	if err := checkResult(resp.Result); err != nil {
		return abi.StepResponse{}, fault.New(fault.StepFailed, "call %d (%s): %w", i+1, c.Tool, err)
	}
	resp.Issues = cutIssues(resp.Issues)
	if resp.Verified != nil && !*resp.Verified {
		// "It ran" is not "it worked".
		return resp, fault.New(fault.StepFailed, "call %d (%s): its output did not verify%s", i+1, c.Tool, because(resp.Issues))
	}
	return resp, nil
}

// core runs one of the tools that every skill has.
func (w *walk) core(ctx context.Context, i int, args map[string]any) (abi.StepResponse, error) {
	text := func(name string) string { s, _ := args[name].(string); return s }
	done := abi.StepResponse{Result: json.RawMessage(`{}`)}
	switch tool := w.program.Calls()[i].Tool; tool {
	case registry.Done:
		return done, nil
	case registry.Clarify:
		return abi.StepResponse{}, fault.New(fault.Question, "call %d (%s) asks: %s", i+1, tool, text("question"))
	case registry.Reject:
		return abi.StepResponse{}, fault.New(fault.Refused, "call %d (%s): %s", i+1, tool, text("reason"))
	case registry.Wait:
		preview := text("preview")
		if v := args["preview"]; preview == "" && v != nil { // a result of an earlier call
			b, err := json.Marshal(v)
			if err != nil {
				return abi.StepResponse{}, fault.New(fault.StepFailed, "call %d: the preview cannot be shown: %w", i+1, err)
			}
			preview = string(b)
		}
		yes := false
		if w.options.Confirm != nil {
			var err error
			if yes, err = w.options.Confirm(ctx, i, abi.ConfirmRequest{Prompt: text("prompt"), Preview: preview}); err != nil {
				return abi.StepResponse{}, err
			}
		}
		if !yes {
			return abi.StepResponse{}, fault.New(fault.NotApproved, "call %d: nobody agreed to go on", i+1)
		}
		return done, nil
	default:
		return abi.StepResponse{}, fault.New(fault.Internal, "call %d: core tool %q is unknown", i+1, tool)
	}
}

// stepError keeps the kind of a runner's error; a module's own error is a step
// failure.
func stepError(i int, tool string, err error) error {
	var own *abi.Error
	var known *fault.Error
	switch {
	case errors.As(err, &known), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &own):
		kind := fault.StepFailed
		if own.Code == abi.CodeDeclined {
			kind = fault.NotApproved
		}
		return &fault.Error{Kind: kind, What: fmt.Sprintf("call %d (%s): %s", i+1, tool, own.Message), Err: err}
	}
	return fault.New(fault.StepFailed, "call %d (%s): %w", i+1, tool, err)
}

func because(issues []string) string {
	if len(issues) == 0 {
		return ""
	}
	return ": " + strings.Join(issues, "; ")
}

// idempotencyKey is the same whenever this call of this run is tried again,
// and differs for every other call.
func idempotencyKey(run string, i int, c abi.Call) (string, error) {
	// Arguments before resolution: what a retry resolves to may be fresh data,
	// the call is still the same call. Map keys are marshalled in order.
	text, err := json.Marshal(c)
	if err != nil {
		return "", fault.New(fault.Internal, "call %d (%s) cannot be encoded: %w", i+1, c.Tool, err)
	}
	digest := sha256.Sum256(text)
	h := sha256.New()
	fmt.Fprintf(h, "stepbox call 1\n%d %s\n%d\n%x\n", len(run), run, i, digest)
	return hex.EncodeToString(h.Sum(nil)), nil
}
