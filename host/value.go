package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/gate"
	"stepbox.dev/host/lexicon"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/planner/cascade"
	"stepbox.dev/host/registry"
)

// argument is the schema of the argument that a question is about, nil when it is
// about none.
func (p *planning) argument(d gate.Decision) *registry.Arg {
	calls := p.draft.Calls()
	if d.Arg == "" || d.Call >= len(calls) {
		return nil
	}
	tool := calls[d.Call].Tool
	if partial, err := plan.Parse(p.answer.Partial); err == nil && len(p.answer.Lacks) > 0 && len(partial.Calls()) > 0 {
		tool = partial.Calls()[0].Tool
	}
	t, ok := p.skill.Registry().Tool(tool)
	if !ok {
		return nil
	}
	return t.Args[d.Arg]
}

func (p *planning) isBoolean(d gate.Decision) bool {
	a := p.argument(d)
	return a != nil && a.Type == abi.TypeBoolean
}

// lacked takes up the plan that a question left open. Of several arguments that
// would do, the answer names the one: "prefix x-". It reports whether the answer
// is dealt with.
func (p *planning) lacked(ctx context.Context, d gate.Decision, answer string) (bool, error) {
	open, err := plan.Parse(p.answer.Partial)
	if err != nil || len(open.Calls()) == 0 {
		return true, err
	}
	if d.Arg == "" {
		t, _ := p.skill.Registry().Tool(open.Calls()[0].Tool)
		if t == nil {
			return false, nil
		}
		if d.Arg, answer = chosen(t, p.answer.Lacks, answer); d.Arg == "" {
			return false, nil
		}
		if answer == "" {
			question := fmt.Sprintf("What should the %s be?", inPlainWords(d.Arg))
			p.answer.Lacks, p.answer.Candidates = []string{d.Arg}, t.Args[d.Arg].Enum
			p.draft = plan.NewDraft([]abi.Call{{Tool: registry.Clarify, Args: map[string]any{"question": question}}})
			return true, nil
		}
	}
	p.answer.Text, p.draft = p.answer.Partial, open // what it proposes from now on
	p.answer.Lacks, p.answer.Candidates = nil, nil
	return true, p.fill(ctx, d, answer)
}

// chosen is the one of several arguments that an answer is for, and what it says
// of it: the one that it names, or the only one that can have such a value.
func chosen(t *registry.Tool, names []string, answer string) (arg, value string) {
	for _, name := range names {
		n := len(name)
		if t.Args[name] != nil && len(answer) >= n && strings.EqualFold(answer[:n], inPlainWords(name)) && (len(answer) == n || answer[n] == ' ') {
			return name, strings.TrimSpace(answer[n:])
		}
	}
	for _, name := range names {
		a := t.Args[name]
		if a == nil || a.PathRole != abi.RoleNone || !a.Declared || a.Type == abi.TypeString && a.Pattern == nil {
			continue // takes anything
		}
		if len(plan.CheckValue(a, plan.Literal(answer))) == 0 {
			if arg != "" {
				return "", answer
			}
			arg = name
		}
	}
	return arg, answer
}

// fill puts an answer into the one argument that was asked about: the rest of the
// plan stands. What cannot be a value of it is read as the request is, and then as
// a request of its own.
func (p *planning) fill(ctx context.Context, d gate.Decision, answer string) error {
	a := p.argument(d)
	if a == nil || a.PathRole != abi.RoleNone {
		p.put(d, p.named(d, answer), answer)
		return nil
	}
	said := plan.Literal(answer)
	if d.From != "" && a.Type == abi.TypeString && p.answer.Model == "" { // a text of any form: the request may say it better
		if better, err := p.better(ctx, d, answer); better || err != nil {
			return err
		}
	}
	if len(plan.CheckValue(a, said)) == 0 || p.answer.Model != "" {
		p.put(d, said, answer)
		return nil
	}
	v, err := p.read(ctx, d, a, answer)
	if err != nil {
		return err
	}
	if v != nil {
		p.put(d, v, answer)
		return nil
	}
	before, draft, hits := p.answer, p.draft, p.hits
	if own, err := p.own(ctx, answer); own || err != nil {
		return err
	}
	p.answer, p.draft, p.hits = before, draft, hits
	p.put(d, said, answer) // to be refused, with what is accepted
	return nil
}

// read reads an answer as the request itself would be read, with the answer at its
// end, and else by its number: "double", "50%", "90 degrees".
func (p *planning) read(ctx context.Context, d gate.Decision, a *registry.Arg, answer string) (any, error) {
	calls := p.draft.Calls()
	utterance := p.utterance + " " + answer
	r, err := p.planner.Plan(ctx, p.asking(utterance, p.index().Search(utterance, retrieved)))
	if err != nil {
		return nil, err
	}
	if again, err := plan.Parse(r.Text); err == nil && d.Call < len(again.Calls()) && len(r.Unclear) == 0 {
		c := again.Calls()[d.Call]
		if v, ok := c.Args[d.Arg]; ok && c.Tool == calls[d.Call].Tool && fmt.Sprint(v) != fmt.Sprint(calls[d.Call].Args[d.Arg]) && len(plan.CheckValue(a, v)) == 0 {
			return v, nil
		}
	}
	if a.Type != abi.TypeNumber && a.Type != abi.TypeInteger {
		return nil, nil
	}
	tokens := lexicon.Tokenize(answer)
	n, unit, words := lexicon.Reader{Tokens: tokens}.Quantity(0)
	if words == 0 || words < len(tokens) {
		return nil, nil
	}
	if unit == "percent" {
		n /= 100
	}
	v := json.Number(strconv.FormatFloat(n, 'f', -1, 64))
	if len(plan.CheckValue(a, v)) > 0 {
		return nil, nil
	}
	return v, nil
}

