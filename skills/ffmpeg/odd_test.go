package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host"
	"stepbox.dev/host/event"
)

// What cameras, phones, recorders and cutters make.
func TestOddMedia(t *testing.T) {
	const (
		picture = "-f lavfi -i testsrc2=size=64x36:rate=10:duration=3 "
		sound   = "-f lavfi -i sine=duration=3 "
		fast    = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p "
	)
	odd := map[string]string{
		"base.mp4":   picture + sound + fast + "-c:a aac",
		"turned.mp4": "-i file:./quiet.mp4 -c copy -metadata:s:v rotate=90",
		"upside.mov": "-i file:./quiet.mp4 -c copy -metadata:s:v rotate=180",
		"vfr.mp4":    "-f lavfi -i testsrc2=size=64x36:rate=20:duration=2 -vf select=not(mod(n\\,3))+lt(n\\,10) -fps_mode vfr -c:v libx264 -preset ultrafast -pix_fmt yuv444p10",
		"six.mkv":    "-f lavfi -i testsrc2=size=64x36:rate=5:duration=1 -f lavfi -i sine=duration=1 -c:v libx264 -preset ultrafast -c:a ac3 -ac 6",
		"cover.mp3":  "-f lavfi -i sine=duration=1 -f lavfi -i color=size=16x16:duration=1 -map 0 -map 1 -c:a libmp3lame -c:v png -frames:v 1 -disposition:v attached_pic",
		"wide.mkv":   "-f lavfi -i testsrc2=size=36x36:rate=5:duration=1 -vf setsar=2 -c:v libx264 -preset ultrafast -pix_fmt yuv420p",
		"full.mov":   picture + sound + "-c:v mjpeg -pix_fmt yuvj422p -c:a pcm_f32le -ar 96000",
		"hdr.mp4":    picture + "-c:v libx264 -preset ultrafast -pix_fmt yuv420p10 -color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc",
		"inter.ts":   picture + sound + fast + "-flags +ilme+ildct -x264opts tff=1 -c:a ac3",
		"late.ts":    "-i file:./base.mp4 -c copy -output_ts_offset 100000",
		"late.mkv":   "-i file:./base.mp4 -c copy -output_ts_offset 50",
		"edit.mp4":   "-ss 1.05 -i file:./base.mp4 -c copy",
		"dvd.mpg":    picture + "-f lavfi -i sine=duration=1 -r 25 -c:v mpeg2video -c:a mp2",
		"time.mov":   picture + sound + fast + "-c:a pcm_s16le -timecode 01:00:00:00",
		"voice.wav":  "-f lavfi -i sine=duration=3:sample_rate=8000",
		"song.flac":  "-f lavfi -i sine=duration=3:sample_rate=96000 -sample_fmt s32",
		"one.mp4":    "-f lavfi -i testsrc2=size=64x36:rate=10:duration=0.1 " + fast,
		"blip.mp4":   picture + "-f lavfi -i sine=duration=0.02 " + fast + "-c:a aac",
		"later.mp4":  picture + "-itsoffset 1 -f lavfi -i sine=duration=2 " + fast + "-c:a aac",
		"slow.mp4":   "-f lavfi -i testsrc2=size=64x36:rate=2:duration=3 " + sound + fast + "-c:a aac",
		"gap.mp4":    "-f lavfi -i testsrc2=size=64x36:rate=10:duration=5 -f lavfi -i sine=duration=5 -vf select=lt(n\\,11)+gt(n\\,40) -fps_mode vfr -bf 0 " + fast + "-c:a aac",
		"alpha.mov":  "-f lavfi -i testsrc2=size=64x36:rate=10:duration=1 -pix_fmt rgba -c:v png",
	}
	names := []string{"quiet.mp4", "base.mp4"}
	for name, how := range odd {
		if fixtures[name] = how; name != "base.mp4" {
			names = append(names, name)
		}
	}
	s := newStudio(t).film(names...)
	convert := func(name, container string) abi.Call {
		return call("convert_video", args{"inputs": []string{name}, "container": container})
	}
	cases := []struct {
		name     string
		call     abi.Call
		want     string
		duration float64
	}{
		{"a turned picture, copied", call("strip_audio", args{"inputs": []string{"turned.mp4"}}), "h264 36x64", 2},
		{"a turned picture, encoded", convert("turned.mp4", "mkv"), "h264 36x64", 2},
		{"upside down", call("create_thumbnail", args{"input": "upside.mov"}), "mjpeg 64x36", 0},
		{"a changing rate", call("compress_video", args{"inputs": []string{"vfr.mp4"}, "crf": 30}), "h264 64x36", 2},
		{"a changing rate, to a size", call("compress_video", args{"inputs": []string{"vfr.mp4"}, "target_size_mb": 0.01, "output": "vfr small.mp4"}), "h264 64x36", 2},
		{"six channels", call("extract_audio", args{"inputs": []string{"six.mkv"}}), "mp3", 1},
		{"a cover", call("adjust_volume", args{"inputs": []string{"cover.mp3"}, "level": "50%"}), "mp3", 1},
		{"wide pixels", call("resize_video", args{"inputs": []string{"wide.mkv"}, "height": 18}), "h264 36x18", 1},
		{"full range, float sound", convert("full.mov", "mp4"), "h264 64x36 aac", 3},
		{"high dynamic range", convert("hdr.mp4", "webm"), "vp9 64x36", 3},
		{"interlaced, cut", call("trim_video", args{"input": "inter.ts", "start": "0.55", "end": "1.5"}), "h264 64x36 ac3", 0.95},
		{"a late beginning, cut", call("trim_video", args{"input": "late.ts", "start": "0.55", "end": "1.5"}), "h264 64x36 aac", 0.95},
		{"a late beginning, a still", call("create_thumbnail", args{"input": "late.ts", "at_time": "1"}), "mjpeg 64x36", 0},
		{"a late beginning in Matroska", convert("late.mkv", "mov"), "h264 64x36 aac", 3},
		{"frames in front of the beginning", convert("edit.mp4", "mkv"), "h264 64x36 aac", 1.95},
		{"frames in front of the beginning, kept", convert("edit.mp4", "mov"), "h264 64x36 aac", 1.95},
		{"packets without a time", convert("dvd.mpg", "mkv"), "mpeg2video 64x36 aac", 2.9},
		{"a sound that ends before", call("extract_audio", args{"inputs": []string{"dvd.mpg"}}), "mp3", 1},
		{"a camera's time code", convert("time.mov", "mp4"), "h264 64x36 aac", 3},
		{"a telephone's rate", call("extract_audio", args{"inputs": []string{"voice.wav"}}), "mp3", 3.1},
		{"a studio's rate, cut", call("trim_video", args{"input": "song.flac", "start": "1", "end": "2"}), "flac", 1},
		{"one frame", call("create_thumbnail", args{"input": "one.mp4"}), "mjpeg 64x36", 0},
		{"hardly a sound", call("adjust_speed", args{"inputs": []string{"blip.mp4"}, "speed": 2}), "h264 64x36", 1.5},
		{"a part without sound", call("trim_video", args{"input": "dvd.mpg", "start": "2"}), "h264 64x36", 0.9},
		{"a sound that begins late, alone", call("extract_audio", args{"inputs": []string{"later.mp4"}, "audio_format": "wav"}), "pcm_s16le", 3},
		{"a sound that begins late, alone and of its kind", call("extract_audio", args{"inputs": []string{"later.mp4"}, "audio_format": "m4a"}), "aac", 3},
		{"a sound that begins late, faster", call("adjust_speed", args{"inputs": []string{"later.mp4"}, "speed": 2}), "h264 64x36 aac", 1.5},
		{"a sound that begins late, backwards", call("reverse_video", args{"inputs": []string{"later.mp4"}}), "h264 64x36 aac", 3},
		{"a sound that begins late, copied", convert("later.mp4", "mkv"), "h264 64x36 aac", 3},
		{"a part of one picture, the last", call("trim_video", args{"input": "slow.mp4", "start": "2.6", "end": "2.9"}), "h264 64x36 aac", 0.3},
		{"a part that ends in a picture that stands", call("trim_video", args{"input": "gap.mp4", "end": "3"}), "h264 64x36 aac", 3},
		{"a part within a picture that stands", call("trim_video", args{"input": "gap.mp4", "start": "2", "end": "4"}), "h264 64x36 aac", 2},
		{"to MP3 in an AVI", convert("base.mp4", "avi"), "mpeg4 64x36 mp3", 3},
		{"see-through", convert("alpha.mov", "mp4"), "h264 64x36", 1},
	}
	var calls []abi.Call
	for _, c := range cases {
		calls = append(calls, c.call)
	}
	r, err := s.try(&person{yes: true}, false, calls...)
	require.NoError(t, err)
	made := batches(t, r.Results)
	require.Len(t, made, len(cases))
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) { near(t, made[i].Media[0], c.want, c.duration) })
		if c.name == "to MP3 in an AVI" {
			require.InDelta(t, 3, made[i].Media[0].Video.Duration, 0.01, "the delay of the sound is no frame")
		}
	}
}

