package host

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/commit"
	"stepbox.dev/host/event"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/planner"
	"stepbox.dev/host/planner/plannertest"
	"stepbox.dev/host/retrieval"
	"stepbox.dev/host/skill"
)

// unsure answers with less and less doubt: each request is clearer.
type unsure struct{ confidences []float64 }

func (u *unsure) Plan(_ context.Context, r planner.Request) (planner.Answer, error) {
	c := u.confidences[0]
	u.confidences = u.confidences[1:]
	text := plannertest.Plan("delete_files", map[string]any{"path": []string{"build"}, "bigger": "10MB"})
	return planner.Answer{Text: []byte(text), Confidence: c, Planner: "embedded"}, nil
}

// answering says the same few things to every question.
type answering struct {
	answers []string
	asked   []event.Decision
}

func (a *answering) Clarify(_ context.Context, d event.Decision) (string, error) {
	a.asked = append(a.asked, d)
	answer := a.answers[0]
	a.answers = a.answers[1:]
	return answer, nil
}

func (*answering) Approve(context.Context, *commit.Changes) (bool, []string, error) {
	return false, nil, nil
}
func (*answering) Proceed(context.Context, string) (bool, error)             { return false, nil }
func (*answering) Confirm(context.Context, abi.ConfirmRequest) (bool, error) { return false, nil }

// A plan that nobody is sure of becomes a question that shows what was
// understood. Yes runs it, no ends it, other words are planned anew. Where
// nobody is there, nobody says yes.
func TestADoubtfulPlanIsAskedAbout(t *testing.T) {
	for _, c := range []struct {
		name        string
		confidences []float64
		answers     []string
		asked       int
		kind        fault.Kind
	}{
		{name: "sure", confidences: []float64{0.81}},
		{name: "yes", confidences: []float64{0.79}, answers: []string{" Yes "}, asked: 1},
		{name: "no", confidences: []float64{0.79}, answers: []string{"no"}, asked: 1, kind: fault.Question},
		{name: "nothing", confidences: []float64{0.79}, answers: []string{""}, asked: 1, kind: fault.Question},
		{name: "other words", confidences: []float64{0.5, 0.9}, answers: []string{"those in build"}, asked: 1},
		{name: "other words, then yes", confidences: []float64{0.5, 0.7}, answers: []string{"those in build", "y"}, asked: 2},
		{name: "nobody", confidences: []float64{0.79}, kind: fault.Question},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := plannertest.Skill(t)
			someone := &answering{answers: c.answers}
			p := &planning{
				skill: s, planner: &unsure{c.confidences}, events: event.Discard, request: Request{Utterance: "delete the big files in build"},
				index: func() *retrieval.Index { return retrieval.New([]*skill.Skill{s}) },
			}
			if c.answers != nil {
				p.person = someone
			}
			valid, err := p.plan(t.Context())
			require.Len(t, someone.asked, c.asked)
			if c.asked > 0 {
				require.Equal(t, `Do you mean: delete files with bigger "10MB", path "build"?`, someone.asked[0].Question)
				require.Equal(t, []string{"yes", "no"}, someone.asked[0].Candidates)
			}
			require.Equal(t, c.kind, fault.Of(err), fmt.Sprint(err))
			if c.kind == 0 {
				require.Equal(t, "delete_files", valid.Calls()[0].Tool)
			} else {
				require.Contains(t, fault.Next(err), "stepbox exec")
			}
		})
	}
}

// unsaid is sure of a plan that leaves words out.
type unsaid struct{ unclear, aside []string }

func (u unsaid) Plan(context.Context, planner.Request) (planner.Answer, error) {
	text := plannertest.Plan("list_files", map[string]any{"path": []string{"build"}})
	return planner.Answer{Text: []byte(text), Confidence: 0.97, Planner: "embedded", Unclear: u.unclear, Aside: u.aside}, nil
}

// heard keeps the notices of a run.
type heard struct{ notices []string }

func (h *heard) Handle(e event.Event) error {
	if n, ok := e.(event.Notice); ok {
		h.notices = append(h.notices, n.Message)
	}
	return nil
}

// What a plan does nothing of is asked about, however sure the planner is; what
// stands beside the order is told.
func TestWordsThatAPlanLeavesOut(t *testing.T) {
	s := plannertest.Skill(t)
	for _, c := range []struct {
		name    string
		planner unsaid
		asked   string
		told    []string
	}{
		{name: "unclear", planner: unsaid{unclear: []string{"blue", "with love"}}, asked: `I did not understand "blue", "with love". Without that, do you mean: list files with path "build"?`},
		{name: "aside", planner: unsaid{aside: []string{"my boss waits"}}, told: []string{`nothing is done about "my boss waits"`}},
		{name: "nothing left out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &heard{}
			p := &planning{
				skill: s, planner: c.planner, events: h, request: Request{Utterance: "list build"},
				index: func() *retrieval.Index { return retrieval.New([]*skill.Skill{s}) },
			}
			_, err := p.plan(t.Context())
			if c.asked == "" {
				require.NoError(t, err)
			} else {
				require.Equal(t, fault.Question, fault.Of(err))
				require.ErrorContains(t, err, c.asked)
			}
			require.Equal(t, c.told, h.notices)
		})
	}
}

// What stands for the result of an earlier call is no word that a person reads.
func TestResultsInWords(t *testing.T) {
	earlier := []abi.Call{{Tool: "find_duplicates", Output: "$found"}}
	for value, want := range map[any]string{
		"$found.duplicates": `the duplicates from "find duplicates"`,
		"$found":            `the result from "find duplicates"`,
		"$other.big_files":  "the big files",
		"$$found":           `"$$found"`,
		"a":                 `"a"`,
		7:                   "7",
	} {
		require.Equal(t, want, inWords(value, earlier))
	}
	require.Equal(t, `"a" and the result from "find duplicates"`, inWords([]any{"a", "$found"}, earlier))
}
