package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// builder turns one file into a job, as the options of an intent ask for.
type builder struct {
	options
	profiles profiles
	// onKeyFrame says whether a picture can be cut there without encoding it.
	onKeyFrame func(m Media, at float64) bool
	// folder is where outputs go that have no name yet, "" beside their inputs.
	folder string
	// anew encodes whatever is cut or joined.
	anew bool
}

// job is what is to be done with one file. Its output has no name yet.
func (b builder) job(m Media) (job, error) {
	j := job{in: m, duration: m.Duration, video: m.Video != nil, audio: m.Audio != nil}
	needs := b.Mode != modeExtract && b.Mode != modeVolume && b.Mode != modeTrim && b.Mode != modeSpeed && (b.Mode != modeCompress || b.Platform != "")
	switch {
	case needs && m.Video == nil:
		return j, guest.Errorf(abi.CodeBadRequest, "%q has no picture", m.Path)
	case (b.Mode == modeExtract || b.Mode == modeVolume) && m.Audio == nil:
		return j, guest.Errorf(abi.CodeBadRequest, "%q has no sound", m.Path)
	}
	// A file whose sound ends before its picture is as long as what is taken of it.
	const roughly = 0.5 // some formats do not count the last frame
	if v := m.Video; v != nil && v.Duration > 0 && v.Duration < m.Duration-roughly && (b.Mode == modeStrip || b.Mode == modeThumbnail || m.Audio == nil) {
		j.in.Duration, j.duration = v.Duration, v.Duration
	} else if a := m.Audio; a != nil && a.Duration > 0 && a.Duration < m.Duration-roughly && (b.Mode == modeExtract || m.Video == nil) {
		j.in.Duration, j.duration = a.Duration, a.Duration
	}
	if a := m.Audio; j.video && a != nil && a.Duration > 0 && a.Duration < leastSound {
		j.audio = false
		j.notes = append(j.notes, fmt.Sprintf("the sound of %s is left out: it lasts less than %s s", m.Path, seconds(leastSound)))
	}
	var err error
	switch b.Mode {
	case modePlatform:
		err = b.platform(&j, b.Platform)
	case modeCompress:
		err = b.compress(&j)
	case modeConvert:
		err = b.convert(&j)
	case modeResize:
		var s shape
		if s, err = m.Video.resize(b.Width, b.Height, b.Aspect, b.Fit, b.Keep); err == nil {
			err = b.encode(&j, s, "visually_good")
		}
	case modeTrim:
		err = b.trim(&j)
	case modeExtract:
		err = b.extract(&j)
	case modeThumbnail:
		err = b.thumbnail(&j)
	case modeReverse:
		j.audio = j.audio && b.Sound
		if err = b.encode(&j, m.Video.plain(), "visually_good"); err == nil {
			j.videoFilters = append(j.videoFilters, "reverse")
			if j.audio {
				err = b.soundAgain(&j, "areverse")
			}
		}
	case modeStrip:
		j.audio = false
		err = b.keepPicture(&j)
	case modeSpeed:
		err = b.speed(&j)
	case modeVolume:
		err = b.volume(&j)
	case modeRotate:
		err = b.rotate(&j)
	default:
		err = guest.Errorf(abi.CodeBadRequest, "there is no mode %q", b.Mode)
	}
	if err == nil {
		err = b.carry(&j)
	}
	return j, err
}

// container chooses what kind of file comes out: what is asked for, what the
// output's name says, else what the input is.
func (b builder) container(j *job) (string, error) {
	name := b.Container
	if b.Named && name == "" {
		if ext := extension(b.Output); ext != "" {
			if _, ok := containers[kindNamed(ext)]; !ok {
				return "", guest.Errorf(abi.CodeUnsupported, "%q: a file of type %q cannot be made; %s can", b.Output, ext, strings.Join(slices.Sorted(maps.Keys(containers)), ", "))
			}
			name = kindNamed(ext)
		}
	}
	if name == "" {
		name = kindOf(j.in)
	}
	k, ok := containers[name]
	switch {
	case !ok:
		return "", guest.Errorf(abi.CodeBadRequest, "there is no container %q", name)
	case j.video && k.video == nil:
		j.video = false // only sound can come out, which is what the name asks for
	case !j.video && k.audio == nil:
		return "", guest.Errorf(abi.CodeBadRequest, "%q has no picture to make a %s of", j.in.Path, name)
	}
	j.kind, j.format = k, k.format
	if k.audio == nil {
		j.audio = false
	}
	return name, nil
}

// pictureCodec is what the picture is encoded to.
func (b builder) pictureCodec(j *job) (string, error) {
	codec := b.Video
	if codec == "" {
		codec = j.kind.video[0]
		if have := j.in.Video.Codec; slices.Contains(j.kind.video, have) && slices.Contains(modern, have) {
			codec = have
		}
	}
	if !slices.Contains(j.kind.video, codec) {
		return "", guest.Errorf(abi.CodeUnsupported, "%s cannot hold %s; it holds %s", a(j.kind.ext), codec, strings.Join(j.kind.video, ", "))
	}
	return codec, nil
}

// encode encodes the picture in a shape; sound is kept as it is where it can
// be.
func (b builder) encode(j *job, s shape, usual string) error {
	if _, err := b.container(j); err != nil {
		return err
	}
	if j.video {
		if err := b.picture(j, s, usual, 0, 0); err != nil {
			return err
		}
	}
	return b.keepSound(j)
}

