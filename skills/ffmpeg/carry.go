package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// carried is what of a file comes along besides its picture and first sound.
type carried struct {
	sounds     []track // further ones
	subtitles  []subtitle
	cover      *Stream
	noChapters bool
}

// track is a sound track: what it was, and what becomes of it.
type track struct {
	in      Audio
	codec   string // "copy" leaves it as it is
	options []string
}

// subtitle is one that comes along.
type subtitle struct {
	index int
	codec string // what it is encoded to, or "copy"
}

// texts are the subtitles that are text: they can become one another.
var texts = []string{"subrip", "srt", "ass", "ssa", "mov_text", "webvtt", "text"}

// carry decides what comes along: all that the new file can hold and that stays
// in time. What does not is said, with the reason.
func (b builder) carry(j *job) error {
	if j.still || j.kind.muxer == "gif" {
		return nil // pictures alone: nobody expects more of them
	}
	all := "" // why nothing at all comes along
	switch {
	case (b.Mode == modePlatform || b.Platform != "") && j.kind.ext != "mkv":
		all = "players there use none"
	case j.maxBytes > 0 && j.codec != "copy":
		all = "to meet the size"
	case b.Mode == modeReverse:
		all = "only picture and first sound are turned around"
	}
	left := func(n int, one, many, why string) {
		if all != "" {
			why = all
		}
		if n == 1 {
			j.notes = append(j.notes, fmt.Sprintf("%s of %s is left out: %s", one, j.in.Path, why))
		} else if n > 1 {
			j.notes = append(j.notes, fmt.Sprintf("%d %s of %s are left out: %s", n, many, j.in.Path, why))
		}
	}
	if j.audio {
		if all == "" && j.kind.tracks {
			if err := b.further(j); err != nil {
				return err
			}
		}
		left(len(j.in.More)-len(j.carried.sounds), "the second sound track", "further sound tracks", j.kind.ext+" files have one")
	}
	if n := len(j.in.Subtitles); n > 0 && j.video {
		why := j.kind.ext + " files hold none like it"
		switch {
		case b.Mode == modeSpeed || b.Mode == modeTrim:
			why = "not in time any more"
		case all == "":
			for _, s := range j.in.Subtitles {
				if slices.Contains(j.kind.subtitles, s.Codec) {
					j.carried.subtitles = append(j.carried.subtitles, subtitle{s.Index, "copy"})
				} else if j.kind.text != "" && slices.Contains(texts, s.Codec) {
					j.carried.subtitles = append(j.carried.subtitles, subtitle{s.Index, j.kind.text})
				}
			}
		}
		left(n-len(j.carried.subtitles), "the subtitle", "subtitles", why)
	}
	if n := len(j.in.Covers); n > 0 {
		if c := j.in.Covers[0]; all == "" && slices.Contains(j.kind.covers, c.Codec) {
			j.carried.cover = &c
		} else {
			left(1, "the cover", "", j.kind.ext+" files have no place for it")
		}
	}
	if j.in.Chapters > 0 && (b.Mode == modeSpeed || b.Mode == modeReverse) {
		j.carried.noChapters = true
		j.notes = append(j.notes, fmt.Sprintf("the chapters of %s are left out: not in time any more", j.in.Path))
	}
	return nil
}

// further treats the other sound tracks as the first is treated.
func (b builder) further(j *job) error {
	for _, a := range j.in.More {
		one := *j
		one.in.Audio = &a
		var err error
		// What is filtered or cut with the picture is encoded again, as the first.
		if len(j.audioFilters) > 0 || j.video && j.codec != "copy" && j.seek > 0 {
			err = b.soundAgain(&one, j.audioFilters...)
		} else {
			one.audioOptions = nil
			err = b.keepSound(&one)
		}
		if err != nil {
			return err
		}
		j.carried.sounds = append(j.carried.sounds, track{a, one.sound, one.audioOptions})
	}
	return nil
}

// sounds are all sound tracks that come out.
func (j job) sounds() []track {
	if !j.audio {
		return nil
	}
	return append([]track{{*j.in.Audio, j.sound, j.audioOptions}}, j.carried.sounds...)
}

// soundArgs are the options for all sound tracks.
func (j job) soundArgs() (a []string) {
	sounds := j.sounds()
	if len(sounds) == 0 {
		return []string{"-an"}
	}
	for k, t := range sounds {
		a = append(a, "-map", "0:"+strconv.Itoa(t.in.Index))
		options := t.options
		if t.codec == "copy" {
			options = append([]string{"-c:a", "copy"}, options...)
		}
		if len(j.audioFilters) > 0 {
			filter := "-af"
			if len(sounds) > 1 {
				filter = "-filter"
			}
			options = append([]string{filter, strings.Join(j.audioFilters, ",")}, options...)
		}
		for _, o := range options {
			if strings.HasPrefix(o, "-") && len(sounds) > 1 {
				o = strings.TrimSuffix(o, ":a") + ":a:" + strconv.Itoa(k)
			}
			a = append(a, o)
		}
	}
	return a
}

// otherArgs are the options for what else comes along.
func (j job) otherArgs() (a []string) {
	for k, s := range j.carried.subtitles {
		a = append(a, "-map", "0:"+strconv.Itoa(s.index), "-c:s:"+strconv.Itoa(k), s.codec)
	}
	if len(j.carried.subtitles) == 0 {
		a = append(a, "-sn")
	}
	if c := j.carried.cover; c != nil {
		nth := ":v:0"
		if j.video {
			nth = ":v:1"
		}
		a = append(a, "-map", "0:"+strconv.Itoa(c.Index), "-c"+nth, "copy", "-disposition"+nth, "attached_pic")
	}
	if a = append(a, "-dn"); j.carried.noChapters {
		a = append(a, "-map_chapters", "-1")
	} else if j.in.Chapters > 0 && j.length > 0 { // chapters behind the end would stay
		a = append(a, "-t", seconds(j.duration))
	}
	return a
}