// A reversal that does not fit into memory is made in pieces: joined, they are
// as long and hold as much as in one. The engine runs the command lines as the
// skill would.
func TestReverseInPieces(t *testing.T) {
	s := newStudio(t).film("clip.mov")
	r, err := s.try(&person{}, false, call("inspect_media", args{"files": []string{"clip.mov"}}))
	require.NoError(t, err)
	var p Probed
	require.NoError(t, json.Unmarshal(r.Results[len(r.Results)-1].Result, &p))

	b := builder{options: options{Mode: modeReverse, Sound: true}, profiles: profiles{qualities: map[string]quality{"visually_good": {CRF: 23, Preset: "veryfast", AudioKbps: 128}}}}
	j, err := b.job(p.Media[0])
	require.NoError(t, err)
	j.output = "back.mov"
	stages, lists := backwards(j, 0, 3)
	require.Len(t, stages[0], 3)

	request := abi.EngineRequest{Engine: engine}
	for _, stage := range stages {
		for _, argv := range stage {
			request.Runs = append(request.Runs, abi.EngineRun{Argv: argv})
		}
	}
	text, err := json.Marshal(request)
	require.NoError(t, err)
	dir, err := camera()
	require.NoError(t, err)
	plan, err := json.Marshal(map[string]any{"plan": []abi.Call{call("run", args{"request": string(text), "write": "/@tmp/list-0.txt", "text": lists["list-0.txt"]})}})
	require.NoError(t, err)
	_, err = s.host.Run(t.Context(), host.Request{Skill: dir, Plan: plan, Sandbox: s.dir}, &person{yes: true}, event.Discard)
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(s.dir, "back.mov"))

	r, err = s.try(&person{}, false, call("inspect_media", args{"files": []string{"back.mov"}}))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(r.Results[len(r.Results)-1].Result, &p))
	near(t, p.Media[0], "h264 64x36 aac", 2)
	require.Empty(t, j.expect().faults(p.Media[0]))
}