func (b builder) picture(j *job, s shape, usual string, rate, limit int64) error {
	q, err := b.profiles.quality(b.options, usual)
	if err != nil {
		return err
	}
	j.width, j.height = s.width, s.height
	if j.kind.muxer == "gif" {
		b.gif(j, s)
		return nil
	}
	if j.codec, err = b.pictureCodec(j); err != nil {
		return err
	}
	if why := loses(j.codec); b.Quality == "lossless" && why != "" {
		return guest.Errorf(abi.CodeUnsupported, "%s", why)
	}
	if rate > 0 && !rated(j.codec) {
		j.notes = append(j.notes, fmt.Sprintf("%s meets no size: the picture of %s is encoded as %s", codecName(j.codec), j.in.Path, codecName(j.kind.video[0])))
		j.codec = j.kind.video[0]
	}
	j.videoFilters = s.filters
	if slices.Contains(twoPasses, j.codec) {
		j.rate = rate
	}
	j.videoOptions, err = videoArgs(j.codec, q, rate, limit)
	return err
}

// gif makes a moving image: few colours, chosen for this picture, few frames,
// and not large.
func (b builder) gif(j *job, s shape) {
	const widest, fastest = 480, 12
	if b.Mode == modeConvert && s.width > widest {
		s = j.in.Video.within(widest, maxSide)
		j.width, j.height = s.width, s.height
	}
	filters := slices.Clone(s.filters)
	if j.in.Video.FPS > fastest {
		filters = append([]string{fmt.Sprintf("fps=%d", fastest)}, filters...)
	}
	j.codec, j.audio, j.videoFilters = "gif", false, filters
	j.graph = "split[a][b];[a]palettegen[p];[b][p]paletteuse"
	j.videoOptions = []string{"-threads", "1", "-c:v", "gif"}
}

// keepPicture copies the picture when the container holds it, else encodes it.
func (b builder) keepPicture(j *job) error {
	if _, err := b.container(j); err != nil || !j.video {
		return err
	}
	if err := b.pictureOrCopy(j, "visually_good"); err != nil {
		return err
	}
	return b.keepSound(j)
}

func (b builder) pictureOrCopy(j *job, usual string) error {
	v := j.in.Video
	asked := b.Video == "" || b.Video == v.Codec
	turned := v.Rotation != 0 && j.kind.muxer != "mp4" && j.kind.muxer != "mov" // others lose it
	if asked && slices.Contains(j.kind.video, v.Codec) && b.Quality == "" && b.CRF == nil && !turned && !j.preroll() && j.kind.muxer != "gif" {
		j.codec = "copy"
		return nil
	}
	return b.picture(j, v.plain(), usual, 0, 0)
}

// preroll says that a copy would play what the file holds in front of its
// beginning, because the new one has no way to say where that is.
func (j job) preroll() bool {
	return j.in.Video != nil && j.in.Video.Preroll && !slices.Contains([]string{"mp4", "mov", "ipod"}, j.kind.muxer)
}

// keepSound copies the sound when the container holds it and nothing else is
// asked of it, else encodes it.
func (b builder) keepSound(j *job) error {
	if !j.audio {
		return nil
	}
	have := j.in.Audio.Codec
	cut := (have == "flac" || b.anew) && j.length > 0 || j.preroll() || !j.video && j.in.Audio.Late > 0 // a FLAC's header says how long it was
	if (b.Audio == "" || b.Audio == have) && b.Kbps == 0 && !cut && slices.Contains(j.kind.audio, have) {
		j.sound = "copy"
		return nil
	}
	if err := b.soundAgain(j); err != nil {
		return err
	}
	if j.codec == "copy" && b.Mode == modeConvert && b.Audio == "" && !slices.Contains(j.kind.audio, have) {
		j.notes = append(j.notes, fmt.Sprintf("the sound of %s is encoded as %s: %s holds no %s", j.in.Path, codecName(j.sound), a(j.kind.ext), codecName(have)))
	}
	return nil
}

// inTime puts silence in front of sound that begins late.
const inTime = "aresample=async=1:first_pts=0"

// soundAgain encodes the sound, through filters.
func (b builder) soundAgain(j *job, filters ...string) error {
	q, err := b.profiles.quality(b.options, "visually_good")
	if err != nil {
		return err
	}
	codec := b.Audio
	if codec == "" {
		codec = j.kind.audio[0]
		if have := j.in.Audio.Codec; slices.Contains(j.kind.audio, have) && audioEncoders[have] != "" {
			codec = have
		}
	}
	if !slices.Contains(j.kind.audio, codec) {
		return guest.Errorf(abi.CodeUnsupported, "%s cannot hold %s; it holds %s", a(j.kind.ext), codec, strings.Join(j.kind.audio, ", "))
	}
	if j.in.Audio.Late > 0 && (len(filters) > 0 || !j.video) { // silence first, so that it stays in time
		filters = append([]string{inTime}, filters...)
	}
	j.sound, j.audioFilters = codec, filters
	kbps := q.AudioKbps
	if b.Kbps == 0 && j.in.Audio.Channels == 1 { // one channel needs less than two do
		kbps = kbps * 2 / 3
	}
	j.audioOptions, err = audioArgs(codec, *j.in.Audio, kbps)
	return err
}
