package plan

import (
	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/registry"
)

// NewProgram freezes calls that stand for the plan v. Each must be valid, use a
// declared tool (internal ones too), and do no more than the call of the plan it
// came from, whose index is intents[i]. That every call is a step is for package
// expand, which knows the kinds. Its error is *InvalidError, its pointers into
// calls.
func NewProgram(v Valid, calls []abi.Call, intents []int) (Program, error) {
	if v.registry == nil || len(calls) != len(intents) {
		return Program{}, fault.New(fault.Internal, "a program needs a valid plan and the origin of every call")
	}
	c := checker{registry: v.registry, expanded: true, tools: make([]*registry.Tool, 0, len(calls))}
	c.calls(calls)
	plans := make([]*registry.Tool, len(v.calls))
	for i := range plans {
		plans[i], _ = v.registry.Tool(v.calls[i].Tool)
	}
	for i, from := range intents {
		if from < 0 || from >= len(v.calls) || i > 0 && from < intents[i-1] {
			return Program{}, fault.New(fault.Internal, "call %d of the program comes from no call of the plan", i)
		}
		intent := plans[from]
		if i >= len(c.tools) { // too many calls: none was looked at
			continue
		}
		step := c.tools[i]
		if step != nil && !step.Core && step.Mode() > intent.Mode() {
			c.add(CodeMode, &pointer{up: c.root(), index: i}, "", "%q may %s, but %q, which it is a part of, is declared to %s only",
				step.Name, step.Mode(), intent.Name, intent.Mode())
		}
	}
	if err := c.err(); err != nil {
		return Program{}, err
	}
	return Program{calls: calls, intents: intents, tools: c.tools, registry: v.registry}, nil
}

// looksAhead reports whether a readonly call stands before an action: without
// one there is nothing to drop.
func (p Program) looksAhead() bool {
	readonly := false
	for _, t := range p.tools {
		if !t.Readonly && readonly {
			return true
		}
		readonly = readonly || t.Readonly && !t.Core
	}
	return false
}

// Optimize drops readonly calls whose output nobody uses when an action
// follows. Actions are never removed or reordered, and neither are core tools
// or a look at what an action has made: such a call is a check, and a check
// that fails stops the run.
func Optimize(p Program) Program {
	if !p.looksAhead() {
		return p
	}
	made := make(map[string]bool, len(p.calls)) // variables that actions set
	check := make([]bool, len(p.calls))
	for i, c := range p.calls {
		t, fromAction := p.tools[i], false
		for _, v := range c.Args {
			if uses(v, 0, func(name string) bool { return made[name] }) {
				fromAction = true
				break
			}
		}
		check[i] = fromAction
		if c.Output != "" && (fromAction || !t.Readonly) {
			made[c.Output] = true
		}
	}
	used := map[string]bool{}
	action, dropped := false, 0
	keep := make([]bool, len(p.calls))
	for i := len(p.calls) - 1; i >= 0; i-- {
		c, t := p.calls[i], p.tools[i]
		keep[i] = !t.Readonly || t.Core || !action || used[c.Output] || check[i]
		if !keep[i] {
			dropped++
			continue
		}
		action = action || !t.Readonly
		for _, v := range c.Args {
			uses(v, 0, func(name string) bool { used[name] = true; return false })
		}
	}
	if dropped == 0 {
		return p
	}
	n := len(p.calls) - dropped
	out := Program{registry: p.registry, calls: make([]abi.Call, 0, n), intents: make([]int, 0, n), tools: make([]*registry.Tool, 0, n)}
	for i := range keep {
		if keep[i] {
			out.calls = append(out.calls, p.calls[i])
			out.intents = append(out.intents, p.intents[i])
			out.tools = append(out.tools, p.tools[i])
		}
	}
	return out
}
