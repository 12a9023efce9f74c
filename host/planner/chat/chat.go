// Package chat asks a language model for a plan: the prompt, the schema of the
// answer, one repair, and everything between here and a server. What differs
// from server to server is a Protocol; packages openai and ollama have one each.
//
// A model proposes and nothing else. Its answer is text of a stranger: it is
// capped, parsed strictly and validated against the tools that it was shown
// before anybody else sees it, and every later stage treats it like a plan that
// was typed in. Files are not sent, only the names that a person offers.
package chat

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/planner"
	"stepbox.dev/host/planner/schema"
	"stepbox.dev/host/prompt"
	"stepbox.dev/host/registry"
)

// Options of New. Zero values mean the defaults.
type Options struct {
	URL   string // of the server; the protocol has a default
	Model string
	// Key is sent as a bearer token, to URL alone. KeyName is where it came
	// from, for messages.
	Key, KeyName  string
	Timeout       time.Duration // of a plan, repair and retries included: 2 minutes
	Attempts      int           // for one answer: 3
	MaxTokens     int           // of an answer: 1024
	ContextTokens int           // of prompt and answer: 8192
	NoSchema      bool          // do not send the schema
	NoStream      bool          // ask for the answer in one piece
	Backoff       time.Duration // before the second attempt, doubled after each: 500 ms
}

// The defaults of Options.
const (
	DefaultTimeout       = 2 * time.Minute
	DefaultAttempts      = 3
	DefaultMaxTokens     = 1024
	DefaultContextTokens = 8192
	defaultBackoff       = 500 * time.Millisecond
)

// Planner asks a model for plans. It is safe for concurrent use.
type Planner struct {
	o        Options
	protocol Protocol
	client   *http.Client

	mu      sync.Mutex
	without Without // what this server has turned out not to take
}

// New returns a planner that speaks the protocol. It reaches no server yet.
func New(p Protocol, o Options) (*Planner, error) {
	orDefault(&o.URL, p.DefaultURL())
	orDefault(&o.Timeout, DefaultTimeout)
	orDefault(&o.Attempts, DefaultAttempts)
	orDefault(&o.MaxTokens, DefaultMaxTokens)
	orDefault(&o.ContextTokens, DefaultContextTokens)
	orDefault(&o.Backoff, defaultBackoff)
	if o.Model == "" {
		return nil, fault.New(fault.Usage, "no model is named for %s", p.Name()).
			Hint("give --model NAME, or: stepbox config set model NAME")
	}
	if err := checkURL(o); err != nil {
		return nil, err
	}
	return &Planner{o: o, protocol: p, client: newClient(), without: Without{Schema: o.NoSchema}}, nil
}

func orDefault[T comparable](v *T, otherwise T) {
	var zero T
	if *v == zero {
		*v = otherwise
	}
}

// Plan implements planner.Planner. An answer that is no valid plan is sent back
// once with what is wrong with it.
func (p *Planner) Plan(ctx context.Context, r planner.Request) (planner.Answer, error) {
	if err := ctx.Err(); err != nil {
		return planner.Answer{}, err
	}
	if r.Skill == nil {
		return planner.Answer{}, fault.New(fault.Internal, "planner %s was given no skill", p.protocol.Name())
	}
	text := prompt.Build(prompt.Request{
		Skill: r.Skill, Utterance: r.Utterance, Tools: r.Tools, Files: r.Files, Now: r.Now, Turns: r.Turns,
		Budget: min(prompt.DefaultBudget, p.o.ContextTokens-p.o.MaxTokens),
	})
	if size := (len(text.System)+len(text.User))/4 + p.o.MaxTokens; size > p.o.ContextTokens {
		return planner.Answer{}, fault.New(fault.Usage, "the request is too long for the model: about %d tokens with its answer, and the context has %d", size, p.o.ContextTokens).
			Hint("ask in fewer words, or raise context_tokens in the configuration")
	}
	messages := []Message{{"system", text.System}, {"user", text.User}}
	ctx, cancel := context.WithTimeoutCause(ctx, p.o.Timeout, errSlow)
	defer cancel()
	allowed := schema.For(text.Tools)
	asking := p.asking(r)
	asking(0)
	for repaired := false; ; repaired = true {
		out, err := p.ask(ctx, messages, allowed, asking)
		if err != nil {
			return planner.Answer{}, err
		}
		calls, problem := judge(out, text.Tools, r)
		if problem == "" {
			encoded, err := json.Marshal(map[string][]abi.Call{"plan": calls})
			if err != nil {
				return planner.Answer{}, fault.New(fault.Internal, "the plan of %s: %w", p.o.Model, err)
			}
			return planner.Answer{Text: encoded, Planner: p.protocol.Name(), Model: p.o.Model}, nil
		}
		if repaired {
			return planner.Answer{}, fault.New(fault.Usage, "the model %q gave no valid plan, twice: %s", p.o.Model, problem).
				Hint("say the request in other words, or try another model")
		}
		messages = append(messages, Message{"assistant", clip(out, 8000)}, Message{"user", "That is not a valid plan:\n" + problem +
			"\nAnswer the same request again, with one corrected JSON object and nothing else."})
	}
}

// asking tells how far an answer has come, at the start and then now and again.
func (p *Planner) asking(r planner.Request) func(bytes int) {
	if r.Asking == nil {
		return func(int) {}
	}
	last := 0
	return func(bytes int) {
		if last == 0 || bytes < last || bytes-last >= 64 { // less: it begins anew
			last = bytes
			r.Asking(planner.Asking{Planner: p.protocol.Name(), Model: p.o.Model, Bytes: bytes})
		}
	}
}

// judge returns the calls of an answer, or what is wrong with it. Paths that
// lead out of the sandbox are no fault here: which sandbox it is, and that a
// path is refused, are for later stages to say.
func judge(out string, shown []*registry.Tool, r planner.Request) ([]abi.Call, string) {
	draft, err := plan.Parse([]byte(out))
	if err != nil {
		return nil, clip(err.Error(), 2000)
	}
	reg := r.Skill.Registry()
	known := make(map[string]bool, len(shown))
	for _, t := range shown {
		known[t.Name] = true
	}
	var faults string
	for _, c := range draft.Calls() {
		if t, ok := reg.Tool(c.Tool); ok && !known[c.Tool] && !t.Internal { // else Validate says it
			faults += "tool \"" + c.Tool + "\" is none of the tools above\n"
		}
	}
	_, err = plan.Validate(plan.Normalize(draft, reg, plan.Paths{}), reg)
	var invalid *plan.InvalidError
	switch {
	case errors.As(err, &invalid):
		for _, d := range invalid.Diagnostics {
			if d.Code == plan.CodePathOutside {
				continue
			}
			faults += d.Pointer + ": " + d.Message
			if d.Suggestion != "" {
				faults += " (" + d.Suggestion + ")"
			}
			faults += "\n"
		}
	case err != nil:
		faults += err.Error()
	}
	return draft.Calls(), clip(faults, 2000)
}
