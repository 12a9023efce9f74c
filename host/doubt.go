package host

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/event"
	"stepbox.dev/host/gate"
	"stepbox.dev/host/planner/cascade"
	"stepbox.dev/host/registry"
)

// doubtful turns a plan that the planner is not sure of, or that leaves out words
// of the request, into a question that shows what was understood and what was
// not. A plan that a person said yes to is not doubted again.
func (p *planning) doubtful(utterance string) (gate.Decision, bool) {
	if p.meant == utterance || cascade.Doubt(p.answer, p.skill.Registry()) == "" {
		return gate.Decision{}, false
	}
	var parts []string
	for _, c := range p.draft.Calls() {
		t, _ := p.skill.Registry().Tool(c.Tool) // it validated, so it is there
		parts = append(parts, understood(c, t))
	}
	question := "Do you mean: " + strings.Join(parts, ", then ") + "?"
	if unclear := p.answer.Unclear; len(unclear) > 0 {
		question = fmt.Sprintf("I did not understand %s. Without that, %s", quoted(unclear), strings.ToLower(question[:1])+question[1:])
	}
	return gate.Decision{
		Outcome: gate.Clarify, Question: question,
		Next: "say it in other words; or run the plan that `stepbox plan --json` shows, with stepbox exec",
	}, true
}

// leaveAside tells which words of the request the plan does nothing of.
func (p *planning) leaveAside() error {
	if len(p.answer.Aside) == 0 {
		return nil
	}
	return p.events.Handle(event.Notice{Message: "nothing is done about " + quoted(p.answer.Aside)})
}

// meantIt asks about a doubtful plan. The answer is yes, or what was meant.
func (p *planning) meantIt(ctx context.Context, d gate.Decision) (yes bool, instead string, err error) {
	answer, err := p.person.Clarify(ctx, event.Decision{
		Outcome: string(d.Outcome), Question: d.Question, Candidates: []string{"yes", "no"},
	})
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "yes", "y":
		return true, "", err
	case "no", "n":
		return false, "", err
	}
	return false, answer, err
}

// understood is a call in words: the tool, then what it takes beyond its
// defaults.
func understood(c abi.Call, t *registry.Tool) string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(c.Tool, "_", " "))
	sep := " with "
	for _, name := range slices.Sorted(maps.Keys(c.Args)) {
		if v, ok := t.Defaults[name]; ok && fmt.Sprint(v) == fmt.Sprint(c.Args[name]) {
			continue
		}
		fmt.Fprintf(&b, "%s%s %s", sep, strings.ReplaceAll(name, "_", " "), inWords(c.Args[name]))
		sep = ", "
	}
	return b.String()
}

// quoted is a list of words as they were written.
func quoted(words []string) string {
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = fmt.Sprintf("%q", w)
	}
	return strings.Join(parts, ", ")
}

// inWords is a value the way a person would write it.
func inWords(v any) string {
	list, ok := v.([]any)
	if !ok {
		if s, text := v.(string); text {
			return fmt.Sprintf("%q", s)
		}
		return fmt.Sprint(v)
	}
	var parts []string
	for _, e := range list {
		parts = append(parts, inWords(e))
	}
	return strings.Join(parts, " and ")
}
