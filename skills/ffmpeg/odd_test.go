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

// What cameras, phones and shops make: turned pictures, changing frame rates,
// six channels, covers, subtitles, pixels that are not square.
func TestOddMedia(t *testing.T) {
	for name, how := range map[string]string{
		"turned.mp4": "-i file:./quiet.mp4 -c copy -metadata:s:v rotate=90",
		"vfr.mp4":    "-f lavfi -i testsrc2=size=64x36:rate=20:duration=2 -vf select=not(mod(n\\,3))+lt(n\\,10) -fps_mode vfr -c:v libx264 -preset ultrafast -pix_fmt yuv444p10",
		"six.mkv":    "-f lavfi -i testsrc2=size=64x36:rate=5:duration=1 -f lavfi -i sine=duration=1 -c:v libx264 -preset ultrafast -c:a ac3 -ac 6",
		"cover.mp3":  "-f lavfi -i sine=duration=1 -f lavfi -i color=size=16x16:duration=1 -map 0 -map 1 -c:a libmp3lame -c:v png -frames:v 1 -disposition:v attached_pic",
		"wide.mkv":   "-f lavfi -i testsrc2=size=36x36:rate=5:duration=1 -vf setsar=2 -c:v libx264 -preset ultrafast -pix_fmt yuv420p",
	} {
		fixtures[name] = how
	}
	s := newStudio(t).film("quiet.mp4", "turned.mp4", "vfr.mp4", "six.mkv", "cover.mp3", "wide.mkv")
	for name, c := range map[string]struct {
		call     abi.Call
		want     string
		duration float64
	}{
		"a turned picture, copied":  {call("strip_audio", args{"inputs": []string{"turned.mp4"}}), "h264 36x64", 2},
		"a turned picture, encoded": {call("convert_video", args{"inputs": []string{"turned.mp4"}, "container": "mkv"}), "h264 36x64", 2},
		"a changing rate":           {call("compress_video", args{"inputs": []string{"vfr.mp4"}, "crf": 30}), "h264 64x36", 2},
		"six channels":              {call("extract_audio", args{"inputs": []string{"six.mkv"}}), "mp3", 1},
		"a cover":                   {call("adjust_volume", args{"inputs": []string{"cover.mp3"}, "level": "50%"}), "mp3", 1},
		"wide pixels":               {call("resize_video", args{"inputs": []string{"wide.mkv"}, "height": 18}), "h264 36x18", 1},
	} {
		t.Run(name, func(t *testing.T) {
			near(t, s.run(c.call).Media[0], c.want, c.duration)
		})
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
		"format": {func(m *Media) { m.Format = "avi" }, "is a avi, not a mp4"},
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
