package main

import (
	"slices"
	"strconv"
	"strings"
)

// job is one file to make of another, before it is a command line.
type job struct {
	in     Media
	seek   float64 // where to begin
	length float64 // how much to take of the input, 0 for all that follows
	steady bool    // pictures that stand for long are repeated, so that a part may begin and end in one

	video, audio   bool
	videoFilters   []string
	audioFilters   []string
	codec          string   // of the picture; "copy" leaves it as it is
	videoOptions   []string // what encodes it
	sound          string   // likewise
	audioOptions   []string
	kind           container
	format         string // of the result: ffprobe's name
	still          bool   // a single image
	output         string
	width, height  int // of the result, when the picture is encoded
	duration       float64
	rate, maxBytes int64  // two passes at that many bits a second, for at most that
	graph          string // what follows the picture's filters, when it is no chain
	carried        carried
	notes          []string
}

// threads keeps ffmpeg to one: the engine has no more.
var threads = []string{"-filter_threads", "1", "-filter_complex_threads", "1"}

func ffmpeg() []string {
	return append([]string{"ffmpeg", "-hide_banner", "-nostdin", "-loglevel", "error", "-nostats", "-progress", "pipe:1"}, threads...)
}

// argv is the command line of one pass: 0 when there is only one.
func (j job) argv(pass int, log string) []string {
	a := ffmpeg()
	if j.in.loose() {
		a = append(a, "-fflags", "+genpts")
	}
	if j.in.loose() || j.steady {
		j = j.exactly()
	}
	if j.seek > 0 {
		a = append(a, "-ss", seconds(j.seek))
	}
	if j.length > 0 {
		a = append(a, "-t", seconds(j.length))
	}
	a = append(a, "-threads", "1")
	a = append(a, reading(j.in.Path)...)
	if j.video {
		if j.graph != "" {
			chain := strings.Join(append(slices.Clone(j.videoFilters), j.graph), ",")
			a = append(a, "-filter_complex", "[0:"+strconv.Itoa(j.in.Video.Index)+"]"+chain+"[v]", "-map", "[v]")
		} else {
			a = append(a, "-map", "0:"+strconv.Itoa(j.in.Video.Index))
			if len(j.videoFilters) > 0 {
				filter := "-vf"
				if j.carried.cover != nil {
					filter = "-filter:v:0" // the cover is a picture too, and stays as it is
				}
				a = append(a, filter, strings.Join(j.videoFilters, ","))
			}
		}
		if j.codec == "copy" {
			a = append(a, "-c:v", "copy")
		}
		a = append(a, j.videoOptions...)
		if pass > 0 {
			// Both passes must see the same frames, whatever the file's rate does.
			mode := "vfr"
			if j.kind.muxer == "avi" {
				mode = "cfr"
			}
			a = append(a, "-fps_mode", mode, "-pass", strconv.Itoa(pass), "-passlogfile", log)
		}
	} else if j.carried.cover == nil {
		a = append(a, "-vn")
	}
	if pass == 1 {
		return append(a, "-an", "-sn", "-dn", "-f", "null", "-")
	}
	a = append(append(a, j.soundArgs()...), j.otherArgs()...)
	return append(append(a, j.muxing()...), fileURL(j.output))
}

// exactly begins well before the place where a file is to be cut, and drops what
// is decoded of it in front of the place: where a loose file is cut, or one picture
// stands for a while.
func (j job) exactly() job {
	if !j.video || j.codec == "copy" || j.seek == 0 && !j.steady {
		return j
	}
	before := min(j.seek, 30)
	part := "start=" + seconds(before)
	if j.length > 0 {
		part += ":duration=" + seconds(j.length)
	}
	picture := []string{"trim=" + part, "setpts=PTS-STARTPTS"}
	if j.steady {
		picture = append([]string{"fps=" + strconv.Itoa(int(max(j.in.Video.FPS, 25)))}, picture...)
	}
	j.videoFilters = append(picture, j.videoFilters...)
	j.audioFilters = append([]string{"atrim=" + part, "asetpts=PTS-STARTPTS"}, j.audioFilters...)
	if j.seek -= before; j.length > 0 {
		j.length += before
	}
	return j
}

func (j job) muxing() []string {
	switch {
	case j.still:
		return []string{"-frames:v", "1", "-update", "1", "-f", "image2"}
	case slices.Contains([]string{"mp4", "mov", "ipod"}, j.kind.muxer):
		return []string{"-movflags", "+faststart", "-f", j.kind.muxer}
	case j.kind.muxer == "avi": // the delay of MP3 would push the picture back by a frame
		return []string{"-avoid_negative_ts", "disabled", "-f", "avi"}
	}
	return []string{"-f", j.kind.muxer}
}

