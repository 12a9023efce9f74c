// Package planner is the one-method interface between a request and the text of
// a plan, with what every planner is given. Its sub-packages implement it:
// embedded needs no model.
package planner

import (
	"context"
	"time"

	"stepbox.dev/host/retrieval"
	"stepbox.dev/host/skill"
)

// Request is what a planner gets. It sees no file content.
type Request struct {
	Utterance string
	Skill     *skill.Skill
	// Tools are the retrieved public tools, best first.
	Tools []retrieval.Hit
	// Files are names the host offers (--file), if any.
	Files []string
	// Now is the person's clock, in their zone, for relative dates.
	Now time.Time
	// Exists tells whether a slash path names something in the sandbox, and
	// whether it is a folder. Nil when there is no sandbox.
	Exists func(path string) (found, folder bool)
}

// Answer is a planner's proposal.
type Answer struct {
	// Text is raw JSON, {"plan":[…]}: plan.Parse reads it like any stranger's.
	// A question is a call of clarify, a refusal a call of reject.
	Text []byte
	// Confidence is between 0 and 1, calibrated.
	Confidence float64
	// Candidates are answers that fit a clarify question.
	Candidates []string
	// Planner names who planned.
	Planner string
}

// Planner turns a request into a plan.
type Planner interface {
	Plan(ctx context.Context, r Request) (Answer, error)
}
