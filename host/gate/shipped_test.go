package gate_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/gate"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/skill"
)

// The examples of the skills of this repository teach a planner: a gate that
// held one up would make the taught plan useless.
func TestShippedExamplesPass(t *testing.T) {
	manifests, err := filepath.Glob("../../skills/*/skill.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, manifests)
	for _, manifest := range manifests {
		dir := filepath.Dir(manifest)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			s, err := skill.Load(dir, skill.Options{})
			require.NoError(t, err)
			require.NotEmpty(t, s.Prompt().Examples)
			for _, e := range s.Prompt().Examples {
				d := gate.NewPhrases(s.UnsafePhrases(), s.Registry()).Screen(e.Request)
				require.Equal(t, gate.Proceed, d.Outcome, "%q: %s", e.Request, d.Reason)
				draft := plan.Normalize(plan.NewDraft(e.Plan), s.Registry(), plan.Paths{})
				checked, d := gate.Check(gate.Request{Utterance: e.Request, Draft: draft, Registry: s.Registry(), Sandbox: named(draft)})
				want := gate.Proceed
				switch e.Plan[0].Tool {
				case "clarify":
					want = gate.Clarify
				case "reject":
					want = gate.Reject
				}
				require.Equal(t, want, d.Outcome, "%q: %s%s", e.Request, d.Question, d.Reason)

				// A draft that passed passes again, unchanged.
				again, d := gate.Check(gate.Request{Utterance: e.Request, Draft: checked, Registry: s.Registry(), Sandbox: named(draft)})
				require.Equal(t, want, d.Outcome)
				require.Equal(t, checked.Calls(), again.Calls())
			}
		})
	}
}

// The rows that measure the shipped planner are right answers: no gate may
// stand in their way.
func TestShippedRowsPass(t *testing.T) {
	files, err := filepath.Glob("../../skills/*/data/eval.jsonl")
	require.NoError(t, err)
	for _, file := range files {
		s, err := skill.Load(filepath.Dir(filepath.Dir(file)), skill.Options{})
		require.NoError(t, err)
		for _, r := range rows[row](t, file) {
			if f := r.first(); f == "clarify" || f == "reject" || f == "" {
				continue
			}
			d := gate.NewPhrases(s.UnsafePhrases(), s.Registry()).Screen(r.Utterance)
			require.Equal(t, gate.Proceed, d.Outcome, "%q: %s", r.Utterance, d.Reason)
			draft := plan.Normalize(plan.NewDraft(r.Plan.Plan), s.Registry(), plan.Paths{})
			_, d = gate.Check(gate.Request{Utterance: r.Utterance, Draft: draft, Registry: s.Registry(), Sandbox: named(draft)})
			require.Equal(t, gate.Proceed, d.Outcome, "%q: %s%s", r.Utterance, d.Question, d.Reason)
		}
	}
}

// A word for everything narrows nothing, whatever a contract calls its values.
func TestShippedPhrasesRefuse(t *testing.T) {
	s, err := skill.Load("../../skills/files", skill.Options{})
	require.NoError(t, err)
	for _, request := range []string{
		"rm -rf everything", "rm -rf all files and folders", "rm -rf both", "rm -rf it, everything", "wipe the disk, all of it",
		"rm -rf by type", "rm -rf anything older", "rm -rf the content",
	} {
		require.Equal(t, gate.Reject, gate.NewPhrases(s.UnsafePhrases(), s.Registry()).Screen(request).Outcome, request)
	}
	require.Equal(t, gate.Proceed, gate.NewPhrases(s.UnsafePhrases(), s.Registry()).Screen("rm -rf build/cache.tmp").Outcome)
}
