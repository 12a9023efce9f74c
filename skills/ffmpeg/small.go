package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// compress makes a file smaller: for a platform, to a size, or by quality.
func (b builder) compress(j *job) error {
	if b.Platform != "" {
		return b.platform(j, b.Platform)
	}
	if !j.video {
		return b.smallSound(j)
	}
	if _, err := b.container(j); err != nil {
		return err
	}
	if !j.video {
		return guest.Errorf(abi.CodeBadRequest, "%q is no name for a video; extract the sound instead", b.Output)
	}
	if err := b.sized(j, j.in.Video.plain(), "balanced", b.SizeMB); err != nil {
		return err
	}
	if j.audio && j.sound == "" {
		return b.keepSound(j)
	}
	return nil
}

// The least that a picture and sound can be encoded to, in bits a second.
const (
	leastVideo = 12_000
	leastAudio = 24_000
)

// sized encodes the picture to a size in megabytes, or, with none, by quality,
// and then with less bits than it has.
func (b builder) sized(j *job, s shape, usual string, megabytes float64) error {
	have := j.in.videoRate()
	if megabytes == 0 || j.duration <= 0 {
		limit := int64(0)
		if b.Quality == "" && b.CRF == nil {
			limit = have * 7 / 10
			// What has next to no bits for its pixels, slides say, only loses by fewer.
			const bitsEach = 0.015
			least := int64(float64(s.width*s.height) * math.Max(j.in.Video.FPS, 1) * bitsEach)
			if have > 0 && limit < least && b.Mode == modeCompress && b.Platform == "" && len(s.filters) == 0 && slices.Contains(j.kind.video, j.in.Video.Codec) {
				j.codec = "copy"
				j.notes = append(j.notes, fmt.Sprintf("%s is as small as it can be without harm: its picture is copied as it is", j.in.Path))
				return nil
			}
			if limit > 0 {
				limit = max(limit, least)
			}
		}
		return b.picture(j, s, usual, 0, limit)
	}
	j.maxBytes = int64(megabytes * 1e6)
	if j.in.within(j.maxBytes) && len(s.filters) == 0 && b.Mode == modeCompress && b.Quality == "" && b.CRF == nil && slices.Contains(j.kind.video, j.in.Video.Codec) {
		j.codec = "copy"
		j.notes = append(j.notes, fmt.Sprintf("%s is smaller than that already: its picture is copied as it is", j.in.Path))
		return nil
	}
	if j.kind.muxer == "gif" {
		return b.smallGif(j, s, usual)
	}
	// What the container needs besides: headers, an index for every frame.
	frames := j.duration * math.Max(j.in.Video.FPS, 1)
	bits := (float64(j.maxBytes)*0.98 - 2000 - frames*16) * 8 / j.duration
	var sound float64
	if j.audio {
		kbps := b.Kbps
		if kbps == 0 {
			kbps = 128
		}
		sound = math.Min(float64(kbps)*1000, math.Max(bits/5, leastAudio))
	}
	picture := int64(bits - sound)
	if picture < leastVideo {
		least := (leastVideo + sound) * j.duration / 8 / 0.98
		return guest.Errorf(abi.CodeBadRequest, "%q cannot be made as small as %s: %s of it take at least %s", j.in.Path,
			guest.Size(j.maxBytes), length(j.duration), guest.Size(int64(least+2000+frames*16)))
	}
	if have > 0 {
		picture = min(picture, have)
	}
	// Fewer pixels look better than too few bits for each.
	const bitsEach = 0.03
	if want := float64(s.width*s.height) * math.Max(j.in.Video.FPS, 1) * bitsEach; float64(picture) < want && s.height > 240 {
		f := math.Max(math.Sqrt(float64(picture)/want), 240/float64(s.height))
		s = j.in.Video.within(even(float64(s.width)*f), even(float64(s.height)*f))
	}
	if err := b.picture(j, s, usual, picture, 0); err != nil {
		return err
	}
	if j.audio {
		b.Kbps = int(sound / 1000)
		return b.soundAgain(j)
	}
	return nil
}

// within says that a file has no more bytes than that. Of one that a dry run only
// planned nobody knows.
func (m Media) within(bytes int64) bool { return m.Size > 0 && m.Size <= bytes }

// smallGif makes a gif of a size. A gif has no bit rate: only fewer pixels make
// it smaller, as many as a guess says, and less when that was too many.
func (b builder) smallGif(j *job, s shape, usual string) error {
	if was := float64(j.in.Size); slices.Contains(strings.Split(j.in.Format, ","), "gif") && was > float64(j.maxBytes) {
		f := math.Sqrt(float64(j.maxBytes) / was)
		s = shape{width: even(float64(s.width) * f), height: even(float64(s.height) * f)}
	}
	s.filters = []string{scaled(s.width, s.height), "setsar=1"}
	return b.picture(j, s, usual, 0, 0)
}

