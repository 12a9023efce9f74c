package main

import (
	"fmt"
	"math"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// codecNames are what people call codecs.
var codecNames = map[string]string{
	"h264": "H.264", "hevc": "H.265", "vp9": "VP9", "vp8": "VP8", "av1": "AV1", "mpeg4": "MPEG-4", "prores": "ProRes", "gif": "GIF",
	"mjpeg": "JPEG", "png": "PNG", "webp": "WebP",
	"aac": "AAC", "mp3": "MP3", "opus": "Opus", "vorbis": "Vorbis", "flac": "FLAC", "alac": "ALAC", "ac3": "AC-3", "pcm_s16le": "PCM", "pcm_s24le": "PCM",
}

func codecName(codec string) string {
	if name := codecNames[codec]; name != "" {
		return name
	}
	return codec
}

// describe tells a file to a person: "clip.mp4: 1920×1080, 30 fps, H.264, 10 s,
// stereo AAC, 1.6 MB".
func (m Media) describe() string {
	var parts []string
	if v := m.Video; v != nil {
		parts = append(parts, fmt.Sprintf("%d×%d", v.Width, v.Height))
		if v.FPS > 0 && m.Duration > 0 {
			parts = append(parts, seconds(math.Round(v.FPS*100)/100)+" fps")
		}
		parts = append(parts, codecName(v.Codec))
	}
	if m.Duration > 0 {
		parts = append(parts, length(m.Duration))
	}
	if a := m.Audio; a != nil {
		channels := map[int]string{1: "mono", 2: "stereo", 6: "5.1", 8: "7.1"}[a.Channels]
		if channels == "" {
			channels = fmt.Sprintf("%d channels", a.Channels)
		}
		parts = append(parts, channels+" "+codecName(a.Codec))
	} else if m.Video != nil && m.Duration > 0 {
		parts = append(parts, "no sound")
	}
	if n := len(m.More); n > 0 {
		parts = append(parts, fmt.Sprintf("%d sound tracks", n+1))
	}
	if len(m.Subtitles) > 0 {
		parts = append(parts, "subtitles")
	}
	if m.Size > 0 && !m.Planned {
		parts = append(parts, guest.Size(m.Size).String())
	}
	return m.Path + ": " + strings.Join(parts, ", ")
}

func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}

// roughly tells an estimate, which is one: no more digits than it is worth.
func roughly(seconds float64) string {
	switch {
	case seconds < 10:
		return "a few seconds"
	case seconds < 90:
		return fmt.Sprintf("about %d seconds", 10*int(math.Round(seconds/10)))
	case seconds < 5400:
		return fmt.Sprintf("about %d minutes", int(math.Round(seconds/60)))
	}
	return fmt.Sprintf("about %.1f hours", seconds/3600)
}

func formatMedia(p Probed, _ bool) (items []guest.Item) {
	if !p.Show {
		return nil
	}
	for _, m := range p.Media {
		items = append(items, guest.Item{Kind: abi.ItemOutput, Message: m.describe(), Path: m.Path})
	}
	return items
}

func formatMade(m Made, dry bool) (items []guest.Item) {
	for _, argv := range m.Commands {
		items = append(items, guest.Item{Kind: abi.ItemCommand, Message: commandLine(argv)})
	}
	for _, media := range m.Media {
		if media.Path == "" {
			continue
		}
		items = append(items, guest.Item{Kind: abi.ItemOutput, Message: media.describe(), Path: media.Path})
	}
	if dry {
		items = append(items, guest.Item{Kind: abi.ItemInfo, Message: "this is " + roughly(m.Estimate) + " of work"})
	}
	return items
}

// commandLine is an argument list as it would be typed.
func commandLine(argv []string) string {
	out := make([]string, len(argv))
	for i, a := range argv {
		if out[i] = a; a == "" || strings.ContainsAny(a, " \t\n'\"\\$&|;<>()[]{}*?!#~`") {
			out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
