package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
)

// Every value of every argument that has a list of them: each container, codec,
// quality, platform, way to fit, kind of sound and picture is made and verified.
func TestEveryKind(t *testing.T) {
	const sound = " -f lavfi -i sine=duration=1 "
	fixtures["tiny.mp4"] = "-f lavfi -i testsrc2=size=64x36:rate=2:duration=1" + sound + "-c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac"
	fixtures["tiny.webm"] = "-f lavfi -i testsrc2=size=64x36:rate=2:duration=1" + sound + "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -c:a libopus"
	type made struct {
		call abi.Call
		want string
	}
	var all []made
	add := func(tool, input string, a args, want string) {
		if a["input"] = input; tool != "create_thumbnail" {
			delete(a, "input")
			a["inputs"] = []string{input}
		}
		all = append(all, made{call(tool, a), want})
	}
	for kind, want := range map[string]string{
		"mp4": "vp9 64x36 aac", "mov": "h264 64x36 aac", "mkv": "vp9 64x36 opus", "webm": "vp9 64x36 opus", "avi": "mpeg4 64x36 mp3", "gif": "gif 64x36",
		"ts": "h264 64x36 aac", "flv": "h264 64x36 aac", "3gp": "h264 64x36 aac",
	} {
		input := "tiny.webm"
		if kind == "webm" {
			input = "tiny.mp4"
		}
		add("convert_video", input, args{"container": kind}, want)
	}
	for codec, kind := range map[string]string{"h264": "mkv", "vp9": "mp4", "vp8": "webm", "av1": "mkv", "mpeg4": "mp4", "prores": "mov", "mjpeg": "avi"} {
		input, sound := "tiny.webm", map[string]string{"mkv": " opus", "webm": " opus", "mp4": " aac", "mov": " aac", "avi": " mp3"}[kind]
		add("convert_video", input, args{"container": kind, "video_codec": codec, "crf": 30}, codec+" 64x36"+sound)
	}
	for _, codec := range []string{"aac", "mp3", "opus", "flac", "alac", "ac3", "pcm_s16le", "pcm_s24le"} {
		add("convert_video", "tiny.mp4", args{"container": "mkv", "audio_codec": codec}, "h264 64x36 "+codec)
	}
	for _, quality := range []string{"small_file", "balanced", "visually_good", "high_quality", "lossless", "best_possible"} {
		add("convert_video", "tiny.mp4", args{"container": "mp4", "quality": quality}, "h264 64x36 aac")
	}
	add("convert_video", "tiny.mp4", args{"container": "webm", "quality": "lossless"}, "vp9 64x36 opus")
	for platform, want := range map[string]string{
		"whatsapp": "h264 64x36 aac", "email": "h264 64x36 aac", "web": "h264 64x36 aac", "youtube": "h264 64x36 aac",
		"instagram_reels": "h264 1080x1920 aac", "tiktok": "h264 1080x1920 aac", "archive": "h264 64x36 flac",
	} {
		add("prepare_for_platform", "tiny.webm", args{"platform": platform}, want)
	}
	for kind, want := range map[string]string{"mp3": "mp3", "aac": "aac", "wav": "pcm_s16le", "flac": "flac", "ogg": "opus", "opus": "opus", "m4a": "aac"} {
		add("extract_audio", "tiny.mp4", args{"audio_format": kind}, want)
	}
	for kind, want := range map[string]string{"jpg": "mjpeg 64x36", "jpeg": "mjpeg 64x36", "png": "png 64x36", "webp": "webp 64x36"} {
		add("create_thumbnail", "tiny.mp4", args{"image_format": kind}, want)
	}
	for fit, want := range map[string]string{"contain": "h264 40x22 aac", "crop": "h264 40x40 aac", "pad": "h264 40x40 aac", "stretch": "h264 40x40 aac"} {
		add("resize_video", "tiny.mp4", args{"width": 40, "height": 40, "fit": fit}, want)
	}
	for _, flip := range []string{"horizontal", "vertical"} {
		add("rotate_video", "tiny.mp4", args{"flip": flip}, "h264 64x36 aac")
	}
	for _, angle := range []int{180, 270} {
		add("rotate_video", "tiny.mp4", args{"angle": angle}, map[int]string{180: "h264 64x36 aac", 270: "h264 36x64 aac"}[angle])
	}
	add("reverse_video", "tiny.mp4", args{"include_audio": false}, "h264 64x36")

	s := newStudio(t).film("tiny.mp4", "tiny.webm")
	var calls []abi.Call
	for _, m := range all {
		calls = append(calls, m.call)
	}
	r, err := s.try(&person{}, true, calls...)
	require.NoError(t, err)
	require.Len(t, batches(t, r.Results), len(all), "a dry run foresees all")
	r, err = s.try(&person{}, false, calls...)
	require.NoError(t, err)
	for i, m := range batches(t, r.Results) {
		near(t, m.Media[0], all[i].want, 0)
	}
}

// What the engine cannot encode, and files that nobody can make, are refused
// with what can be, before anything runs, also in a dry run.
func TestRefusedInPreflight(t *testing.T) {
	s := newStudio(t)
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "a.mp4"), []byte("no video: who looks at it says so"), 0o600))
	for name, c := range map[string]struct {
		args args
		want string
	}{
		"a picture":        {args{"video_codec": "hevc"}, "no encoder for hevc; it encodes h264, vp9, vp8, av1, mpeg4, prores, mjpeg"},
		"sound":            {args{"audio_codec": "vorbis"}, "no encoder for vorbis; it encodes aac, ac3, alac, flac, mp3, opus, pcm_s16le, pcm_s24le"},
		"a file's name":    {args{"crf": 20, "output": "b.wmv"}, `a file of type "wmv" cannot be made; 3gp, aac, avi, `},
		"a lossy codec":    {args{"video_codec": "av1", "quality": "lossless"}, "av1 cannot be encoded without loss; h264"},
		"not in this file": {args{"container": "webm", "video_codec": "h264"}, "a webm cannot hold h264; it holds vp9, vp8, av1"},
	} {
		t.Run(name, func(t *testing.T) {
			c.args["inputs"] = []string{"a.mp4"}
			for _, dry := range []bool{false, true} {
				r, err := s.try(&person{yes: true}, dry, call("convert_video", c.args))
				require.Equal(t, fault.Refused, fault.Of(err), "%v", err)
				require.ErrorContains(t, err, c.want)
				require.Empty(t, r.Results)
			}
		})
	}
	for name, c := range map[string]abi.Call{
		"a codec":     call("convert_video", args{"inputs": []string{"a.mp4"}, "video_codec": "foo"}),
		"a container": call("convert_video", args{"inputs": []string{"a.mp4"}, "container": "xyz"}),
		"a level":     call("adjust_volume", args{"inputs": []string{"a.mp4"}, "level": "banana"}),
		"a platform":  call("prepare_for_platform", args{"inputs": []string{"a.mp4"}, "platform": "myspace"}),
	} {
		t.Run("unknown/"+name, func(t *testing.T) {
			_, err := s.try(&person{yes: true}, false, c)
			require.Equal(t, fault.Usage, fault.Of(err), "%v", err)
			require.ErrorContains(t, err, "the plan does not validate")
		})
	}
}
