package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/commit"
	"stepbox.dev/host/fault"
)

// Every tool, with the engine, from a plan to the sandbox: what comes out is
// looked at. One run for all, so that the engine is loaded once.
func TestEveryTool(t *testing.T) {
	s := newStudio(t).film("clip.mp4", "clip.mov", "quiet.mp4", "odd.mkv", "song.mp3", "-dash odd.mp4")
	cases := []struct {
		tool     string
		args     args
		output   string
		want     string
		duration float64
	}{
		{"convert_video", args{"inputs": []string{"clip.mov"}, "container": "mkv"}, "clip.mkv", "h264 64x36 aac", 2},
		{"convert_video", args{"inputs": []string{"clip.mov"}, "container": "webm"}, "clip.webm", "vp9 64x36 opus", 2},
		{"convert_video", args{"inputs": []string{"clip.mov"}, "container": "gif"}, "clip.gif", "gif 64x36", 2},
		{"convert_video", args{"inputs": []string{"odd.mkv"}, "container": "mp4"}, "odd.mp4", "h264 66x38 aac", 2},
		{"convert_video", args{"inputs": []string{"quiet.mp4"}, "container": "avi"}, "quiet.avi", "mpeg4 64x36", 2},
		{"compress_video", args{"inputs": []string{"clip.mp4"}, "target_size_mb": 0.05}, "clip_compressed.mp4", "h264 96x54 aac", 6},
		{"compress_video", args{"inputs": []string{"clip.mov"}, "crf": 40, "output": "made/small.mp4"}, "made/small.mp4", "h264 64x36 aac", 2},
		{"prepare_for_platform", args{"inputs": []string{"clip.mov"}, "platform": "archive"}, "clip_archive.mkv", "h264 64x36 flac", 2},
		{"resize_video", args{"inputs": []string{"clip.mov"}, "height": 18}, "clip_resized.mov", "h264 32x18 aac", 2},
		{"resize_video", args{"inputs": []string{"clip.mov"}, "aspect": "1:1", "fit": "crop", "output": "square.mp4"}, "square.mp4", "h264 36x36 aac", 2},
		{"resize_video", args{"inputs": []string{"clip.mov"}, "width": 40, "height": 40, "output": "bars.mp4"}, "bars.mp4", "h264 40x40 aac", 2},
		{"trim_video", args{"input": "clip.mp4", "start": "00:00:02", "end": "00:00:05"}, "clip_trimmed.mp4", "h264 96x54 aac", 3},
		{"trim_video", args{"input": "clip.mp4", "start": "1.4", "duration": "2s", "output": "inside.mp4"}, "inside.mp4", "h264 96x54 aac", 2},
		{"trim_video", args{"input": "clip.mp4", "cut_last": "2", "output": "start.mp4"}, "start.mp4", "h264 96x54 aac", 4},
		{"trim_video", args{"input": "song.mp3", "last": "1"}, "song_trimmed.mp3", "mp3", 1},
		{"extract_audio", args{"inputs": []string{"clip.mp4"}}, "clip.mp3", "mp3", 6},
		{"extract_audio", args{"inputs": []string{"clip.mov"}, "audio_format": "ogg", "start": "1"}, "clip.ogg", "opus", 1},
		{"create_thumbnail", args{"input": "clip.mp4", "at_time": "3", "scale": "108p"}, "clip_thumb.jpg", "mjpeg 192x108", 0},
		{"create_thumbnail", args{"input": "clip.mp4", "output": "%d still.png"}, "%d still.png", "png 96x54", 0},
		{"reverse_video", args{"inputs": []string{"clip.mov"}}, "clip_reversed.mov", "h264 64x36 aac", 2},
		{"strip_audio", args{"inputs": []string{"clip.mp4"}}, "clip_silent.mp4", "h264 96x54", 6},
		{"adjust_speed", args{"inputs": []string{"clip.mov"}, "speed": 0.25}, "clip_speed.mov", "h264 64x36 aac", 8},
		{"adjust_speed", args{"inputs": []string{"clip.mp4"}, "speed": 5}, "clip_speed.mp4", "h264 96x54 aac", 1.2},
		{"adjust_volume", args{"inputs": []string{"song.mp3"}, "level": "-3dB"}, "song_volume.mp3", "mp3", 3},
		{"adjust_volume", args{"inputs": []string{"clip.mov"}, "normalize": true}, "clip_volume.mov", "h264 64x36 aac", 2},
		{"rotate_video", args{"inputs": []string{"-dash odd.mp4"}, "angle": 90}, "-dash odd_rotated.mp4", "h264 36x64", 1},
		{"concat_video", args{"inputs": []string{"clip.mov", "quiet.mp4", "odd.mkv"}}, "combined.mp4", "h264 64x36 aac", 6},
	}
	var calls []abi.Call
	for _, c := range cases {
		calls = append(calls, call(c.tool, c.args))
	}
	r, err := s.try(&person{yes: true}, false, calls...)
	require.NoError(t, err)
	var all []Made
	for _, result := range r.Results {
		if result.Tool == "run_batch" {
			var m Made
			require.NoError(t, json.Unmarshal(result.Result, &m))
			all = append(all, m)
		}
	}
	require.Len(t, all, len(cases))
	for i, c := range cases {
		require.Equal(t, []string{c.output}, all[i].Paths)
		near(t, all[i].Media[0], c.want, c.duration)
		info, err := os.Stat(filepath.Join(s.dir, c.output))
		require.NoError(t, err)
		require.Equal(t, all[i].Media[0].Size, info.Size(), "what was verified is what is there")
		if c.tool == "compress_video" && c.args["target_size_mb"] != nil {
			require.LessOrEqual(t, info.Size(), int64(50_000))
		}
	}

	// What a person is told of a file.
	r, err = s.try(&person{}, false, call("inspect_media", args{"files": []string{"clip.mp4"}}))
	require.NoError(t, err)
	var p Probed
	require.NoError(t, json.Unmarshal(r.Results[len(r.Results)-1].Result, &p))
	require.Regexp(t, `^clip\.mp4: 96×54, 5 fps, H\.264, 6 s, mono AAC, `, formatMedia(p, false)[0].Message)
}

