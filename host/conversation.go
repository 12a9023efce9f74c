package host

import (
	"context"
	"strings"

	"stepbox.dev/host/gate"
	"stepbox.dev/host/lexicon"
	"stepbox.dev/host/planner/cascade"
)

// replied plans again with a person's answer to a question about the request, and
// returns the request as it stands then. An answer may stand for the words that
// were not understood, take them back, be a request of its own, or add to what
// was said.
func (p *planning) replied(ctx context.Context, utterance, answer string) (string, error) {
	answer = strings.TrimSpace(answer)
	added := utterance + " " + answer
	if p.answer.Model != "" { // it reads a conversation better than it can be cut up
		return added, p.propose(ctx, added)
	}
	unclear := p.answer.Unclear
	if lexicon.ReplyOf(answer) == lexicon.LeaveOut && len(unclear) > 0 {
		for _, part := range unclear {
			utterance = instead(utterance, part, "")
		}
		return utterance, p.propose(ctx, utterance)
	}
	if len(unclear) == 0 { // something is missing, and this is it
		if err := p.propose(ctx, added); err != nil || p.check(added).Outcome == gate.Proceed {
			return added, err
		}
	}
	// A request of its own: what only answers a question is never so sure.
	if err := p.propose(ctx, answer); err != nil {
		return "", err
	}
	if p.answer.Confidence >= cascade.SureAsking && p.check(answer).Outcome == gate.Proceed {
		return answer, nil
	}
	if len(unclear) > 0 {
		added = instead(utterance, unclear[0], answer)
	}
	return added, p.propose(ctx, added)
}

// instead puts a text in the place of a part of a request.
func instead(utterance, part, text string) string {
	before, after, found := strings.Cut(utterance, part)
	if !found || part == "" {
		return strings.TrimSpace(utterance + " " + text)
	}
	return strings.Join(strings.Fields(before+" "+text+" "+after), " ")
}
