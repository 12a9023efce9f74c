package evaluate

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"
)

// Report is the score of one corpus. Shares lie between 0 and 1; one that the
// corpus cannot tell is nil.
type Report struct {
	Utterances    int                 `json:"utterances"`
	Outcome       *float64            `json:"outcome,omitempty"`
	FirstTool     *float64            `json:"first_tool,omitempty"` // of those that expect a plan
	Strict        *float64            `json:"strict,omitempty"`     // outcome and first tool
	ChainSequence *float64            `json:"chain_sequence,omitempty"`
	ExactSingle   *float64            `json:"exact_single,omitempty"`
	ExactChain    *float64            `json:"exact_chain,omitempty"`
	Recall        map[string]*float64 `json:"recall,omitempty"`
	Slices        Slices              `json:"slices"`
	Latency       Latency             `json:"latency_ms"`
	// Confusion counts expected tools against the tools that came.
	Confusion map[string]map[string]int `json:"confusion"`
	// Confidence is how often answers of about the same confidence were right.
	Confidence []Bin `json:"confidence"`
	// Doubted is the share of answers that are not sure enough: they go to a
	// model when one is configured, and else to the person. They are scored as
	// they are.
	Doubted float64 `json:"doubted"`
	// Calibration is the mean distance between confidence and share right.
	Calibration float64 `json:"calibration"`
	// Execution is there when the plans were run.
	Execution *Execution `json:"execution,omitempty"`
}

// Slices are scores of parts of the corpus.
type Slices struct {
	Tag    map[string]Slice `json:"tag"`
	Script map[string]Slice `json:"script"`
}

// Slice is the score of one part.
type Slice struct {
	Utterances int      `json:"utterances"`
	Strict     float64  `json:"strict"`
	Exact      *float64 `json:"exact,omitempty"`
}

// Latency is the time to plan one request, in milliseconds.
type Latency struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// Bin is one step of the confidence curve.
type Bin struct {
	From    float64 `json:"from"`
	To      float64 `json:"to"`
	Answers int     `json:"answers"`
	Right   float64 `json:"right"`
}

// share counts right answers.
type share struct{ right, all int }

func (s *share) add(ok bool) {
	s.all++
	if ok {
		s.right++
	}
}

func (s share) value() *float64 {
	if s.all == 0 {
		return nil
	}
	v := float64(s.right) / float64(s.all)
	return &v
}

// planned says that a plan was expected and came, with the tools that the corpus
// names: what it comes to is worth looking at.
func (c *Case) planned() bool {
	return c.Expected == "plan" && c.right() && (len(c.row.Tools) < 2 || slices.Equal(c.row.Tools, c.tools()))
}

func (c *Case) strict() bool { return c.Outcome == c.Expected && c.Tool == c.WantTool }

// right is the strictest thing that the corpus can tell about a case.
func (c *Case) right() bool {
	if c.Exact != nil {
		return *c.Exact
	}
	return c.strict()
}

func score(cases []Case) Report {
	var outcome, first, strict, sequence, single, chain share
	recall := map[int]*share{1: {}, 3: {}, 5: {}, 8: {}}
	tags, scripts := map[string]*part{}, map[string]*part{}
	r := Report{Utterances: len(cases), Confusion: map[string]map[string]int{}, Recall: map[string]*float64{}}
	for i := range cases {
		c := &cases[i]
		outcome.add(c.Outcome == c.Expected)
		strict.add(c.strict())
		if c.Expected == "plan" {
			first.add(c.Tool == c.WantTool)
			for k, s := range recall {
				s.add(c.rank > 0 && c.rank <= k)
			}
		}
		if len(c.row.Tools) > 1 {
			sequence.add(c.Outcome == "plan" && slices.Equal(c.row.Tools, c.tools()))
		}
		if c.Exact != nil {
			if len(c.Want) > 1 {
				chain.add(*c.Exact)
			} else {
				single.add(*c.Exact)
			}
		}
		for j, t := range c.tags {
			if j == len(c.tags)-1 {
				slice(scripts, t).add(c)
			} else {
				slice(tags, t).add(c)
			}
		}
		if r.Confusion[c.WantTool] == nil {
			r.Confusion[c.WantTool] = map[string]int{}
		}
		r.Confusion[c.WantTool][c.Tool]++
	}
	r.Outcome, r.FirstTool, r.Strict, r.ChainSequence = outcome.value(), first.value(), strict.value(), sequence.value()
	r.ExactSingle, r.ExactChain = single.value(), chain.value()
	for k, s := range recall {
		if v := s.value(); v != nil {
			r.Recall[fmt.Sprint(k)] = v
		}
	}
	r.Slices = Slices{Tag: finish(tags), Script: finish(scripts)}
	r.Latency = latency(cases)
	r.Confidence, r.Calibration = curve(cases)
	var doubted share
	for i := range cases {
		doubted.add(cases[i].doubted)
	}
	r.Doubted = *doubted.value() // a corpus has a row
	return r
}

