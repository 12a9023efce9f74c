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

// doubtful turns a plan that the planner is not sure of into a question that
// shows what was understood. A plan that a person said yes to is not doubted
// again.
func (p *planning) doubtful(utterance string) (gate.Decision, bool) {
	if p.meant == utterance || cascade.Doubt(p.answer, p.skill.Registry()) == "" {
		return gate.Decision{}, false
	}
	var parts []string
	for _, c := range p.draft.Calls() {
		t, _ := p.skill.Registry().Tool(c.Tool) // it validated, so it is there
		parts = append(parts, understood(c, t))
	}
	return gate.Decision{
		Outcome: gate.Clarify, Question: "Do you mean: " + strings.Join(parts, ", then ") + "?",
		Next: "say it in other words; or run the plan that `stepbox plan --json` shows, with stepbox exec",
	}, true
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
