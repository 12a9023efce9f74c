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

// concat joins files into one: as they are where they go on in one another, else
// brought to one size, one rate and one kind of sound; what has none is silent.
func (b builder) concat(media []Media, names *namer) (Recipe, error) {
	if len(media) < 2 {
		return Recipe{}, guest.Errorf(abi.CodeBadRequest, "joining takes two files or more")
	}
	first := media[0]
	j := job{in: first, video: first.Video != nil}
	for _, m := range media {
		if (m.Video != nil) != j.video {
			return Recipe{}, guest.Errorf(abi.CodeBadRequest, "%q and %q cannot be joined: only one of them has a picture", first.Path, m.Path)
		}
		if m.Duration <= 0 {
			return Recipe{}, guest.Errorf(abi.CodeBadRequest, "%q does not say how long it is", m.Path)
		}
		j.audio = j.audio || m.Audio != nil
		j.duration += m.Duration
	}
	switch ext := kindOf(first); {
	case b.Named:
	case j.video:
		b.Container = "mp4"
	case slices.ContainsFunc(media, func(m Media) bool { return kindOf(m) != ext }):
		b.Container = "m4a"
	default:
		b.Container = ext
	}
	if _, err := b.container(&j); err != nil {
		return Recipe{}, err
	}
	if j.kind.muxer == "gif" {
		return Recipe{}, guest.Errorf(abi.CodeUnsupported, "files are not joined to a gif; join them to an mp4 and convert that")
	}
	if slices.ContainsFunc(media, func(m Media) bool { return len(m.More)+len(m.Subtitles)+len(m.Covers)+m.Chapters > 0 }) {
		j.notes = append(j.notes, "only pictures and first sounds are joined: further sounds, subtitles, covers and chapters are left out")
	}
	if b.goOn(j.kind, media) {
		return b.chain(j, media, names)
	}
	s := shape{}
	fps := b.FPS
	if j.video {
		s = first.Video.plain()
		if b.Height > 0 {
			s.width, s.height = even(float64(b.Width)), even(float64(b.Height))
			if b.Width == 0 {
				s.width = even(float64(b.Height) * float64(first.Video.Width) / float64(first.Video.Height))
			}
		}
		if fps == 0 {
			if fps = math.Min(first.Video.FPS, 60); fps <= 0 {
				fps = 30
			}
		}
		b.Video = j.kind.video[0]
		if err := b.picture(&j, shape{width: s.width, height: s.height}, "visually_good", 0, 0); err != nil {
			return Recipe{}, err
		}
	}
	stereo := Audio{Rate: 48000, Channels: 2}
	if j.audio {
		b.Audio = j.kind.audio[0]
		in := j.in
		j.in.Audio = &stereo
		if err := b.soundAgain(&j); err != nil {
			return Recipe{}, err
		}
		j.in.Path = in.Path
	}
	a := ffmpeg()
	var graph, pads strings.Builder
	work := 0.2
	for i, m := range media {
		if m.loose() {
			a = append(a, "-fflags", "+genpts")
		}
		a = append(append(a, "-threads", "1"), reading(m.Path)...)
		if j.video {
			box := strings.Join(m.Video.boxed(s.width, s.height, fitPad).filters, ",")
			fmt.Fprintf(&graph, "[%d:%d]%s,fps=%s,format=yuv420p[v%d];", i, m.Video.Index, box, strconv.FormatFloat(fps, 'f', 3, 64), i)
			fmt.Fprintf(&pads, "[v%d]", i)
			work += float64(m.Video.Width*m.Video.Height) * math.Max(m.Video.FPS, 1) * m.Duration / decoding
		}
		if j.audio {
			if m.Audio != nil {
				silence := ""
				if m.Audio.Late > 0 {
					silence = inTime + ","
				}
				fmt.Fprintf(&graph, "[%d:%d]%saresample=48000,aformat=sample_fmts=fltp:channel_layouts=stereo[a%d];", i, m.Audio.Index, silence, i)
			} else {
				fmt.Fprintf(&graph, "anullsrc=r=48000:cl=stereo,atrim=0:%s[a%d];", seconds(m.Duration), i)
			}
			fmt.Fprintf(&pads, "[a%d]", i)
		}
	}
	bit := map[bool]int{true: 1}
	fmt.Fprintf(&graph, "%sconcat=n=%d:v=%d:a=%d", pads.String(), len(media), bit[j.video], bit[j.audio])
	if j.video {
		graph.WriteString("[v]")
	}
	if j.audio {
		graph.WriteString("[a]")
	}
	a = append(a, "-filter_complex", graph.String())
	if j.video {
		a = append(append(a, "-map", "[v]"), j.videoOptions...)
		work += float64(s.width*s.height) * fps * j.duration / encoding(j.codec, j.videoOptions)
	}
	if j.audio {
		a = append(append(a, "-map", "[a]"), j.audioOptions...)
	}
	var err error
	if j.output, err = names.output(b, j); err != nil {
		return Recipe{}, err
	}
	a = append(append(append(a, "-map_chapters", "-1"), j.muxing()...), fileURL(j.output))
	r := j.joined(media)
	r.Stages, r.Work = [][][]string{{a}}, work
	return r, nil
}