// A batch with a preview asks once, when the sample can be looked at; a no
// keeps nothing, a yes everything but the sample.
func TestPreviewThenBatch(t *testing.T) {
	s := newStudio(t).film("clip.mov", "quiet.mp4")
	plan := call("prepare_for_platform", args{"inputs": []string{"*.mov", "*.mp4"}, "platform": "web", "preview": true})
	no := &person{}
	_, err := s.try(no, false, plan)
	require.Equal(t, fault.NotApproved, fault.Of(err), "%v", err)
	require.EqualError(t, err, "not gone on; nothing was changed")
	require.Equal(t, []string{"Go on with 2 files, a few seconds of work? preview clip_preview.mp4: 64×36, 10 fps, H.264, 2 s, mono AAC, "}, []string{no.asked[0][:len("Go on with 2 files, a few seconds of work? preview clip_preview.mp4: 64×36, 10 fps, H.264, 2 s, mono AAC, ")]})
	require.Equal(t, []string{"clip.mov", "quiet.mp4"}, list(t, s.dir))

	require.Equal(t, []string{"clip_web.mp4", "quiet_web.mp4"}, s.run(plan).Paths)
	require.Equal(t, []string{"clip.mov", "clip_web.mp4", "quiet.mp4", "quiet_web.mp4"}, list(t, s.dir))
}

// A dry run tells the command lines of a whole chain, encodes nothing and asks
// nothing.
func TestDryRun(t *testing.T) {
	s := newStudio(t).film("clip.mov")
	p := &person{}
	r, err := s.try(p, true,
		call("convert_video", args{"inputs": []string{"clip.mov"}, "container": "webm", "output": "a.webm", "preview": true}),
		call("resize_video", args{"inputs": []string{"a.webm"}, "height": 18}))
	require.NoError(t, err)
	require.Empty(t, p.asked)
	var m Made
	require.NoError(t, json.Unmarshal(r.Results[len(r.Results)-1].Result, &m))
	require.Contains(t, m.Commands[0], "scale=32:18,setsar=1")
	require.Equal(t, []string{"a_resized.webm"}, m.Paths)
	require.Equal(t, []commit.Change{
		{Kind: commit.Create, Entry: commit.File, Path: "a.webm", Size: commit.UnknownSize},
		{Kind: commit.Create, Entry: commit.File, Path: "a_resized.webm", Size: commit.UnknownSize},
	}, r.Changes, "no size is that of a note")
	require.Equal(t, []string{"clip.mov"}, list(t, s.dir))
}

// What cannot be done with a file ends as an error that names it, and leaves
// nothing behind.
func TestBadMedia(t *testing.T) {
	s := newStudio(t).film("clip.mov", "quiet.mp4")
	for name, text := range map[string]string{
		"empty.mp4":     "",
		"text.mp4":      "this is no video",
		"dry.mp4":       plannedMark + `{"format":"mp4","duration":1,"video":{"codec":"h264","width":2,"height":2}}`,
		"concat:a|.mp4": "nothing",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600))
	}
	before := list(t, s.dir)
	for name, c := range map[string]struct {
		call abi.Call
		want []string
	}{
		"no videos": {call("strip_audio", args{"inputs": []string{"empty.mp4", "text.mp4", "dry.mp4", "concat:a|.mp4"}}), []string{`"empty.mp4" is empty`,
			`"text.mp4" is not video`, `"dry.mp4" is not video`, `"concat:a|.mp4" is not video`}},
		"no sound":              {call("extract_audio", args{"inputs": []string{"quiet.mp4"}}), []string{`"quiet.mp4" has no sound`}},
		"a name that is there":  {call("strip_audio", args{"inputs": []string{"clip.mov"}, "output": "quiet.mp4"}), []string{`"quiet.mp4" is there already`}},
		"a time behind the end": {call("create_thumbnail", args{"input": "clip.mov", "at_time": "9"}), []string{`"clip.mov" is only 2 s long`}},
		"a size too small":      {call("compress_video", args{"inputs": []string{"clip.mov"}, "target_size_mb": 0.001}), []string{`cannot be made as small`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.try(&person{yes: true}, false, c.call)
			require.Equal(t, fault.StepFailed, fault.Of(err), "%v", err)
			for _, want := range c.want {
				require.ErrorContains(t, err, want)
			}
			require.Equal(t, before, list(t, s.dir))
		})
	}
}

func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
