package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/sandbox"
)

// The calls. Each runs in a fresh instance, one at a time. Errors: *abi.Error
// when the module said that the call failed; *fault.Error of kind Stopped when
// a wall or a limit stopped it (a denied operation names tool, path, operation
// and the declaration that would allow it), StepFailed when it crashed or
// answered nonsense, Timeout at the deadline, Interrupted on cancel. A child
// that was killed or crashed is replaced by the next call: what the calls
// before it made is sealed in the stage.

// Describe asks the module what it is.
func (w *Worker) Describe(ctx context.Context) (abi.Description, error) {
	var d abi.Description
	ok, err := w.call(ctx, call{Export: abi.ExportDescribe}, "describe", nil, &d)
	if err == nil && !ok {
		err = missing(abi.ExportDescribe)
	}
	return d, err
}

// Expand expands an intent: no files, fixed clock and seed.
func (w *Worker) Expand(ctx context.Context, r abi.ExpandRequest) (abi.ExpandResponse, error) {
	var resp abi.ExpandResponse
	ok, err := w.call(ctx, call{Export: abi.ExportExpand}, r.Tool, r, &resp)
	if err == nil && !ok {
		err = missing(abi.ExportExpand)
	}
	return resp, err
}

// Summarize asks for one sentence about a call. ok is false when the module
// does not export it.
func (w *Worker) Summarize(ctx context.Context, r abi.SummarizeRequest) (text string, ok bool, err error) {
	var resp abi.SummarizeResponse
	ok, err = w.call(ctx, call{Export: abi.ExportSummarize}, r.Tool, r, &resp)
	return resp.Text, ok, err
}

// Preflight asks whether a call can work. A module that does not export it has
// no objection.
func (w *Worker) Preflight(ctx context.Context, r abi.PreflightRequest) (abi.PreflightResponse, error) {
	var resp abi.PreflightResponse
	c := call{Export: abi.ExportPreflight, Mode: abi.ModeRead, Index: r.Ctx.Call, Real: true}
	_, err := w.call(ctx, c, r.Tool, r, &resp)
	return resp, err
}

// Step runs one step in the mode, and seals its effects when it ends well.
func (w *Worker) Step(ctx context.Context, mode abi.Mode, r abi.StepRequest) (abi.StepResponse, error) {
	var resp abi.StepResponse
	c := call{Export: abi.ExportStep, Mode: mode, Index: r.Ctx.Call, Real: true, Seals: mode >= abi.ModeCreate}
	ok, err := w.call(ctx, c, r.Tool, r, &resp)
	if err == nil && !ok {
		err = missing(abi.ExportStep)
	}
	return resp, err
}

// Format asks for the results in words. ok is false when the module does not
// export it.
func (w *Worker) Format(ctx context.Context, r abi.FormatRequest) (resp abi.FormatResponse, ok bool, err error) {
	ok, err = w.call(ctx, call{Export: abi.ExportFormat}, "format", r, &resp)
	return resp, ok, err
}

func missing(export string) error {
	return fault.New(fault.StepFailed, "the module does not export %s", export).
		Hint("build the skill with the guest SDK, or export it yourself")
}

