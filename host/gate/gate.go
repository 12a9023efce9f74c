// Package gate makes the deterministic decisions to go on, to ask, or to
// refuse. Every rule is here, in one order.
//
// Screen looks at a request before anything is planned. Check looks at a
// normalized draft. Neither trusts the planner: a plan that no gate can tie to
// the request becomes a question. Both know contracts only, no tool by name but
// the core tools clarify and reject.
package gate

import (
	"io/fs"
	"maps"
	"slices"

	"stepbox.dev/abi"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/registry"
)

// Outcome of a gate.
type Outcome string

// The outcomes.
const (
	Proceed Outcome = "plan"
	Clarify Outcome = "clarify"
	Reject  Outcome = "reject"
)

// Decision is what a gate says.
type Decision struct {
	Outcome Outcome
	// From is whose words the question or the reason is, "" for stepbox's own.
	// Check does not know; whoever asked a planner or a guest does.
	From       string
	Question   string   // of Clarify
	Candidates []string // answers that fit the question
	Reason     string   // of Reject
	Next       string   // what would allow it
	// Call and Arg are what a question is about: Arg "" when it is about the
	// whole request. Value is which of the argument's values, as the draft that
	// Check returns has it; "" when it has none, or all are asked about.
	Call  int
	Arg   string
	Value string
}

// proceed is the decision of a rule that has nothing to say.
var proceed = Decision{Outcome: Proceed}

// Request is what Check looks at.
type Request struct {
	// Utterance is "" for a plan that nobody uttered: the gates that compare
	// with it are skipped.
	Utterance string
	Draft     plan.Draft // normalized
	Registry  *registry.Registry
	// Sandbox is the sandbox as the host sees it, read-only; nil: no file need
	// exist.
	Sandbox fs.FS
	// SandboxPath is its absolute path, for messages.
	SandboxPath string
	// Files are names the person offered (--file).
	Files []string
}

// rule is one gate over a draft.
type rule struct {
	name string
	why  string // the harm it prevents, and why it stands where it does
	run  func(*check) Decision
	// expanded says that the rule holds for what intents expand into as well.
	expanded bool
}

// rules is the order in which the gates of Check run; the first that does not
// proceed decides. Refusals that no answer can mend come before questions, so
// that nobody is asked about a request that is refused afterwards. Rules that
// fill in names come before those that compare names.
var rules = []rule{
	{"answer", "a planner that asks or refuses has made no plan: nothing else in it counts", (*check).answer, false},
	{"outside", "no answer makes a path outside the sandbox reachable, only another sandbox does", (*check).outside, true},
	{"offered", "a description of an offered file must become its name before anything looks for a file of that name", (*check).offered, false},
	{"missing", "an argument that the request does not give must be asked for, never made up", (*check).missing, false},
	{"outputs", "a name for a product is no reason to ask; later rules need to know it, as a later call may read it", (*check).outputs, false},
	{"inputs", "a step on a file that is not there fails late, and a wrong guess acts on the wrong file", (*check).inputs, false},
	{"mentioned", "a planner may make up a file name that happens to exist; acting on a file nobody named is the worst mistake", (*check).mentioned, false},
	{"widened", "a pattern that the request does not speak of turns one file into all", (*check).widened, false},
	{"grounded", "a made-up password locks a file for good", (*check).grounded, false},
	{"overwrites", "a product over its own source loses the source", (*check).overwrites, true},
}

// Check runs the gates over a normalized draft. The draft it returns has names
// resolved (a stem that matches one file, a default output name).
func Check(r Request) (plan.Draft, Decision) {
	c := &check{Request: r}
	for _, call := range r.Draft.Calls() {
		call.Args = maps.Clone(call.Args)
		if call.Args == nil {
			call.Args = map[string]any{}
		}
		c.calls = append(c.calls, call)
	}
	for _, rule := range rules {
		if d := rule.run(c); d.Outcome != Proceed {
			return r.Draft.WithCalls(c.calls), d
		}
	}
	return r.Draft.WithCalls(c.calls), proceed
}