// Recipe is how one output is made: command lines, what must come out, and how
// long it takes.
type Recipe struct {
	Inputs []string `json:"inputs"`
	Output string   `json:"output"`
	// Stages are done one after the other; the command lines of one at once.
	Stages [][][]string `json:"stages"`
	// Lists are files that a command line reads, by name in /@tmp.
	Lists  map[string]string `json:"lists,omitempty"`
	Expect Expect            `json:"expect"`
	// Was is the size of an input that is to become smaller.
	Was int64 `json:"was,omitempty"`
	// Work is the estimate of the time it takes, in seconds on one core, Shares
	// what of it each stage takes; none: all the same.
	Work   float64   `json:"work"`
	Shares []float64 `json:"shares,omitempty"`
	// Trial is a small piece of it, to see how fast this machine is.
	Trial *Trial   `json:"trial,omitempty"`
	Notes []string `json:"notes,omitempty"`
	// Instead is a surer way to cut or join, which takes longer: for what comes out
	// wrong.
	Instead *Recipe `json:"instead,omitempty"`
	// Preview makes a short sample of it.
	Preview *Recipe `json:"preview,omitempty"`
	// Planned is what a dry run takes the output for.
	Planned Media `json:"planned"`
}

// Expect is what an output must be.
type Expect struct {
	Format    string  `json:"format"`
	Video     string  `json:"video,omitempty"` // codec; none: no picture
	Audio     string  `json:"audio,omitempty"`
	Sounds    int     `json:"sounds,omitempty"` // how many tracks, when they are counted
	Subtitles int     `json:"subtitles,omitempty"`
	Covers    int     `json:"covers,omitempty"`
	Width     int     `json:"width,omitempty"`
	Height    int     `json:"height,omitempty"`
	Duration  float64 `json:"duration,omitempty"`
	Tolerance float64 `json:"tolerance,omitempty"`
	MaxBytes  int64   `json:"max_bytes,omitempty"`
}

// recipe renders the job. n tells its scratch files from those of others.
func (j job) recipe(n int) Recipe {
	r := Recipe{Inputs: []string{j.in.Path}, Output: j.output, Expect: j.expect(), Notes: j.notes, Work: j.work(), Planned: j.planned()}
	if j.rate > 0 {
		log := "/@tmp/pass-" + strconv.Itoa(n)
		r.Stages, r.Shares = [][][]string{{j.argv(1, log)}, {j.argv(2, log)}}, []float64{firstPass / (1 + firstPass), 1 / (1 + firstPass)}
	} else {
		r.Stages = [][][]string{{j.argv(0, "")}}
	}
	r.Trial = j.trial(r.Work)
	return r
}

// planned is what is known of the output before it is made.
func (j job) planned() Media {
	m := Media{Path: j.output, Format: j.format, Duration: j.duration, Size: j.maxBytes}
	e := j.expect()
	if j.video && !j.still {
		v := *j.in.Video
		v.Index, v.Codec, v.Width, v.Height, v.Pixels = 0, e.Video, e.Width, e.Height, "yuv420p"
		m.Video = &v
	}
	if j.audio {
		for k, t := range j.sounds() {
			a := t.in
			if a.Index = 1 + k; t.codec != "copy" {
				a.Codec = t.codec
			}
			if k == 0 {
				m.Audio = &a
			} else {
				m.More = append(m.More, a)
			}
		}
	}
	return m
}

// sample is a short piece out of the middle, to look at.
func (j job) sample(output string) job {
	const longest = 5
	whole := j.length
	if whole == 0 {
		whole = j.in.Duration - j.seek
	}
	take := min(longest, whole)
	if whole > 0 {
		j.duration *= take / whole
	}
	if j.length = take; j.codec != "copy" && !j.in.loose() { // what is copied cannot begin anywhere
		j.seek += (whole - take) / 2
	}
	j.maxBytes, j.rate, j.output, j.notes = 0, 0, output, nil
	return j
}

func (j job) expect() Expect {
	e := Expect{Format: j.format, MaxBytes: j.maxBytes, Sounds: len(j.sounds()), Subtitles: len(j.carried.subtitles)}
	if j.carried.cover != nil {
		e.Covers = 1
	}
	if j.video {
		e.Video, e.Width, e.Height = j.codec, j.width, j.height
		if j.codec == "copy" {
			e.Video, e.Width, e.Height = j.in.Video.Codec, j.in.Video.Width, j.in.Video.Height
		}
	}
	if j.audio {
		if e.Audio = j.sound; e.Audio == "copy" {
			e.Audio = j.in.Audio.Codec
		}
	}
	if !j.still && j.duration > 0 {
		e.Duration = j.duration
		// A frame more or less, and what sound is cut in.
		e.Tolerance = 0.15
		if j.video && j.in.Video.FPS > 0 {
			e.Tolerance = max(e.Tolerance, 2/j.in.Video.FPS)
		}
		if j.audio && j.in.Audio.Rate > 0 { // encoders delay, and fill their last frame
			e.Tolerance = max(e.Tolerance, 2304/float64(j.in.Audio.Rate))
		}
		if j.codec == "copy" || j.sound == "copy" {
			e.Tolerance += 0.1
		}
		if j.codec == "copy" && j.length > 0 {
			e.Tolerance += j.in.Video.slack()
		}
		e.Tolerance += j.duration / 200
	}
	return e
}
