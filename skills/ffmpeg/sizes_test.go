package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
)

// A size is met with every codec that a file may have: never more, and, where
// there is a bit rate, not far below either.
func TestSizesAreMet(t *testing.T) {
	const noisy = "-f lavfi -i testsrc2=size=96x54:rate=10:duration=4,noise=alls=20:allf=t "
	for name, how := range map[string]string{
		"nine.webm":   noisy + "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -crf 20 -b:v 0",
		"eight.webm":  noisy + "-f lavfi -i sine=duration=4 -c:v libvpx -deadline realtime -cpu-used 8 -b:v 900k -lag-in-frames 0 -c:a libopus",
		"av1.mkv":     noisy + "-c:v libaom-av1 -usage realtime -cpu-used 8 -crf 20 -b:v 0",
		"four.avi":    noisy + "-c:v mpeg4 -q:v 2",
		"pro.mov":     noisy + "-c:v prores_ks -profile:v 0",
		"moving.gif":  noisy,
		"long.mp3":    "-f lavfi -i anoisesrc=duration=8:amplitude=0.1 -c:a libmp3lame -b:a 192k",
		"exact.flac":  "-f lavfi -i anoisesrc=duration=4:amplitude=0.1",
		"plenty.opus": "-f lavfi -i sine=duration=2 -c:a libopus -b:a 32k",
	} {
		fixtures[name] = how
	}
	cases := []struct {
		input  string
		mb     float64
		least  float64 // of the size that is asked for
		output string
		want   string
	}{
		{"nine.webm", 0.04, 0.5, "nine_compressed.webm", "vp9 96x54"},
		{"eight.webm", 0.06, 0.5, "eight_compressed.webm", "vp8 96x54 opus"},
		{"av1.mkv", 0.04, 0.5, "av1_compressed.mkv", "av1 96x54"},
		{"four.avi", 0.06, 0.5, "four_compressed.avi", "mpeg4 96x54"},
		{"pro.mov", 0.04, 0.5, "pro_compressed.mov", "h264 96x54"},
		{"moving.gif", 0.06, 0.5, "moving_compressed.gif", ""},
		{"long.mp3", 0.06, 0.7, "long_compressed.mp3", "mp3"},
		{"exact.flac", 0.03, 0.7, "exact_compressed.mp3", "mp3"},
		{"plenty.opus", 1, 0, "plenty_compressed.opus", "opus"},
	}
	var inputs []string
	var calls []abi.Call
	for _, c := range cases {
		inputs = append(inputs, c.input)
		calls = append(calls, call("compress_video", args{"inputs": []string{c.input}, "target_size_mb": c.mb}))
	}
	s := newStudio(t).film(inputs...)
	r, err := s.try(&person{}, false, calls...)
	require.NoError(t, err)
	for i, m := range batches(t, r.Results) {
		c := cases[i]
		require.Equal(t, []string{c.output}, m.Paths)
		if c.want != "" {
			near(t, m.Media[0], c.want, 0)
		}
		info, err := os.Stat(filepath.Join(s.dir, c.output))
		require.NoError(t, err)
		require.LessOrEqual(t, float64(info.Size()), c.mb*1e6, c.output)
		require.GreaterOrEqual(t, float64(info.Size()), c.mb*1e6*c.least, c.output)
	}
	// Without a size: what has next to no bits for its pixels is not ruined, and
	// what came out no smaller says so.
	fixtures["slides.mp4"] = "-f lavfi -i color=gray:size=192x108:rate=10:duration=6 -c:v libx264 -preset ultrafast -pix_fmt yuv420p"
	fixtures["thin.mp3"] = "-f lavfi -i sine=duration=20:sample_rate=8000 -c:a libmp3lame -b:a 8k"
	s.film("slides.mp4", "thin.mp3")
	r, err = s.try(&person{}, false,
		call("compress_video", args{"inputs": []string{"slides.mp4"}}),
		call("compress_video", args{"inputs": []string{"thin.mp3"}}),
		call("compress_video", args{"inputs": []string{"slides.mp4"}, "quality": "lossless", "output": "again.mkv"}))
	require.NoError(t, err)
	var issues []string
	for _, result := range r.Results {
		issues = append(issues, result.Issues...)
	}
	require.Contains(t, issues, "slides.mp4 is as small as it can be without harm: its picture is copied as it is")
	require.Contains(t, issues, "thin.mp3 is as small as it can be without harm: its sound is copied as it is")
	require.Contains(t, issues, "again.mkv is no smaller than slides.mp4 was")
	// A dry run does not know the size of what it only planned.
	r, err = s.try(&person{}, true,
		call("convert_video", args{"inputs": []string{"four.avi"}, "container": "mkv", "output": "later.mkv"}),
		call("compress_video", args{"inputs": []string{"later.mkv"}, "target_size_mb": 0.06}))
	require.NoError(t, err)
	require.Contains(t, batches(t, r.Results)[1].Commands[0], "-b:v")
	before := list(t, s.dir)
	for name, c := range map[string]struct {
		input string
		mb    float64
		want  string
	}{
		"a picture":  {"nine.webm", 0.004, `"nine.webm" cannot be made as small as 4 kB: 4 s of it take at least `},
		"sound":      {"long.mp3", 0.02, `"long.mp3" cannot be made as small as 20 kB: 8 s of it take at least 27.1 kB`},
		"thin sound": {"thin.mp3", 0.01, `"thin.mp3" cannot be made as small as 10 kB: it has 20.`},
		"a gif":      {"moving.gif", 0.001, `"moving.gif" cannot be made as small as 1 kB: at its smallest it came out with `},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.try(&person{}, false, call("compress_video", args{"inputs": []string{c.input}, "target_size_mb": c.mb}))
			require.Equal(t, fault.StepFailed, fault.Of(err), "%v", err)
			require.ErrorContains(t, err, c.want)
			require.Equal(t, before, list(t, s.dir))
		})
	}
}

// batches are the results of all run_batch.
func batches(t *testing.T, results []abi.CallResult) (all []Made) {
	t.Helper()
	for _, result := range results {
		if result.Tool == "run_batch" {
			var m Made
			require.NoError(t, json.Unmarshal(result.Result, &m))
			all = append(all, m)
		}
	}
	return all
}
