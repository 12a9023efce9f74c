package host

import (
	"context"
	"time"

	"stepbox.dev/host/prompt"
)

// Prompted is the exact text that a model would be given for a request.
type Prompted struct {
	Skill  string   `json:"skill"`
	System string   `json:"system"`
	User   string   `json:"user"`
	Tools  []string `json:"tools"` // those that the text describes
}

// Prompt returns the text for a request, and asks no model.
func (h *Host) Prompt(ctx context.Context, r Request) (Prompted, error) {
	c := &catalogue{host: h}
	s, _, err := c.choose(ctx, r.Skill, r.Utterance)
	if err != nil {
		return Prompted{}, err
	}
	text := prompt.Build(prompt.Request{
		Skill: s, Utterance: r.Utterance, Files: r.Files, Now: time.Now(),
		Tools: c.indexed(s).Search(r.Utterance, retrieved),
	})
	out := Prompted{Skill: s.Name(), System: text.System, User: text.User}
	for _, t := range text.Tools {
		out.Tools = append(out.Tools, t.Name)
	}
	return out, nil
}
