package embedded

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/lexicon"
	"stepbox.dev/host/planner"
	"stepbox.dev/host/registry"
)

// maxTries is how many tools are filled for one clause before the best wins.
const maxTries = 6

// plan answers the request: refusals and questions of the vocabulary first,
// then one call a clause.
func (q *reading) plan() planner.Answer {
	for _, t := range q.toks {
		if strings.Contains(t.Fold, "://") {
			return refusal(0.95, "There is no network here, so nothing can be done with an address.")
		}
	}
	asked := q.first(lexicon.Asks)
	if m := q.first(lexicon.Refuses); m != nil {
		// "remove 0:30-0:40" removes no file, whatever else it reads like.
		if asked = q.covering(m, lexicon.Asks); asked == nil {
			return refusal(0.95, "That is not something I can do here: "+m.Value+".")
		}
	}
	if asked != nil {
		return q.asks(asked)
	}
	var calls []abi.Call
	var prev *attempt
	var unclear, aside []string
	confidence := 0.97
	clauses := q.clauses()
	for i, c := range clauses {
		a, margin := q.best(c, prev)
		if q.g.Lexicon().Stories && c.loose && (a == nil || len(a.problems) > 0) {
			clauses[i+1].from = c.from // a story that leads up to the request
			continue
		}
		if q.g.Lexicon().Stories && c.loose && a != nil {
			// "a.mp4 is too big, compress it" is one order, said twice.
			whole := clause{from: c.from, to: clauses[i+1].to, loose: clauses[i+1].loose}
			if next, _ := q.best(clauses[i+1], a); next != nil && next.tool == a.tool && (next.pronoun == lexicon.It || !q.names(clauses[i+1])) {
				if both, _ := q.best(whole, prev); both != nil && both.tool == a.tool && len(both.problems) == 0 {
					clauses[i+1].from = c.from
					continue
				}
			}
		}
		if first, second := q.pair(c, a); first != nil {
			calls = append(calls, abi.Call{Tool: first.tool.Name, Args: first.args})
			prev, a = first, second
		}
		if a == nil {
			return question(0.85, q.suggestions(), "I did not understand %q. What should be done?", q.text(c.from, c.to))
		}
		if len(a.problems) > 0 {
			if len(clauses) == 1 && prev == nil {
				return a.askedFor()
			}
			return a.question()
		}
		if prev != nil && a.output != "" {
			calls[len(calls)-1].Output = a.output
		}
		confidence *= a.confidence(margin)
		aside = append(aside, a.asides()...)
		unclear = append(unclear, a.unused...)
		calls = append(calls, abi.Call{Tool: a.tool.Name, Args: a.args})
		prev = a
		for _, next := range a.besides() {
			if len(next.problems) > 0 {
				return next.question()
			}
			calls[len(calls)-1].Args = prev.args
			if next.output != "" {
				calls[len(calls)-1].Output = next.output
			}
			calls = append(calls, abi.Call{Tool: next.tool.Name, Args: next.args})
			prev = next
		}
	}
	for i := 0; i < q.typos; i++ {
		confidence *= 0.93
	}
	out := answer(confidence, nil, calls...)
	out.Unclear, out.Aside = unclear, aside
	return out
}

// first is the weightiest phrase of a meaning that no weightier phrase of the
// skill explains otherwise.
func (q *reading) first(meaning lexicon.Meaning) *lexicon.Match {
	used := make([]bool, len(q.toks))
	free := func(m *lexicon.Match) bool {
		if slices.ContainsFunc(m.Words, func(w int) bool { return q.toks[w].Kind == lexicon.Name }) {
			return true // about that very file, whatever else is said
		}
		return !slices.ContainsFunc(m.Words, func(w int) bool { return used[w] })
	}
	for i := range q.matches {
		m := &q.matches[i]
		if m.Meaning > lexicon.Value && (m.Meaning != lexicon.Filler || m.Literals() < 2 || !m.Skill) || !free(m) || q.placeOf(m) != "" {
			continue
		}
		if m.Meaning == lexicon.Refuses && len(m.Words) > 1 && q.place[m.Start] != "" {
			continue // "from mail to …"
		}
		if m.Meaning == meaning {
			return m
		}
		if m.Skill && (m.Meaning != lexicon.Sets || m.Tool != "" || len(m.Filled) > 0) { // what is meant says not what is done
			for _, w := range m.Words {
				used[w] = true
			}
		}
	}
	return nil
}

