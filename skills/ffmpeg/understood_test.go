package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/evaluate"
	"stepbox.dev/host/planner/embedded"
	"stepbox.dev/host/skill"
)

// Requests are understood without a model: the skill's own corpus, and what
// nobody here wrote, under STEPBOX_SHARED. The bars lie a little below what is
// reached.
func TestUnderstood(t *testing.T) {
	s, err := skill.Load(".", skill.Options{})
	require.NoError(t, err)
	lex, err := s.Vocabulary()
	require.NoError(t, err)
	require.Empty(t, lex.Check(s.Registry(), "lexicon.yaml"), "the lexicon and the contract do not fit")
	corpora := filepath.Join(os.Getenv("STEPBOX_SHARED"), "corpora", "ffmpeg")
	for _, c := range []struct {
		file                   string
		outcome, strict, exact float64
	}{
		{"data/eval.jsonl", 0.99, 0.99, 0.98},
		{filepath.Join(corpora, "eval.jsonl"), 0.96, 0.945, 0},
		{filepath.Join(corpora, "train.jsonl"), 0.98, 0.975, 0.89},
		{filepath.Join(corpora, "safety_test.jsonl"), 1, 1, 0},
	} {
		t.Run(filepath.Base(filepath.Dir(c.file))+"/"+filepath.Base(c.file), func(t *testing.T) {
			if c.file != "data/eval.jsonl" && os.Getenv("STEPBOX_SHARED") == "" {
				t.Skip("STEPBOX_SHARED names no folder with corpora")
			}
			f, err := os.Open(c.file)
			require.NoError(t, err)
			defer f.Close()
			rows, err := evaluate.Load(f, c.file)
			require.NoError(t, err)
			r, _, err := evaluate.Run(t.Context(), s, &embedded.Planner{}, rows)
			require.NoError(t, err)
			require.GreaterOrEqual(t, *r.Outcome, c.outcome)
			require.GreaterOrEqual(t, *r.Strict, c.strict)
			if c.exact > 0 {
				require.GreaterOrEqual(t, *r.ExactSingle, c.exact)
			}
		})
	}
}
