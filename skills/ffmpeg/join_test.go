package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host"
	"stepbox.dev/host/event"
	"stepbox.dev/host/fault"
)

// Clips of one camera are joined without encoding; what differs is brought
// together, whatever size, rate, shape and sound it has.
func TestJoin(t *testing.T) {
	const camera = " -c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac"
	for name, how := range map[string]string{
		"one.mp4":         "-f lavfi -i testsrc2=size=64x36:rate=10:duration=2 -f lavfi -i sine=duration=2" + camera,
		"it's | two.mp4":  "-f lavfi -i testsrc=size=64x36:rate=10:duration=1 -f lavfi -i sine=duration=1:frequency=900" + camera,
		"two.mkv":         "-i file:./one.mp4 -c copy",
		"turned 1.mov":    "-i file:./one.mp4 -c copy -metadata:s:v rotate=90",
		"turned 2.mov":    "-i file:./one.mp4 -c copy -metadata:s:v rotate=90",
		"clock.mkv":       "-i file:./one.mp4 -c copy -output_ts_offset 50",
		"portrait.mp4":    "-f lavfi -i testsrc2=size=36x64:rate=25:duration=1 -f lavfi -i sine=duration=1:sample_rate=48000 -ac 2" + camera,
		"silent.webm":     "-f lavfi -i testsrc2=size=80x60:rate=12:duration=1 -c:v libvpx -deadline realtime -lag-in-frames 0 -threads 1 -pix_fmt yuv420p",
		"short sound.mkv": "-f lavfi -i testsrc2=size=64x36:rate=10:duration=2 -f lavfi -i sine=duration=0.5:sample_rate=8000 -c:v mpeg4 -c:a pcm_s16le",
		"a.mp3":           "-f lavfi -i sine=duration=1 -c:a libmp3lame",
		"b.mp3":           "-f lavfi -i sine=duration=2 -c:a libmp3lame",
		"c.wav":           "-f lavfi -i sine=duration=1:sample_rate=48000 -ac 6",
	} {
		fixtures[name] = how
	}
	s := newStudio(t).film("one.mp4", "it's | two.mp4", "two.mkv", "turned 1.mov", "turned 2.mov", "clock.mkv", "portrait.mp4", "silent.webm", "short sound.mkv", "a.mp3", "b.mp3", "c.wav")
	cases := []struct {
		name     string
		inputs   []string
		more     args
		copied   bool
		want     string
		duration float64
	}{
		{"one camera's", []string{"one.mp4", "it's | two.mp4", "one.mp4"}, nil, true, "h264 64x36 aac", 5},
		{"into another container", []string{"one.mp4", "it's | two.mp4"}, args{"output": "a.mkv"}, true, "h264 64x36 aac", 3},
		{"turned", []string{"turned 1.mov", "turned 2.mov"}, args{"output": "t.mov"}, true, "h264 36x64 aac", 4},
		{"turned, where nothing says so", []string{"turned 1.mov", "turned 2.mov"}, args{"output": "t.mkv"}, false, "h264 36x64 aac", 4},
		{"its size is asked for", []string{"one.mp4", "it's | two.mp4"}, args{"output": "b.mp4", "target_resolution": "64x36", "target_fps": 10}, true, "h264 64x36 aac", 3},
		{"another size", []string{"one.mp4", "it's | two.mp4"}, args{"output": "c.mp4", "target_resolution": "32x18"}, false, "h264 32x18 aac", 3},
		{"another codec", []string{"one.mp4", "it's | two.mp4"}, args{"output": "d.webm"}, false, "vp9 64x36 opus", 3},
		{"another time base", []string{"one.mp4", "two.mkv"}, args{"output": "e.mp4"}, false, "h264 64x36 aac", 4},
		{"a clock that went on, made anew", []string{"clock.mkv", "clock.mkv"}, args{"output": "k.mkv"}, true, "h264 64x36 aac", 4},
		{"all different", []string{"portrait.mp4", "silent.webm", "one.mp4", "short sound.mkv"}, args{"output": "f.mp4"}, false, "h264 36x64 aac", 6},
		{"songs", []string{"a.mp3", "b.mp3"}, nil, true, "mp3", 3},
		{"different songs", []string{"a.mp3", "c.wav"}, nil, false, "aac", 2},
	}
	var calls []abi.Call
	for _, c := range cases {
		a := args{"inputs": c.inputs}
		if c.more == nil {
			a["output"] = joined
		}
		for k, v := range c.more {
			a[k] = v
		}
		calls = append(calls, call("concat_video", a))
	}
	dry, err := s.try(&person{}, true, calls...)
	require.NoError(t, err)
	real, err := s.try(&person{}, false, calls...)
	require.NoError(t, err)
	for _, r := range real.Results {
		if r.Tool == "run_batch" && strings.Contains(string(r.Result), `"k.mkv"`) {
			require.Regexp(t, `^k\.mkv is made anew: at first it came out wrong \(is 5\d.* s long, not 4`, r.Issues[0])
		}
	}
	planned, got := batches(t, dry.Results), batches(t, real.Results)
	require.Len(t, got, len(cases))
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.copied, !strings.Contains(strings.Join(planned[i].Commands[0], " "), "filter_complex ["), planned[i].Commands)
			near(t, got[i].Media[0], c.want, c.duration)
		})
	}

	_, err = s.try(&person{}, false, call("concat_video", args{"inputs": []string{"one.mp4", "a.mp3"}, "output": "g.mp4"}))
	require.Equal(t, fault.StepFailed, fault.Of(err), "%v", err)
	require.ErrorContains(t, err, `"one.mp4" and "a.mp3" cannot be joined: only one of them has a picture`)
}

// A file that became a list since it was looked at is not opened as one.
func TestJoinOpensNoLists(t *testing.T) {
	s := newStudio(t).film("clip.mov")
	clip := Media{Path: "list.mp4", Format: "mov,mp4", Duration: 2, Video: &Video{Codec: "h264", Width: 64, Height: 36, FPS: 10, Setup: "same"}}
	b := builder{options: options{Mode: modeConcat, Output: "out.mp4", Named: true}}
	r, err := b.concat([]Media{clip, clip}, &namer{given: map[string]bool{}, taken: func(string) bool { return false }})
	require.NoError(t, err)
	text, err := json.Marshal(abi.EngineRequest{Engine: engine, Runs: []abi.EngineRun{
		{Argv: r.Stages[0][0]},
		{Argv: []string{"ffmpeg", "-nostdin", "-loglevel", "error", "-protocol_whitelist", "file", "-f", "concat", "-safe", "0", "-i", "file:./list.mp4", "-c", "copy", "file:./direct.mp4"}},
	}})
	require.NoError(t, err)
	dir, err := camera()
	require.NoError(t, err)
	plan, err := json.Marshal(map[string]any{"plan": []abi.Call{
		call("run", args{"request": `{"engine":"` + engine + `","runs":[]}`, "write": "list.mp4", "text": "ffconcat version 1.0\nfile 'file:/clip.mov'\n"}),
		call("run", args{"request": string(text), "write": "/@tmp/join.txt", "text": r.Lists["join.txt"]}),
	}})
	require.NoError(t, err)
	done, err := s.host.Run(t.Context(), host.Request{Skill: dir, Plan: plan, Sandbox: s.dir}, &person{yes: true}, event.Discard)
	require.NoError(t, err)
	require.Contains(t, string(done.Results[1].Result), "Format not on whitelist")
	require.NotContains(t, list(t, s.dir), "out.mp4")
	require.Contains(t, list(t, s.dir), "direct.mp4", "the list is one that would have been opened")
}