// call runs one call and decodes its answer into resp. ok is false when the
// module has no such export.
func (w *Worker) call(ctx context.Context, c call, tool string, req, resp any) (ok bool, err error) {
	var input []byte
	if req != nil {
		if input, err = json.Marshal(req); err != nil {
			return false, fault.New(fault.Internal, "encode the call of %q: %w", tool, err)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false, fault.New(fault.Internal, "call %q: the worker is closed", tool)
	}
	if err := context.Cause(w.done); err != nil {
		return false, ended(tool, err)
	}
	if w.proc == nil || w.proc.gone() {
		if w.proc, err = startRun(w.done, w.o, w.tmp); err != nil {
			return false, err
		}
	}
	s := &session{w: w, p: w.proc, ctx: ctx, c: c, tool: tool, memory: w.o.Limits.MemoryBytes}
	ok, err = s.run(input, resp)
	if err != nil && s.broken {
		w.proc.kill()
		w.proc = nil
	}
	return ok, err
}

// judge turns a result into an error, or decodes the output.
func (w *Worker) judge(c call, tool string, r result, out []byte, resp any) (ok bool, err error) {
	// What the view refused counts before everything else: the guest's own words
	// about it may be anything.
	if r.DiskFull {
		return false, diskFull("tool", tool)
	}
	if len(r.Denials) > 0 {
		return false, denied(tool, c.Mode, r.Denials)
	}
	switch r.End {
	case endOK:
	case endMissing:
		return false, nil
	case endError:
		return false, guestError(tool, r.Text)
	case endTooBig:
		return false, fault.New(fault.Stopped, "%q returned %d bytes, more than the %d allowed", tool, r.Size, w.o.Limits.ResultBytes)
	case endCrash:
		return false, fault.New(fault.StepFailed, "%q crashed: %s", tool, clean(r.Text, 400))
	default:
		return false, fault.New(fault.StepFailed, "%q ended in an unknown way", tool)
	}
	if len(out) == 0 {
		return false, fault.New(fault.StepFailed, "%q returned nothing", tool)
	}
	if err := strictJSON(out, resp); err != nil {
		return false, fault.New(fault.StepFailed, "%q returned a broken answer: %w", tool, err)
	}
	if s, isStep := resp.(*abi.StepResponse); isStep && len(s.Result) == 0 {
		return false, fault.New(fault.StepFailed, "%q returned an answer without a result", tool)
	}
	return true, nil
}

// maxMessage is how much of a guest's own message is kept.
const maxMessage = 2000

// guestError reads what the module put into Extism's error slot. Text that is
// not an abi.Error is a message all the same: other SDKs set plain strings.
func guestError(tool, text string) error {
	var e abi.Error
	if err := strictJSON([]byte(text), &e); err != nil || e.Message == "" {
		e = abi.Error{Code: abi.CodeFailed, Message: text}
	}
	if e.Message = clean(e.Message, maxMessage); e.Message == "" {
		e.Message = fmt.Sprintf("%q failed and did not say why", tool)
	}
	switch e.Code {
	case abi.CodeBadRequest, abi.CodeNotFound, abi.CodeConflict, abi.CodeDenied, abi.CodeUnsupported, abi.CodeBadInput,
		abi.CodeDeclined, abi.CodeLimit, abi.CodeFailed, abi.CodePanic, abi.CodeUnavailable:
	default:
		e.Code = abi.CodeFailed
	}
	return &e
}

// diskFull is the real reason behind the input/output error that a guest saw.
func diskFull(what, name string) error {
	return fault.New(fault.StepFailed, "%s %q could not write: the disk is full", what, name).Hint("free some space, then run it again")
}

// denied names the first refused operation and what would allow it.
func denied(tool string, mode abi.Mode, ds []sandbox.Denial) error {
	d := ds[0]
	path, more := clean(d.Path, 300), ""
	if n := len(ds) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	if d.Quota != "" {
		return fault.New(fault.Stopped, "%q was stopped: %s %q: %s%s", tool, clean(d.Op, 20), path, clean(d.Quota, 200), more)
	}
	e := fault.New(fault.Stopped, "%q may not %s %q: it runs in mode %s%s", tool, clean(d.Op, 20), path, mode, more)
	switch d.Needs {
	case abi.ModeRead:
		return e.Hint("only a step sees the sandbox")
	case abi.ModeCreate:
		return e.Hint("the skill's tools.yaml has to declare %q with safety_category: safe, and without readonly", tool)
	case abi.ModeWrite:
		return e.Hint("the skill's tools.yaml has to declare %q with safety_category: destructive", tool)
	}
	return e.Hint("no declaration allows it")
}

// ended says why a call was cut short.
func ended(tool string, err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.New(fault.Timeout, "%q ran out of time: %w", tool, err)
	}
	return fault.New(fault.Interrupted, "%q was cancelled: %w", tool, err)
}
