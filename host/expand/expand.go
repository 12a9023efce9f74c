// Package expand turns a valid plan into a program: each intent is expanded by
// the skill's own code, in the guest, and the answer is validated and gated
// again as hostile data.
//
// What an answer may do is bounded by what was reviewed: a step under an intent
// never has a mode above the intent's own, and an answer sees no variable but
// its own and those its intent was given. Variables of different intents are
// kept apart by renaming, so that no answer can rebind another's name.
package expand

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/gate"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/registry"
)

// The caps on what a plan may expand into.
const (
	MaxDepth = 4       // of intents within intents, the plan's own included
	MaxCalls = 1000    // of steps in a program
	MaxBytes = 4 << 20 // of text in all answers together
)

// Expander expands one intent. *worker.Worker is one.
type Expander interface {
	Expand(ctx context.Context, r abi.ExpandRequest) (abi.ExpandResponse, error)
}

// Options of Expand.
type Options struct {
	// Kind tells step from intent, as the module described itself.
	Kind func(tool string) abi.Kind
	// Skill is whose answers these are, for what they ask.
	Skill string
	// Paths are for normalizing what the guest answers.
	Paths plan.Paths
	// Sandbox is the sandbox as the host sees it, for the gates; nil: no file
	// need exist.
	Sandbox fs.FS
}

// Expand returns the program that v stands for. Caps: depth 4, 1,000 calls.
//
// An intent's output is bound to the last call of its expansion. An error about
// an answer is of kind fault.Refused and names the offending call; fault.Question
// when the answer asks instead; fault.StepFailed when the module fails to
// answer.
func Expand(ctx context.Context, v plan.Valid, e Expander, o Options) (plan.Program, error) {
	x := expansion{ctx: ctx, expander: e, options: o, registry: v.Registry(), taken: map[string]bool{}}
	outer := scope{}
	for i, c := range v.Calls() {
		x.planCall = i
		if err := x.add(c, outer, origin{call: i}); err != nil {
			return plan.Program{}, err
		}
	}
	draft := plan.Normalize(plan.NewDraft(x.calls), v.Registry(), o.Paths)
	program, err := plan.NewProgram(v, draft.Calls(), x.intents) // validates every call
	var invalid *plan.InvalidError
	if errors.As(err, &invalid) {
		return plan.Program{}, x.refuseInvalid(invalid)
	}
	if err != nil {
		return plan.Program{}, err
	}
	d := gate.Expanded(gate.Request{Draft: draft, Registry: v.Registry(), Sandbox: o.Sandbox, SandboxPath: o.Paths.Sandbox})
	if d.Outcome != gate.Proceed {
		return plan.Program{}, x.refuse(x.origins[d.Call], x.calls[d.Call], "%s", d.Reason)
	}
	return program, nil
}

// expansion is the state of one Expand.
type expansion struct {
	ctx      context.Context
	expander Expander
	options  Options
	registry *registry.Registry

	planCall int             // index of the plan's call being expanded
	calls    []abi.Call      // the program so far
	intents  []int           // see plan.Program.Intents
	origins  []origin        // for each call, where it comes from, for errors
	taken    map[string]bool // variables of the program
	bytes    int             // of text in answers so far
}

// scope maps the variables that calls of one plan or answer may use to their
// names in the program.
type scope map[string]string

// origin is a place in an answer: call number call, from 0, of what an intent
// expands to. Without a frame it is a call of the plan.
type origin struct {
	frame *frame
	call  int
}

// frame is an intent being expanded.
type frame struct {
	tool  *registry.Tool
	at    origin // of the intent itself
	depth int
}

// String names the place: `call 2 of what "a" expands to`.
func (o origin) String() string {
	s := fmt.Sprintf("call %d", o.call+1)
	if o.frame == nil {
		return s
	}
	s += fmt.Sprintf(" of what %q expands to", o.frame.tool.Name)
	if o.frame.at.frame != nil {
		s += ", " + o.frame.at.String()
	}
	return s
}

