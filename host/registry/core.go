package registry

import (
	"slices"

	"stepbox.dev/abi"
)

// Names of the tools that the host answers itself. Every registry has them.
const (
	Clarify = "clarify"
	Reject  = "reject"
	Done    = "done"
	Wait    = "wait_for_confirmation"
)

func isCore(tool string) bool {
	return tool == Clarify || tool == Reject || tool == Done || tool == Wait
}

// core returns the core tools as the host understands them.
func core() []*Tool {
	text := func(name string, required bool, help string) *Arg {
		return &Arg{Name: name, Declared: true, ArgSchema: abi.ArgSchema{Type: abi.TypeString, Required: required, Help: help}}
	}
	tools := []*Tool{
		{
			Name: Clarify, Description: "Ask the person a question when something needed is missing or ambiguous.",
			Required: []string{"question"}, Optional: []string{"candidates"},
			Args: map[string]*Arg{
				"question":   text("question", true, "the question"),
				"candidates": {Name: "candidates", Declared: true, ArgSchema: abi.ArgSchema{Type: abi.TypeArray, Items: abi.TypeString, Help: "answers that fit"}},
			},
		},
		{
			Name: Reject, Description: "Refuse a request that is unsafe or out of scope.",
			Required: []string{"reason"},
			Args:     map[string]*Arg{"reason": text("reason", true, "why")},
		},
		{Name: Done, Description: "Say that nothing is left to do.", Args: map[string]*Arg{}},
		{
			Name: Wait, Description: "Ask the person to agree before the plan goes on.",
			Optional: []string{"prompt", "preview"},
			Args: map[string]*Arg{
				"prompt":  text("prompt", false, "what is asked"),
				"preview": {Name: "preview"}, // any result of an earlier call
			},
		},
	}
	for _, t := range tools {
		t.Core, t.Readonly = true, true
		t.ArgOrder = slices.Concat(t.Required, t.Optional)
	}
	return tools
}

// inject adds the core tools that the contract does not declare, and the core
// arguments that its own declarations leave out. What a core tool may do is
// never the contract's to say.
func (r *Registry) inject() {
	for _, c := range core() {
		own, ok := r.byName[c.Name]
		if !ok {
			r.tools = append(r.tools, c)
			r.byName[c.Name] = c
			continue
		}
		own.Readonly, own.Destructive, own.Internal = true, false, false
		for _, a := range c.ArgOrder {
			if own.Args[a] == nil {
				arg := *c.Args[a]
				arg.Required = false
				own.Args[a] = &arg
				own.Optional = append(own.Optional, a)
				own.ArgOrder = append(own.ArgOrder, a)
			}
		}
	}
	// Core tools last, whoever declared them.
	slices.SortStableFunc(r.tools, func(a, b *Tool) int {
		switch {
		case a.Core == b.Core:
			return 0
		case a.Core:
			return 1
		}
		return -1
	})
}
