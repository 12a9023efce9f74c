package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host"
	"stepbox.dev/host/event"
)

// row is a line of a corpus: what people say, and what must come out.
type row struct {
	ID         string   `json:"id"`
	Utterances []string `json:"utterances"`
	Outcome    string   `json:"expected_outcome"`
	Tool       string   `json:"expected_tool"`
	Grade      string   `json:"grade"`
	Fixture    string   `json:"fixture"`
	Criteria   criteria `json:"success_criteria"`
}

type criteria struct {
	Container string `json:"container"`
	Video     string `json:"video_codec"`
	Audio     string `json:"audio_codec"`
	NoAudio   bool   `json:"no_audio"`
	MaxWidth  int    `json:"max_width"`
	MaxHeight int    `json:"max_height"`
}

// The corpora's clips: lengths, codecs and proportions kept, fewer pixels and
// frames.
var corpusClips = map[string]string{
	"clip.mp4":          "-f lavfi -i testsrc2=size=192x108:rate=2:duration=10 -f lavfi -i sine=duration=10 -c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac",
	"clip2.mp4":         "-f lavfi -i testsrc2=size=192x108:rate=2:duration=8 -f lavfi -i sine=duration=8 -c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac",
	"clip_ctr.mp4":      "-f lavfi -i testsrc2=size=192x108:rate=10:duration=10 -f lavfi -i sine=duration=10 -vf noise=alls=40:allf=t -c:v libx264 -preset ultrafast -b:v 1200k -minrate 1200k -maxrate 1200k -bufsize 1200k -pix_fmt yuv420p -c:a aac",
	"clip_4k.mp4":       "-f lavfi -i testsrc2=size=384x216:rate=2:duration=5 -f lavfi -i sine=duration=5 -c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac",
	"clip.mov":          "-f lavfi -i testsrc2=size=128x72:rate=2:duration=8 -f lavfi -i sine=duration=8 -c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac",
	"clip_no_audio.mp4": "-f lavfi -i testsrc2=size=128x72:rate=2:duration=10 -c:v libx264 -preset ultrafast -pix_fmt yuv420p",
	"audio.mp3":         "-f lavfi -i sine=duration=10 -c:a libmp3lame",
}

// Of the requests of a corpus that are planned right, nearly all give what
// their row asks for. It takes minutes: the first wording of each row, and no
// more, when STEPBOX_SHARED and STEPBOX_LONG are set.
func TestCorpus(t *testing.T) {
	shared := os.Getenv("STEPBOX_SHARED")
	if shared == "" || os.Getenv("STEPBOX_LONG") == "" {
		t.Skip("STEPBOX_SHARED names no folder with corpora, or STEPBOX_LONG is not set")
	}
	text, err := os.ReadFile(filepath.Join(shared, "corpora", "ffmpeg", "eval.jsonl"))
	require.NoError(t, err)
	for name, how := range corpusClips {
		fixtures[name] = how
	}
	clips := newStudio(t).film("clip.mp4", "clip2.mp4", "clip_ctr.mp4", "clip_4k.mp4", "clip.mov", "clip_no_audio.mp4", "audio.mp3")
	right, passed := 0, 0
	for line := range strings.Lines(string(text)) {
		var r row
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		if r.Outcome != "plan" || r.Grade == "routing" || r.Criteria == (criteria{}) {
			continue
		}
		s := &studio{t, t.TempDir(), clips.host}
		for name := range corpusClips {
			if name == r.Fixture || strings.Contains(r.Utterances[0], name) || strings.Contains(r.Utterances[0]+" ", stem(name)+" ") {
				data, err := os.ReadFile(filepath.Join(clips.dir, name))
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(s.dir, name), data, 0o600))
			}
		}
		var plan firstTool
		result, err := s.host.Run(t.Context(), host.Request{Skill: "./", Utterance: r.Utterances[0], Sandbox: s.dir}, &person{yes: true}, &plan)
		if plan.first != r.Tool {
			continue // not planned right: other tests count that
		}
		right++
		why := ""
		if err != nil {
			why = err.Error()
		} else {
			var m Made
			require.NoError(t, json.Unmarshal(result.Results[len(result.Results)-1].Result, &m))
			why = r.Criteria.faults(m.Media[0])
		}
		if why == "" {
			passed++
			t.Logf("%s: right", r.ID)
		} else {
			t.Logf("%s %q: %s", r.ID, r.Utterances[0], why)
		}
	}
	t.Logf("%d of %d", passed, right)
	require.Greater(t, right, 40)
	require.GreaterOrEqual(t, float64(passed), 0.97*float64(right))
}

// firstTool notes the first tool of the plan.
type firstTool struct{ first string }

func (p *firstTool) Handle(e event.Event) error {
	if e, ok := e.(event.Planned); ok && len(e.Plan) > 0 {
		p.first = e.Plan[0].Tool
	}
	return nil
}

// faults is what a file is not.
func (c criteria) faults(m Media) string {
	var video, audio string
	var w, h int
	if m.Video != nil {
		video, w, h = m.Video.Codec, m.Video.Width, m.Video.Height
	}
	if m.Audio != nil {
		audio = m.Audio.Codec
	}
	shares := func(a, b string) bool {
		return slices.ContainsFunc(strings.Split(a, ","), func(s string) bool { return slices.Contains(strings.Split(b, ","), s) })
	}
	switch {
	case c.Container != "" && !shares(c.Container, m.Format):
		return "container " + m.Format
	case c.Video != "" && c.Video != video:
		return "picture " + video
	case c.Audio != "" && !strings.HasPrefix(audio, c.Audio):
		return "sound " + audio
	case c.NoAudio && audio != "":
		return "it has sound"
	case c.MaxWidth > 0 && w > c.MaxWidth || c.MaxHeight > 0 && h > c.MaxHeight:
		return "it is too large"
	}
	return ""
}

var _ event.Handler = (*firstTool)(nil)
