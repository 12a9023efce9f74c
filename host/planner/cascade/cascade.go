// Package cascade asks the planner that costs nothing first, and a model only
// when that one is not sure. It decides by confidence alone and knows neither
// planner.
package cascade

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/planner"
	"stepbox.dev/host/registry"
)

// How sure the embedded planner must be of an answer for it to be taken as it
// is, chosen from the confidence curve over 1,170 requests (`stepbox eval`
// prints it; see RATIONALE.md). A plan that changes files needs more than one
// that looks. A question needs most: asking costs nothing, and below its mark
// a quarter of the questions were about requests that say enough.
const (
	SureLooking = 0.60
	SureActing  = 0.80
	SureAsking  = 0.88
)

// Doubt says why an answer is not sure enough, and "" when it is.
func Doubt(a planner.Answer, r *registry.Registry) string {
	if len(a.Unclear) == 0 && (a.Confidence >= SureAsking || a.Confidence == 0) { // enough for any answer, or not known
		return ""
	}
	d, err := plan.Parse(a.Text)
	if err != nil {
		return "its plan cannot be read"
	}
	asks := slices.ContainsFunc(d.Calls(), func(c abi.Call) bool { return c.Tool == registry.Clarify || c.Tool == registry.Reject })
	if len(a.Unclear) > 0 && !asks {
		return fmt.Sprintf("planner %s did not understand %q", a.Planner, a.Unclear)
	}
	least, what := SureLooking, "a plan that changes no file that is there"
	for _, c := range d.Calls() {
		switch t, ok := r.Tool(c.Tool); {
		case c.Tool == registry.Reject:
			return "" // nobody is asked to overrule a refusal
		case c.Tool == registry.Clarify:
			least, what = SureAsking, "a question"
		case ok && t.Destructive:
			least, what = max(least, SureActing), "a plan that changes files"
		}
	}
	if a.Confidence >= least {
		return ""
	}
	return fmt.Sprintf("planner %s is not sure: %.2f, and %s needs %.2f", a.Planner, a.Confidence, what, least)
}

// Planner asks First, and Model when First is not sure.
type Planner struct {
	First planner.Planner
	Model planner.Planner // nil: there is none
	// Failed is told why a model gave no plan; the first answer stands then.
	Failed func(err error)
}

// Plan implements planner.Planner.
func (p *Planner) Plan(ctx context.Context, r planner.Request) (planner.Answer, error) {
	first, err := p.First.Plan(ctx, r)
	if err != nil || p.Model == nil {
		return first, err
	}
	why := Doubt(first, r.Skill.Registry())
	if len(r.Turns) > 0 {
		why = "only a model can tell what is left to do"
	}
	if why == "" {
		return first, nil
	}
	if asking := r.Asking; asking != nil {
		r.Asking = func(a planner.Asking) {
			a.Why = why
			asking(a)
		}
	}
	answer, err := p.Model.Plan(ctx, r)
	switch {
	case err == nil:
		answer.Why = why
		return answer, nil
	case ctx.Err() != nil, len(r.Turns) > 0:
		return answer, err
	}
	if p.Failed != nil {
		p.Failed(err)
	}
	first.Why = "the model gave no plan"
	var f *fault.Error
	if errors.As(err, &f) {
		first.Why += ": " + f.What
	}
	return first, nil
}