// add appends call c, which stands at the place, expanded to the program. The
// call's output joins the scope.
func (x *expansion) add(c abi.Call, vars scope, at origin) error {
	if err := x.ctx.Err(); err != nil {
		return err
	}
	t, ok := x.registry.Tool(c.Tool)
	if !ok {
		return x.refuse(at, c, "there is no such tool")
	}
	if c.Output != "" {
		if _, rest, ok := plan.Reference(c.Output); !ok || rest != "" {
			return x.refuse(at, c, "%q is no name of a variable", c.Output)
		}
		if strings.HasPrefix(c.Output, outerPrefix) && at.frame != nil {
			return x.refuse(at, c, "the variable %q is reserved for what the intent was given", c.Output)
		}
		if _, twice := vars[c.Output]; twice {
			return x.refuse(at, c, "the variable %q is set twice", c.Output)
		}
	}
	if err := x.permit(t, c, at); err != nil {
		return err
	}
	w := walk{rename: func(name string) (string, error) {
		to, ok := vars[name]
		if !ok {
			return "", fmt.Errorf("the variable %q is not set by an earlier call", name)
		}
		return to, nil
	}}
	args, err := w.args(c.Args)
	if err != nil {
		return x.refuse(at, c, "%v", err)
	}
	if at.frame != nil {
		if x.bytes += w.bytes; x.bytes > MaxBytes {
			return x.refuse(at, c, "the expansion holds more than %d bytes", MaxBytes)
		}
	}
	if !t.Core && x.options.Kind(t.Name) == abi.KindIntent {
		return x.intent(t, args, c.Output, vars, at)
	}
	return x.step(abi.Call{Tool: c.Tool, Args: args, Output: c.Output}, vars, at)
}

// permit refuses a call that goes beyond what its intent declares, or that
// does not run anything at all.
func (x *expansion) permit(t *registry.Tool, c abi.Call, at origin) error {
	text := func(name string) string { s, _ := c.Args[name].(string); return s }
	switch {
	case t.Core && t.Name == registry.Clarify:
		return x.asks(c, at)
	case t.Core && t.Name == registry.Reject:
		return fault.New(fault.Refused, "the skill %s refuses: %s", x.options.Skill, text("reason"))
	case t.Core:
		return nil
	case at.frame != nil && t.Mode() > at.frame.tool.Mode():
		intent := at.frame.tool
		return x.refuse(at, c, "it may %s, but %q is declared to %s only", t.Mode(), intent.Name, intent.Mode())
	}
	if k := x.options.Kind(t.Name); k != abi.KindStep && k != abi.KindIntent {
		return x.refuse(at, c, "the module does not implement it")
	}
	return nil
}

// asks is the error that carries the question of an answer.
func (x *expansion) asks(c abi.Call, at origin) error {
	q := &Asked{Skill: x.options.Skill, Call: x.planCall}
	q.Question, _ = c.Args["question"].(string)
	if at.frame != nil && at.frame.at.frame == nil { // of the plan's own call, and of no other
		arg, _ := c.Args["arg"].(string)
		if at.frame.tool.Args[arg] != nil {
			q.Arg = arg
		}
	}
	return fault.New(fault.Question, "%w", q)
}

// step appends one call of a step.
func (x *expansion) step(c abi.Call, vars scope, at origin) error {
	if len(x.calls) == MaxCalls {
		return x.refuse(at, c, "the program would have more than %d calls", MaxCalls)
	}
	if c.Output != "" {
		c.Output = x.bind(c.Output, vars)
	}
	x.calls = append(x.calls, c)
	x.intents = append(x.intents, x.planCall)
	x.origins = append(x.origins, at)
	return nil
}

// bind gives a variable its name in the program: its own when that is free,
// else one with a number.
func (x *expansion) bind(name string, vars scope) string {
	to := name
	for n := 2; x.taken[to]; n++ {
		to = fmt.Sprintf("%s_%d", name, n)
	}
	x.taken[to] = true
	vars[name] = to
	return to
}

