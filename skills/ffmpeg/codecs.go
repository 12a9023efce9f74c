package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// container is a kind of file to make.
type container struct {
	ext    string
	muxer  string   // ffmpeg's name for it
	format string   // one of the names ffprobe then has for it
	video  []string // codecs it holds, the one to encode first
	audio  []string
	carries
}

// carries is what a container holds besides one picture and one sound.
type carries struct {
	tracks    bool     // several sounds
	subtitles []string // as they are
	text      string   // what other text is encoded to, "" when it holds none
	covers    []string // codecs of one
}

var (
	inMP4  = carries{true, []string{"mov_text"}, "mov_text", []string{"mjpeg", "png"}}
	inMOV  = carries{true, []string{"mov_text"}, "mov_text", nil}
	inMKV  = carries{true, []string{"subrip", "ass", "webvtt", "hdmv_pgs_subtitle", "dvd_subtitle", "dvb_subtitle"}, "srt", nil}
	inWebM = carries{true, []string{"webvtt"}, "webvtt", nil}
	inSong = carries{covers: []string{"mjpeg", "png"}}
)

var containers = map[string]container{
	"mp4":  {"mp4", "mp4", "mp4", []string{"h264", "hevc", "av1", "vp9", "mpeg4"}, []string{"aac", "mp3", "ac3", "eac3", "alac"}, inMP4},
	"mov":  {"mov", "mov", "mov", []string{"h264", "hevc", "prores", "mpeg4", "mjpeg"}, []string{"aac", "mp3", "ac3", "alac", "pcm_s16le", "pcm_s24le"}, inMOV},
	"mkv":  {"mkv", "matroska", "matroska", []string{"h264", "hevc", "av1", "vp9", "vp8", "mpeg4", "prores", "mpeg2video", "mjpeg"}, []string{"aac", "opus", "vorbis", "mp3", "flac", "ac3", "eac3", "alac", "pcm_s16le", "pcm_s24le"}, inMKV},
	"webm": {"webm", "webm", "webm", []string{"vp9", "vp8", "av1"}, []string{"opus", "vorbis"}, inWebM},
	"avi":  {"avi", "avi", "avi", []string{"mpeg4", "mjpeg"}, []string{"mp3", "ac3", "pcm_s16le"}, carries{}},
	"ts":   {"ts", "mpegts", "mpegts", []string{"h264", "hevc", "mpeg2video"}, []string{"aac", "mp3", "ac3", "eac3"}, carries{}},
	"flv":  {"flv", "flv", "flv", []string{"h264"}, []string{"aac", "mp3"}, carries{}},
	"3gp":  {"3gp", "3gp", "3gp", []string{"h264"}, []string{"aac"}, carries{}},
	"gif":  {"gif", "gif", "gif", []string{"gif"}, nil, carries{}},
	"mp3":  {"mp3", "mp3", "mp3", nil, []string{"mp3"}, inSong},
	"aac":  {"aac", "adts", "aac", nil, []string{"aac"}, carries{}},
	"m4a":  {"m4a", "ipod", "m4a", nil, []string{"aac", "alac"}, inSong},
	"wav":  {"wav", "wav", "wav", nil, []string{"pcm_s16le", "pcm_s24le"}, carries{}},
	"flac": {"flac", "flac", "flac", nil, []string{"flac"}, inSong},
	"opus": {"opus", "opus", "ogg", nil, []string{"opus"}, carries{}},
	"ogg":  {"ogg", "ogg", "ogg", nil, []string{"opus", "vorbis", "flac"}, carries{}},
}

// kindNamed is the container that an extension stands for.
func kindNamed(ext string) string {
	if ext == "m4v" {
		return "mp4"
	}
	return ext
}

// kindOf is the container that a file is or would be by its name: the one to
// keep when none is asked for. What cannot be written becomes mp4, or m4a.
func kindOf(m Media) string {
	ext := kindNamed(extension(m.Path))
	dated := ext == "ts" || ext == "flv" || ext == "3gp" // made when they are asked for
	if c, ok := containers[ext]; ok && !dated && (m.Video == nil || c.video != nil) {
		return ext
	}
	if m.Video == nil {
		return "m4a"
	}
	return "mp4"
}

// a is the kind of file with its article.
func a(kind string) string {
	if strings.ContainsAny(kind[:1], "aom") && kind != "mov" || kind == "flv" { // an mp4, an flv, as they are read out
		return "an " + kind
	}
	return "a " + kind
}

// encodable are the picture codecs the engine has an encoder for.
var encodable = []string{"h264", "vp9", "vp8", "av1", "mpeg4", "prores", "mjpeg"}

// modern are the codecs that a file which has them is encoded to again.
var modern = []string{"h264", "vp9", "vp8", "av1", "prores"}

