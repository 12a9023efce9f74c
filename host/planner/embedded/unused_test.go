package embedded_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/planner"
	"stepbox.dev/host/planner/cascade"
	"stepbox.dev/host/planner/embedded"
	"stepbox.dev/host/skill"
)

// No word that says something is dropped in silence: what a plan does nothing of
// is asked about, what only stands beside the order is told, and a word that
// carries the order is neither.
func TestNoWordIsDroppedInSilence(t *testing.T) {
	s, err := skill.Load("../../../skills/ffmpeg", skill.Options{})
	require.NoError(t, err)
	p := &embedded.Planner{}
	for _, c := range []struct {
		name, utterance string
		unclear, aside  []string
	}{
		{name: "a detail", utterance: "grab a still from the middle of clip.mp4", unclear: []string{"middle"}},
		{name: "with a number", utterance: "shrink hd.mp4 to half its width", unclear: []string{"half", "width"}},
		{name: "a bound the other way round", utterance: "compress clip.mp4 to at least 5 MB", unclear: []string{"least"}},
		{name: "an order before the known one", utterance: "rename clip.mp4 and compress it", unclear: []string{"rename"}},
		{name: "something besides", utterance: "convert clip.mp4 to mp4 with a red border", unclear: []string{"red border"}},
		{name: "in German", utterance: "Standbild aus der Mitte von clip.mp4", unclear: []string{"Mitte"}},
		{name: "in Chinese", utterance: "从clip.mp4末尾截取缩略图", unclear: []string{"末尾"}},
		{name: "a reason", utterance: "the tutor wants it, so compress clip.mp4", aside: []string{"tutor wants"}},
		{name: "a light word", utterance: "take a picture of clip.mp4 at 3 seconds"},
		{name: "the verb of another tool", utterance: "convert concert.mp4 to flac"},
		{name: "all understood", utterance: "compress clip.mp4 under 5 MB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := p.Plan(t.Context(), planner.Request{Utterance: c.utterance, Skill: s})
			require.NoError(t, err)
			require.NotContains(t, string(a.Text), "clarify")
			require.Equal(t, c.unclear, a.Unclear, string(a.Text))
			require.Equal(t, c.aside, a.Aside)
			if c.unclear == nil {
				require.Empty(t, cascade.Doubt(a, s.Registry()))
			} else {
				require.Contains(t, cascade.Doubt(a, s.Registry()), "did not understand")
			}
		})
	}
}

// Words before a file's name belong to it when such a file is there.
func TestNamesOfSeveralWords(t *testing.T) {
	s, err := skill.Load("../../../skills/ffmpeg", skill.Options{})
	require.NoError(t, err)
	there := map[string]bool{"clip.mp4": true, "my clip.mp4": true, "Summer Trip 2024.mp4": true}
	for _, c := range []struct{ name, utterance, file string }{
		{"the longest", "convert my clip.mp4 to mkv", "my clip.mp4"},
		{"the short one", "convert clip.mp4 to mkv", "clip.mp4"},
		{"with a number", "compress Summer Trip 2024.mp4", "Summer Trip 2024.mp4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := (&embedded.Planner{}).Plan(t.Context(), planner.Request{
				Utterance: c.utterance, Skill: s,
				Exists: func(p string) (bool, bool) { return there[p], false },
			})
			require.NoError(t, err)
			require.Contains(t, string(a.Text), `"inputs":["`+c.file+`"]`)
			require.Empty(t, a.Unclear)
		})
	}
}
