// Package planner is the one-method interface between a request and the text of
// a plan, with what every planner is given. Its sub-packages implement it:
// embedded needs no model.
package planner

import (
	"context"
	"time"

	"stepbox.dev/host/prompt"
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
	// Names lists the slash paths of the sandbox; all is false when there are
	// too many to look at. Nil when there is no sandbox.
	Names func() (paths []string, all bool)
	// Turns are what was done for the request already (re-planning). Planners
	// that cannot tell what is left refuse them.
	Turns []prompt.Turn
	// Asking is told when a model is asked, and then how many bytes it has
	// answered so far. Nil: nobody wants to know.
	Asking func(Asking)
}

// Asking is how far the answer of a model has come.
type Asking struct {
	Planner string
	Model   string
	Why     string // this planner was asked
	Bytes   int
}

// Answer is a planner's proposal.
type Answer struct {
	// Text is raw JSON, {"plan":[…]}: plan.Parse reads it like any stranger's.
	// A question is a call of clarify, a refusal a call of reject.
	Text []byte
	// Confidence is between 0 and 1, calibrated; 0 of a planner that cannot tell
	// how sure it is.
	Confidence float64
	// Candidates are answers that fit a clarify question.
	Candidates []string
	// Unclear are the parts of the request that were not understood, as they were
	// written: what a clarify question is about, so that an answer stands for
	// them, or what a plan does nothing of, so that it is asked about first.
	Unclear []string
	// Kept says that no answer takes back what was not understood: it excludes,
	// denies, counts or names something, and the plan without it does something
	// else.
	Kept bool
	// Anew says that only a request of its own answers the question, because no
	// word put into this one does.
	Anew bool
	// Yes is the answer that a yes to the question stands for; "" when it cannot
	// be answered so.
	Yes string
	// About is the tool whose call a clarify question keeps open; "" when it is not
	// one call's.
	About string
	// Aside are words beside the order that a plan does nothing of, such as a
	// reason for it: a person is told.
	Aside []string
	// Partial is the plan that a clarify question leaves open, without the
	// argument of its first call that is asked for, and Lacks are the arguments of
	// which one is needed; empty when the question is about more.
	Partial []byte
	Lacks   []string
	// Planner names who planned, Model the model that it asked, if any.
	Planner string
	Model   string
	// Why says why this planner planned, when there was a choice.
	Why string
}

// Planner turns a request into a plan.
type Planner interface {
	Plan(ctx context.Context, r Request) (Answer, error)
}
