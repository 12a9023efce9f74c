package embedded

import (
	"encoding/json"
	"fmt"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/lexicon"
	"stepbox.dev/host/planner"
)

// The core tools that carry a question or a refusal.
const (
	clarify = "clarify"
	reject  = "reject"
)

func answer(confidence float64, candidates []string, calls ...abi.Call) planner.Answer {
	text, err := json.Marshal(struct {
		Plan []abi.Call `json:"plan"`
	}{calls})
	if err != nil { // strings, numbers and lists of them always marshal
		text = []byte(`{"plan":[{"tool":"clarify","args":{"question":"What should be done?"}}]}`)
	}
	return planner.Answer{Text: text, Confidence: min(max(confidence, 0), 1), Candidates: candidates, Planner: name}
}

func question(confidence float64, candidates []string, format string, args ...any) planner.Answer {
	return answer(confidence, candidates, abi.Call{Tool: clarify, Args: map[string]any{"question": fmt.Sprintf(format, args...)}})
}

// question asks about what keeps an attempt from being a call.
func (a *attempt) question() planner.Answer {
	out := question(0.85, a.candidates, "%s", strings.Join(a.problems, " "))
	out.Unclear, out.Kept, out.Anew, out.Yes = a.unclear, a.kept, a.anew, a.yes
	out.About = a.tool.Name
	return out
}

// askedFor is the question about the argument that the only call of a request
// lacks: an answer to it need not be read as a sentence.
func (a *attempt) askedFor() planner.Answer {
	out := a.question()
	if len(a.problems) == 1 && len(a.lacks) > 0 && len(a.unclear) == 0 {
		out.Partial = answer(1, nil, abi.Call{Tool: a.tool.Name, Args: a.args}).Text
		out.Lacks = a.lacks
	}
	return out
}

// asks is a question of the vocabulary. An answer stands for the words that it is
// about, where they stand together.
func (q *reading) asks(m *lexicon.Match) planner.Answer {
	text := q.text(m.Start, m.End)
	out := question(0.9, nil, "%s", strings.ReplaceAll(m.Value, "{words}", fmt.Sprintf("%q", text)))
	if len(m.Words) == m.End-m.Start {
		out.Unclear, out.Kept = []string{text}, true
	}
	return out
}

// apart asks for one after the other, where one call cannot say all of it. No
// answer put into the request makes it one.
func (a *attempt) apart(format string, args ...any) {
	a.problems = append(a.problems, fmt.Sprintf(format, args...)+": please ask for one after the other. What shall be done first?")
	a.kept, a.anew = true, true
}

func refusal(confidence float64, reason string) planner.Answer {
	return answer(confidence, nil, abi.Call{Tool: reject, Args: map[string]any{"reason": reason}})
}
