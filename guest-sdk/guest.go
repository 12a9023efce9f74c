// Package guest is what the author of a skill writes against: typed steps and
// intents, in Go, compiled to one WebAssembly module.
//
//	var skill = guest.Serve(guest.Skill{Tools: []guest.Tool{
//		guest.Step("count_lines", countLines),
//		guest.Intent("report", expandReport),
//	}})
//
//	func main() {}
//
// Serve is called once, in a package variable: a module is a reactor, whose
// variables are initialised before a call and whose main never runs. Every call
// gets a fresh instance, so keep initialisation cheap: no regexp.MustCompile
// and no tables built at package level; build what a call needs when it needs
// it. Serve itself keeps a pointer and nothing more.
//
// The schema of a tool's arguments comes from the type of its handler's last
// parameter, see [Schema]. Handlers run natively too, in plain go test: see
// [Native].
//
// The module is built with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared
//
// The package prints nothing and starts no goroutines.
package guest

import (
	"encoding/json"

	"stepbox.dev/abi"
)

// SDK names this SDK in a module's description.
const SDK = "stepbox-go/1"

// Call is one call of a plan, as an intent returns it. Its Output, "$name",
// lets a later call's arguments say "$name" or "$name.field".
type Call = abi.Call

// Item is one line or block of a result told to a person.
type Item = abi.Item

// Skill is all that a module offers.
type Skill struct {
	Tools []Tool
}

// Tool is a step or an intent, made by [Step] or [Intent].
type Tool interface{ erased() *tool }

// tool is a Tool without its type parameters.
type tool struct {
	name      string
	kind      abi.Kind
	schema    func() (map[string]abi.ArgSchema, error)
	step      func(Context, map[string]json.RawMessage) (any, error)
	expand    func(map[string]json.RawMessage) ([]Call, error)
	summarize func(map[string]json.RawMessage) (string, error)
	preflight func(Context, map[string]json.RawMessage) ([]abi.Problem, error)
	format    func(json.RawMessage, bool) ([]Item, error)
}

// served is what the exports serve: the argument of Serve.
var served *Skill

// Serve makes s what the module's exports serve, and returns it. It is called
// once, as the value of a package variable.
func Serve(s Skill) *Skill {
	served = &s
	return &s
}

// tool returns the named tool, nil when there is none.
func (s *Skill) tool(name string) *tool {
	if s == nil {
		return nil
	}
	for _, t := range s.Tools {
		if e := t.erased(); e.name == name {
			return e
		}
	}
	return nil
}

// StepTool is a tool that does one thing, with arguments A and result R.
type StepTool[A, R any] struct{ t tool }

// Step makes a tool that does one thing. A is a struct whose fields are the
// arguments; R is encoded as JSON and is what later calls see.
func Step[A, R any](name string, run func(ctx Context, in A) (R, error)) *StepTool[A, R] {
	s := &StepTool[A, R]{t: tool{name: name, kind: abi.KindStep, schema: Schema[A]}}
	s.t.step = func(ctx Context, raw map[string]json.RawMessage) (any, error) {
		in, err := decode[A](raw)
		if err != nil {
			return nil, err
		}
		return run(ctx, in)
	}
	return s
}

func (s *StepTool[A, R]) erased() *tool { return &s.t }

// Summary sets what tells a person, in one sentence, what a call would do. It
// must name every argument that narrows what is done.
func (s *StepTool[A, R]) Summary(f func(in A) string) *StepTool[A, R] {
	s.t.summarize = summary(f)
	return s
}

// Preflight sets what looks, before anything is staged, for reasons why a call
// cannot work.
func (s *StepTool[A, R]) Preflight(f func(ctx Context, in A) []abi.Problem) *StepTool[A, R] {
	s.t.preflight = func(ctx Context, raw map[string]json.RawMessage) ([]abi.Problem, error) {
		in, err := decode[A](raw)
		if err != nil {
			return nil, err
		}
		return f(ctx, in), nil
	}
	return s
}

// Format sets what tells a person the result of a call that ended well. dryRun
// says that nothing of it will be kept.
func (s *StepTool[A, R]) Format(f func(out R, dryRun bool) []Item) *StepTool[A, R] {
	s.t.format = func(raw json.RawMessage, dryRun bool) ([]Item, error) {
		var out R
		if err := json.Unmarshal(raw, &out); err != nil {
			return nil, Errorf(abi.CodeBadRequest, "the result of %s cannot be read: %v", s.t.name, err)
		}
		return f(out, dryRun), nil
	}
	return s
}

// IntentTool is a tool that stands for calls of other tools, with arguments A.
type IntentTool[A any] struct{ t tool }

// Intent makes a tool that expands into calls before anything runs. expand sees
// no files and no clock: the same arguments give the same calls for ever. The
// result of the last call is the result of the intent.
//
// Arguments that are texts or lists of texts may hold variables of earlier
// calls, "$name" or "$name.field"; passed on, they are resolved when the calls
// run.
func Intent[A any](name string, expand func(in A) ([]Call, error)) *IntentTool[A] {
	i := &IntentTool[A]{t: tool{name: name, kind: abi.KindIntent, schema: Schema[A]}}
	i.t.expand = func(raw map[string]json.RawMessage) ([]Call, error) {
		in, err := decodeLent[A](raw)
		if err != nil {
			return nil, err
		}
		return expand(in)
	}
	return i
}

// Ask is what an intent expands into when the person has to say something first.
// arg is the argument that the answer is for, as the contract calls it: on a
// terminal the answer is put there, and the call expanded anew. With "" the run
// ends with the question.
func Ask(arg, question string) ([]Call, error) {
	args := map[string]any{"question": question}
	if arg != "" {
		args["arg"] = arg
	}
	return []Call{{Tool: "clarify", Args: args}}, nil
}

func (i *IntentTool[A]) erased() *tool { return &i.t }

// Summary sets what tells a person, in one sentence, what a call would do.
func (i *IntentTool[A]) Summary(f func(in A) string) *IntentTool[A] {
	i.t.summarize = summary(f)
	return i
}

func summary[A any](f func(in A) string) func(map[string]json.RawMessage) (string, error) {
	return func(raw map[string]json.RawMessage) (string, error) {
		// A later call's arguments may still hold variables, which do not fit
		// their types yet: the rest of them can be told all the same.
		in, later, err := decodeOpen[A](raw)
		if err != nil {
			return "", err
		}
		text := f(in)
		for _, name := range later {
			text += "; " + name + " comes from an earlier step"
		}
		return text, nil
	}
}
