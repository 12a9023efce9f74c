package main

import (
	"slices"
	"strings"

	"stepbox.dev/guest-sdk"
)

// many are the arguments of what is done with several files, one by one.
type many struct {
	Inputs []string `json:"inputs" required:"true" role:"input"`
}

// made are the arguments about what comes out.
type made struct {
	Quality string `json:"quality" enum:"small_file,balanced,visually_good,high_quality,lossless,best_possible"`
	Output  string `json:"output" role:"output"`
	Preview bool   `json:"preview"`
}

func (m made) options(mode, suffix string) options {
	return options{Mode: mode, Suffix: suffix, Quality: m.Quality, Output: m.Output, Named: m.Output != "", Preview: m.Preview}
}

// extensions are those of files that are taken out of folders and by patterns.
var extensions = struct{ video, audio []string }{
	[]string{"mp4", "m4v", "mov", "mkv", "webm", "avi", "wmv", "asf", "flv", "mpg", "mpeg", "ts", "mts", "m2ts", "3gp", "3g2", "ogv", "gif", "vob", "dv", "mxf"},
	[]string{"mp3", "wav", "flac", "aac", "m4a", "ogg", "oga", "opus", "wma", "aiff", "aif", "caf", "ac3"},
}

// calls are the steps of every intent that makes something: find the files,
// look at them, decide how, then do it.
func calls(inputs []string, sound bool, o options) ([]guest.Call, error) {
	taken := extensions.video
	if sound {
		taken = slices.Concat(extensions.video, extensions.audio)
	}
	list := []guest.Call{
		{Tool: "resolve_inputs", Args: map[string]any{"paths": inputs, "extensions": taken}, Output: "$files"},
		{Tool: "probe_media", Args: map[string]any{"files": "$files.files"}, Output: "$probed"},
	}
	load, build := loading(o)
	build["media"], build["options"] = "$probed.media", o
	list = append(append(list, load...), guest.Call{Tool: "build_recipes", Args: build, Output: "$built"})
	cook := guest.Call{Tool: "run_batch", Args: map[string]any{"recipes": "$built.recipes"}}
	if o.Preview {
		list = append(list, guest.Call{Tool: "run_preview", Args: map[string]any{"recipes": "$built.recipes"}, Output: "$preview"})
		cook.Args["preview"] = "$preview"
	}
	return append(list, cook), nil
}

// refuse ends the plan before anything runs, with the reason.
func refuse(reason string) ([]guest.Call, error) {
	return []guest.Call{{Tool: "reject", Args: map[string]any{"reason": reason}}}, nil
}

type prepareArgs struct {
	many
	Platform string `json:"platform" required:"true" enum:"whatsapp,email,web,youtube,instagram_reels,tiktok,archive"`
	Quality  string `json:"quality" enum:"small_file,balanced,visually_good,high_quality,lossless,best_possible"`
	Preview  bool   `json:"preview"`
}

func expandPrepare(in prepareArgs) ([]guest.Call, error) {
	o := made{Quality: in.Quality, Preview: in.Preview}.options(modePlatform, "_"+in.Platform)
	o.Platform = in.Platform
	return calls(in.Inputs, false, o)
}

type compressArgs struct {
	many
	made
	Target       string  `json:"target" enum:"whatsapp,email,web,youtube,instagram_reels,tiktok,archive"`
	TargetSizeMB float64 `json:"target_size_mb" min:"0.001"`
	CRF          *int    `json:"crf" min:"0" max:"51"`
}

func expandCompress(in compressArgs) ([]guest.Call, error) {
	o := in.options(modeCompress, "_compressed")
	o.Platform, o.SizeMB, o.CRF = in.Target, in.TargetSizeMB, in.CRF
	// Sound is made smaller when it is named; of a folder the videos are meant.
	video := func(name string) bool { return !slices.Contains(extensions.audio, extension(name)) }
	return calls(in.Inputs, !slices.ContainsFunc(in.Inputs, video), o)
}

type convertArgs struct {
	many
	made
	Container  string `json:"container" enum:"mp4,mkv,mov,webm,avi,gif,ts,flv,3gp"`
	VideoCodec string `json:"video_codec" enum:"h264,hevc,vp9,vp8,av1,mpeg4,prores,mjpeg"`
	AudioCodec string `json:"audio_codec" enum:"aac,mp3,opus,vorbis,flac,alac,ac3,pcm_s16le,pcm_s24le"`
	CRF        *int   `json:"crf" min:"0" max:"51"`
}