// intent expands one intent and appends what it stands for.
func (x *expansion) intent(t *registry.Tool, args map[string]any, output string, vars scope, at origin) error {
	f := &frame{tool: t, at: at, depth: 1}
	if at.frame != nil {
		f.depth = at.frame.depth + 1
	}
	call := abi.Call{Tool: t.Name}
	if f.depth > MaxDepth {
		return x.refuse(at, call, "intents nest deeper than %d", MaxDepth)
	}
	given, inner, err := lend(args)
	if err != nil {
		return x.refuse(at, call, "%v", err)
	}
	resp, err := x.expander.Expand(x.ctx, abi.ExpandRequest{Tool: t.Name, Args: given})
	if err != nil {
		return expandError(t.Name, err)
	}
	switch n := len(resp.Plan); {
	case n == 0:
		return x.refuse(at, call, "it expands into no calls")
	case n > MaxCalls-len(x.calls):
		return x.refuse(at, call, "it expands into %d calls; a program has at most %d", n, MaxCalls)
	}
	calls := slices.Clone(resp.Plan)
	last := &calls[len(calls)-1]
	if output != "" && last.Output == "" {
		last.Output = freeName(output, calls)
	}
	for i, c := range calls {
		if err := x.add(c, inner, origin{f, i}); err != nil {
			return err
		}
	}
	if output != "" {
		vars[output] = inner[last.Output]
	}
	return nil
}

// freeName returns name, or one like it that no call of an answer sets.
func freeName(name string, calls []abi.Call) string {
	to := name
	for n := 2; slices.ContainsFunc(calls, func(c abi.Call) bool { return c.Output == to }); n++ {
		to = fmt.Sprintf("%s_%d", name, n)
	}
	return to
}

// outerPrefix starts the names under which an intent sees variables that were
// set outside it.
const outerPrefix = "$outer_"

// lend returns args as the guest gets them, the program's variables renamed to
// $outer_1, $outer_2, … in the order of their names, and the scope that its
// answer starts with. A guest can pass such a value on; it cannot name any other
// variable of the program.
func lend(args map[string]any) (map[string]any, scope, error) {
	names := map[string]string{}
	w := walk{rename: func(name string) (string, error) { names[name] = ""; return name, nil }}
	out, err := w.args(args)
	inner := scope{}
	if err != nil || len(names) == 0 {
		return out, inner, err
	}
	for i, name := range slices.Sorted(maps.Keys(names)) { // maps have no order, an expansion must have one
		names[name] = fmt.Sprintf("%s%d", outerPrefix, i+1)
		inner[names[name]] = name
	}
	w.rename = func(name string) (string, error) { return names[name], nil }
	out, err = w.args(args)
	return out, inner, err
}

// expandError keeps the kind of a worker's error; a module's own error is a
// failure of the intent.
func expandError(tool string, err error) error {
	var known *fault.Error
	if errors.As(err, &known) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fault.New(fault.StepFailed, "%s: %w", tool, err)
}

// refuse is the error for the call at a place.
func (x *expansion) refuse(at origin, c abi.Call, format string, args ...any) error {
	return fault.New(fault.Refused, "%s (%q): %s", at, c.Tool, fmt.Sprintf(format, args...))
}

// refuseInvalid says which calls of the expansion have which faults.
func (x *expansion) refuseInvalid(invalid *plan.InvalidError) error {
	var lines []string
	for _, d := range invalid.Diagnostics {
		line := d.Message
		var i int
		if _, err := fmt.Sscanf(d.Pointer, "/plan/%d", &i); err == nil && i >= 0 && i < len(x.calls) {
			line = fmt.Sprintf("%s (%q): %s", x.origins[i], x.calls[i].Tool, d.Message)
		}
		lines = append(lines, line)
	}
	e := fault.New(fault.Refused, "%s", strings.Join(lines, "; "))
	e.Err = invalid
	return e
}
