//go:build !wasip1

package guest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stepbox.dev/abi"
)

// Native runs handlers in an ordinary Go process, for tests: no host, no
// module, files below one folder. It knows no modes and no stage: what a step
// does to the folder is done.
type Native struct {
	// Dir is the sandbox.
	Dir string
	// SkillDir holds the skill's own files.
	SkillDir string
	// Now is when the run began; the zero value is the present. Its location is
	// the person's zone.
	Now    time.Time
	DryRun bool
	// Confirm answers questions; nil says no.
	Confirm func(abi.ConfirmRequest) bool
	// Progress hears of progress; nil drops it.
	Progress func(abi.Progress)
	// Engine runs engines; nil has none.
	Engine func(abi.EngineRequest) (abi.EngineResponse, error)
}

// Context returns a context to call a handler with. Scratch lies in a folder
// @tmp in Dir, which the first call that needs it makes itself.
func (n Native) Context() (Context, error) {
	c, err := n.call()
	return Context{&c}, err
}

func (n Native) call() (call, error) {
	root, err := os.OpenRoot(n.Dir)
	if err != nil {
		return call{}, err
	}
	c := call{Context: n.context(), files: &Files{root}, tmp: abi.TmpDir, progress: n.Progress, engine: n.Engine}
	c.skill = func(name string) ([]byte, error) {
		return os.ReadFile(filepath.Join(n.SkillDir, filepath.FromSlash(Clean(name))))
	}
	if n.Confirm != nil {
		c.confirm = func(r abi.ConfirmRequest) (bool, error) { return n.Confirm(r), nil }
	}
	return c, nil
}

func (n Native) context() abi.Context {
	now := n.Now
	if now.IsZero() {
		now = time.Now()
	}
	return abi.Context{RunID: "native", DryRun: n.DryRun, Now: now.Format(time.RFC3339), Zone: now.Location().String(), Locale: "en"}
}

// Describe is what the module would say about itself.
func (n Native) Describe(s *Skill) (abi.Description, error) { return s.describe() }

// Summarize returns the summary of one call.
func (n Native) Summarize(s *Skill, c Call) (string, error) {
	input, err := json.Marshal(abi.SummarizeRequest{Tool: c.Tool, Args: c.Args})
	if err != nil {
		return "", err
	}
	r, err := s.summarize(input)
	return r.Text, err
}

// Expand returns the calls that an intent stands for.
func (n Native) Expand(s *Skill, c Call) ([]Call, error) {
	input, err := json.Marshal(abi.ExpandRequest{Tool: c.Tool, Args: c.Args})
	if err != nil {
		return nil, err
	}
	r, err := s.expand(input)
	if err != nil {
		return nil, err
	}
	// Through JSON, as from a module: no Go type of the skill survives it.
	text, err := json.Marshal(r.Plan)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // as the host does, so that nothing is lost
	var calls []Call
	return calls, d.Decode(&calls)
}

// Run runs a call as the host would: arguments go through JSON, an intent is
// expanded and its calls are run one after the other with their variables
// resolved. It returns one result for each step that ended well.
func (n Native) Run(s *Skill, c Call) ([]abi.CallResult, error) {
	calls := []Call{c}
	if t := s.tool(c.Tool); t != nil && t.kind == abi.KindIntent {
		var err error
		if calls, err = n.Expand(s, c); err != nil {
			return nil, err
		}
	}
	var results []abi.CallResult
	variables := map[string]any{}
	for i, c := range calls {
		ctx := n.context()
		ctx.Call = i
		input, err := json.Marshal(abi.StepRequest{Tool: c.Tool, Args: resolve(c.Args, variables), Ctx: ctx})
		if err != nil {
			return results, err
		}
		state, err := n.call()
		if err != nil {
			return results, err
		}
		response, failed := guarded(func() (abi.StepResponse, error) { return s.step(input, state) })
		if failed != nil {
			return results, failed
		}
		var value any
		if err := json.Unmarshal(response.Result, &value); err != nil {
			return results, err
		}
		variables[c.Output] = value
		results = append(results, abi.CallResult{Tool: c.Tool, Args: c.Args, Result: response.Result, Issues: response.Issues})
	}
	return results, nil
}

// Format tells results in words.
func (n Native) Format(s *Skill, results []abi.CallResult) ([]Item, error) {
	input, err := json.Marshal(abi.FormatRequest{Results: results, DryRun: n.DryRun})
	if err != nil {
		return nil, err
	}
	r, err := s.format(input)
	return r.Items, err
}

// resolve replaces "$name" and "$name.field" in the arguments of one call, also
// in lists, where a list that a variable holds is spliced in. The host's own
// resolution does more; this is what intents emit.
func resolve(args map[string]any, variables map[string]any) map[string]any {
	out := make(map[string]any, len(args))
	for name, value := range args {
		if list, ok := value.([]any); ok {
			whole := []any{}
			for _, e := range list {
				found := lookUp(e, variables)
				if more, ok := found.([]any); ok {
					whole = append(whole, more...)
				} else {
					whole = append(whole, found)
				}
			}
			out[name] = whole
		} else {
			out[name] = lookUp(value, variables)
		}
	}
	return out
}

// lookUp returns what a value stands for; a value that is no variable is
// itself, and so is a text that begins with a dollar.
func lookUp(value any, variables map[string]any) any {
	text, ok := value.(string)
	if !ok || !strings.HasPrefix(text, "$") {
		return value
	}
	variable, rest, dotted := strings.Cut(text, ".")
	found, ok := variables[variable]
	if fields, is := found.(map[string]any); dotted && is {
		found, ok = fields[rest]
	}
	if !ok {
		return value
	}
	return found
}