func expandConvert(in convertArgs) ([]guest.Call, error) {
	if k, ok := containers[in.Container]; ok {
		if in.VideoCodec != "" && !slices.Contains(k.video, in.VideoCodec) {
			return refuse(a(k.ext) + " cannot hold " + in.VideoCodec + "; it holds " + strings.Join(k.video, ", "))
		}
		if in.AudioCodec != "" && !slices.Contains(k.audio, in.AudioCodec) {
			return refuse(a(k.ext) + " cannot hold " + in.AudioCodec + " sound")
		}
	}
	if in.Container != "" && in.Output != "" {
		if ext := extension(in.Output); ext != "" && kindNamed(ext) != in.Container {
			return guest.Ask("", "The output is called "+in.Output+", but should be "+a(in.Container)+". Which of the two?")
		}
	}
	o := in.options(modeConvert, "_converted")
	o.Container, o.Video, o.Audio, o.CRF = in.Container, in.VideoCodec, in.AudioCodec, in.CRF
	return calls(in.Inputs, false, o)
}

type resizeArgs struct {
	many
	made
	Width           int    `json:"width" min:"2" max:"8192"`
	Height          int    `json:"height" min:"2" max:"8192"`
	KeepAspectRatio *bool  `json:"keep_aspect_ratio"`
	Fit             string `json:"fit" enum:"contain,crop,pad,stretch"`
	Aspect          string `json:"aspect"`
}

func expandResize(in resizeArgs) ([]guest.Call, error) {
	if in.Width == 0 && in.Height == 0 && in.Aspect == "" {
		return guest.Ask("width", "To which width, height or aspect should it be brought?")
	}
	if v := ratio(in.Aspect, ":"); in.Aspect != "" && (v < 0.1 || v > 10) {
		return guest.Ask("aspect", "Which aspect: 16:9, 9:16, 1:1, 4:5 or another like these?")
	}
	o := in.options(modeResize, "_resized")
	o.Width, o.Height, o.Keep, o.Fit, o.Aspect = in.Width, in.Height, in.KeepAspectRatio, in.Fit, in.Aspect
	return calls(in.Inputs, false, o)
}

type trimArgs struct {
	made
	Input    string `json:"input" required:"true" role:"input"`
	Start    string `json:"start"`
	End      string `json:"end"`
	Duration string `json:"duration"`
	Last     string `json:"last"`
	CutLast  string `json:"cut_last"`
}

func expandTrim(in trimArgs) ([]guest.Call, error) {
	o := in.options(modeTrim, "_trimmed")
	if arg, ask := o.times(map[string]string{"start": in.Start, "end": in.End, "duration": in.Duration, "last": in.Last, "cut_last": in.CutLast}); ask != "" {
		return guest.Ask(arg, ask)
	}
	if o.Start == 0 && o.End == 0 && o.Duration == 0 && o.Last == 0 && o.CutLast == 0 {
		return guest.Ask("start", "Which part should be kept: from when to when?")
	}
	return calls([]string{in.Input}, true, o)
}

type extractArgs struct {
	many
	AudioFormat string `json:"audio_format" enum:"mp3,aac,wav,flac,ogg,opus,m4a"`
	Bitrate     string `json:"bitrate"`
	Quality     string `json:"quality" enum:"small_file,balanced,visually_good,high_quality,lossless,best_possible"`
	Start       string `json:"start"`
	End         string `json:"end"`
	Output      string `json:"output" role:"output"`
}

func expandExtract(in extractArgs) ([]guest.Call, error) {
	o := made{Quality: in.Quality, Output: in.Output}.options(modeExtract, "_audio")
	o.Container = in.AudioFormat
	if arg, ask := o.times(map[string]string{"start": in.Start, "end": in.End}); ask != "" {
		return guest.Ask(arg, ask)
	}
	if in.Bitrate != "" {
		if o.Kbps = kilobits(in.Bitrate); o.Kbps == 0 {
			return guest.Ask("bitrate", "Which bit rate, from 24 to 512 kbps?")
		}
	}
	return calls(in.Inputs, true, o)
}

type thumbnailArgs struct {
	Input       string `json:"input" required:"true" role:"input"`
	AtTime      string `json:"at_time"`
	ImageFormat string `json:"image_format" enum:"jpg,jpeg,png,webp"`
	Scale       string `json:"scale"`
	Output      string `json:"output" role:"output"`
}

