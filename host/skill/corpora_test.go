package skill_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/skill"
)

// Contracts that were written for the peer load unchanged, and the plans that
// people wrote for them validate.
func TestReferenceContractsAndTheirPlans(t *testing.T) {
	shared := os.Getenv("STEPBOX_SHARED")
	if shared == "" {
		t.Skip("STEPBOX_SHARED names no folder with the corpora")
	}
	for name, tools := range map[string]int{"io": 8, "ffmpeg": 30, "documents": 23} {
		t.Run(name, func(t *testing.T) {
			s, err := skill.Load(filepath.Join(shared, "reference-skills", name), skill.Options{})
			require.NoError(t, err)
			require.Len(t, s.Registry().Tools(), tools)
			for _, e := range s.Prompt().Examples {
				check(t, s, e.Request, plan.NewDraft(e.Plan))
			}
			for _, file := range []string{"train.jsonl", "safety_test.jsonl"} {
				eachRow(t, filepath.Join(shared, "corpora", name, file), func(utterance string, text []byte) {
					d, err := plan.Parse(text)
					require.NoError(t, err, utterance)
					check(t, s, utterance, d)
				})
			}
		})
	}
}

// check validates a plan. The peer's ffmpeg contract contradicts itself in one
// place, because the peer does not enforce its arg_value_sets: container has no
// gif among its values, and an example that asks for one.
func check(t *testing.T, s *skill.Skill, utterance string, d plan.Draft) {
	_, err := plan.Validate(plan.Normalize(d, s.Registry(), plan.Paths{}), s.Registry())
	if len(d.Calls()) == 1 && d.Calls()[0].Args["container"] == "gif" {
		require.ErrorContains(t, err, `"container" must be one of`)
		return
	}
	require.NoError(t, err, utterance)
}

func eachRow(t *testing.T, file string, f func(utterance string, plan []byte)) {
	r, err := os.Open(file)
	require.NoError(t, err)
	defer r.Close()
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var row struct {
			Utterance string
			Plan      json.RawMessage
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &row))
		f(row.Utterance, row.Plan)
	}
	require.NoError(t, lines.Err())
}
