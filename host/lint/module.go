package lint

import (
	"context"

	"stepbox.dev/abi"
	"stepbox.dev/host/expand"
	"stepbox.dev/host/registry"
)

// module compares the module with the contract and expands every example.
func (l *linter) module(ctx context.Context, m Module, examples []example) error {
	d, err := m.Describe(ctx)
	if err != nil {
		return err
	}
	for _, difference := range l.registry.Check(d) {
		l.add(CodeDescribed, toolsFile, 0, "%s", difference)
	}
	kind := registry.Kinds(d)
	r := recorder{Expander: m, emitted: map[string]bool{}, expanded: map[string]bool{}}
	for _, e := range examples {
		if asks(e) {
			continue
		}
		if _, err := expand.Expand(ctx, e.valid, &r, expand.Options{Kind: kind}); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			l.add(CodeExpansion, promptFile, e.Line, "the example %q does not expand: %v", e.Request, err)
		}
	}
	complete := true
	for _, t := range l.registry.Tools() {
		if kind(t.Name) == abi.KindIntent && !r.expanded[t.Name] {
			complete = false
			l.warn(CodeUntested, toolsFile, t.Line, "no example leads to the intent %q, so nothing shows what it expands into", t.Name)
		}
	}
	for _, t := range l.registry.Tools() {
		if t.Internal && !r.emitted[t.Name] {
			if complete {
				l.add(CodeUnused, toolsFile, t.Line, "no intent emits the internal tool %q in any example", t.Name)
			} else { // an intent without an example may
				l.warn(CodeUnused, toolsFile, t.Line, "no intent that has an example emits the internal tool %q", t.Name)
			}
		}
	}
	return nil
}

// asks reports whether an example shows a question or a refusal, which nothing
// expands.
func asks(e example) bool {
	for _, c := range e.valid.Calls() {
		if c.Tool == registry.Clarify || c.Tool == registry.Reject {
			return true
		}
	}
	return false
}

// recorder notes what intents expand into.
type recorder struct {
	expand.Expander
	expanded map[string]bool // intents
	emitted  map[string]bool // tools
}

// Expand implements expand.Expander.
func (r *recorder) Expand(ctx context.Context, q abi.ExpandRequest) (abi.ExpandResponse, error) {
	r.expanded[q.Tool] = true
	a, err := r.Expander.Expand(ctx, q)
	for _, c := range a.Plan {
		r.emitted[c.Tool] = true
	}
	return a, err
}
