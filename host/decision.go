package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/event"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/gate"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/skill"
	"stepbox.dev/host/worker"
)

// decided tells a gate's decision and turns it into the error that ends the
// run; Proceed is none.
func decided(e event.Handler, d gate.Decision) error {
	ev := event.Decision{Outcome: string(d.Outcome), Question: d.Question, Candidates: d.Candidates, Reason: d.Reason, From: d.From}
	var err *fault.Error
	switch d.Outcome {
	case gate.Proceed:
		return nil
	case gate.Clarify:
		err = fault.New(fault.Question, "%s%s", introduced(d.From, "asks"), d.Question)
		if len(d.Candidates) > 0 {
			err = err.Hint("one of: %s", oneLine.Replace(strings.Join(d.Candidates, ", ")))
		}
	default:
		err = fault.New(fault.Refused, "%s%s", introduced(d.From, "refuses"), d.Reason)
	}
	if d.Next != "" {
		err = err.Hint("%s", d.Next)
	}
	if herr := e.Handle(ev); herr != nil {
		return herr
	}
	return err
}

// introduced says whose words follow. Without it they would read as stepbox's.
func introduced(from, verb string) string {
	if from == "" {
		return ""
	}
	return from + " " + verb + ": "
}

var oneLine = strings.NewReplacer("\n", " ", "\r", " ")

// screened looks for the skill's unsafe phrases, before anything is planned. A
// given plan was uttered by nobody.
func (c *catalogue) screened(s *skill.Skill, r Request) gate.Decision {
	if r.Plan != nil {
		return gate.Decision{Outcome: gate.Proceed}
	}
	p := c.phrases[s]
	if p == nil {
		p = gate.NewPhrases(s.UnsafePhrases(), s.Registry())
		if c.phrases == nil {
			c.phrases = map[*skill.Skill]*gate.Phrases{}
		}
		c.phrases[s] = p
	}
	return p.Screen(r.Utterance)
}

// decisionCatcher keeps what a decision says for the answer of Plan.
type decisionCatcher struct {
	next event.Handler
	out  *Planned
}

func (c *decisionCatcher) Handle(e event.Event) error {
	if d, ok := e.(event.Decision); ok {
		c.out.Outcome, c.out.Question, c.out.Candidates, c.out.Reason = d.Outcome, d.Question, d.Candidates, d.Reason
	}
	return c.next.Handle(e)
}

// told says, for each call of a plan, in a sentence what it does and in a mode
// what its steps may do.
func told(ctx context.Context, w *worker.Worker, v plan.Valid, p plan.Program) (sentences, may []string, err error) {
	for i, c := range v.Calls() {
		text, ok, err := w.Summarize(ctx, abi.SummarizeRequest{Tool: c.Tool, Args: c.Args})
		var failed *abi.Error
		switch {
		case errors.As(err, &failed), err == nil && (!ok || text == ""):
			text = plainSentence(c) // the skill has no words for it
		case err != nil:
			return nil, nil, err
		}
		mode := abi.ModeNone
		for j, intent := range p.Intents() {
			if intent == i {
				mode = max(mode, p.Mode(j))
			}
		}
		sentences, may = append(sentences, text), append(may, mode.String())
	}
	return sentences, may, nil
}

// plainSentence is a call in the host's words, for a skill that has none.
func plainSentence(c abi.Call) string {
	var b strings.Builder
	b.WriteString(c.Tool)
	for _, name := range slices.Sorted(maps.Keys(c.Args)) {
		fmt.Fprintf(&b, " %s=%v", name, c.Args[name])
	}
	return b.String()
}

// plainWords are results in the host's words, for a skill that has none.
func plainWords(results []abi.CallResult) abi.FormatResponse {
	var f abi.FormatResponse
	for _, r := range results {
		f.Items = append(f.Items, abi.Item{Kind: abi.ItemOutput, Message: r.Tool + ": " + string(r.Result)})
	}
	return f
}