// Expanded runs over the calls of a program the gates that a plan passed
// already: a guest wrote these. The others compare with what a person said, who
// said nothing about steps, or look for files, which an earlier step may make.
func Expanded(r Request) Decision {
	c := &check{Request: r, calls: r.Draft.Calls()}
	for _, rule := range rules {
		if !rule.expanded {
			continue
		}
		if d := rule.run(c); d.Outcome != Proceed {
			return d
		}
	}
	return proceed
}

// check is the state of one Check.
type check struct {
	Request
	calls []abi.Call
	// from is what a value was before a rule resolved it, by what it became:
	// the request speaks of that.
	from map[string]string
	tree *tree // the sandbox's names, walked when first needed
	// makers is the first call that makes each product, found when first needed.
	makers map[string]int
	looked map[string]fs.FileInfo // what stat found
}

// tool returns the tool of call i; ok is false for one that validation will
// report.
func (c *check) tool(i int) (*registry.Tool, bool) {
	return c.Registry.Tool(c.calls[i].Tool)
}

// uttered says that there is a request to compare with.
func (c *check) uttered() bool { return c.Utterance != "" }

// answer turns a planner's own question or refusal into the decision.
func (c *check) answer() Decision {
	var question Decision
	for i, call := range c.calls {
		text := func(name, otherwise string) string {
			if s, ok := call.Args[name].(string); ok && s != "" {
				return s
			}
			return otherwise
		}
		switch call.Tool {
		case registry.Reject:
			return Decision{Outcome: Reject, Call: i, Reason: text("reason", "the request is unsafe or out of scope")}
		case registry.Clarify:
			if question.Outcome == "" {
				question = Decision{
					Outcome: Clarify, Call: i,
					Question:   text("question", "What exactly should be done, and with which files?"),
					Candidates: texts(call.Args["candidates"]),
				}
			}
		}
	}
	if question.Outcome != "" {
		return question
	}
	if len(c.calls) == 0 {
		return Decision{Outcome: Clarify, Question: "What should be done, and with which files?"}
	}
	return proceed
}

// texts returns the strings of a string or a list.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, e := range v {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// value is one path of a call.
type value struct {
	call  int
	arg   string
	index int // in a list; -1 when the argument is the string itself
	given string
	text  string // what given says: the name of the file
}

// values returns the literal paths of call i in the role, in declared order, as
// the files are called: "$$odd.txt" is the file "$odd.txt". Variables are not
// among them: what they hold is checked when they are known.
func (c *check) values(i int, role abi.PathRole) []value {
	t, ok := c.tool(i)
	if !ok {
		return nil
	}
	var out []value
	add := func(name string, given any) {
		if roleOf(t, name, given) != role {
			return
		}
		switch v := given.(type) {
		case string:
			if !isVariable(v) {
				out = append(out, value{i, name, -1, v, plan.Meant(v)})
			}
		case []any:
			for k, e := range v {
				if s, ok := e.(string); ok && !isVariable(s) {
					out = append(out, value{i, name, k, s, plan.Meant(s)})
				}
			}
		}
	}
	args := c.calls[i].Args
	known := 0
	for _, name := range t.ArgOrder {
		if v, ok := args[name]; ok {
			known++
			add(name, v)
		}
	}
	if known < len(args) { // a fault of the plan, and still a path
		for _, name := range argNames(t, args)[known:] {
			add(name, args[name])
		}
	}
	return out
}

// set replaces a value with what a file is called, and remembers what it was.
func (c *check) set(v value, to string) {
	if c.from == nil {
		c.from = map[string]string{}
	}
	if _, known := c.from[to]; !known {
		c.from[to] = v.text
	}
	args := c.calls[v.call].Args
	if v.index < 0 {
		args[v.arg] = plan.Literal(to)
		return
	}
	list := slices.Clone(args[v.arg].([]any))
	list[v.index] = plan.Literal(to)
	args[v.arg] = list
}

// ask is a question about one value, which a person's answer replaces.
func ask(v value, question string, candidates []string) Decision {
	return Decision{
		Outcome: Clarify, Question: question, Candidates: candidates,
		Call: v.call, Arg: v.arg, Value: v.given,
	}
}

// argNames are the names of the given arguments: those that the tool knows in
// declared order, then the others by name.
func argNames(t *registry.Tool, args map[string]any) []string {
	var out []string
	for _, name := range t.ArgOrder {
		if _, ok := args[name]; ok {
			out = append(out, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
