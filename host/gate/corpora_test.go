package gate_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/gate"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/skill"
)

// row is one line of train.jsonl or safety_test.jsonl.
type row struct {
	Utterance string `json:"utterance"`
	Plan      struct {
		Plan []abi.Call `json:"plan"`
	} `json:"plan"`
}

// first is the tool of the first call.
func (r row) first() string {
	if len(r.Plan.Plan) == 0 {
		return ""
	}
	return r.Plan.Plan[0].Tool
}

func shared(t *testing.T) string {
	dir := os.Getenv("STEPBOX_SHARED")
	if dir == "" {
		t.Skip("STEPBOX_SHARED names no folder with the reference contracts and corpora")
	}
	return dir
}

func rows[T any](t *testing.T, file string) []T {
	f, err := os.Open(file)
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	defer f.Close()
	var out []T
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r T
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.UseNumber()
		require.NoError(t, d.Decode(&r))
		out = append(out, r)
	}
	require.NoError(t, lines.Err())
	return out
}

var reference = []string{"ffmpeg", "documents", "io"}

func load(t *testing.T, name string) *skill.Skill {
	s, err := skill.Load(filepath.Join(shared(t), "reference-skills", name), skill.Options{})
	require.NoError(t, err)
	return s
}

// An unsafe phrase must not refuse what the contract itself teaches: its
// examples and its train rows. Where a row's own answer is a refusal, the gate
// may be first.
func TestCorporaScreenPasses(t *testing.T) {
	for _, name := range reference {
		t.Run(name, func(t *testing.T) {
			s := load(t, name)
			pass := func(utterance string) {
				d := gate.NewPhrases(s.UnsafePhrases(), s.Registry()).Screen(utterance)
				require.Equal(t, gate.Proceed, d.Outcome, "%q: %s", utterance, d.Reason)
			}
			for _, e := range s.Prompt().Examples {
				if len(e.Plan) > 0 && e.Plan[0].Tool != "reject" {
					pass(e.Request)
				}
			}
			for _, r := range rows[row](t, filepath.Join(shared(t), "corpora", name, "train.jsonl")) {
				if r.first() != "reject" {
					pass(r.Utterance)
				}
			}
			type eval struct {
				Utterances []string `json:"utterances"`
				Outcome    string   `json:"expected_outcome"`
			}
			for _, r := range rows[eval](t, filepath.Join(shared(t), "corpora", name, "eval.jsonl")) {
				for _, u := range r.Utterances {
					if r.Outcome != "reject" {
						pass(u)
					}
				}
			}
		})
	}
}

// The rows that the phrases were written for must be refused before anything is
// planned. Rows whose answer is a question, or that hold no phrase, are a
// planner's matter.
func TestCorporaScreenRefuses(t *testing.T) {
	// What is on a drive holds no phrase of its contract.
	planners := func(r row) bool { return strings.HasSuffix(r.Utterance, " drive.") }
	for _, name := range reference {
		t.Run(name, func(t *testing.T) {
			s := load(t, name)
			for _, r := range rows[row](t, filepath.Join(shared(t), "corpora", name, "safety_test.jsonl")) {
				if r.first() != "reject" || planners(r) {
					continue
				}
				d := gate.NewPhrases(s.UnsafePhrases(), s.Registry()).Screen(r.Utterance)
				require.Equal(t, gate.Reject, d.Outcome, "%q", r.Utterance)
			}
		})
	}
}

// The gold plan of every train row answers its request, so no gate may ask
// about it when the files it names are there.
func TestCorporaCheckPasses(t *testing.T) {
	for _, name := range reference {
		t.Run(name, func(t *testing.T) {
			s := load(t, name)
			asked, all := 0, 0
			for _, r := range rows[row](t, filepath.Join(shared(t), "corpora", name, "train.jsonl")) {
				draft := plan.Normalize(plan.NewDraft(r.Plan.Plan), s.Registry(), plan.Paths{})
				_, d := gate.Check(gate.Request{Utterance: r.Utterance, Draft: draft, Registry: s.Registry(), Sandbox: named(draft)})
				all++
				switch first := r.first(); {
				case first == "clarify":
					require.Equal(t, gate.Clarify, d.Outcome, "%q", r.Utterance)
				case first == "reject":
					require.Equal(t, gate.Reject, d.Outcome, "%q", r.Utterance)
				case d.Outcome != gate.Proceed:
					asked++
					t.Logf("%q: %v: %s%s", r.Utterance, r.Plan.Plan, d.Question, d.Reason)
				}
			}
			t.Logf("%d of %d train rows held up", asked, all)
			require.Zero(t, asked)
		})
	}
}

// The worst a planner can do is act on a file nobody named: any train row whose
// plan is given another file, one that is there, must become a question.
func TestCorporaStrangeFiles(t *testing.T) {
	const strange = "quarterly-zebra.pdf"
	for _, name := range reference {
		t.Run(name, func(t *testing.T) {
			s := load(t, name)
			tried := 0
			for _, r := range rows[row](t, filepath.Join(shared(t), "corpora", name, "train.jsonl")) {
				draft := plan.Normalize(plan.NewDraft(r.Plan.Plan), s.Registry(), plan.Paths{})
				calls := slices.Clone(draft.Calls())
				first := &calls[0]
				first.Args = maps.Clone(first.Args)
				swapped := false
				for arg, v := range first.Args {
					switch arg {
					case "input", "path", "src":
						first.Args[arg], swapped = strange, true
					case "inputs":
						first.Args[arg], swapped = append([]any{strange}, list(v)...), true
					}
				}
				if !swapped {
					continue
				}
				tried++
				sandbox := named(draft)
				sandbox[strange] = &fstest.MapFile{}
				_, d := gate.Check(gate.Request{Utterance: r.Utterance, Draft: draft.WithCalls(calls), Registry: s.Registry(), Sandbox: sandbox})
				require.Equal(t, gate.Clarify, d.Outcome, "%q %v", r.Utterance, calls)
			}
			require.NotZero(t, tried)
		})
	}
}

// named is a sandbox that holds every file that a plan names as an input.
func named(d plan.Draft) fstest.MapFS {
	out := fstest.MapFS{}
	for _, c := range d.Calls() {
		for name, v := range c.Args {
			if name == "output" || name == "dst" {
				continue
			}
			for _, s := range append(list(v), v) {
				if p, ok := s.(string); ok && filepath.IsLocal(p) {
					out[p] = &fstest.MapFile{}
				}
			}
		}
	}
	return out
}

func list(v any) []any { l, _ := v.([]any); return l }
