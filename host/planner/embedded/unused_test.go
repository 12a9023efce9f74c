package embedded_test

import (
	"strings"
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
		{name: "a detail", utterance: "get a still out of the middle of walk.mp4", unclear: []string{"middle"}},
		{name: "with a number", utterance: "shrink hd.mp4 to half its width", unclear: []string{"half", "width"}},
		{name: "a bound the other way round", utterance: "compress clip.mp4 to at least 5 MB", unclear: []string{"least"}},
		{name: "an order before the known one", utterance: "rename clip.mp4 and compress it", unclear: []string{"rename"}},
		{name: "something besides", utterance: "convert clip.mp4 to mp4 with a red border", unclear: []string{"red border"}},
		{name: "an order beside a part", utterance: "mute the first 5 seconds of clip.mp4", unclear: []string{"mute"}},
		{name: "an order behind but", utterance: "convert movie.mkv to mp4, but first drop the first 30 seconds", unclear: []string{"first 30"}, aside: []string{"but first drop"}},
		{name: "a turn before others", utterance: "turn clip.mp4 left, mute it and make it 720p", unclear: []string{"left"}},
		{name: "a typo is no file", utterance: "compress clip.mp4 to abotu 25 MB", unclear: []string{"abotu"}},
		{name: "frames a second", utterance: "convert clip.mp4 to webm, 10 fps", unclear: []string{"10 fps"}},
		{name: "a question", utterance: "ist clip.mp4 größer als 10 MB?", unclear: []string{"größer"}},
		{name: "in German", utterance: "ein Standbild aus der Mitte von lauf.mp4", unclear: []string{"Mitte"}},
		{name: "in Chinese", utterance: "在walk.mp4末尾截取缩略图", unclear: []string{"末尾"}},
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
	there := map[string]bool{"talk.mp4": true, "my talk.mp4": true, "Summer Trip 2024.mp4": true}
	for _, c := range []struct{ name, utterance, file string }{
		{"the longest", "convert my talk.mp4 to mkv", "my talk.mp4"},
		{"the short one", "convert talk.mp4 to mkv", "talk.mp4"},
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

// What is denied is never done: files cannot be left out where no argument says
// so, and a "not" ends the request.
func TestWhatIsDeniedIsNeverDone(t *testing.T) {
	s, err := skill.Load("../../../skills/ffmpeg", skill.Options{})
	require.NoError(t, err)
	for _, utterance := range []string{
		"convert all mov files to mp4, not intro.mov",
		"mute all videos in holiday, excluding beach.mov",
		"alle mov in mp4 umwandeln (intro.mov nicht)",
		"convertis tous les mov en mp4, pas intro.mov",
		"convierte todos los mov a mp4, excepto intro.mov",
		"превърни всички mov в mp4, но не intro.mov",
		"преобразуй все mov в mp4, кроме intro.mov",
		"除了intro.mov,把所有mov转成mp4",
		"把所有mov转成mp4,intro.mov除外",
		"do not mute a.mp4",
		"a.mp4 nicht stumm schalten",
	} {
		a, err := (&embedded.Planner{}).Plan(t.Context(), planner.Request{Utterance: utterance, Skill: s})
		require.NoError(t, err)
		require.Regexp(t, "clarify.*(No files can be left out here|nothing is done)", string(a.Text), utterance)
	}
}

// Times, levels and angles mean what is said around them.
func TestAmountsInTheirWords(t *testing.T) {
	s, err := skill.Load("../../../skills/ffmpeg", skill.Options{})
	require.NoError(t, err)
	for utterance, want := range map[string]string{
		"screenshot of talk.mp4 at minute 1:30":                           `"at_time":"00:01:30"`,
		"schneide talk.mp4 ab minute 1:30":                                `"start":"00:01:30"`,
		"trim everything after 3 seconds from clip.mp4":                   `"end":"00:00:03"`,
		"cut everything before 10 seconds from clip.mp4":                  `"start":"00:00:10"`,
		"обрежь всё после 5 секунд в clip.mp4":                            `"end":"00:00:05"`,
		"删除clip.mp4 5秒之后的部分":                                              `"end":"00:00:05"`,
		"keep talk.mp4 up to 1:30":                                        `"end":"00:01:30"`,
		"keep clip.mp4 from 0:10 until 0:20":                              `"start":"00:00:10"`,
		"turn song.mp3 down to 30%":                                       `"level":"30%"`,
		"3x slow motion of clip.mp4":                                      `"speed":0.3333`,
		"забързай clip.mp4 с 50%":                                         `"speed":1.5`,
		"throw away the sound of clip.mp4 and keep the picture":           `strip_audio`,
		"quita el video de clip.mp4 y deja el sonido":                     `extract_audio`,
		"turn clip.mp4 into a gif called end.gif":                         `"output":"end.gif"`,
		"coupe les 10 premières secondes de clip.mp4":                     `clarify.*stay or go`,
		"extrais le son de talk.mp4 puis garde les 30 premières secondes": `"input":"talk_extract.mp3"`,
		"convert every video here to webm":                                `"inputs":\["\*"\]\}`,
		"cut out 0:30-0:40 from clip.mp4":                                 `clarify.*out of the middle`,
		"remove 0:30-0:40 from clip.mp4":                                  `clarify.*out of the middle`,
		"schneide 0:30 bis 0:40 aus clip.mp4 heraus":                      `clarify.*out of the middle`,
		"shorten clip.mp4 by 10 seconds":                                  `clarify.*A length to come to`,
		"remove the second audio track from two.mkv":                      `clarify.*One track of several`,
		"compress clip.mp4 and talk.mp4 to 10 MB together":                `clarify.*each file`,
	} {
		a, err := (&embedded.Planner{}).Plan(t.Context(), planner.Request{Utterance: utterance, Skill: s})
		require.NoError(t, err)
		require.Regexp(t, want, string(a.Text), utterance)
		if !strings.Contains(want, "clarify") {
			require.Empty(t, a.Unclear, utterance)
		}
	}
}
