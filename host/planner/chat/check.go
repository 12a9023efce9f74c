package chat

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Health is what a look at a server found.
type Health struct {
	Planner string `json:"planner"`
	URL     string `json:"url"`
	Model   string `json:"model"`
	// Server is what the server calls itself, "" when it does not say.
	Server string   `json:"server"`
	Models []string `json:"models"` // that it has
	// Schema says whether it holds the model to a schema: honoured, ignored,
	// refused, or unknown.
	Schema string `json:"schema"`
	// Error is what went wrong, "" when all is well.
	Error string `json:"error,omitempty"`
}

// checkTime bounds a look at a server that may have to load a model first.
const checkTime = time.Minute

// Check looks at the server: is it there, does it have the model, and does it
// honour a schema. The last takes one short inference, in which the model is
// asked for something that the schema does not allow.
func (p *Planner) Check(ctx context.Context) Health {
	ctx, cancel := context.WithTimeoutCause(ctx, checkTime, errSlow)
	defer cancel()
	h := Health{Planner: p.protocol.Name(), URL: p.o.URL, Model: p.o.Model, Schema: "unknown"}
	err := p.models(ctx, &h)
	if err == nil {
		h.Schema, err = p.honours(ctx)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = ended(ctx)
		}
		h.Error = err.Error()
	}
	return h
}

func (p *Planner) models(ctx context.Context, h *Health) error {
	resp, err := p.send(ctx, http.MethodGet, p.protocol.Models(), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	h.Server = p.clean(resp.Header.Get("Server"))
	if resp.StatusCode != http.StatusOK {
		return p.status(resp)
	}
	body, err := io.ReadAll(&capped{r: resp.Body, left: maxAnswer})
	if err != nil {
		return err
	}
	names, err := p.protocol.DecodeModels(body)
	if err != nil {
		return errors.New("the list of models is not what " + p.protocol.Name() + " sends: is the url right?")
	}
	h.Models = names[:min(len(names), 100)]
	if !slices.ContainsFunc(names, func(n string) bool { return n == p.o.Model || strings.TrimSuffix(n, ":latest") == p.o.Model }) {
		return errors.New("the server does not list the model " + p.o.Model)
	}
	return nil
}

const (
	checkSchema = `{"type":"object","properties":{"stepbox":{"const":"ready"}},"required":["stepbox"],"additionalProperties":false}`
	checkPrompt = "Say hello in one short sentence."
)

func (p *Planner) honours(ctx context.Context) (string, error) {
	if p.o.NoSchema {
		return "unknown", nil
	}
	q := &Planner{o: p.o, protocol: p.protocol, client: p.client}
	q.o.MaxTokens = min(q.o.MaxTokens, 128)
	out, err := q.ask(ctx, []Message{{"user", checkPrompt}}, json.RawMessage(checkSchema), func(int) {})
	switch {
	case errors.Is(err, errCut):
		return "ignored", nil
	case err != nil:
		return "unknown", err
	case q.without.Schema:
		return "refused", nil
	}
	var answer struct{ Stepbox string }
	if json.Unmarshal([]byte(out), &answer) == nil && answer.Stepbox == "ready" {
		return "honoured", nil
	}
	return "ignored", nil
}