func expandThumbnail(in thumbnailArgs) ([]guest.Call, error) {
	o := made{Output: in.Output}.options(modeThumbnail, "_thumb")
	o.Image = in.ImageFormat
	if in.AtTime != "" {
		at, ok := clock(in.AtTime)
		if !ok {
			return guest.Ask("at_time", "At which time, like 00:01:30, should the picture be taken?")
		}
		o.At = &at
	}
	if in.Scale != "" {
		w, h, ok := resolution(in.Scale)
		if !ok {
			return guest.Ask("scale", "How large should the picture be, like 720p or 640x360?")
		}
		o.Width, o.Height = w, h
	}
	return calls([]string{in.Input}, false, o)
}

type reverseArgs struct {
	many
	IncludeAudio *bool  `json:"include_audio"`
	Quality      string `json:"quality" enum:"small_file,balanced,visually_good,high_quality,lossless,best_possible"`
	Output       string `json:"output" role:"output"`
}

func expandReverse(in reverseArgs) ([]guest.Call, error) {
	o := made{Quality: in.Quality, Output: in.Output}.options(modeReverse, "_reversed")
	o.Sound = in.IncludeAudio == nil || *in.IncludeAudio
	return calls(in.Inputs, false, o)
}

type stripArgs struct {
	many
	made
}

func expandStrip(in stripArgs) ([]guest.Call, error) {
	return calls(in.Inputs, false, in.options(modeStrip, "_silent"))
}

type speedArgs struct {
	many
	made
	Speed float64 `json:"speed" required:"true" min:"0.05" max:"100"`
}

func expandSpeed(in speedArgs) ([]guest.Call, error) {
	o := in.options(modeSpeed, "_speed")
	o.Speed = in.Speed
	return calls(in.Inputs, true, o)
}

type volumeArgs struct {
	many
	made
	Level     string `json:"level"`
	Normalize bool   `json:"normalize"`
}

func expandVolume(in volumeArgs) ([]guest.Call, error) {
	o := in.options(modeVolume, "_volume")
	switch o.Normalize = in.Normalize; {
	case in.Normalize && in.Level != "":
		return guest.Ask("", "Should the volume be normalized, or changed to "+in.Level+"?")
	case !in.Normalize:
		var ok bool
		if o.Gain, ok = gain(in.Level); !ok {
			return guest.Ask("level", "How loud: for example 6dB, -3dB, 50%, louder or quieter?")
		}
	}
	return calls(in.Inputs, true, o)
}

type rotateArgs struct {
	many
	made
	Angle int    `json:"angle"`
	Flip  string `json:"flip" enum:"horizontal,vertical"`
}

func expandRotate(in rotateArgs) ([]guest.Call, error) {
	o := in.options(modeRotate, "_rotated")
	o.Angle, o.Flip = ((in.Angle%360)+360)%360, in.Flip
	if o.Angle%90 != 0 || o.Angle == 0 && o.Flip == "" {
		return guest.Ask("angle", "By how much should it be turned clockwise: 90, 180 or 270 degrees?")
	}
	return calls(in.Inputs, false, o)
}

type concatArgs struct {
	Inputs           []string `json:"inputs" role:"input"`
	Base             string   `json:"base" role:"input"`
	Append           []string `json:"append" role:"input"`
	Output           string   `json:"output" role:"output"`
	TargetResolution string   `json:"target_resolution"`
	TargetFPS        float64  `json:"target_fps" min:"1" max:"120"`
}

// joined is the output of concat_video that its contract names when nobody
// else does.
const joined = "combined.mp4"

func expandConcat(in concatArgs) ([]guest.Call, error) {
	o := made{Output: in.Output}.options(modeConcat, "_joined")
	o.FPS = in.TargetFPS
	if in.Output == joined {
		o.Named = false
	}
	if in.TargetResolution != "" {
		w, h, ok := resolution(in.TargetResolution)
		if !ok {
			return guest.Ask("target_resolution", "Which resolution should the joined video have, like 1080p or 1280x720?")
		}
		o.Width, o.Height = w, h
	}
	inputs := in.Inputs
	if in.Base != "" {
		inputs = append([]string{in.Base}, inputs...)
	}
	list, err := calls(append(inputs, in.Append...), true, o)
	if err == nil {
		list[0].Args["repeat"] = true // an intro may be the end too
	}
	return list, err
}

type inspectArgs struct {
	Files []string `json:"files" required:"true" role:"input"`
}

func expandInspect(in inspectArgs) ([]guest.Call, error) {
	return []guest.Call{
		{Tool: "resolve_inputs", Args: map[string]any{"paths": in.Files, "extensions": slices.Concat(extensions.video, extensions.audio)}, Output: "$files"},
		{Tool: "probe_media", Args: map[string]any{"files": "$files.files", "show": true}, Output: "$probed"},
	}, nil
}