// What came out is compared with all of what was to come out.
func TestFaults(t *testing.T) {
	want := Expect{Format: "mp4", Video: "h264", Audio: "aac", Width: 64, Height: 36, Duration: 2, Tolerance: 0.2, MaxBytes: 1000}
	good := func() Media {
		return Media{Format: "mov,mp4,m4a", Duration: 2.1, Size: 1000, Video: &Video{Codec: "h264", Width: 64, Height: 36}, Audio: &Audio{Codec: "aac"}}
	}
	require.Empty(t, want.faults(good()))
	for name, c := range map[string]struct {
		harm func(*Media)
		want string
	}{
		"format": {func(m *Media) { m.Format = "avi" }, "is avi, not mp4"},
		"codec":  {func(m *Media) { m.Video.Codec = "vp9" }, "has vp9 picture, not h264 picture"},
		"size":   {func(m *Media) { m.Video.Width = 66 }, "is 66×36, not 64×36"},
		"sound":  {func(m *Media) { m.Audio = nil }, "has no sound, not aac sound"},
		"length": {func(m *Media) { m.Duration = 2.3 }, "is 2.3 s long, not 2"},
		"bytes":  {func(m *Media) { m.Size = 1001 }, "has 1 kB, more than 1 kB"},
	} {
		t.Run(name, func(t *testing.T) {
			m := good()
			c.harm(&m)
			require.Equal(t, []string{c.want}, want.faults(m))
		})
	}
}
