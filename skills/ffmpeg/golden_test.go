package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

var update = flag.Bool("update", false, "rewrite testdata/commands.golden")

// The exact command lines of every tool, for files of many kinds: what changes
// them is seen in a diff. No engine is needed.
func TestCommandLines(t *testing.T) {
	video := func(codec string, w, h int, fps float64) *Video {
		return &Video{Codec: codec, Width: w, Height: h, Pixels: "yuv420p", FPS: fps, BitRate: 4_000_000}
	}
	sound := func(codec string, channels int) *Audio {
		return &Audio{Index: 1, Codec: codec, Rate: 48000, Channels: channels, BitRate: 128_000}
	}
	turned := video("h264", 1080, 1920, 30)
	turned.Rotation = -90
	shelf := map[string]Media{
		"hd.mp4":    {Duration: 60, Size: 31e6, Video: video("h264", 1920, 1080, 30), Audio: sound("aac", 2)},
		"uhd.mkv":   {Duration: 600, Size: 900e6, Video: video("hevc", 3840, 2160, 60), Audio: sound("ac3", 6), Subtitles: []Stream{{2, "subrip"}, {3, "hdmv_pgs_subtitle"}}, More: []Audio{{Index: 4, Codec: "aac", Rate: 48000, Channels: 2}}},
		"odd.webm":  {Duration: 5, Size: 1e6, Video: video("vp9", 641, 361, 25), Audio: sound("opus", 1)},
		"phone.mov": {Duration: 10, Size: 20e6, Video: turned, Audio: sound("pcm_s16le", 1)},
		"mute.avi":  {Duration: 8, Size: 2e6, Video: video("mpeg4", 640, 480, 15)},
		"song.flac": {Duration: 180, Size: 20e6, Audio: sound("flac", 2)},
		"loop.gif":  {Format: "gif", Duration: 4, Size: 8e6, Video: video("gif", 400, 300, 10)},
	}
	for name, m := range shelf {
		m.Path = name
		shelf[name] = m
	}
	ctx, err := guest.Native{Dir: t.TempDir(), SkillDir: "."}.Context()
	require.NoError(t, err)
	var p profiles
	p.platforms, err = profile[platform](ctx, "platforms")
	require.NoError(t, err)
	p.qualities, err = profile[quality](ctx, "qualities")
	require.NoError(t, err)

	var out bytes.Buffer
	for _, c := range []abi.Call{
		call("prepare_for_platform", args{"inputs": []string{"hd.mp4", "uhd.mkv"}, "platform": "whatsapp", "preview": true}),
		call("prepare_for_platform", args{"inputs": []string{"hd.mp4"}, "platform": "youtube"}),
		call("prepare_for_platform", args{"inputs": []string{"hd.mp4"}, "platform": "instagram_reels"}),
		call("prepare_for_platform", args{"inputs": []string{"mute.avi"}, "platform": "archive"}),
		call("compress_video", args{"inputs": []string{"hd.mp4"}}),
		call("compress_video", args{"inputs": []string{"hd.mp4"}, "target_size_mb": 8}),
		call("compress_video", args{"inputs": []string{"hd.mp4"}, "target_size_mb": 100}),
		call("compress_video", args{"inputs": []string{"uhd.mkv"}, "target": "email"}),
		call("compress_video", args{"inputs": []string{"odd.webm"}, "crf": 40, "quality": "small_file"}),
		call("compress_video", args{"inputs": []string{"odd.webm"}, "target_size_mb": 0.2}),
		call("compress_video", args{"inputs": []string{"mute.avi"}, "target_size_mb": 0.5}),
		call("compress_video", args{"inputs": []string{"loop.gif"}, "target_size_mb": 1}),
		call("compress_video", args{"inputs": []string{"song.flac"}, "target_size_mb": 2}),
		call("compress_video", args{"inputs": []string{"hd.mp4"}, "quality": "small_file", "output": "small.mkv", "preview": true}),
		call("convert_video", args{"inputs": []string{"hd.mp4"}, "container": "mkv"}),
		call("convert_video", args{"inputs": []string{"hd.mp4"}, "container": "ts"}),
		call("convert_video", args{"inputs": []string{"odd.webm"}, "container": "flv"}),
		call("convert_video", args{"inputs": []string{"odd.webm"}, "container": "3gp"}),
		call("convert_video", args{"inputs": []string{"hd.mp4"}, "container": "avi"}),
		call("convert_video", args{"inputs": []string{"hd.mp4"}, "container": "webm", "quality": "lossless"}),
		call("convert_video", args{"inputs": []string{"hd.mp4"}, "container": "mkv", "video_codec": "av1", "audio_codec": "flac", "crf": 28}),
		call("convert_video", args{"inputs": []string{"hd.mp4"}, "container": "webm", "video_codec": "vp8", "output": "eight"}),
		call("convert_video", args{"inputs": []string{"phone.mov"}, "container": "mkv"}),
		call("convert_video", args{"inputs": []string{"uhd.mkv"}, "container": "webm"}),
		call("convert_video", args{"inputs": []string{"hd.mp4"}, "container": "gif"}),
		call("convert_video", args{"inputs": []string{"hd.mp4"}, "video_codec": "vp9"}),
		call("convert_video", args{"inputs": []string{"hd.mp4"}, "video_codec": "prores"}),
		call("convert_video", args{"inputs": []string{"mute.avi"}, "container": "mp4", "quality": "lossless"}),
		call("resize_video", args{"inputs": []string{"hd.mp4"}, "height": 480}),
		call("resize_video", args{"inputs": []string{"hd.mp4"}, "width": 1080, "height": 1080}),
		call("resize_video", args{"inputs": []string{"hd.mp4"}, "width": 1080, "height": 1080, "fit": "crop"}),
		call("resize_video", args{"inputs": []string{"hd.mp4"}, "width": 100, "height": 300, "keep_aspect_ratio": false}),
		call("resize_video", args{"inputs": []string{"phone.mov"}, "aspect": "16:9", "fit": "pad"}),
		call("resize_video", args{"inputs": []string{"hd.mp4"}, "aspect": "9:16"}),
		call("trim_video", args{"input": "hd.mp4", "end": "00:00:05"}),
		call("trim_video", args{"input": "hd.mp4", "start": "00:00:02", "end": "00:00:05"}),
		call("trim_video", args{"input": "hd.mp4", "cut_last": "10s", "quality": "high_quality", "preview": true}),
		call("trim_video", args{"input": "uhd.mkv", "last": "1m30s", "output": "end.mp4"}),
		call("trim_video", args{"input": "song.flac", "start": "10", "duration": "5"}),
		call("extract_audio", args{"inputs": []string{"hd.mp4", "odd.webm", "song.flac"}}),
		call("extract_audio", args{"inputs": []string{"hd.mp4"}, "audio_format": "m4a"}),
		call("extract_audio", args{"inputs": []string{"uhd.mkv"}, "audio_format": "opus", "bitrate": "192 kbps"}),
		call("extract_audio", args{"inputs": []string{"hd.mp4"}, "audio_format": "wav", "start": "10", "end": "20", "output": "part.wav"}),
		call("extract_audio", args{"inputs": []string{"hd.mp4"}, "quality": "high_quality"}),
		call("create_thumbnail", args{"input": "hd.mp4"}),
		call("create_thumbnail", args{"input": "hd.mp4", "at_time": "0", "output": "cover.png"}),
		call("create_thumbnail", args{"input": "phone.mov", "at_time": "2.5", "image_format": "webp", "scale": "720p"}),
		call("reverse_video", args{"inputs": []string{"mute.avi"}}),
		call("reverse_video", args{"inputs": []string{"phone.mov"}}),
		call("reverse_video", args{"inputs": []string{"odd.webm"}, "include_audio": false, "quality": "balanced", "output": "back.mp4"}),
		call("strip_audio", args{"inputs": []string{"hd.mp4"}}),
		call("strip_audio", args{"inputs": []string{"hd.mp4"}, "quality": "small_file", "output": "mute.mkv", "preview": true}),
		call("adjust_speed", args{"inputs": []string{"hd.mp4"}, "speed": 0.1}),
		call("adjust_speed", args{"inputs": []string{"song.flac"}, "speed": 5}),
		call("adjust_speed", args{"inputs": []string{"hd.mp4"}, "speed": 2, "quality": "best_possible", "output": "fast.mp4"}),
		call("adjust_volume", args{"inputs": []string{"hd.mp4"}, "level": "-3 dB"}),
		call("adjust_volume", args{"inputs": []string{"hd.mp4"}, "level": "50%", "quality": "small_file", "output": "calm.mp4"}),
		call("adjust_volume", args{"inputs": []string{"song.flac"}, "normalize": true}),
		call("rotate_video", args{"inputs": []string{"hd.mp4"}, "angle": -90}),
		call("rotate_video", args{"inputs": []string{"phone.mov"}, "angle": 180, "flip": "vertical"}),
		call("rotate_video", args{"inputs": []string{"hd.mp4"}, "flip": "horizontal", "quality": "high_quality"}),
		call("concat_video", args{"inputs": []string{"hd.mp4", "mute.avi"}, "output": "combined.mp4"}),
		call("concat_video", args{"base": "odd.webm", "append": []string{"phone.mov"}, "target_resolution": "720p", "target_fps": 24}),
		call("concat_video", args{"inputs": []string{"song.flac", "song.flac"}}),
	} {
		text, err := guest.Native{}.Summarize(served, c)
		require.NoError(t, err)
		fmt.Fprintf(&out, "## %s\n", text)
		calls, err := guest.Native{}.Expand(served, c)
		require.NoError(t, err)
		var o options
		var media []Media
		for _, step := range calls {
			switch step.Tool {
			case "resolve_inputs":
				for _, name := range step.Args["paths"].([]any) {
					media = append(media, shelf[name.(string)])
				}
			case "build_recipes":
				text, err := json.Marshal(step.Args["options"])
				require.NoError(t, err)
				require.NoError(t, json.Unmarshal(text, &o))
			}
		}
		b := builder{options: o, profiles: p, onKeyFrame: func(Media, float64) bool { return false }}
		built, err := b.recipes(media, &namer{given: map[string]bool{}, taken: func(name string) bool { _, there := shelf[name]; return there }})
		require.NoError(t, err, text)
		for _, r := range built.Recipes {
			tell(&out, r)
			if r.Preview != nil {
				out.WriteString("# preview\n")
				tell(&out, *r.Preview)
			}
		}
		out.WriteString("\n")
	}
	const golden = "testdata/commands.golden"
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(golden, out.Bytes(), fs.FileMode(0o644)))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), out.String())
}

// tell writes a recipe without what is the same in all.
func tell(out *bytes.Buffer, r Recipe) {
	short := strings.NewReplacer(" -hide_banner -nostdin -loglevel error -nostats -progress pipe:1 -filter_threads 1 -filter_complex_threads 1", "",
		"-protocol_whitelist file -format_whitelist "+demuxers+" ", "", " -threads 1", "")
	for i, stage := range r.Stages {
		for _, argv := range stage {
			fmt.Fprintf(out, "%d %s\n", i+1, short.Replace(commandLine(argv)))
		}
	}
	if r.Trial != nil {
		fmt.Fprintf(out, "? %s\n", short.Replace(commandLine(r.Trial.Argv)))
	}
	for _, n := range r.Notes {
		fmt.Fprintf(out, "! %s\n", n)
	}
	e := r.Expect
	fmt.Fprintf(out, "= %s %s %dx%d %s %ss ±%s %d, work %.1f\n", e.Format, e.Video, e.Width, e.Height, e.Audio, seconds(e.Duration), seconds(e.Tolerance), e.MaxBytes, r.Work)
}
