package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// platform makes what a platform takes. What it takes already is only copied.
func (b builder) platform(j *job, name string) error {
	p, ok := b.profiles.platforms[name]
	if !ok {
		return guest.Errorf(abi.CodeBadRequest, "there is no platform %q", name)
	}
	if b.Container = p.Container; b.Named {
		if ext := extension(b.Output); ext != "" && ext != p.Container {
			return guest.Errorf(abi.CodeBadRequest, "%q: %s takes files of type %s", b.Output, name, p.Container)
		}
	}
	b.Video, b.Audio = p.Video, p.Audio
	if _, err := b.container(j); err != nil {
		return err
	}
	usual := p.Quality
	if usual == "" {
		usual = "visually_good"
	}
	if b.Kbps == 0 {
		b.Kbps = p.AudioKbps
	}
	v := j.in.Video
	s := v.within(p.Width, p.Height)
	if p.Exact && (v.Width != p.Width || v.Height != p.Height) {
		s = v.boxed(p.Width, p.Height, fitPad)
	}
	size := b.SizeMB
	if size == 0 {
		size = p.SizeMB
	}
	fits := size == 0 || j.in.within(int64(size*1e6))
	if fits && len(s.filters) == 0 && v.Codec == p.Video && v.Pixels == "yuv420p" && (b.Quality == "" || b.Quality == "visually_good") && b.CRF == nil {
		b.Quality = ""
		j.codec = "copy"
	} else if err := b.sized(j, s, usual, size); err != nil {
		return err
	}
	if j.audio && j.in.Audio.Codec == p.Audio && j.maxBytes == 0 && (p.AudioKbps == 0 || j.in.Audio.BitRate <= int64(p.AudioKbps)*1100) {
		j.sound = "copy"
		return nil
	}
	if j.audio && j.sound == "" {
		return b.soundAgain(j)
	}
	return nil
}

// convert changes container and codecs, and encodes only what has to be.
func (b builder) convert(j *job) error {
	if b.Container == "" && !b.Named && b.Video != "" && !slices.Contains(containers[kindOf(j.in)].video, b.Video) {
		for _, name := range []string{"mp4", "webm", "mov", "mkv"} {
			if slices.Contains(containers[name].video, b.Video) {
				b.Container = name
				break
			}
		}
	}
	if _, err := b.container(j); err != nil {
		return err
	}
	if j.video {
		if err := b.pictureOrCopy(j, "visually_good"); err != nil {
			return err
		}
	}
	return b.keepSound(j)
}

// extract takes the sound alone.
func (b builder) extract(j *job) error {
	j.video = false
	if b.Container == "" && !b.Named {
		b.Container = "mp3"
	}
	if _, err := b.container(j); err != nil {
		return err
	}
	if j.kind.video != nil {
		return guest.Errorf(abi.CodeBadRequest, "%q is no name for sound alone; use .mp3, .m4a, .aac, .wav, .flac, .ogg or .opus", b.Output)
	}
	if err := b.window(j); err != nil {
		return err
	}
	if b.Quality != "" && lossy(j.kind.audio[0]) {
		return b.soundAgain(j)
	}
	return b.keepSound(j)
}

// window reads what part of the file is meant.
func (b builder) window(j *job) error {
	total := j.in.Duration
	if total <= 0 {
		return guest.Errorf(abi.CodeBadRequest, "%q does not say how long it is", j.in.Path)
	}
	start, end := b.Start, total
	switch {
	case b.Last > 0:
		start = math.Max(0, total-b.Last)
	case b.CutLast > 0:
		end = total - b.CutLast
	case b.Duration > 0:
		end = math.Min(total, start+b.Duration)
	case b.End > 0:
		end = math.Min(total, b.End)
	}
	switch {
	case start >= total:
		return guest.Errorf(abi.CodeBadRequest, "%q is only %s long: nothing of it begins at %s", j.in.Path, length(total), length(start))
	case end-start <= 0:
		return guest.Errorf(abi.CodeBadRequest, "nothing would be left of %q, which is %s long", j.in.Path, length(total))
	}
	if b.End > total+0.5 {
		j.notes = append(j.notes, fmt.Sprintf("%s is only %s long", j.in.Path, length(total)))
	}
	if start > 0 || end < total {
		j.seek, j.length = start, end-start
	}
	j.duration = end - start
	if a := j.in.Audio; j.video && j.audio && a.Duration > 0 && start > a.Duration-leastSound {
		j.audio = false
		j.notes = append(j.notes, fmt.Sprintf("the part has no sound: that of %s ends at %s", j.in.Path, length(a.Duration)))
	}
	return nil
}

// leastSound is how many seconds of sound are worth keeping: a codec makes
// nothing at all of less.
const leastSound = 0.1

// exact is how many seconds a cut may be too long to count as what was asked.
const exact = 0.15

// trim cuts a part out. It is copied when it begins at a key frame and ends
// well.
func (b builder) trim(j *job) error {
	if err := b.window(j); err != nil {
		return err
	}
	if _, err := b.container(j); err != nil {
		return err
	}
	if j.video {
		if ends := j.length == 0 || j.in.Video.slack() <= exact; ends && !b.anew && (j.seek == 0 || !j.in.loose() && b.onKeyFrame(j.in, j.seek)) {
			if err := b.pictureOrCopy(j, "visually_good"); err != nil {
				return err
			}
		} else if err := b.picture(j, j.in.Video.plain(), "visually_good", 0, 0); err != nil {
			return err
		}
		j.steady = j.codec != "copy" && j.length > 0 && (b.anew || j.in.afterLast(j.seek))
		if j.codec != "copy" && j.audio {
			return b.soundAgain(j) // sound that is copied would begin before the picture
		}
	}
	return b.keepSound(j)
}