func (c *Case) tools() []string {
	out := make([]string, len(c.Got))
	for i, call := range c.Got {
		out[i] = call.Tool
	}
	return out
}

type part struct{ strict, exact share }

func slice(m map[string]*part, key string) *part {
	if m[key] == nil {
		m[key] = &part{}
	}
	return m[key]
}

func (p *part) add(c *Case) {
	p.strict.add(c.strict())
	if c.Exact != nil {
		p.exact.add(*c.Exact)
	}
}

func finish(m map[string]*part) map[string]Slice {
	out := map[string]Slice{}
	for k, p := range m {
		out[k] = Slice{Utterances: p.strict.all, Strict: *p.strict.value(), Exact: p.exact.value()}
	}
	return out
}

func latency(cases []Case) Latency {
	took := make([]time.Duration, len(cases))
	for i, c := range cases {
		took[i] = c.took
	}
	slices.Sort(took)
	at := func(q float64) float64 {
		if len(took) == 0 {
			return 0
		}
		return float64(took[min(len(took)-1, int(q*float64(len(took))))]) / float64(time.Millisecond)
	}
	return Latency{P50: at(0.5), P99: at(0.99)}
}

// curve groups answers by confidence, in steps of a tenth.
func curve(cases []Case) ([]Bin, float64) {
	const steps = 10
	var bins [steps]share
	var sums [steps]float64
	for i := range cases {
		b := min(int(cases[i].Confidence*steps), steps-1)
		bins[b].add(cases[i].right())
		sums[b] += cases[i].Confidence
	}
	out := []Bin{}
	distance := 0.0
	for i, b := range bins {
		if b.all == 0 {
			continue
		}
		right := *b.value()
		out = append(out, Bin{From: float64(i) / steps, To: float64(i+1) / steps, Answers: b.all, Right: right})
		d := sums[i]/float64(b.all) - right
		distance += max(d, -d) * float64(b.all) / float64(len(cases))
	}
	return out, distance
}

// Text is the report for a person.
func (r Report) Text() string {
	var b strings.Builder
	line := func(name string, v *float64) {
		if v != nil {
			fmt.Fprintf(&b, "%-24s %.3f\n", name, *v)
		}
	}
	fmt.Fprintf(&b, "%-24s %d\n", "utterances", r.Utterances)
	line("outcome", r.Outcome)
	line("first tool", r.FirstTool)
	line("strict", r.Strict)
	line("chain sequence", r.ChainSequence)
	line("exact, one step", r.ExactSingle)
	line("exact, chains", r.ExactChain)
	for _, k := range []string{"1", "3", "5", "8"} {
		line("recall@"+k, r.Recall[k])
	}
	fmt.Fprintf(&b, "%-24s %.2f ms, p99 %.2f ms\n", "latency p50", r.Latency.P50, r.Latency.P99)
	if r.Execution != nil {
		b.WriteString(r.Execution.text())
	}
	for _, s := range []struct {
		name  string
		parts map[string]Slice
	}{{"script", r.Slices.Script}, {"tag", r.Slices.Tag}} {
		fmt.Fprintf(&b, "\n%-24s %6s %7s %7s\n", s.name, "n", "strict", "exact")
		for _, k := range slices.Sorted(maps.Keys(s.parts)) {
			p := s.parts[k]
			exact := "-"
			if p.Exact != nil {
				exact = fmt.Sprintf("%.3f", *p.Exact)
			}
			fmt.Fprintf(&b, "  %-22s %6d %7.3f %7s\n", k, p.Utterances, p.Strict, exact)
		}
	}
	fmt.Fprintf(&b, "\n%-24s %.3f of all, would go to a model or else to the person\n", "not sure", r.Doubted)
	fmt.Fprintf(&b, "\nconfidence (mean distance %.3f)\n", r.Calibration)
	for _, c := range r.Confidence {
		fmt.Fprintf(&b, "  %.1f to %.1f: %d answers, %.3f right\n", c.From, c.To, c.Answers, c.Right)
	}
	b.WriteString("\nexpected → got, where they differ\n")
	for _, want := range slices.Sorted(maps.Keys(r.Confusion)) {
		got := r.Confusion[want]
		names := slices.Collect(maps.Keys(got))
		sort.Slice(names, func(i, j int) bool {
			return got[names[i]] > got[names[j]] || got[names[i]] == got[names[j]] && names[i] < names[j]
		})
		for _, g := range names {
			if g != want {
				fmt.Fprintf(&b, "  %s → %s: %d\n", want, g, got[g])
			}
		}
	}
	return b.String()
}
