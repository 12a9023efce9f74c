package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/skill"
)

func TestClock(t *testing.T) {
	for text, want := range map[string]float64{
		"00:01:30": 90, "1:30": 90, "01:00:00.5": 3600.5, "90": 90, "90s": 90, "1m30s": 90, "1h": 3600, "2.5": 2.5, "2,5": 2.5, "90 sec": -1,
		"": -1, "-1": -1, "1e9": -1, "a": -1, "1:2:3:4": -1, ":": -1, "NaN": -1, "1m30": 90,
	} {
		got, ok := clock(text)
		if want < 0 {
			require.False(t, ok, text)
			continue
		}
		require.True(t, ok, text)
		require.InDelta(t, want, got, 1e-9, text)
	}
}

func TestGain(t *testing.T) {
	for text, want := range map[string]string{
		"6dB": "6dB", "-3 dB": "-3dB", "+2.5db": "2.5dB", "-3": "-3dB", "50%": "0.5", "0.5": "0.5", "2x": "2", "louder": "6dB", "quieter": "-6dB", "half": "0.5", "double": "2",
		"6": "", "": "", "very": "", "90dB": "", "-50%": "", "volume=2,movie=x": "", "1e3dB": "", "--3dB": "",
	} {
		got, ok := gain(text)
		require.Equal(t, want, got, text)
		require.Equal(t, want != "", ok, text)
	}
}

func TestKilobits(t *testing.T) {
	for text, want := range map[string]int{"192k": 192, "192 kbps": 192, "128000": 128, "56": 56, "8": 0, "": 0, "9999k": 0, "high": 0} {
		require.Equal(t, want, kilobits(text), text)
	}
}

func TestResolution(t *testing.T) {
	for text, want := range map[string][2]int{
		"1080p": {1920, 1080}, "4K": {3840, 2160}, "1280x720": {1280, 720}, "1280×720": {1280, 720}, "540": {0, 540}, "108p": {0, 108},
		"0x0": {}, "99999x2": {}, "big": {}, "": {}, "-1x5": {}, "12x34x56": {}, "+720": {},
	} {
		w, h, ok := resolution(text)
		require.Equal(t, want[1] > 0, ok, text)
		if ok {
			require.Equal(t, want, [2]int{w, h}, text)
		}
	}
}

// A plan with a level that nobody can read does not validate. What the skill
// reads, the contract lets through; a number that could be two things is asked
// about later.
func TestLevelsOfTheContract(t *testing.T) {
	s, err := skill.Load(".", skill.Options{})
	require.NoError(t, err)
	volume, _ := s.Registry().Tool("adjust_volume")
	level := volume.Args["level"]
	for text, want := range map[string]bool{
		"6dB": true, "-3 dB": true, "+2.5db": true, "-3": true, "−3 dB": true, "50%": true, "0,5": true, "2x": true, "LOUDER": true, "twice": true, "6": true,
		"banana": false, "": false, "very loud": false, "volume=2,movie=x": false, "1e3dB": false, "--3dB": false, "6dB ": true, "louder\n": false,
	} {
		faults := plan.CheckValue(level, text)
		require.Equal(t, want, len(faults) == 0, text)
		if _, reads := gain(text); reads {
			require.True(t, want, text)
		}
		if !want {
			require.Contains(t, faults[0].Suggestion, "6dB, -3dB, 50%", text)
		}
	}
	for _, word := range []string{"louder", "boost", "increase", "higher", "raise", "amplify", "up", "lauter", "quieter", "lower", "reduce", "decrease", "softer", "down", "quiet", "leiser", "half", "halve", "double", "twice"} {
		require.Empty(t, plan.CheckValue(level, word), word)
		_, reads := gain(word)
		require.True(t, reads, word)
	}
}

func TestArticle(t *testing.T) {
	for kind, want := range map[string]string{"mp4": "an mp4", "avi": "an avi", "mov": "a mov", "flac": "a flac", "flv": "an flv", "webm": "a webm", "opus": "an opus", "3gp": "a 3gp"} {
		require.Equal(t, want, a(kind))
	}
}

// A filter for the tempo of sound takes only part of the way: together they go
// all of it.
func TestTempo(t *testing.T) {
	require.Equal(t, []string{"atempo=1.500000"}, tempo(1.5))
	require.Equal(t, []string{"atempo=2", "atempo=2", "atempo=1.250000"}, tempo(5))
	require.Equal(t, []string{"atempo=0.5", "atempo=0.5", "atempo=0.5", "atempo=0.800000"}, tempo(0.1))
}

// What no file could give is asked about or refused before anything runs.
func TestAskedBeforeAnythingRuns(t *testing.T) {
	for name, c := range map[string]struct {
		call abi.Call
		tool string
		want string
	}{
		"no level":          {call("adjust_volume", args{"inputs": []string{"a.mp4"}, "level": "6"}), "clarify", "How loud"},
		"two levels":        {call("adjust_volume", args{"inputs": []string{"a.mp4"}, "level": "6dB", "normalize": true}), "clarify", "normalized"},
		"an odd angle":      {call("rotate_video", args{"inputs": []string{"a.mp4"}, "angle": 45}), "clarify", "90, 180 or 270"},
		"no part":           {call("trim_video", args{"input": "a.mp4", "start": "0"}), "clarify", "Which part"},
		"an end too early":  {call("trim_video", args{"input": "a.mp4", "start": "5", "end": "2"}), "clarify", "not after the start"},
		"no time":           {call("trim_video", args{"input": "a.mp4", "start": "soon"}), "clarify", `"soon" is no time`},
		"not in there":      {call("convert_video", args{"inputs": []string{"a.mp4"}, "container": "webm", "video_codec": "h264"}), "reject", "a webm cannot hold h264; it holds vp9, vp8, av1"},
		"two kinds of file": {call("convert_video", args{"inputs": []string{"a.mp4"}, "container": "mkv", "output": "b.mov"}), "clarify", "Which of the two"},
		"no size":           {call("resize_video", args{"inputs": []string{"a.mp4"}, "fit": "crop"}), "clarify", "width, height or aspect"},
		"a bit rate":        {call("extract_audio", args{"inputs": []string{"a.mp4"}, "bitrate": "fast"}), "clarify", "bit rate"},
	} {
		t.Run(name, func(t *testing.T) {
			calls, err := guest.Native{}.Expand(served, c.call)
			require.NoError(t, err)
			require.Len(t, calls, 1)
			require.Equal(t, c.tool, calls[0].Tool)
			require.Contains(t, calls[0].Args[map[string]string{"clarify": "question", "reject": "reason"}[c.tool]], c.want)
		})
	}
}
