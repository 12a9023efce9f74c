package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host"
	"stepbox.dev/host/evaluate"
	"stepbox.dev/host/event"
	"stepbox.dev/host/skill"
)

// filmed is a studio with the clips of the corpora, as `stepbox eval` makes them.
func filmed(t *testing.T) *studio {
	t.Helper()
	s := newStudio(t)
	own, err := skill.Load(".", skill.Options{})
	require.NoError(t, err)
	dir := evaluate.Fixtures(own)
	require.NotEmpty(t, dir)
	maker, err := skill.Load(dir, skill.Options{})
	require.NoError(t, err)
	require.Equal(t, own.Engines(), maker.Engines(), "the clips are made by another engine")
	require.NoError(t, evaluate.MakeFixtures(t.Context(), s.host, dir, s.dir, event.Discard))
	return s
}

// The clips keep what their names promise: lengths, codecs, proportions, and one
// that is large for its length.
func TestFixtures(t *testing.T) {
	s := filmed(t)
	r, err := s.try(&person{}, false, call("inspect_media", args{"files": []string{"."}}))
	require.NoError(t, err)
	var p Probed
	require.NoError(t, json.Unmarshal(r.Results[len(r.Results)-1].Result, &p))
	got := map[string]Media{}
	for _, m := range p.Media {
		got[m.Path] = m
	}
	require.Len(t, got, 7)
	for name, want := range map[string]struct {
		codecs   string
		duration float64
		aspect   float64
	}{
		"clip.mp4":          {"h264 aac", 10, 16. / 9},
		"clip2.mp4":         {"h264 aac", 8, 16. / 9},
		"clip_ctr.mp4":      {"h264 aac", 10, 16. / 9},
		"clip_4k.mp4":       {"h264 aac", 5, 16. / 9},
		"clip.mov":          {"h264 aac", 8, 16. / 9},
		"clip_no_audio.mp4": {"h264", 10, 16. / 9},
		"audio.mp3":         {"mp3", 10, 0},
	} {
		m := got[name]
		var codecs []string
		if m.Video != nil {
			codecs = append(codecs, m.Video.Codec)
			require.InDelta(t, want.aspect, float64(m.Video.Width)/float64(m.Video.Height), 0.01, name)
		}
		if m.Audio != nil {
			codecs = append(codecs, m.Audio.Codec)
		}
		require.Equal(t, want.codecs, strings.Join(codecs, " "), name)
		require.InDelta(t, want.duration, m.Duration, 0.1, name)
	}
	require.Equal(t, 2*got["clip.mp4"].Video.Width, got["clip_4k.mp4"].Video.Width)
	require.InDelta(t, 1.6e6, got["clip_ctr.mp4"].Size, 0.2e6)
}

// watched notes what runs answered, by their plans.
type watched struct {
	evaluate.Rehearsal
	results chan host.Result
}

func (w watched) Rehearse(ctx context.Context, t evaluate.Trial) (host.Result, error) {
	r, err := w.Rehearsal.Rehearse(ctx, t)
	w.results <- r
	return r, err
}

// What is planned for the requests of a corpus is made in earnest and judged: each
// kind of criterion that corpora of this skill have, with every file there and
// with the row's alone.
func TestExecuted(t *testing.T) {
	full := filmed(t)
	s, err := skill.Load(".", skill.Options{})
	require.NoError(t, err)
	f, err := os.Open("testdata/execute.jsonl")
	require.NoError(t, err)
	defer f.Close()
	rows, err := evaluate.Load(f, f.Name())
	require.NoError(t, err)
	report, cases, err := evaluate.Run(t.Context(), s, nil, rows)
	require.NoError(t, err)
	require.InDelta(t, 1, *report.Strict, 0, "not planned right: %v", report.Confusion)
	w := watched{evaluate.Rehearsal{Host: full.host, Skill: "./", Sandbox: full.dir, Scratch: t.TempDir()}, make(chan host.Result, 100)}
	e, err := evaluate.Execute(t.Context(), w, s.Registry(), cases, nil)
	require.NoError(t, err)
	require.Len(t, e.Failed, 1, "%+v", e.Failed)
	require.Equal(t, "impossible", e.Failed[0].ID)
	require.Contains(t, e.Failed[0].Error, "no encoder for hevc")
	require.Equal(t, []int{9, 1, 1, 7, 7, 7, 7}, []int{e.Planned, e.Routed, e.Refused, e.Ran, e.EndedWell, e.Judged, e.Passed})
	close(w.results)
	for r := range w.results {
		for _, c := range r.Results {
			var m Made
			if c.Tool == "run_batch" && json.Unmarshal(c.Result, &m) == nil {
				require.Empty(t, m.Commands, "it took place as in a dry run")
				require.False(t, m.Media[0].Planned)
			}
		}
	}
	entries, err := os.ReadDir(full.dir)
	require.NoError(t, err)
	require.Len(t, entries, 7, "nothing stays")

	// Alone: a folder with no more than the fixture of the row.
	bare := t.TempDir()
	data, err := os.ReadFile(filepath.Join(full.dir, "clip.mov"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(bare, "clip.mov"), data, 0o600))
	w.Sandbox, w.results = bare, make(chan host.Result, 100)
	e, err = evaluate.Execute(t.Context(), w, s.Registry(), cases[:2], nil)
	require.NoError(t, err)
	require.Equal(t, 2, e.Passed, "%+v", e.Failed)
}