// covering is a phrase of a meaning that takes in all of m.
func (q *reading) covering(m *lexicon.Match, meaning lexicon.Meaning) *lexicon.Match {
	for i := range q.matches {
		if c := &q.matches[i]; c.Meaning == meaning && c.Start <= m.Start && m.End <= c.End {
			return c
		}
	}
	return nil
}

// names reports whether a clause holds a file's name.
func (q *reading) names(c clause) bool {
	return slices.ContainsFunc(q.toks[c.from:c.to], func(t lexicon.Token) bool { return t.Kind == lexicon.Name })
}

// candidatesFor ranks the tools that a clause votes for.
func (q *reading) candidatesFor(c clause) []*registry.Tool {
	votesOf := map[string]float64{}
	for i := range q.matches {
		m := &q.matches[i]
		if m.Tool == "" || m.Start < c.from || m.End > c.to || q.placeOf(m) != "" {
			continue
		}
		votesOf[m.Tool] += m.Weight * max(float64(m.Literals()), 0.5)
	}
	rank := map[string]int{}
	for i, h := range q.req.Tools {
		rank[h.Tool] = i + 1
	}
	var tools []*registry.Tool
	for _, t := range q.req.Skill.Registry().Tools() {
		if lexicon.Public(t) && votesOf[t.Name] > 0 {
			tools = append(tools, t)
		}
	}
	sort.SliceStable(tools, func(i, j int) bool {
		a, b := tools[i].Name, tools[j].Name
		if votesOf[a] != votesOf[b] {
			return votesOf[a] > votesOf[b]
		}
		return rank[a] != 0 && (rank[b] == 0 || rank[a] < rank[b])
	})
	return tools[:min(len(tools), maxTries)]
}

// best fills every tool that may be meant and keeps the one that explains the
// clause best. margin is how far the next one is behind.
func (q *reading) best(c clause, prev *attempt) (best *attempt, margin float64) {
	margin = 1
	var tried []*attempt
	tools := q.candidatesFor(c)
	if c.verb != "" {
		t, _ := q.req.Skill.Registry().Tool(c.verb)
		tools = []*registry.Tool{t}
	} else if d, ok := q.req.Skill.Registry().Tool(q.g.Lexicon().Default); ok && !q.action(c.from, c.to) {
		tools = append([]*registry.Tool{d}, tools...)
	}
	for _, t := range tools {
		a := q.attempt(t, c, prev)
		tried = append(tried, a)
		switch {
		case best == nil:
			best = a
		case a.complete() != best.complete():
			if a.complete() {
				margin = min(1, max(a.score-best.score, 0.1))
				best = a
			}
		case a.score > best.score:
			margin = min(1, a.score-best.score)
			best = a
		default:
			margin = min(margin, best.score-a.score)
		}
	}
	if best != nil && (len(best.problems) > 0 || best.verb < 0.5) {
		for _, a := range tried {
			if a.leads && !best.leads {
				best = a // ask about the action that the request begins with
			}
		}
	}
	if best != nil && best.verb == 0 && best.guesses > 0 && best.guesses == len(best.heads) && len(best.conditions) == 0 && !best.placeNamed() {
		return nil, 0 // one unknown word is no request
	}
	if best != nil {
		best.widen()
	}
	if best != nil && best.verb < 0.1 && best.tool.Name != q.g.Lexicon().Default {
		return nil, 0
	}
	return best, margin
}

