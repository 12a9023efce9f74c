package main

import (
	"fmt"
	"strconv"
	"strings"
)

// What a call does, in one sentence with every argument that was given. A person
// reads it before anything is made.

// sentence is a beginning and what is said behind it, each with its own comma.
// Empty details are left out.
func sentence(begin string, details ...string) string {
	for _, d := range details {
		if d != "" {
			begin += ", " + d
		}
	}
	return begin
}

// together names files: "a.mp4, b.mp4 and c.mp4".
func together(names []string) string {
	if n := len(names) - 1; n > 0 {
		return strings.Join(names[:n], ", ") + " and " + names[n]
	}
	return strings.Join(names, "")
}

// with is a word and its value, nothing without one.
func with(word, value string) string {
	if value == "" || value == "0" {
		return ""
	}
	return word + " " + value
}

func when(yes bool, text string) string {
	if yes {
		return text
	}
	return ""
}

// spoken is a value in words, or as it is where there are none for it.
func spoken(words map[string]string, value string) string {
	if w, ok := words[value]; ok {
		return w
	}
	return value
}

var (
	platformNames = map[string]string{
		"email": "e-mail", "web": "the web", "whatsapp": "WhatsApp", "youtube": "YouTube", "instagram_reels": "Instagram Reels",
		"tiktok": "TikTok", "archive": "an archive",
	}
	qualityWords = map[string]string{
		"small_file": "in the quality of a small file", "balanced": "in balanced quality", "visually_good": "in good quality",
		"high_quality": "in high quality", "lossless": "without loss", "best_possible": "in the best possible quality",
	}
	fitWords = map[string]string{
		fitContain: "all of it inside", fitCrop: "what is over cut off", fitPad: "with bars around it", fitStretch: "stretched",
	}
	flipWords = map[string]string{"horizontal": "left to right", "vertical": "top to bottom"}
)

func (m made) details() []string {
	return []string{spoken(qualityWords, m.Quality), with("as", m.Output), when(m.Preview, "with a preview first")}
}

func crf(v *int) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf("at CRF %d", *v)
}

// moment tells a time or a length in the same way wherever it is said, and as it
// was written when that would lose something of it.
func moment(text string) string {
	v, ok := clock(text)
	switch {
	case !ok || text == "":
		return text
	case v < 60:
		return seconds(v) + " s"
	case v == float64(int(v)):
		return length(v)
	}
	return text
}

func prepareSummary(in prepareArgs) string {
	return sentence("Make "+together(in.Inputs)+" fit for "+spoken(platformNames, in.Platform), made{Quality: in.Quality, Preview: in.Preview}.details()...)
}

func compressSummary(in compressArgs) string {
	begin := "Compress " + together(in.Inputs)
	if in.Target != "" {
		begin += " for " + spoken(platformNames, in.Target)
	}
	if in.TargetSizeMB > 0 {
		begin += " to at most " + seconds(in.TargetSizeMB) + " MB"
	}
	return sentence(begin, append([]string{crf(in.CRF)}, in.details()...)...)
}

func convertSummary(in convertArgs) string {
	begin := "Convert " + together(in.Inputs)
	if in.Container != "" {
		begin += " to " + in.Container
	}
	picture, sound := in.VideoCodec, in.AudioCodec
	if picture != "" {
		picture = "the picture as " + codecName(picture)
	}
	if sound != "" {
		sound = "the sound as " + codecName(sound)
	}
	return sentence(begin, append([]string{picture, sound, crf(in.CRF)}, in.details()...)...)
}

func resizeSummary(in resizeArgs) string {
	keep := ""
	if in.KeepAspectRatio != nil {
		keep = map[bool]string{true: "keeping its shape", false: "whatever its shape"}[*in.KeepAspectRatio]
	}
	var to []string
	switch {
	case in.Width > 0 && in.Height > 0:
		to = append(to, fmt.Sprintf("%d×%d", in.Width, in.Height))
	case in.Width > 0:
		to = append(to, fmt.Sprintf("a width of %d", in.Width))
	case in.Height > 0:
		to = append(to, fmt.Sprintf("a height of %d", in.Height))
	}
	if in.Aspect != "" {
		to = append(to, "the shape "+in.Aspect)
	}
	begin := "Resize " + together(in.Inputs)
	if len(to) > 0 {
		begin += " to " + together(to)
	}
	return sentence(begin, append([]string{spoken(fitWords, in.Fit), keep}, in.details()...)...)
}