// better plans the request with the answer at its end, "trim a.mp4 from 5 to 10",
// and takes that plan when it calls the same tools and the planner is sure of it.
func (p *planning) better(ctx context.Context, d gate.Decision, answer string) (bool, error) {
	utterance := p.utterance + " " + answer
	r, err := p.planner.Plan(ctx, p.asking(utterance, p.index().Search(utterance, retrieved)))
	if err != nil {
		return false, err
	}
	again, err := plan.Parse(r.Text)
	if err != nil || len(r.Unclear) > 0 || r.Confidence < cascade.SureAsking {
		return false, nil
	}
	calls, before := again.Calls(), p.draft.Calls()
	same := slices.EqualFunc(calls, before, func(a, b abi.Call) bool { return a.Tool == b.Tool })
	if !same || fmt.Sprint(calls[d.Call].Args) == fmt.Sprint(before[d.Call].Args) {
		return false, nil
	}
	p.utterance, p.answer, p.draft = utterance, r, again
	return true, nil
}

// put sets the argument that was asked about to what the answer says.
func (p *planning) put(d gate.Decision, v any, answer string) {
	if said := p.utterance + " " + answer; p.meant == p.utterance {
		p.utterance, p.meant = said, said
	} else {
		p.utterance = said
	}
	p.draft = p.draft.WithCalls(answered(p.draft.Calls(), d, v))
}

// named is what an answer says: the path in it where a path was asked for, unless
// it is offered or there as it stands. It is a name as it stands, also when it
// begins with "$".
func (p *planning) named(d gate.Decision, answer string) string {
	if a := p.argument(d); a == nil || p.fits(d, answer) {
		return plan.Literal(answer)
	}
	return plan.Literal(gate.PathAnswer(answer))
}

// answered returns the calls with a person's answer in the place that was asked
// about: an argument, or one of its values.
func answered(calls []abi.Call, d gate.Decision, answer any) []abi.Call {
	calls = slices.Clone(calls)
	c := calls[d.Call]
	c.Args = maps.Clone(c.Args)
	if c.Args == nil {
		c.Args = map[string]any{}
	}
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

// refusedValue turns a value that an argument cannot have into the question what
// it should be: the person said it in words, and can say it in others. A plan of
// a model is the model's fault, and no question.
func (p *planning) refusedValue(err error) gate.Decision {
	var invalid *plan.InvalidError
	if !errors.As(err, &invalid) || p.answer.Model != "" && p.asked.all == 0 {
		return gate.Decision{Outcome: gate.Proceed}
	}
	for _, f := range invalid.Diagnostics {
		var d gate.Decision
		at := strings.Split(f.Pointer, "/") // "", plan, call, args, name
		if len(at) < 5 || at[3] != "args" {
			continue
		}
		if d.Call, err = strconv.Atoi(at[2]); err != nil || d.Call >= len(p.draft.Calls()) {
			continue
		}
		d.Arg = strings.NewReplacer("~1", "/", "~0", "~").Replace(at[4])
		a := p.argument(d)
		if a == nil || !slices.Contains([]string{plan.CodeType, plan.CodeEnum, plan.CodeBounds, plan.CodePattern}, f.Code) {
			continue
		}
		d.Outcome, d.Candidates = gate.Clarify, slices.Clone(a.Enum)
		d.Question = fmt.Sprintf("%s cannot be %s: %s. What should it be?", inPlainWords(d.Arg), inWords(p.draft.Calls()[d.Call].Args[d.Arg], nil), accepted(a))
		return d
	}
	return gate.Decision{Outcome: gate.Proceed}
}

// accepted says in words what an argument takes.
func accepted(a *registry.Arg) string {
	var s string
	switch a.Type {
	case abi.TypeEnum:
		return "it is one of " + strings.Join(a.Enum, ", ")
	case abi.TypeBoolean:
		return "it is yes or no"
	case abi.TypeNumber:
		s = "it is a number"
	case abi.TypeInteger:
		s = "it is a whole number"
	case abi.TypeArray:
		s = "it is a list"
	case abi.TypeSize:
		return "it is a size, such as 10MB"
	case abi.TypeDate:
		return "it is a date, such as 2026-01-31"
	case abi.TypeDuration:
		return "it is a length of time, such as 1h30m"
	default:
		s = "it has another form"
	}
	if a.Type != abi.TypeArray {
		switch {
		case a.Min != nil && a.Max != nil:
			s += fmt.Sprintf(" from %v to %v", *a.Min, *a.Max)
		case a.Min != nil:
			s += fmt.Sprintf(" of at least %v", *a.Min)
		case a.Max != nil:
			s += fmt.Sprintf(" of at most %v", *a.Max)
		}
	}
	if a.Help != "" {
		s += " (" + a.Help + ")"
	}
	return s
}
