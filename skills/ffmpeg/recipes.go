package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

type buildArgs struct {
	Media   []Media `json:"media" required:"true"`
	Options options `json:"options" required:"true"`
}

// Built is the result of build_recipes.
type Built struct {
	Recipes []Recipe `json:"recipes"`
	// Work is how long all of them take, in seconds on one core.
	Work float64 `json:"work"`
}

func buildRecipes(ctx guest.Context, in buildArgs) (Built, error) {
	p, err := loadProfiles(ctx)
	if err != nil {
		return Built{}, err
	}
	b := builder{options: in.Options, profiles: p, onKeyFrame: func(m Media, at float64) bool { return keyFrameAt(ctx, m, at) }}
	names := &namer{given: map[string]bool{}, taken: func(name string) bool {
		_, err := ctx.Files().Lstat(name)
		return !guest.IsNotExist(err)
	}}
	return b.recipes(in.Media, names)
}

// recipes says how to make everything that is asked for.
func (b builder) recipes(media []Media, names *namer) (Built, error) {
	var built Built
	if b.Mode == modeConcat {
		r, err := b.concat(media, names)
		return Built{Recipes: []Recipe{r}, Work: r.Work}, err
	}
	if b.Named && len(media) > 1 {
		return built, guest.Errorf(abi.CodeBadRequest, "%q is one name for %d files: leave it out, or name one file", b.Output, len(media))
	}
	for i, m := range media {
		j, err := b.job(m)
		if err != nil {
			return built, err
		}
		if j.output, err = names.output(b, j); err != nil {
			return built, err
		}
		if err := b.bounded(j); err != nil {
			return built, err
		}
		r := j.recipe(i)
		if parts := b.parts(j); parts > 1 {
			r.Stages, r.Lists = backwards(j, i, parts)
			r.Shares = []float64{0.98, 0.02} // joining only copies
		}
		if b.Preview && i == 0 {
			s := j.sample(names.next(stem(m.Path)+"_preview", j.kind.ext)).recipe(i)
			r.Preview = &s
		}
		built.Recipes = append(built.Recipes, r)
		built.Work += r.Work
	}
	return built, nil
}

// The engine's memory is bounded: how many bytes of pictures may be kept at
// once, by what reverses and by what chooses colours.
const (
	reverseBytes = 250e6
	paletteBytes = 500e6
)

// bounded refuses what the engine would not have the memory for.
func (b builder) bounded(j job) error {
	if j.codec != "gif" || b.Mode == modeReverse {
		return nil
	}
	if need := float64(j.width*j.height) * 4 * math.Min(j.in.Video.FPS, 12) * j.duration; need > paletteBytes {
		return guest.Errorf(abi.CodeLimit, "%s of %q are too much for a gif; trim it or resize it first", length(j.duration), j.in.Path)
	}
	return nil
}

// parts is into how many pieces a reversal is cut, 1 when all fits.
func (b builder) parts(j job) int {
	if b.Mode != modeReverse || j.codec == "gif" {
		return 1
	}
	need := float64(j.in.Video.Width*j.in.Video.Height) * 1.5 * math.Max(j.in.Video.FPS, 1) * j.duration
	return int(math.Ceil(need / reverseBytes))
}

// backwards reverses a job in pieces, and joins them from the last to the first.
func backwards(j job, n, parts int) ([][][]string, map[string]string) {
	var pieces [][]string
	var list strings.Builder
	each := j.duration / float64(parts)
	for k := range parts {
		p := j
		p.seek, p.length = float64(k)*each, each
		p.kind = containers["mkv"]
		p.output = fmt.Sprintf("/@tmp/part-%d-%d.mkv", n, k)
		if p.audio {
			p.sound, p.audioOptions = "pcm_s16le", []string{"-c:a", "pcm_s16le"}
		}
		pieces = append(pieces, p.argv(0, ""))
		last := parts - 1 - k
		fmt.Fprintf(&list, "file 'part-%d-%d.mkv'\n", n, last)
	}
	name := fmt.Sprintf("list-%d.txt", n)
	a := append(ffmpeg(), "-protocol_whitelist", "file", "-format_whitelist", "concat,matroska,webm", "-f", "concat", "-i", "file:/@tmp/"+name, "-map", "0:v", "-c:v", "copy")
	if j.audio {
		a = append(append(a, "-map", "0:a"), j.audioOptions...)
	}
	a = append(append(a, j.muxing()...), fileURL(j.output))
	return [][][]string{pieces, {a}}, map[string]string{name: list.String()}
}

// keyFrameAt says whether a file's picture has a key frame just there.
func keyFrameAt(ctx guest.Context, m Media, at float64) bool {
	if m.Planned {
		return false
	}
	r, err := ctx.Engine(engine).Run(guest.EngineRun{Argv: []string{"ffprobe", "-v", "error", "-select_streams", strconv.Itoa(m.Video.Index),
		"-read_intervals", seconds(at) + "%" + seconds(at+0.02), "-show_entries", "packet=pts_time,flags", "-of", "csv=p=0",
		"-protocol_whitelist", "file", "-format_whitelist", demuxers, fileURL(m.Path)}})
	if err != nil || r.ExitCode != 0 {
		return false
	}
	for line := range strings.Lines(r.Stdout) {
		pts, flags, _ := strings.Cut(strings.TrimSpace(line), ",")
		if strings.HasPrefix(flags, "K") && math.Abs(number(pts)-at) < 0.005 {
			return true
		}
	}
	return false
}

// concat joins files into one: everything is brought to one size, one rate and
// one kind of sound; what has none is silent.
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
	if !b.Named && !j.video {
		b.Container = "m4a"
	} else if !b.Named {
		b.Container = "mp4"
	}
	if _, err := b.container(&j); err != nil {
		return Recipe{}, err
	}
	if j.kind.muxer == "gif" {
		return Recipe{}, guest.Errorf(abi.CodeUnsupported, "files are not joined to a gif; join them to an mp4 and convert that")
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
		a = append(append(a, "-threads", "1"), reading(m.Path)...)
		if j.video {
			box := strings.Join(m.Video.boxed(s.width, s.height, fitPad).filters, ",")
			fmt.Fprintf(&graph, "[%d:%d]%s,fps=%s,format=yuv420p[v%d];", i, m.Video.Index, box, strconv.FormatFloat(fps, 'f', 3, 64), i)
			fmt.Fprintf(&pads, "[v%d]", i)
			work += float64(m.Video.Width*m.Video.Height) * math.Max(m.Video.FPS, 1) * m.Duration / decoding
		}
		if j.audio {
			if m.Audio != nil {
				fmt.Fprintf(&graph, "[%d:%d]aresample=48000,aformat=sample_fmts=fltp:channel_layouts=stereo[a%d];", i, m.Audio.Index, i)
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
	a = append(append(a, j.muxing()...), fileURL(j.output))
	r := Recipe{Output: j.output, Stages: [][][]string{{a}}, Expect: j.expect(), Work: work, Planned: j.planned()}
	for _, m := range media {
		r.Inputs = append(r.Inputs, m.Path)
	}
	r.Expect.Tolerance += 0.15 * float64(len(media))
	return r, nil
}
