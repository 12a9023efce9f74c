package host

import (
	"context"
	"os"

	"stepbox.dev/host/event"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/planner"
	"stepbox.dev/host/planner/cascade"
	"stepbox.dev/host/planner/chat"
	"stepbox.dev/host/planner/embedded"
	"stepbox.dev/host/planner/mock"
	"stepbox.dev/host/planner/ollama"
	"stepbox.dev/host/planner/openai"
)

// newPlanner chooses who plans a request: who it names, else who the settings
// name, else the embedded planner with the configured model behind it.
func (h *Host) newPlanner(r Request, e event.Handler) (planner.Planner, error) {
	if r.Plan != nil { // somebody has planned already
		return nil, nil
	}
	name := r.Planner
	if name == "" {
		name = h.settings.Planner
	}
	if r.Replan > 0 {
		switch {
		case r.DryRun:
			return nil, fault.New(fault.Usage, "a dry run changes nothing, so there is nothing to plan on from").Hint("leave out --dry-run or --replan")
		case name == "embedded", name == "mock", name != "openai" && name != "ollama" && h.settings.Backend == "":
			return nil, fault.New(fault.Usage, "to plan on from results takes a model").
				Hint("configure one: stepbox config set backend ollama; stepbox config set model NAME")
		}
	}
	switch name {
	case "", "auto":
		c := &cascade.Planner{First: &embedded.Planner{}, Failed: func(err error) {
			// The stream keeps its own error, and ends the run with it.
			_ = e.Handle(event.Notice{Message: "no plan from the model: " + err.Error()})
		}}
		if h.settings.Backend == "" {
			return c, nil
		}
		var err error
		c.Model, err = h.model(h.settings.Backend, r.Model)
		return c, err
	case "embedded":
		return &embedded.Planner{}, nil
	case "mock":
		return &mock.Planner{}, nil
	case "openai", "ollama":
		return h.model(name, r.Model)
	}
	return nil, fault.New(fault.Usage, "unknown planner %q", name).Hint("--planner takes auto, embedded, openai, ollama or mock")
}

// model returns a planner that asks a model. The configured server is that of
// the configured backend; another backend has its default.
func (h *Host) model(backend, name string) (*chat.Planner, error) {
	s := h.settings
	o := chat.Options{
		Model: name, Timeout: s.Timeout, Attempts: s.Attempts, MaxTokens: s.MaxTokens, ContextTokens: s.ContextTokens, NoSchema: s.NoSchema,
	}
	if o.Model == "" {
		o.Model = s.Model
	}
	if s.Backend == "" || s.Backend == backend {
		o.URL = s.URL
		if s.KeyVariable != "" {
			o.Key, o.KeyName = os.Getenv(s.KeyVariable), s.KeyVariable
		}
	}
	if backend == "ollama" {
		return chat.New(ollama.Protocol{}, o)
	}
	return chat.New(openai.Protocol{}, o)
}

// ModelHealth is what a look at the configured model found.
type ModelHealth = chat.Health

// Model looks at the configured model: is its server there, does it have the
// model, does it honour a schema. configured is false when there is none.
func (h *Host) Model(ctx context.Context) (health ModelHealth, configured bool) {
	backend := h.settings.Backend
	if backend == "" && (h.settings.Planner == "openai" || h.settings.Planner == "ollama") {
		backend = h.settings.Planner
	}
	if backend == "" {
		return health, false
	}
	m, err := h.model(backend, "")
	if err != nil {
		return ModelHealth{Planner: backend, URL: h.settings.URL, Model: h.settings.Model, Schema: "unknown", Error: err.Error()}, true
	}
	return m.Check(ctx), true
}