func trimSummary(in trimArgs) string {
	begin := "Cut " + in.Input + " down"
	if in.Start+in.End+in.Duration+in.Last+in.CutLast != "" {
		begin += " to " + strings.TrimPrefix(sentence("",
			when(in.Start != "" && in.End != "", "the part from "+moment(in.Start)+" to "+moment(in.End)),
			when(in.Start != "" && in.End == "" && in.Duration == "", "the part from "+moment(in.Start)+" on"),
			when(in.Start != "" && in.Duration != "", moment(in.Duration)+" from "+moment(in.Start)+" on"),
			when(in.Start == "" && in.End != "", "the part before "+moment(in.End)),
			when(in.Start == "" && in.Duration != "", "its first "+moment(in.Duration)),
			when(in.Last != "", "its last "+moment(in.Last)),
			when(in.CutLast != "", "all but its last "+moment(in.CutLast))), ", ")
	}
	return sentence(begin, in.details()...)
}

func extractSummary(in extractArgs) string {
	begin := "Take the sound of " + together(in.Inputs)
	for _, part := range []string{with("from", moment(in.Start)), with("to", moment(in.End)), with("as", in.AudioFormat), with("at", in.Bitrate)} {
		if part != "" {
			begin += " " + part
		}
	}
	return sentence(begin, spoken(qualityWords, in.Quality), with("called", in.Output))
}

func thumbnailSummary(in thumbnailArgs) string {
	begin := "Take a picture of " + in.Input
	if in.AtTime != "" {
		begin += " at " + moment(in.AtTime)
	}
	if in.ImageFormat != "" {
		begin += " as " + in.ImageFormat
	}
	return sentence(begin, with("with a size of", in.Scale), with("called", in.Output))
}

func reverseSummary(in reverseArgs) string {
	sound := ""
	if in.IncludeAudio != nil {
		sound = map[bool]string{true: "with its sound", false: "without its sound"}[*in.IncludeAudio]
	}
	return sentence("Reverse "+together(in.Inputs), append([]string{sound}, made{Quality: in.Quality, Output: in.Output}.details()...)...)
}

func stripSummary(in stripArgs) string {
	return sentence("Remove the sound of "+together(in.Inputs), in.details()...)
}

func speedSummary(in speedArgs) string {
	return sentence("Play "+together(in.Inputs)+" at "+seconds(in.Speed)+"× speed", in.details()...)
}

func volumeSummary(in volumeArgs) string {
	begin := "Change the volume of " + together(in.Inputs)
	g, ok := gain(in.Level)
	db, isDB := strings.CutSuffix(g, "dB")
	switch factor, err := strconv.ParseFloat(g, 64); {
	case in.Normalize && in.Level == "":
		begin = "Normalize the volume of " + together(in.Inputs)
	case in.Normalize:
		begin += " to " + in.Level + " and normalized"
	case ok && isDB && strings.HasPrefix(db, "-"):
		begin = "Make " + together(in.Inputs) + " quieter by " + db[1:] + " dB"
	case ok && isDB:
		begin = "Make " + together(in.Inputs) + " louder by " + db + " dB"
	case ok && err == nil:
		begin += " to " + seconds(factor*100) + "% of what it is"
	case in.Level != "":
		begin += " to " + in.Level
	}
	return sentence(begin, in.details()...)
}

func rotateSummary(in rotateArgs) string {
	files, flip := together(in.Inputs), spoken(flipWords, in.Flip)
	begin := "Turn " + files
	switch angle := ((in.Angle % 360) + 360) % 360; {
	case angle == 0 && flip != "":
		begin, flip = "Mirror "+files+" "+flip, ""
	case angle == 90:
		begin += " by 90° to the right"
	case angle == 270:
		begin += " by 90° to the left"
	case angle == 180:
		begin += " upside down"
	default:
		begin += fmt.Sprintf(" by %d° to the right", angle)
	}
	return sentence(begin, append([]string{with("mirrored", flip)}, in.details()...)...)
}

func concatSummary(in concatArgs) string {
	inputs := in.Inputs
	if in.Base != "" {
		inputs = append([]string{in.Base}, inputs...)
	}
	output := in.Output
	if output == joined { // of sound it is called otherwise
		output = ""
	}
	return sentence("Join "+together(append(inputs[:len(inputs):len(inputs)], in.Append...)), with("in", in.TargetResolution),
		when(in.TargetFPS > 0, "with "+seconds(in.TargetFPS)+" frames a second"), with("as", output))
}

func inspectSummary(in inspectArgs) string { return "Look at " + together(in.Files) }