// pair reads a clause whose best reading leaves something over as two calls:
// one that finds and one that acts on what was found, "delete the duplicates in
// camera". The lexicon says which tools those are (finds).
func (q *reading) pair(c clause, a *attempt) (first, second *attempt) {
	if a != nil && len(a.problems) == 0 {
		return nil, nil
	}
	tools := q.candidatesFor(c)
	for _, finder := range tools {
		if !slices.Contains(q.g.Lexicon().Finds, finder.Name) || finder.Destructive {
			continue
		}
		for _, actor := range tools {
			if actor == finder || actor.Name == q.g.Lexicon().Default {
				continue
			}
			// The actor takes its verb and where things go, the finder all else.
			act := q.verbOnly(actor, c)
			if act.verb < 0.9 {
				continue
			}
			find := q.without(finder, c, act)
			if find.verb < 0.9 || len(find.problems) > 0 || find.arg(lexicon.RoleDestination) != "" {
				continue
			}
			act.thread(find)
			if act.output == "" || act.required() > 0 {
				continue
			}
			return find, act
		}
	}
	return nil, nil
}

// verbOnly reads of a clause only the tool's verb and destination.
func (q *reading) verbOnly(t *registry.Tool, c clause) *attempt {
	a := q.start(t, c)
	for i := range q.matches {
		m := &q.matches[i]
		if m.Meaning == lexicon.Verb && m.Tool == t.Name && m.Start >= c.from && m.End <= c.to && len(m.Filled) == 0 && q.placeOf(m) == "" && !a.taken(m) {
			a.verb = max(a.verb, m.Weight)
			a.take(m)
		}
	}
	for i := c.from; i < c.to; i++ {
		if q.place[i] == lexicon.To && a.arg(lexicon.RoleDestination) != "" {
			if end := a.span(i); a.destination(a.name(i, end)) {
				a.mark(i, end)
			}
		}
	}
	return a
}

// without reads a clause leaving out what another call has used.
func (q *reading) without(t *registry.Tool, c clause, other *attempt) *attempt {
	a := q.start(t, c)
	copy(a.used, other.used)
	a.fill(nil)
	return a
}

// besides are the calls that phrases of a finished call ask for on what comes out
// of it: "without sound".
func (a *attempt) besides() []*attempt {
	var out []*attempt
	last := a
	for i := range a.conditions {
		t, ok := a.q.req.Skill.Registry().Tool(a.conditions[i].Then)
		if !ok || t == a.tool {
			continue
		}
		next := a.q.start(t, clause{from: a.c.to, to: a.c.to})
		next.pronoun = lexicon.It
		for _, f := range a.conditions[i].Filled {
			if t.Args[f.Arg] != nil {
				next.set(f.Arg, f.Value)
			}
		}
		next.thread(last)
		next.required()
		out = append(out, next)
		last = next
	}
	return out
}

// complete reports whether a tool that the clause asks for explains all of it.
func (a *attempt) complete() bool { return len(a.problems) == 0 && a.verb >= 0.9 }

// confidence is how sure a finished call is.
func (a *attempt) confidence(margin float64) float64 {
	c := 1.0
	if margin < 0.05 {
		c *= 0.75
	} else if margin < 0.3 {
		c *= 0.92
	}
	for i := 0; i < a.guesses; i++ {
		c *= 0.93
	}
	if a.verb < 0.5 {
		c *= 0.85
	}
	if a.tool.Destructive && slices.ContainsFunc(a.conditions, a.rough) {
		c *= 0.8
	}
	return c
}

// rough reports whether a condition holds a word that says something else than
// what the skill knows.
func (a *attempt) rough(m lexicon.Match) bool {
	return slices.ContainsFunc(m.Words, func(w int) bool { return slices.Contains(a.q.g.Lexicon().Rough, a.q.toks[w].Fold) })
}

// suggestions are the tools that retrieval liked, in words.
func (q *reading) suggestions() []string {
	var out []string
	for _, h := range q.req.Tools {
		if len(out) == 3 {
			break
		}
		out = append(out, strings.ReplaceAll(h.Tool, "_", " "))
	}
	return out
}

// text is the request from token i up to token j as it was written.
func (q *reading) text(i, j int) string {
	if i >= j {
		return ""
	}
	return strings.TrimSpace(q.req.Utterance[q.toks[i].Start:q.toks[j-1].End])
}

func quoteList(values []string) string {
	var b strings.Builder
	for i, v := range values {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", v)
	}
	return b.String()
}
