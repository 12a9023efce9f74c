package host

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/event"
	"stepbox.dev/host/gate"
	"stepbox.dev/host/plan"
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
	calls := p.draft.Calls()
	for i, c := range calls {
		t, _ := p.skill.Registry().Tool(c.Tool) // it validated, so it is there
		parts = append(parts, understood(c, t, calls[:i]))
	}
	question := "Do you mean: " + strings.Join(parts, ", then ") + "?"
	if unclear := p.answer.Unclear; len(unclear) > 0 {
		question = fmt.Sprintf("I did not understand %s. Without that, %s", quoted(unclear), strings.ToLower(question[:1])+question[1:])
	}
	return gate.Decision{
		Outcome: gate.Clarify, Question: question, Candidates: []string{"yes", "no"},
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

// understood is a call in words: the tool, then what it takes beyond its
// defaults. earlier are the calls before it.
func understood(c abi.Call, t *registry.Tool, earlier []abi.Call) string {
	var b strings.Builder
	b.WriteString(inPlainWords(c.Tool))
	sep := " with "
	for _, name := range slices.Sorted(maps.Keys(c.Args)) {
		if v, ok := t.Defaults[name]; ok && fmt.Sprint(v) == fmt.Sprint(c.Args[name]) {
			continue
		}
		fmt.Fprintf(&b, "%s%s %s", sep, inPlainWords(name), inWords(c.Args[name], earlier))
		sep = ", "
	}
	return b.String()
}

// inPlainWords is a name of the contract as a person would write it.
func inPlainWords(name string) string { return strings.ReplaceAll(name, "_", " ") }

// quoted is a list of words as they were written.
func quoted(words []string) string {
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = fmt.Sprintf("%q", w)
	}
	return strings.Join(parts, ", ")
}

// inWords is a value the way a person would write it. What stands for the result
// of an earlier call is said as that.
func inWords(v any, earlier []abi.Call) string {
	switch v := v.(type) {
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, inWords(e, earlier))
		}
		return strings.Join(parts, " and ")
	case string:
		name, field, ok := plan.Reference(v)
		if !ok {
			return fmt.Sprintf("%q", v)
		}
		what := "the result"
		if field != "" {
			what = "the " + inPlainWords(strings.ReplaceAll(field[1:], ".", " "))
		}
		for _, c := range earlier {
			if c.Output == name {
				return fmt.Sprintf("%s from %q", what, inPlainWords(c.Tool))
			}
		}
		return what
	}
	return fmt.Sprint(v)
}
