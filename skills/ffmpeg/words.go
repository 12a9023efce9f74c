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
		return fmt.Sprintf("%d seconds", 10*int(math.Round(seconds/10)))
	case seconds < 5400:
		return fmt.Sprintf("%d minutes", int(math.Round(seconds/60)))
	}
	return fmt.Sprintf("%.1f hours", seconds/3600)
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
		items = append(items, guest.Item{Kind: abi.ItemInfo, Message: "this is about " + roughly(m.Estimate) + " of work"})
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

// sentence puts what a call does together: the verb, the files, and every
// argument that was given.
func sentence(verb string, inputs []string, details ...string) string {
	text := verb + " " + strings.Join(inputs, ", ")
	var said []string
	for _, d := range details {
		if d != "" {
			said = append(said, d)
		}
	}
	if len(said) > 0 {
		text += ": " + strings.Join(said, ", ")
	}
	return text
}

// with is a word and its value, nothing without one.
func with(word, value string) string {
	if value == "" || value == "0" {
		return ""
	}
	return strings.TrimSpace(word + " " + value)
}

func when(yes bool, text string) string {
	if yes {
		return text
	}
	return ""
}

func (m made) details() string {
	var said []string
	for _, d := range []string{with("quality", m.Quality), with("as", m.Output), when(m.Preview, "with a preview first")} {
		if d != "" {
			said = append(said, d)
		}
	}
	return strings.Join(said, ", ")
}

func crf(v *int) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf("crf %d", *v)
}

func prepareSummary(in prepareArgs) string {
	return sentence("Make for "+in.Platform, in.Inputs, with("quality", in.Quality), when(in.Preview, "with a preview first"))
}

func compressSummary(in compressArgs) string {
	return sentence("Compress", in.Inputs, with("for", in.Target), when(in.TargetSizeMB > 0, "under "+seconds(in.TargetSizeMB)+" MB"), crf(in.CRF), in.details())
}

func convertSummary(in convertArgs) string {
	return sentence("Convert", in.Inputs, with("to", in.Container), with("picture", in.VideoCodec), with("sound", in.AudioCodec), crf(in.CRF), in.details())
}

func resizeSummary(in resizeArgs) string {
	keep := ""
	if in.KeepAspectRatio != nil {
		keep = map[bool]string{true: "keeping its shape", false: "whatever its shape"}[*in.KeepAspectRatio]
	}
	return sentence("Resize", in.Inputs, with("width", fmt.Sprint(in.Width)), with("height", fmt.Sprint(in.Height)), with("aspect", in.Aspect), with("fit", in.Fit), keep, in.details())
}

func trimSummary(in trimArgs) string {
	return sentence("Cut", []string{in.Input}, with("from", in.Start), with("to", in.End), with("length", in.Duration), with("only the last", in.Last), with("without the last", in.CutLast), in.details())
}

func extractSummary(in extractArgs) string {
	return sentence("Take the sound of", in.Inputs, with("as", in.AudioFormat), with("bit rate", in.Bitrate), with("from", in.Start), with("to", in.End), with("quality", in.Quality), with("called", in.Output))
}

func thumbnailSummary(in thumbnailArgs) string {
	return sentence("Take a still of", []string{in.Input}, with("at", in.AtTime), with("as", in.ImageFormat), with("size", in.Scale), with("called", in.Output))
}

func reverseSummary(in reverseArgs) string {
	sound := ""
	if in.IncludeAudio != nil {
		sound = map[bool]string{true: "with its sound", false: "without its sound"}[*in.IncludeAudio]
	}
	return sentence("Reverse", in.Inputs, sound, with("quality", in.Quality), with("as", in.Output))
}

func stripSummary(in stripArgs) string {
	return sentence("Remove the sound of", in.Inputs, in.details())
}

func speedSummary(in speedArgs) string {
	return sentence("Change the speed of", in.Inputs, "×"+seconds(in.Speed), in.details())
}

func volumeSummary(in volumeArgs) string {
	return sentence("Change the volume of", in.Inputs, with("to", in.Level), when(in.Normalize, "normalized"), in.details())
}

func rotateSummary(in rotateArgs) string {
	return sentence("Turn", in.Inputs, when(in.Angle != 0, fmt.Sprintf("by %d° clockwise", in.Angle)), with("flip", in.Flip), in.details())
}

func concatSummary(in concatArgs) string {
	inputs := in.Inputs
	if in.Base != "" {
		inputs = append([]string{in.Base}, inputs...)
	}
	return sentence("Join", append(inputs[:len(inputs):len(inputs)], in.Append...), with("as", in.Output), with("resolution", in.TargetResolution), when(in.TargetFPS > 0, seconds(in.TargetFPS)+" fps"))
}

func inspectSummary(in inspectArgs) string { return sentence("Look at", in.Files) }