// joined is the recipe of a join but for how it is done.
func (j job) joined(media []Media) Recipe {
	r := Recipe{Output: j.output, Expect: j.expect(), Planned: j.planned(), Notes: j.notes}
	for _, m := range media {
		r.Inputs = append(r.Inputs, m.Path)
	}
	r.Expect.Tolerance += 0.15 * float64(len(media))
	return r
}

// goOn says whether files go on in one another just as they are: one camera's
// clips, or the pieces of one film.
func (b builder) goOn(k container, media []Media) bool {
	first := media[0]
	if v := first.Video; v != nil {
		width := b.Width == 0 || b.Width == v.Width
		if !slices.Contains(k.video, v.Codec) || !width || b.Height > 0 && b.Height != v.Height || b.FPS > 0 && math.Abs(b.FPS-v.FPS) > 0.01 ||
			v.Rotation != 0 && k.muxer != "mp4" && k.muxer != "mov" {
			return false
		}
	}
	if a := first.Audio; a != nil && (!slices.Contains(k.audio, a.Codec) || a.Codec == "flac") { // a FLAC's header says how long it was
		return false
	}
	for _, m := range media {
		switch {
		case b.anew || m.Planned || m.loose() || strings.ContainsAny(m.Path, "\r\n\x00"),
			(m.Video == nil) != (first.Video == nil), (m.Audio == nil) != (first.Audio == nil),
			m.Video != nil && (m.Video.Setup == "" || m.Video.Setup != first.Video.Setup || m.Video.Preroll),
			m.Audio != nil && (m.Audio.Setup == "" || m.Audio.Setup != first.Audio.Setup):
			return false
		}
	}
	return true
}

// chain joins files without encoding them. The list it makes names each with
// the formats it may have, so that none of them can be a list itself.
func (b builder) chain(j job, media []Media, names *namer) (r Recipe, err error) {
	j.codec, j.sound = "copy", "copy"
	if j.output, err = names.output(b, j); err != nil {
		return r, err
	}
	const name = "join.txt"
	list := "ffconcat version 1.0\n"
	for _, m := range media {
		list += "file 'file:/" + strings.ReplaceAll(m.Path, "'", `'\''`) + "'\noption format_whitelist " + demuxers + "\n"
	}
	a := append(ffmpeg(), "-protocol_whitelist", "file", "-format_whitelist", "concat,"+demuxers, "-f", "concat", "-safe", "0", "-i", "file:/@tmp/"+name)
	if j.video {
		a = append(a, "-map", "0:"+strconv.Itoa(j.in.Video.Index), "-c:v", "copy")
	}
	if j.audio {
		a = append(a, "-map", "0:"+strconv.Itoa(j.in.Audio.Index), "-c:a", "copy")
	}
	a = append(append(append(a, "-sn", "-dn", "-map_chapters", "-1"), j.muxing()...), fileURL(j.output))
	r = j.joined(media)
	r.Stages, r.Lists, r.Work = [][][]string{{a}}, map[string]string{name: list}, j.work()
	b.anew, b.Named, b.Output = true, true, j.output
	// Where there is no other way, that says nothing about this one.
	if again, err := b.concat(media, &namer{given: map[string]bool{}, taken: func(string) bool { return false }}); err == nil {
		r.Instead = &again
	}
	return r, nil
}
