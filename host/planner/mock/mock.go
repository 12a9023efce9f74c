// Package mock plans from the mock_args that a contract gives its tools, so
// that the author of a skill can test everything behind a planner with plans
// that never change. It understands nothing: the best ranked tool wins.
package mock

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/planner"
	"stepbox.dev/host/registry"
)

// Planner answers from mock_args. The zero value works.
type Planner struct{}

// Plan implements planner.Planner: one call of the best ranked tool that has
// mock_args. In their texts {sandbox} stands for the sandbox's root and
// {utterance_after:w} for what follows the word w in the request: one word, or
// everything in quotes. An argument that comes out empty is left out.
func (*Planner) Plan(ctx context.Context, r planner.Request) (planner.Answer, error) {
	if err := ctx.Err(); err != nil {
		return planner.Answer{}, err
	}
	if r.Skill == nil {
		return planner.Answer{}, fault.New(fault.Internal, "the mock planner was given no skill")
	}
	call := abi.Call{Tool: registry.Clarify, Args: map[string]any{"question": "No tool with mock_args fits the request. Which tool should be tried?"}}
	for _, hit := range r.Tools {
		t, ok := r.Skill.Registry().Tool(hit.Tool)
		if !ok || t.Internal || t.Core || t.Mock == nil {
			continue
		}
		call = abi.Call{Tool: t.Name, Args: map[string]any{}}
		for name, v := range t.Mock {
			if v := fill(v, r.Utterance); v != "" {
				call.Args[name] = v
			}
		}
		break
	}
	text, err := json.Marshal(map[string][]abi.Call{"plan": {call}})
	if err != nil {
		return planner.Answer{}, fault.New(fault.Internal, "mock_args of %q: %w", call.Tool, err)
	}
	return planner.Answer{Text: text, Confidence: 1, Planner: "mock"}, nil
}

var placeholder = regexp.MustCompile(`\{(sandbox|utterance_after:[^{}]+)\}`)

func fill(v any, utterance string) any {
	switch v := v.(type) {
	case string:
		return placeholder.ReplaceAllStringFunc(v, func(p string) string {
			word, after := strings.CutPrefix(strings.Trim(p, "{}"), "utterance_after:")
			if !after {
				return "."
			}
			return following(utterance, word)
		})
	case []any:
		out := make([]any, 0, len(v))
		for _, e := range v {
			if e := fill(e, utterance); e != "" {
				out = append(out, e)
			}
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = fill(e, utterance)
		}
		return out
	}
	return v
}

// following returns what stands after the first word that equals word, case
// ignored, without the punctuation of a sentence's end.
func following(utterance, word string) string {
	rest := utterance
	for rest != "" {
		var w string
		w, rest = next(rest)
		if strings.EqualFold(strings.TrimRight(w, ".,:;!?"), word) {
			w, _ = next(rest)
			return strings.TrimRight(w, ".,:;!?")
		}
	}
	return ""
}

// next splits off one word, or one text in quotes without them.
func next(s string) (word, rest string) {
	s = strings.TrimSpace(s)
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		if end := strings.IndexByte(s[1:], s[0]); end >= 0 {
			return s[1 : end+1], s[end+2:]
		}
	}
	word, rest, _ = strings.Cut(s, " ")
	return word, rest
}
