package host

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/event"
	"stepbox.dev/host/gate"
	"stepbox.dev/host/lexicon"
	"stepbox.dev/host/planner/cascade"
)

// How long a conversation may be: one that asks the same again, or that leads
// nowhere, ends with what can be said instead.
const (
	maxQuestions = 5
	maxSame      = 2
)

// anew is what to do about a question that no answer was found for.
const anew = "nothing is done; say all of it in one sentence, with the names of the files"

// asked counts the questions of a conversation.
type asked struct {
	all  int
	same map[string]int
}

// again counts a question, and reports how often it was asked before and whether
// it may be asked.
func (a *asked) again(d gate.Decision) (before int, may bool) {
	about := d.Question
	if d.Arg != "" {
		about = fmt.Sprintf("%d %s %q", d.Call, d.Arg, d.Value)
	}
	before = a.same[about]
	if before == maxSame || a.all == maxQuestions {
		return before, false
	}
	if a.same == nil {
		a.same = map[string]int{}
	}
	a.same[about]++
	a.all++
	return before, true
}

// converse puts a question to the person, and brings the request and the draft to
// where the answer leads. It returns the run's end when there is nobody to ask,
// or no answer.
func (p *planning) converse(ctx context.Context, d gate.Decision, doubted bool) error {
	if d.Outcome == gate.Reject || p.person == nil {
		return decided(p.events, d)
	}
	lacking := d.Arg == "" && len(p.answer.Lacks) > 0 && d.From == ""
	if lacking && len(p.answer.Lacks) == 1 {
		d.Call, d.Arg = 0, p.answer.Lacks[0]
	}
	before, may := p.asked.again(d)
	if !may {
		d.Next = anew
		return decided(p.events, d)
	}
	put := d
	if before > 0 && d.From == "" {
		put.Question = "That does not answer it. " + d.Question
	}
	answer, err := p.person.Clarify(ctx, event.Decision{Outcome: string(put.Outcome), Question: put.Question, Candidates: put.Candidates, From: put.From})
	if err != nil {
		return err
	}
	answer = strings.TrimSpace(answer)
	if answer == "" {
		return decided(p.events, d)
	}
	if doubted {
		return p.meantIt(ctx, d, answer)
	}
	if !p.fits(d, answer) {
		reply := lexicon.ReplyOf(answer)
		switch boolean := p.isBoolean(d); {
		case boolean && reply == lexicon.Yes:
			answer = "true"
		case boolean && reply == lexicon.No:
			answer = "false"
		case p.answer.Model != "" && d.Arg == "" || reply == lexicon.Words:
		case reply == lexicon.Yes && d.Arg == "" && p.answer.Yes != "":
			answer = p.answer.Yes
		case reply == lexicon.No:
			d.Next = anew
			return decided(p.events, d)
		case reply == lexicon.LeaveOut && d.Arg == "" && len(p.answer.Unclear) > 0 && !p.answer.Kept:
			for _, part := range p.answer.Unclear {
				p.utterance = instead(p.utterance, part, "")
			}
			return p.propose(ctx, p.utterance)
		default: // neither yes nor "leave it out" is a word of a request
			return nil
		}
	}
	if lacking {
		if done, err := p.lacked(ctx, d, answer); done || err != nil {
			return err
		}
	}
	if d.Arg != "" {
		return p.fill(ctx, d, answer)
	}
	return p.replied(ctx, d, offered(answer, d.Candidates))
}

// fits reports whether an answer is one that is offered, or a name that is there:
// then it says just that, also when it reads like a yes.
func (p *planning) fits(d gate.Decision, answer string) bool {
	if slices.Contains(d.Candidates, answer) {
		return true
	}
	exists := p.sandbox.exists()
	if a := p.argument(d); a == nil || a.PathRole == abi.RoleNone || exists == nil {
		return false
	}
	found, _ := exists(answer)
	return found
}

// meantIt takes the answer to a plan that was doubted: a yes to it, a no, or what
// was meant.
func (p *planning) meantIt(ctx context.Context, d gate.Decision, answer string) error {
	switch reply := lexicon.ReplyOf(answer); {
	case reply == lexicon.Yes, reply == lexicon.LeaveOut && len(p.answer.Unclear) > 0: // the question is whether to go on without it
		p.meant = p.utterance
		return nil
	case reply != lexicon.Words:
		d.Candidates, d.Next = nil, "nothing is done; "+d.Next
		return decided(p.events, d)
	}
	return p.replied(ctx, d, answer)
}

// replied plans again with a person's answer to a question about the request. An
// answer may stand for the words that were not understood, be a request of its
// own, or add to what was said.
func (p *planning) replied(ctx context.Context, d gate.Decision, answer string) error {
	before := p.utterance
	added := before + " " + answer
	if p.answer.Model != "" { // it reads a conversation better than it can be cut up
		return p.restated(ctx, added)
	}
	if p.answer.Anew {
		return p.restated(ctx, answer)
	}
	unclear, about := p.answer.Unclear, p.answer.About
	leads := true          // to a plan, or to another question
	if len(unclear) == 0 { // something is missing, and this is it
		if err := p.restated(ctx, added); err != nil {
			return err
		}
		next := p.check(added)
		if next.Outcome == gate.Proceed {
			return nil
		}
		leads = next.Question != d.Question
	}
	// A request of its own: what only answers a question is never so sure.
	if own, err := p.own(ctx, answer); own || err != nil {
		return err
	}
	switch {
	case !leads:
		return p.restated(ctx, before)
	case len(unclear) == 0:
		return p.restated(ctx, added)
	}
	if err := p.restated(ctx, instead(before, unclear[0], answer)); err != nil {
		return err
	}
	if calls := p.draft.Calls(); about != "" && len(calls) > 0 && calls[0].Tool != about {
		p.answer.Confidence = min(p.answer.Confidence, cascade.SureLooking/2) // other words, and quite another thing: not before it is shown
	}
	return nil
}

// own plans an answer as a request of its own, and reports whether it surely is
// one.
func (p *planning) own(ctx context.Context, answer string) (bool, error) {
	if err := p.propose(ctx, answer); err != nil {
		return false, err
	}
	if p.answer.Confidence < cascade.SureAsking || p.check(answer).Outcome != gate.Proceed {
		return false, nil
	}
	p.utterance = answer
	return true, nil
}

// restated plans the request as it stands from now on.
func (p *planning) restated(ctx context.Context, utterance string) error {
	p.utterance = utterance
	return p.propose(ctx, utterance)
}

// offered is the one candidate that an answer speaks of, "the folder" for "the
// folder documents", and the answer itself when there is no such.
func offered(answer string, candidates []string) string {
	words := strings.Fields(lexicon.Fold(answer))
	found := ""
	for _, c := range candidates {
		has := strings.Fields(lexicon.Fold(c))
		if slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(has, w) }) {
			continue
		}
		if found != "" {
			return answer
		}
		found = c
	}
	if found == "" {
		return answer
	}
	return found
}

// instead puts a text in the place of a part of a request.
func instead(utterance, part, text string) string {
	before, after, found := strings.Cut(utterance, part)
	if !found || part == "" {
		return strings.TrimSpace(utterance + " " + text)
	}
	return strings.Join(strings.Fields(before+" "+text+" "+after), " ")
}
