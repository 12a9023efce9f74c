package evaluate

import (
	"context"
	"slices"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/host/gate"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/planner"
	"stepbox.dev/host/planner/cascade"
	"stepbox.dev/host/planner/embedded"
	"stepbox.dev/host/retrieval"
	"stepbox.dev/host/skill"
)

// Wrong lists the cases that are not what the corpus asks for.
func Wrong(cases []Case) []Case {
	out := []Case{}
	for _, c := range cases {
		if !c.right() {
			out = append(out, c)
		}
	}
	return out
}

// retrieved is how many tools the planner is shown, as in a run.
const retrieved = 8

// Case is one utterance, what was expected and what came out.
type Case struct {
	ID         string     `json:"id,omitempty"`
	Utterance  string     `json:"utterance"`
	Expected   string     `json:"expected"` // outcome
	Outcome    string     `json:"outcome"`
	WantTool   string     `json:"expected_tool"`
	Tool       string     `json:"tool"`
	Want       []abi.Call `json:"want,omitempty"` // normalized
	Got        []abi.Call `json:"got"`            // normalized
	Confidence float64    `json:"confidence"`
	Exact      *bool      `json:"exact,omitempty"` // nil without a gold plan
	Question   string     `json:"question,omitempty"`

	row     *Row
	doubted bool // a model would be asked, or the person
	tags    []string
	rank    int // of the expected tool among those retrieved, from 1; 0 when not there
	took    time.Duration
}

// Run plans every utterance of the corpus and scores it. A nil planner is the
// embedded one.
func Run(ctx context.Context, s *skill.Skill, p planner.Planner, rows []Row) (Report, []Case, error) {
	if p == nil {
		p = &embedded.Planner{}
	}
	e := &evaluation{skill: s, planner: p, index: retrieval.New([]*skill.Skill{s})}
	// What a planner prepares once belongs to no request's latency.
	if _, err := p.Plan(ctx, planner.Request{Utterance: rows[0].Utterances[0], Skill: s, Now: Clock}); err != nil {
		return Report{}, nil, err
	}
	var cases []Case
	for i := range rows {
		for _, u := range rows[i].Utterances {
			c, err := e.one(ctx, &rows[i], u)
			if err != nil {
				return Report{}, nil, err
			}
			cases = append(cases, c)
		}
	}
	return score(cases), cases, nil
}

type evaluation struct {
	skill   *skill.Skill
	planner planner.Planner
	index   *retrieval.Index
}

// one takes an utterance the way of a run: screen, retrieve, plan, parse,
// normalize, gates, validate. No file need exist; a bare stem is that of the
// row's fixture.
func (e *evaluation) one(ctx context.Context, row *Row, utterance string) (Case, error) {
	r := e.skill.Registry()
	c := Case{
		ID: row.ID, Utterance: utterance, Expected: row.Outcome, WantTool: row.Tool,
		row: row, tags: append(slices.Clone(row.Tags), script(utterance)),
	}
	var files []string
	if row.Fixture != "" {
		files = []string{row.Fixture}
	}
	began := time.Now()
	hits := e.index.Search(utterance, retrieved)
	for i, h := range hits {
		if h.Tool == row.Tool {
			c.rank = i + 1
		}
	}
	var draft plan.Draft
	decision := gate.NewPhrases(e.skill.UnsafePhrases(), r).Screen(utterance)
	if decision.Outcome == gate.Proceed {
		answer, err := e.planner.Plan(ctx, planner.Request{Utterance: utterance, Skill: e.skill, Tools: hits, Files: files, Now: row.at})
		if err != nil {
			return c, err
		}
		c.Confidence = answer.Confidence
		c.doubted = cascade.Doubt(answer, r) != ""
		if draft, err = plan.Parse(answer.Text); err != nil {
			return c, err
		}
		draft, decision = gate.Check(gate.Request{Utterance: utterance, Draft: plan.Normalize(draft, r, plan.Paths{}), Registry: r, Files: files})
	} else {
		c.Confidence = 1
	}
	c.Outcome = string(decision.Outcome)
	c.Question = decision.Question + decision.Reason
	if decision.Outcome == gate.Proceed {
		if _, err := plan.Validate(draft, r); err != nil {
			c.Outcome, c.Question = "invalid", err.Error()
		}
	}
	c.took = time.Since(began)
	c.Got = draft.Calls()
	switch {
	case c.Outcome == "clarify" || c.Outcome == "reject":
		c.Tool = c.Outcome
	case len(c.Got) > 0:
		c.Tool = c.Got[0].Tool
	}
	if row.gold != nil {
		gold := plan.Normalize(row.draft, r, plan.Paths{})
		c.Want = gold.Calls()
		exact := c.Outcome == row.Outcome && (row.Outcome != "plan" || same(c.Got, c.Want, r))
		c.Exact = &exact
	}
	return c, nil
}
