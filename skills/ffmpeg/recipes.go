package main

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

type buildArgs struct {
	Media     []Media            `json:"media" required:"true"`
	Qualities map[string]quality `json:"qualities" required:"true"`
	Platform  *platform          `json:"platform"`
	Options   options            `json:"options" required:"true"`
}

// Built is the result of build_recipes.
type Built struct {
	Recipes []Recipe `json:"recipes"`
	// Work is how long all of them take, in seconds on one core.
	Work float64 `json:"work"`
}

func buildRecipes(ctx guest.Context, in buildArgs) (Built, error) {
	p := profiles{qualities: in.Qualities}
	if in.Platform != nil {
		p.platforms = map[string]platform{in.Options.Platform: *in.Platform}
	}
	b := builder{options: in.Options, profiles: p, onKeyFrame: func(m Media, at float64) bool { return keyFrameAt(ctx, m, at) }}
	if info, err := ctx.Files().Stat(b.Output); b.Named && (strings.HasSuffix(b.Output, "/") || err == nil && info.IsDir()) {
		b.into(guest.Clean(b.Output))
	}
	names := &namer{given: map[string]bool{}, taken: func(name string) bool {
		_, err := ctx.Files().Lstat(name)
		return !guest.IsNotExist(err)
	}}
	return b.recipes(in.Media, names)
}

// into puts what is made into a folder: the output names one, and no file.
func (b *builder) into(folder string) {
	b.folder, b.Named, b.Output = folder, false, ""
	if b.Mode == modeConcat {
		b.Output = path.Join(folder, joined)
	}
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
		if r.Instead, err = b.instead(j, i); err != nil {
			return built, err
		}
		if b.Mode == modeCompress && j.maxBytes == 0 {
			r.Was = m.Size
		}
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

// instead is the recipe that encodes what a job cuts out, at a steady rate; nil
// where that changes nothing.
func (b builder) instead(j job, n int) (*Recipe, error) {
	if b.Mode != modeTrim || j.length == 0 || !j.video && j.sound != "copy" {
		return nil, nil
	}
	b.anew = true
	again, err := b.job(j.in)
	if err != nil {
		return nil, err
	}
	again.output = j.output
	r := again.recipe(n)
	return &r, nil
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
