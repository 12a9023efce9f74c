package guest

import (
	"encoding/json"
	"errors"
	"fmt"

	"stepbox.dev/abi"
)

// request is the input of every export that names a tool, with arguments kept
// raw until the tool's own type decodes them.
type request struct {
	Tool string                     `json:"tool"`
	Args map[string]json.RawMessage `json:"args"`
	Ctx  abi.Context                `json:"ctx"`
}

// guarded runs f and turns its panic into an error, so that a bug in a handler
// ends one call with a message and not the module with a trap.
func guarded[T any](f func() (T, error)) (out T, err *abi.Error) {
	defer func() {
		if p := recover(); p != nil {
			err = &abi.Error{Code: abi.CodePanic, Message: fmt.Sprintf("the skill panicked: %v", p)}
		}
	}()
	v, e := f()
	if e != nil {
		return out, asError(e)
	}
	return v, nil
}

func (s *Skill) describe() (abi.Description, error) {
	d := abi.Description{ABI: abi.Version, SDK: SDK, Tools: []abi.ToolDescription{}}
	if s == nil {
		return d, errors.New("the module serves no skill: call guest.Serve in a package variable")
	}
	for _, t := range s.Tools {
		e := t.erased()
		args, err := e.schema()
		if err != nil {
			return d, fmt.Errorf("tool %s: %w", e.name, err)
		}
		d.Tools = append(d.Tools, abi.ToolDescription{Name: e.name, Kind: e.kind, Args: args, Preflight: e.preflight != nil})
	}
	return d, nil
}

// find decodes a request and the tool it names.
func (s *Skill) find(input []byte) (*tool, request, error) {
	var r request
	if err := json.Unmarshal(input, &r); err != nil {
		return nil, r, Errorf(abi.CodeBadRequest, "the request cannot be read: %v", err)
	}
	t := s.tool(r.Tool)
	if t == nil {
		return nil, r, Errorf(abi.CodeNotFound, "the skill has no tool %q", r.Tool)
	}
	return t, r, nil
}

func (s *Skill) expand(input []byte) (abi.ExpandResponse, error) {
	t, r, err := s.find(input)
	if err != nil {
		return abi.ExpandResponse{}, err
	}
	if t.expand == nil {
		return abi.ExpandResponse{}, Errorf(abi.CodeUnsupported, "tool %q is a step: there is nothing to expand", r.Tool)
	}
	calls, err := t.expand(r.Args)
	return abi.ExpandResponse{Plan: calls}, err
}

func (s *Skill) summarize(input []byte) (abi.SummarizeResponse, error) {
	t, r, err := s.find(input)
	if err != nil {
		return abi.SummarizeResponse{}, err
	}
	if t.summarize == nil {
		return abi.SummarizeResponse{}, nil // the host has words of its own
	}
	text, err := t.summarize(r.Args)
	return abi.SummarizeResponse{Text: text}, err
}

func (s *Skill) preflight(input []byte, c call) (abi.PreflightResponse, error) {
	none := abi.PreflightResponse{Problems: []abi.Problem{}}
	t, r, err := s.find(input)
	if err != nil || t.preflight == nil {
		return none, err
	}
	c.Context = r.Ctx
	problems, err := t.preflight(Context{&c}, r.Args)
	if problems == nil {
		problems = none.Problems
	}
	return abi.PreflightResponse{Problems: problems}, err
}

func (s *Skill) step(input []byte, c call) (abi.StepResponse, error) {
	t, r, err := s.find(input)
	if err != nil {
		return abi.StepResponse{}, err
	}
	if t.step == nil {
		return abi.StepResponse{}, Errorf(abi.CodeUnsupported, "tool %q is an intent: it is expanded, not run", r.Tool)
	}
	c.Context = r.Ctx
	out, err := t.step(Context{&c}, r.Args)
	if err != nil {
		return abi.StepResponse{}, err
	}
	result, err := json.Marshal(out)
	if err != nil {
		return abi.StepResponse{}, Errorf(abi.CodeFailed, "the result of %s cannot be encoded: %v", r.Tool, err)
	}
	return abi.StepResponse{Result: result, Verified: c.verified, Issues: c.remarks()}, nil
}

// format tells the results in order: each tool's own words, then its remarks.
func (s *Skill) format(input []byte) (abi.FormatResponse, error) {
	var r abi.FormatRequest
	resp := abi.FormatResponse{Items: []Item{}}
	if err := json.Unmarshal(input, &r); err != nil {
		return resp, Errorf(abi.CodeBadRequest, "the request cannot be read: %v", err)
	}
	for _, result := range r.Results {
		if t := s.tool(result.Tool); t != nil && t.format != nil {
			items, err := t.format(result.Result, r.DryRun)
			if err != nil {
				return resp, err
			}
			resp.Items = append(resp.Items, items...)
		}
		for _, issue := range result.Issues {
			resp.Items = append(resp.Items, Item{Kind: abi.ItemInfo, Message: issue})
		}
	}
	return resp, nil
}
