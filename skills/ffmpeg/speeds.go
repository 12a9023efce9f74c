package main

import (
	"math"
	"slices"
	"strconv"
	"time"

	"stepbox.dev/guest-sdk"
)

// What the engine does in a second on one core, in pixels of all frames, by
// processor time: the middle between a noisy clip of 640×360 and a drawn one of
// 1280×720, which differ two to three times. A decoder has more work with what
// was encoded with care, and pictures are scaled on the way.
const decoding = 30e6

var encodings = map[string]float64{"vp9": 3.5e6, "vp8": 16e6, "av1": 4.8e6, "mpeg4": 38e6, "mjpeg": 26e6, "prores": 4.3e6, "gif": 10e6}

// presets are those of libx264.
var presets = map[string]float64{"ultrafast": 14e6, "veryfast": 4e6, "faster": 1.8e6, "fast": 1.2e6}

// firstPass is how much of the work of a second pass the first is.
const firstPass = 0.8

// encoding is the speed of what the options encode to.
func encoding(codec string, args []string) float64 {
	if i := slices.Index(args, "-preset"); i >= 0 && i+1 < len(args) {
		if v := presets[args[i+1]]; v > 0 {
			return v
		}
	}
	if v := encodings[codec]; v > 0 {
		return v
	}
	return 1e6
}

// startup is what starting an engine takes, in seconds.
const startup = 0.2

// work guesses how long a job takes on one core of the engine, in seconds.
func (j job) work() float64 {
	if !j.video || j.codec == "copy" || j.still {
		return startup + j.duration/40 // sound, encoded at about forty times its speed
	}
	fps := j.in.Video.FPS
	if fps <= 0 || fps > 120 {
		fps = 30
	}
	read := float64(j.in.Video.Width*j.in.Video.Height) * fps * j.in.Duration
	if j.length > 0 {
		read = float64(j.in.Video.Width*j.in.Video.Height) * fps * j.length
	}
	written := float64(j.width*j.height) * fps * j.duration
	w := read/decoding + written/encoding(j.codec, j.videoOptions)
	if j.rate > 0 {
		w *= 1 + firstPass
	}
	return startup + w
}

// span is how long recipes take by the clock, in seconds, with so many cores:
// they share them, but nothing is faster than the longest of them.
func span(recipes []Recipe, cores int) float64 {
	all, longest := 0.0, 0.0
	for _, r := range recipes {
		all, longest = all+r.Work, math.Max(longest, r.alone(cores))
	}
	return math.Max(all/float64(max(cores, 1)), longest)
}

// alone is how long a recipe takes by itself: only pieces of it go at once.
func (r Recipe) alone(cores int) float64 {
	sum := 0.0
	for i, stage := range r.Stages {
		sum += r.Work * r.share(i) / float64(max(min(len(stage), cores), 1))
	}
	return sum
}

// share is how much of the work a stage is.
func (r Recipe) share(stage int) float64 {
	if stage < len(r.Shares) {
		return r.Shares[stage]
	}
	return 1 / float64(len(r.Stages))
}

// Trial is a piece out of the middle of a job, encoded to nowhere.
type Trial struct {
	Argv []string `json:"argv"`
	Work float64  `json:"work"` // by the guess that is tried
}

// A trial is made of what is guessed to take longer than tryFrom, and by the
// guess takes tryFor, in seconds: how much work a picture is differs by its
// content three times and more, and machines do too.
const (
	tryFrom = 60
	tryFor  = 5
)

// trial is a piece of the job, nil when it needs none.
func (j job) trial(work float64) *Trial {
	if work < tryFrom || !j.video || j.codec == "copy" || j.still || j.kind.muxer == "gif" || j.in.loose() && j.seek > 0 {
		return nil
	}
	whole := j.length
	if whole == 0 {
		whole = j.in.Duration - j.seek
	}
	fps := math.Max(j.in.Video.FPS, 1)
	const fewest = 12 // of less an encoder shows nothing
	frames := math.Round(math.Min(math.Max(j.duration*tryFor/work*fps, fewest), j.duration*fps))
	if frames < 1 {
		return nil
	}
	take := whole * frames / (j.duration * fps)
	if !j.in.loose() { // no place in the middle of it is found without decoding what is before
		j.seek += (whole - take) / 2
	}
	j.audio, j.carried, j.rate, j.kind, j.output, j.length = false, carried{}, 0, container{muxer: "null"}, "-", 0
	// To turn the order around takes no time, but all that follows.
	j.videoFilters = slices.DeleteFunc(slices.Clone(j.videoFilters), func(f string) bool { return f == "reverse" })
	argv := j.argv(0, "")
	argv = slices.Insert(argv, len(argv)-3, "-frames:v", strconv.Itoa(int(frames)))
	if at := slices.Index(argv, "-ss"); at > 0 { // from the key frame on: what is decoded in front of a place is not counted
		argv = slices.Insert(argv, at, "-noaccurate_seek")
	}
	j.length, j.duration = take, frames/fps
	return &Trial{argv, j.work()}
}

// tried is by how much the guess of the work is wrong here and now: as many
// pieces are encoded as cores there are, and timed.
func tried(ctx guest.Context, recipes []Recipe) float64 {
	var runs []guest.EngineRun
	var some []Recipe
	for _, r := range recipes {
		if r.Trial != nil && len(runs) < max(ctx.Cores(), 1) {
			runs = append(runs, guest.EngineRun{Argv: r.Trial.Argv})
			some = append(some, Recipe{Work: r.Trial.Work, Stages: [][][]string{{r.Trial.Argv}}})
		}
	}
	if len(runs) == 0 {
		return 1
	}
	ctx.Progress(0, 0, "looking how fast it goes")
	began := time.Now()
	results, err := ctx.Engine(engine).RunAll(len(runs), runs)
	spent := time.Since(began).Seconds()
	if err != nil || slices.ContainsFunc(results, func(r guest.EngineResult) bool { return r.ExitCode != 0 }) {
		return 1 // why will show when it is done in earnest
	}
	const most = 30
	return math.Min(math.Max(spent/span(some, ctx.Cores()), 1.0/most), most)
}