// afterLast says that what begins there lies after the last picture began: the part
// shows no other.
func (m Media) afterLast(at float64) bool {
	end := m.Duration
	if v := m.Video.Duration; v > 0 {
		end = min(end, v)
	}
	return m.Video.FPS > 0 && at > end-1/m.Video.FPS
}

// imageFormats are the kinds of still images, and what ffprobe calls them.
var imageFormats = map[string][2]string{"jpg": {"mjpeg", "jpeg_pipe"}, "jpeg": {"mjpeg", "jpeg_pipe"}, "png": {"png", "png_pipe"}, "webp": {"webp", "webp_pipe"}}

func (b builder) thumbnail(j *job) error {
	name := b.Image
	if b.Named && name == "" {
		name = extension(b.Output)
	}
	if name == "" {
		name = "jpg"
	}
	f, ok := imageFormats[name]
	if !ok {
		return guest.Errorf(abi.CodeUnsupported, "a still cannot be a %q; jpg, png and webp it can be", name)
	}
	at := j.in.Duration / 10
	if b.At != nil {
		at = *b.At
	}
	if at > 0 && at >= j.in.Duration {
		return guest.Errorf(abi.CodeBadRequest, "%q is only %s long: it has no picture at %s", j.in.Path, length(j.in.Duration), length(at))
	}
	if fps := j.in.Video.FPS; fps > 0 { // the last picture begins before the end
		at = max(0, min(at, j.in.Duration-1/fps-0.01))
	}
	s := j.in.Video.plain()
	if b.Width > 0 || b.Height > 0 {
		keep := true
		var err error
		if s, err = j.in.Video.resize(b.Width, b.Height, "", "", &keep); err != nil {
			return err
		}
	}
	j.still, j.audio, j.seek = true, false, at
	j.kind, j.format, j.codec = container{ext: name}, f[1], f[0]
	j.width, j.height, j.videoFilters = s.width, s.height, s.filters
	switch f[0] {
	case "mjpeg":
		j.videoOptions = []string{"-c:v", "mjpeg", "-q:v", "3", "-pix_fmt", "yuvj420p"}
	case "png":
		j.videoOptions = []string{"-c:v", "png"}
	default:
		j.videoOptions = []string{"-c:v", "libwebp", "-quality", "85"}
	}
	return nil
}

// speed plays faster or slower, sound at its pitch.
func (b builder) speed(j *job) error {
	if _, err := b.container(j); err != nil {
		return err
	}
	if j.video {
		if err := b.picture(j, j.in.Video.plain(), "visually_good", 0, 0); err != nil {
			return err
		}
		faster := []string{"setpts=PTS/" + seconds(b.Speed)}
		if fps := j.in.Video.FPS; fps > 0 && j.kind.muxer != "gif" {
			faster = append(faster, "fps="+strconv.FormatFloat(fps, 'f', 3, 64))
		}
		j.videoFilters = append(faster, j.videoFilters...)
	}
	j.duration /= b.Speed
	if j.audio {
		return b.soundAgain(j, tempo(b.Speed)...)
	}
	return nil
}

// tempo is a chain of filters: one of them changes by at most two either way
// without harm.
func tempo(speed float64) (filters []string) {
	for speed > 2 {
		filters, speed = append(filters, "atempo=2"), speed/2
	}
	for speed < 0.5 {
		filters, speed = append(filters, "atempo=0.5"), speed*2
	}
	return append(filters, "atempo="+strconv.FormatFloat(speed, 'f', 6, 64))
}

// volume changes how loud the sound is; the picture is copied.
func (b builder) volume(j *job) error {
	if _, err := b.container(j); err != nil {
		return err
	}
	if j.video {
		if err := b.pictureOrCopy(j, "visually_good"); err != nil {
			return err
		}
	}
	if b.Normalize {
		// The filter raises the rate and forgets the channels: both are set again.
		channels := "stereo"
		if j.in.Audio.Channels == 1 {
			channels = "mono"
		}
		return b.soundAgain(j, "loudnorm=I=-16:TP=-1.5:LRA=11", "aformat=sample_rates="+strconv.Itoa(max(j.in.Audio.Rate, 8000))+":channel_layouts="+channels)
	}
	return b.soundAgain(j, "volume="+b.Gain)
}

// rotate turns and mirrors the picture.
func (b builder) rotate(j *job) error {
	s := j.in.Video.plain()
	if err := b.encode(j, s, "visually_good"); err != nil {
		return err
	}
	var filters []string
	switch b.Angle {
	case 0:
	case 90:
		filters = []string{"transpose=clock"}
	case 180:
		filters = []string{"hflip", "vflip"}
	case 270:
		filters = []string{"transpose=cclock"}
	default:
		return guest.Errorf(abi.CodeBadRequest, "a picture is turned by 90, 180 or 270 degrees, not by %d", b.Angle)
	}
	switch b.Flip {
	case "horizontal":
		filters = append(filters, "hflip")
	case "vertical":
		filters = append(filters, "vflip")
	}
	if b.Angle == 90 || b.Angle == 270 {
		j.width, j.height = j.height, j.width
	}
	j.videoFilters = append(slices.Clone(j.videoFilters), filters...)
	return nil
}