// twoPasses are the codecs whose encoder looks at all of a picture first and
// meets a bit rate then. The others, at the only speed that is bearable here, take
// one pass and meet it less surely.
var twoPasses = []string{"h264", "mpeg4"}

// loses says that a codec cannot keep all of a picture, and what can; "" of one
// that can.
func loses(codec string) string {
	if codec == "h264" || codec == "vp9" {
		return ""
	}
	return codec + " cannot be encoded without loss; h264 (mp4, mov, mkv) and vp9 (webm, mkv) can"
}

// rated says that an encoder can be told a bit rate.
func rated(codec string) bool { return codec != "prores" && codec != "mjpeg" && codec != "gif" }

// quality is how well to encode.
type quality struct {
	CRF       int    `json:"crf"` // as libx264 counts; other encoders' are derived
	Preset    string `json:"preset"`
	AudioKbps int    `json:"audio_kbps"`
}

// videoArgs are the options that encode to a codec. rate, in bits a second, is
// the average to meet, limit the most to use; 0 leaves both to the quality.
func videoArgs(codec string, q quality, rate, limit int64) ([]string, error) {
	args := []string{"-threads", "1"}
	number := strconv.Itoa
	switch codec {
	case "h264":
		args = append(args, "-c:v", "libx264", "-preset", q.Preset, "-pix_fmt", "yuv420p")
		if rate == 0 {
			args = append(args, "-crf", number(q.CRF))
		}
	case "vp9":
		args = append(args, "-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-pix_fmt", "yuv420p")
		switch {
		case q.CRF == 0:
			args = append(args, "-lossless", "1")
		case rate == 0:
			args = append(args, "-crf", number(min(q.CRF+9, 63)), "-b:v", "0")
		}
	case "vp8":
		args = append(args, "-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-lag-in-frames", "0", "-pix_fmt", "yuv420p")
		if rate == 0 {
			args = append(args, "-crf", number(min(q.CRF+4, 63)), "-b:v", "4M")
		}
	case "av1":
		args = append(args, "-c:v", "libaom-av1", "-usage", "realtime", "-cpu-used", "8", "-pix_fmt", "yuv420p")
		if rate == 0 {
			args = append(args, "-crf", number(min(q.CRF+9, 63)), "-b:v", "0")
		}
	case "mpeg4":
		args = append(args, "-c:v", "mpeg4", "-pix_fmt", "yuv420p")
		if rate == 0 {
			args = append(args, "-q:v", number(min(max(q.CRF/4, 2), 31)))
		}
	case "mjpeg":
		args = append(args, "-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "-q:v", number(min(max(q.CRF/5, 2), 31)))
	case "prores":
		args = append(args, "-c:v", "prores_ks", "-profile:v", "2", "-pix_fmt", "yuv422p10le")
	default:
		return nil, guest.Errorf(abi.CodeUnsupported, "the engine cannot encode %s; it encodes %s", codec, strings.Join(encodable, ", "))
	}
	if rate > 0 {
		args = append(args, "-b:v", strconv.FormatInt(rate, 10))
	} else if limit > 0 && codec == "h264" {
		args = append(args, "-maxrate", strconv.FormatInt(limit, 10), "-bufsize", strconv.FormatInt(2*limit, 10))
	}
	return args, nil
}

var audioEncoders = map[string]string{
	"aac": "aac", "mp3": "libmp3lame", "opus": "libopus", "flac": "flac", "alac": "alac", "ac3": "ac3",
	"pcm_s16le": "pcm_s16le", "pcm_s24le": "pcm_s24le",
}

// encodableSound lists the sound codecs the engine has an encoder for.
func encodableSound() string { return strings.Join(slices.Sorted(maps.Keys(audioEncoders)), ", ") }

// audioArgs are the options that encode sound to a codec.
func audioArgs(codec string, a Audio, kbps int) ([]string, error) {
	encoder, ok := audioEncoders[codec]
	if !ok {
		return nil, guest.Errorf(abi.CodeUnsupported, "the engine cannot encode %s; it encodes %s", codec, encodableSound())
	}
	args := []string{"-c:a", encoder}
	switch codec {
	case "aac", "mp3", "opus", "ac3":
		args = append(args, "-b:a", strconv.Itoa(max(kbps, 24))+"k")
	}
	if a.Channels > 2 && codec != "flac" && !strings.HasPrefix(codec, "pcm") {
		args = append(args, "-ac", "2")
	}
	return args, nil
}

// lossy says that encoding to a codec loses something, so that a bit rate
// means something.
func lossy(codec string) bool {
	return slices.Contains([]string{"aac", "mp3", "opus", "ac3"}, codec)
}