// smallSound makes a file without a picture smaller.
func (b builder) smallSound(j *job) error {
	if !b.Named && !lossy(containers[kindOf(j.in)].audio[0]) {
		b.Container = "mp3"
	}
	if _, err := b.container(j); err != nil {
		return err
	}
	if !lossy(j.kind.audio[0]) {
		return guest.Errorf(abi.CodeBadRequest, "%s keeps all of the sound; name an mp3, m4a, aac, ogg or opus", a(j.kind.ext))
	}
	q, err := b.profiles.quality(b.options, "balanced")
	if err != nil {
		return err
	}
	b.Kbps = q.AudioKbps
	have := int(j.in.Audio.BitRate / 1000)
	switch {
	case b.SizeMB > 0 && j.duration > 0:
		if j.maxBytes = int64(b.SizeMB * 1e6); j.in.within(j.maxBytes) && slices.Contains(j.kind.audio, j.in.Audio.Codec) {
			j.sound = "copy"
			j.notes = append(j.notes, fmt.Sprintf("%s is smaller than that already: its sound is copied as it is", j.in.Path))
			return nil
		}
		// The rest is for headers, and what encoders take more than they are given.
		b.Kbps = min(int((float64(j.maxBytes)*0.96-2000)*8/j.duration/1000), 320)
		if least := leastAudio * j.duration / 8 / 0.96; b.Kbps < leastAudio/1000 && j.in.within(int64(least)) {
			return guest.Errorf(abi.CodeBadRequest, "%q cannot be made as small as %s: it has %s for %s, which is as few as it can be", j.in.Path,
				guest.Size(j.maxBytes), guest.Size(j.in.Size), length(j.duration))
		} else if b.Kbps < leastAudio/1000 {
			return guest.Errorf(abi.CodeBadRequest, "%q cannot be made as small as %s: %s of it take at least %s", j.in.Path,
				guest.Size(j.maxBytes), length(j.duration), guest.Size(int64(least+2000)))
		}
	case have > 0 && have*7/10 < leastAudio/1000 && b.Quality == "" && slices.Contains(j.kind.audio, j.in.Audio.Codec):
		j.sound = "copy"
		j.notes = append(j.notes, fmt.Sprintf("%s is as small as it can be without harm: its sound is copied as it is", j.in.Path))
		return nil
	case have > 0 && b.Quality == "":
		b.Kbps = max(min(b.Kbps, have*7/10), leastAudio/1000)
	}
	return b.soundAgain(j)
}

// shrink makes once more what came out larger than was asked for, with as much
// less: a second pass meets a bit rate, but of a short clip only roughly.
func shrink(ctx guest.Context, recipes []Recipe) error {
	const tries = 4
	for try := range tries + 1 {
		var runs []guest.EngineRun
		var of []string
		for i := range recipes {
			r := &recipes[i]
			if r.Expect.MaxBytes == 0 || len(r.Stages) == 0 {
				continue
			}
			info, err := ctx.Files().Stat(r.Output)
			if err != nil {
				return err
			}
			if info.Size() <= r.Expect.MaxBytes {
				continue
			}
			if try == tries || !r.less(info.Size()) {
				return guest.Errorf(abi.CodeFailed, "%q cannot be made as small as %s: at its smallest it came out with %s", r.Inputs[0],
					guest.Size(r.Expect.MaxBytes), guest.Size(info.Size()))
			}
			if err := ctx.Files().Remove(r.Output); err != nil {
				return err
			}
			argv := r.Stages[len(r.Stages)-1][0]
			runs, of = append(runs, guest.EngineRun{Argv: argv, Progress: r.progress(len(r.Stages) - 1)}), append(of, r.Output)
		}
		if len(runs) == 0 {
			break
		}
		if err := engineRuns(ctx.Engine(engine), runs, of); err != nil {
			return err
		}
	}
	return nil
}

// less changes the last command line of a recipe that came out with too many
// bytes. It says whether there is anything to take away.
func (r *Recipe) less(size int64) bool {
	last := r.Stages[len(r.Stages)-1]
	argv := slices.Clone(last[0])
	over := float64(size-r.Expect.MaxBytes) * 8 / math.Max(r.Expect.Duration, 0.1)
	changed := false
	if at := slices.Index(argv, "-filter_complex") + 1; at > 0 && r.Expect.Video == "gif" {
		was := scaled(r.Expect.Width, r.Expect.Height)
		f := 0.96 * math.Sqrt(float64(r.Expect.MaxBytes)/float64(size))
		r.Expect.Width, r.Expect.Height = even(float64(r.Expect.Width)*f), even(float64(r.Expect.Height)*f)
		now := scaled(r.Expect.Width, r.Expect.Height)
		argv[at], changed = strings.Replace(argv[at], was, now, 1), now != was && r.Expect.Height >= 16
	} else if at := slices.Index(argv, "-b:v") + 1; at > 0 {
		rate, _ := strconv.ParseFloat(argv[at], 64)
		argv[at], changed = strconv.Itoa(int(math.Max(math.Min(rate-1.1*over, rate*0.9), 1000))), rate > 1000
	} else if at := slices.Index(argv, "-b:a") + 1; at > 0 {
		rate, _ := strconv.ParseFloat(strings.TrimSuffix(argv[at], "k"), 64)
		argv[at], changed = strconv.Itoa(int(math.Max(math.Min(rate-1.1*over/1000, rate*0.9), 8)))+"k", rate > 8
	}
	if changed {
		r.Stages = append(slices.Clone(r.Stages[:len(r.Stages)-1]), [][]string{argv})
	}
	return changed
}
