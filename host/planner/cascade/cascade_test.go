package cascade_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/planner"
	"stepbox.dev/host/planner/cascade"
	"stepbox.dev/host/planner/embedded"
	"stepbox.dev/host/planner/plannertest"
	"stepbox.dev/host/prompt"
)

// fixed answers the same every time.
type fixed struct {
	answer planner.Answer
	err    error
	asked  int
}

func (f *fixed) Plan(ctx context.Context, r planner.Request) (planner.Answer, error) {
	f.asked++
	if r.Asking != nil {
		r.Asking(planner.Asking{Planner: "model"})
	}
	return f.answer, f.err
}

const (
	looks   = `{"plan":[{"tool":"list_files","args":{"path":["a"]}}]}`
	deletes = `{"plan":[{"tool":"list_files","args":{"path":["a"]},"output":"$x"},{"tool":"delete_files","args":{"items":"$x.paths"}}]}`
	refuses = `{"plan":[{"tool":"reject","args":{"reason":"No."}}]}`
	asks    = `{"plan":[{"tool":"clarify","args":{"question":"Which?"}}]}`
)

// A plan that changes files needs more confidence than one that looks, and a
// question needs most.
func TestDoubt(t *testing.T) {
	s := plannertest.Skill(t)
	for _, c := range []struct {
		text       string
		confidence float64
		sure       bool
	}{
		{looks, 0.59, false}, {looks, 0.60, true},
		{deletes, 0.79, false}, {deletes, 0.80, true},
		{asks, 0.85, false}, {asks, 0.88, true},
		{deletes, 0, true},   // a planner that cannot tell is not doubted for it
		{refuses, 0.1, true}, // a model is not asked to overrule it
		{"broken", 0.5, false},
	} {
		why := cascade.Doubt(planner.Answer{Text: []byte(c.text), Confidence: c.confidence, Planner: "embedded"}, s.Registry())
		require.Equal(t, c.sure, why == "", "%s at %.2f: %s", c.text, c.confidence, why)
	}
}

func TestCascade(t *testing.T) {
	s := plannertest.Skill(t)
	sure := planner.Answer{Text: []byte(looks), Confidence: 0.97, Planner: "embedded"}
	unsure := planner.Answer{Text: []byte(asks), Confidence: 0.85, Planner: "embedded"}
	other := planner.Answer{Text: []byte(looks), Planner: "model"}
	down := fault.New(fault.Usage, "nobody there")
	turns := []prompt.Turn{{}}
	for _, c := range []struct {
		name         string
		first        planner.Answer
		model        *fixed
		turns        []prompt.Turn
		planner, why string
		asked        int
		fails        error
	}{
		{name: "sure", first: sure, model: &fixed{answer: other}, planner: "embedded"},
		{name: "not sure", first: unsure, model: &fixed{answer: other}, planner: "model", why: "not sure: 0.85", asked: 1},
		{name: "no model", first: unsure, planner: "embedded"},
		{name: "the model fails", first: unsure, model: &fixed{err: down}, planner: "embedded", why: "nobody there", asked: 1},
		{name: "another turn", first: sure, model: &fixed{answer: other}, turns: turns, planner: "model", why: "what is left", asked: 1},
		{name: "another turn fails", first: sure, model: &fixed{err: down}, turns: turns, asked: 1, fails: down},
	} {
		t.Run(c.name, func(t *testing.T) {
			var told []error
			p := &cascade.Planner{First: &fixed{answer: c.first}, Failed: func(err error) { told = append(told, err) }}
			if c.model != nil {
				p.Model = c.model
			}
			var why string
			r := plannertest.Request(s, "x")
			r.Turns, r.Asking = c.turns, func(a planner.Asking) { why = a.Why }
			a, err := p.Plan(context.Background(), r)
			if c.model != nil {
				require.Equal(t, c.asked, c.model.asked)
			}
			if c.fails != nil {
				require.ErrorIs(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.planner, a.Planner)
			require.Contains(t, a.Why, c.why)
			if c.planner == "model" {
				require.Equal(t, a.Why, why, "the event says another reason than the answer")
			}
			require.Equal(t, c.model != nil && c.model.err != nil, len(told) == 1)
		})
	}
}

// Somebody who gives up gets no second-best answer.
func TestCancelled(t *testing.T) {
	s := plannertest.Skill(t)
	ctx, cancel := context.WithCancel(context.Background())
	p := &cascade.Planner{
		First: &fixed{answer: planner.Answer{Text: []byte(asks), Confidence: 0.5}},
		Model: &fixed{err: errors.New("broke off")},
	}
	r := plannertest.Request(s, "x")
	r.Asking = func(planner.Asking) { cancel() }
	_, err := p.Plan(ctx, r)
	require.Error(t, err)
}

func TestConforms(t *testing.T) {
	plannertest.Conform(t, &cascade.Planner{First: &embedded.Planner{}, Model: &fixed{err: fmt.Errorf("no")}})
}

// What the cascade adds to an embedded answer: compare the two.
func BenchmarkCascade(b *testing.B) {
	s := plannertest.Skill(b)
	r := plannertest.Request(s, "list the files in inbox")
	first := &embedded.Planner{}
	for name, p := range map[string]planner.Planner{"embedded alone": first, "cascade": &cascade.Planner{First: first, Model: &fixed{}}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := p.Plan(context.Background(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	unsure := planner.Answer{Text: []byte(deletes), Confidence: 0.81}
	b.Run("doubt alone", func(b *testing.B) {
		for b.Loop() {
			cascade.Doubt(unsure, s.Registry())
		}
	})
}
