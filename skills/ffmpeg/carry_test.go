package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
)

// rich films a clip with two sounds, subtitles that stand for longer than it
// plays, chapters and a title, and songs with a cover.
func rich(t *testing.T) *studio {
	for name, how := range map[string]string{
		"rich.mkv": "-f lavfi -i testsrc2=size=64x36:rate=10:duration=3 -f lavfi -i sine=duration=3 -i file:./words.srt -i file:./chapters.txt -map 0 -map 1 -map 1 -map 2" +
			" -map_metadata 3 -map_chapters 3 -c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac -c:s srt -metadata:s:a:1 language=deu",
		"flac.mkv":    "-i file:./clip.mov -c:v copy -c:a flac",
		"cover.m4a":   "-f lavfi -i sine=duration=2 -f lavfi -i color=size=16x16:duration=1 -map 0 -map 1 -c:a aac -c:v mjpeg -frames:v 1 -disposition:v attached_pic -metadata title=Song",
		"covered.mp4": "-i file:./clip.mov -f lavfi -i color=size=16x16:duration=1 -map 0 -map 1 -c copy -c:v:1 png -frames:v:1 1 -disposition:v:1 attached_pic",
	} {
		fixtures[name] = how
	}
	s := newStudio(t)
	for name, text := range map[string]string{
		"words.srt": "1\n00:00:00,500 --> 00:00:01,500\nHello\n\n2\n00:00:01,800 --> 00:00:05,500\nWörld\n",
		"chapters.txt": ";FFMETADATA1\ntitle=Holiday\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=1500\ntitle=One\n" +
			"[CHAPTER]\nTIMEBASE=1/1000\nSTART=1500\nEND=3000\ntitle=Two\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600))
	}
	return s.film("clip.mov", "rich.mkv", "flac.mkv", "cover.m4a", "covered.mp4")
}

// Further sounds, subtitles, chapters and covers come along where the new file
// can hold them and they stay in time; what does not is said, with the reason.
func TestCarried(t *testing.T) {
	s := rich(t)
	cases := []struct {
		name                                string
		call                                abi.Call
		want                                string
		duration                            float64
		sounds, subtitles, covers, chapters int
		said                                string
	}{
		{"another container", call("convert_video", args{"inputs": []string{"rich.mkv"}, "container": "mp4"}), "h264 64x36 aac", 3, 2, 1, 0, 2, ""},
		{"a container of few", call("convert_video", args{"inputs": []string{"rich.mkv"}, "container": "avi"}), "mpeg4 64x36 mp3", 3, 1, 0, 0, 0, "avi files have one; the subtitle of rich.mkv is left out: avi files hold none like it"},
		{"sound that the container does not hold", call("convert_video", args{"inputs": []string{"flac.mkv"}, "container": "mp4"}), "h264 64x36 aac", 2, 1, 0, 0, 0, "the sound of flac.mkv is encoded as AAC: an mp4 holds no FLAC"},
		{"other codecs", call("convert_video", args{"inputs": []string{"rich.mkv"}, "container": "webm"}), "vp9 64x36 opus", 3, 2, 1, 0, 2, ""},
		{"compressed", call("compress_video", args{"inputs": []string{"rich.mkv"}}), "h264 64x36 aac", 3, 2, 1, 0, 2, ""},
		{"silent", call("strip_audio", args{"inputs": []string{"rich.mkv"}}), "h264 64x36", 3, 0, 1, 0, 2, ""},
		{"louder", call("adjust_volume", args{"inputs": []string{"rich.mkv"}, "level": "3dB"}), "h264 64x36 aac", 3, 2, 1, 0, 2, ""},
		{"cut", call("trim_video", args{"input": "rich.mkv", "start": "0.5", "end": "2", "output": "cut.mp4"}), "h264 64x36 aac", 1.5, 2, 0, 0, 2, "the subtitle of rich.mkv is left out: not in time any more"},
		{"faster", call("adjust_speed", args{"inputs": []string{"rich.mkv"}, "speed": 2}), "h264 64x36 aac", 1.5, 2, 0, 0, 0, "the chapters of rich.mkv are left out"},
		{"backwards", call("reverse_video", args{"inputs": []string{"rich.mkv"}}), "h264 64x36 aac", 3, 1, 0, 0, 0, "only picture and first sound are turned around"},
		{"for a platform", call("prepare_for_platform", args{"inputs": []string{"rich.mkv"}, "platform": "whatsapp"}), "h264 64x36 aac", 3, 1, 0, 0, 2, "players there use none"},
		{"for an archive", call("prepare_for_platform", args{"inputs": []string{"rich.mkv"}, "platform": "archive"}), "h264 64x36 flac", 3, 2, 1, 0, 2, ""},
		{"to a size", call("compress_video", args{"inputs": []string{"rich.mkv"}, "target_size_mb": 0.05}), "h264 64x36 aac", 3, 1, 0, 0, 2, "to meet the size"},
		{"sound alone", call("extract_audio", args{"inputs": []string{"rich.mkv"}}), "mp3", 3, 1, 0, 0, 2, "mp3 files have one"},
		{"a song's cover", call("extract_audio", args{"inputs": []string{"cover.m4a"}}), "mp3", 2, 1, 0, 1, 0, ""},
		{"a cover cut", call("trim_video", args{"input": "cover.m4a", "start": "0.5"}), "aac", 1.5, 1, 0, 1, 0, ""},
		{"a cover nowhere", call("extract_audio", args{"inputs": []string{"cover.m4a"}, "audio_format": "opus"}), "opus", 2, 1, 0, 0, 0, "opus files have no place for it"},
		{"a covered clip", call("resize_video", args{"inputs": []string{"covered.mp4"}, "height": 18}), "h264 32x18 aac", 2, 1, 0, 1, 0, ""},
	}
	var calls []abi.Call
	for _, c := range cases {
		calls = append(calls, c.call)
	}
	r, err := s.try(&person{yes: true}, false, calls...)
	require.NoError(t, err)
	batches := slices.DeleteFunc(r.Results, func(r abi.CallResult) bool { return r.Tool != "run_batch" })
	require.Len(t, batches, len(cases))
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var made Made
			require.NoError(t, json.Unmarshal(batches[i].Result, &made))
			m := made.Media[0]
			near(t, m, c.want, c.duration)
			sounds := len(m.More)
			if m.Audio != nil {
				sounds++
			}
			require.Equal(t, []int{c.sounds, c.subtitles, c.covers, c.chapters}, []int{sounds, len(m.Subtitles), len(m.Covers), m.Chapters})
			if said := strings.Join(batches[i].Issues, "; "); c.said == "" {
				require.Empty(t, said)
			} else {
				require.Contains(t, said, c.said)
			}
		})
	}
}
