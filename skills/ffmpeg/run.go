package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

type previewArgs struct {
	Recipes []Recipe `json:"recipes" required:"true"`
}

// Preview is the result of run_preview.
type Preview struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// runPreview makes a short sample of the first output, beside it, for a person
// to look at before the rest is made.
func runPreview(ctx guest.Context, in previewArgs) (Preview, error) {
	i := slices.IndexFunc(in.Recipes, func(r Recipe) bool { return r.Preview != nil })
	if i < 0 {
		return Preview{}, guest.Errorf(abi.CodeBadRequest, "no recipe has a preview")
	}
	r := *in.Recipes[i].Preview
	if ctx.DryRun() {
		return Preview{}, nil
	}
	if err := cook(ctx, []Recipe{r}); err != nil {
		return Preview{}, err
	}
	media, err := check(ctx, []Recipe{r})
	if err != nil {
		return Preview{}, err
	}
	return Preview{r.Output, "preview " + media[0].describe()}, nil
}

type batchArgs struct {
	Recipes []Recipe `json:"recipes" required:"true"`
	Preview *Preview `json:"preview"`
}

// Made is the result of run_batch.
type Made struct {
	Paths []string `json:"paths"`
	Media []Media  `json:"media"`
	// What the last of them is, for later calls and for those who check, and the
	// filters that it went through.
	Container  string   `json:"container"` // as ffprobe names it, several with commas
	VideoCodec string   `json:"video_codec"`
	AudioCodec string   `json:"audio_codec"`
	NoAudio    bool     `json:"no_audio"`
	Width      int      `json:"width"`
	Height     int      `json:"height"`
	Duration   float64  `json:"duration"`
	Filters    []string `json:"filters"`
	// Commands are, in a dry run, what would be run.
	Commands [][]string `json:"commands,omitempty"`
	// Work is the guess of how long it takes one core, Estimate of how long it
	// takes here, by the clock, in seconds.
	Work     float64 `json:"work"`
	Estimate float64 `json:"estimate"`
}

// long is from where on a person is asked before the work, in seconds.
const long = 600

func runBatch(ctx guest.Context, in batchArgs) (Made, error) {
	made := Made{Paths: []string{}, Media: []Media{}, Estimate: span(in.Recipes, ctx.Cores())}
	for _, r := range in.Recipes {
		made.Work += r.Work
	}
	if ctx.DryRun() {
		tellNotes(ctx, in.Recipes)
		return foresee(ctx, in.Recipes, made)
	}
	if made.Estimate > tryFrom {
		f := tried(ctx, in.Recipes)
		made.Work, made.Estimate = made.Work*f, made.Estimate*f
	}
	if err := ask(ctx, in, made.Estimate); err != nil {
		return made, err
	}
	if in.Preview != nil && in.Preview.Path != "" {
		if err := ctx.Files().Remove(in.Preview.Path); err != nil {
			return made, err
		}
	}
	if err := cook(ctx, in.Recipes); err != nil {
		return made, err
	}
	media, err := check(ctx, in.Recipes)
	if err != nil {
		return made, err
	}
	tellNotes(ctx, in.Recipes)
	made.Media = media
	for i, r := range in.Recipes {
		if r.Was > 0 && media[i].Size >= r.Was {
			ctx.Issue("%s is no smaller than %s was", r.Output, r.Inputs[0])
		}
		made.Paths = append(made.Paths, r.Output)
		made.tell(r, media[i].Format)
	}
	return made, nil
}

// tellNotes says what of the inputs did not come along, and the like.
func tellNotes(ctx guest.Context, recipes []Recipe) {
	for _, r := range recipes {
		for _, n := range r.Notes {
			ctx.Issue("%s", n)
		}
	}
}

// tell takes over what an output was checked to be, and how it was made.
func (m *Made) tell(r Recipe, format string) {
	e := r.Expect
	m.Container, m.VideoCodec, m.AudioCodec, m.NoAudio = format, e.Video, e.Audio, e.Audio == ""
	m.Width, m.Height, m.Duration, m.Filters = e.Width, e.Height, e.Duration, []string{}
	for _, argv := range slices.Concat(r.Stages...) {
		for i, a := range argv[1:] {
			if slices.Contains([]string{"-vf", "-af", "-filter_complex"}, argv[i]) || strings.HasPrefix(argv[i], "-filter:") {
				m.Filters = append(m.Filters, a)
			}
		}
	}
}

// ask waits for a person where the contract promises it: with a preview, and
// before a long time of work.
func ask(ctx guest.Context, in batchArgs, estimate float64) error {
	var prompt, preview string
	switch {
	case in.Preview != nil:
		prompt, preview = fmt.Sprintf("Go on with %s, %s of work?", files(len(in.Recipes)), roughly(estimate)), in.Preview.Text
	case estimate > long && !ctx.Confirmed():
		prompt = fmt.Sprintf("This is %s of work. Go on?", roughly(estimate))
	default:
		return nil
	}
	yes, err := ctx.Confirm(prompt, preview)
	if err == nil && !yes {
		err = guest.Errorf(abi.CodeDeclined, "nobody said yes to %s of work; nothing is kept", roughly(estimate))
	}
	return err
}

// foresee is the run_batch of a dry run: each output is a note of what it would
// be, for the calls that follow.
func foresee(ctx guest.Context, recipes []Recipe, made Made) (Made, error) {
	for _, r := range recipes {
		text, err := json.Marshal(r.Planned)
		if err != nil {
			return made, err
		}
		if err := folder(ctx, r.Output); err != nil {
			return made, err
		}
		if err := ctx.Files().WriteFile(r.Output, append([]byte(plannedMark), text...)); err != nil {
			return made, err
		}
		for _, stage := range r.Stages {
			made.Commands = append(made.Commands, stage...)
		}
		made.Paths, made.Media = append(made.Paths, r.Output), append(made.Media, r.Planned)
		made.tell(r, r.Planned.Format)
	}
	return made, nil
}

func folder(ctx guest.Context, name string) error {
	if dir := path.Dir(name); dir != "." {
		return ctx.Files().MkdirAll(dir)
	}
	return nil
}

// cook runs the stages of all recipes, what is at the same stage at once, as
// far as there are cores.
func cook(ctx guest.Context, recipes []Recipe) error {
	for _, r := range recipes {
		if err := folder(ctx, r.Output); err != nil {
			return err
		}
		for name, text := range r.Lists {
			if err := ctx.Files().WriteFile(path.Join(ctx.TempDir(), path.Base(name)), []byte(text)); err != nil {
				return err
			}
		}
	}
	done, whole := 0.0, 0.0
	for _, r := range recipes {
		whole += r.Work
	}
	for stage := 0; ; stage++ {
		var runs []guest.EngineRun
		weight := 0.0
		var of []string
		for _, r := range recipes {
			if stage >= len(r.Stages) {
				continue
			}
			for _, argv := range r.Stages[stage] {
				runs, of = append(runs, guest.EngineRun{Argv: argv, Progress: r.progress(stage)}), append(of, r.Output)
			}
			weight += r.Work * r.share(stage)
		}
		if len(runs) == 0 {
			break
		}
		if err := engineRuns(ctx.Engine(engine).Part(done, whole), runs, of); err != nil {
			return err
		}
		done += weight
	}
	return shrink(ctx, recipes)
}

func engineRuns(e guest.Engine, runs []guest.EngineRun, of []string) error {
	results, err := e.RunAll(len(runs), runs)
	if err != nil {
		return err
	}
	for i, r := range results {
		if r.ExitCode != 0 {
			return guest.Errorf(abi.CodeFailed, "%s could not be made: %s", of[i], reason(r.Stderr))
		}
	}
	return nil
}

// progress is how the progress of each command line of a stage is told.
func (r Recipe) progress(stage int) *guest.EngineProgress {
	if r.Expect.Duration <= 0 {
		return nil
	}
	n := float64(len(r.Stages[stage]))
	return &guest.EngineProgress{Pattern: `out_time_us=(\d+)`, Total: math.Round(r.Expect.Duration / n * 1e6), Label: r.Output, Weight: r.Work * r.share(stage) / n}
}

// check looks at what was made and compares it with what was to be made. What
// is not so makes the run fail. Before, it is made anew where there is a surer way:
// some files cannot be cut or joined without encoding them.
func check(ctx guest.Context, recipes []Recipe) ([]Media, error) {
	media, err := look(ctx, recipes)
	if err != nil {
		return nil, err
	}
	var again []Recipe
	var at []int
	for i, r := range recipes {
		if *media[i].Verified || r.Instead == nil {
			continue
		}
		if err := ctx.Files().Remove(r.Output); err != nil {
			return nil, err
		}
		again, at = append(again, *r.Instead), append(at, i)
	}
	if len(again) > 0 {
		if err := ask(ctx, batchArgs{Recipes: again}, span(again, ctx.Cores())); err != nil {
			return nil, err
		}
		if err := cook(ctx, again); err != nil {
			return nil, err
		}
		anew, err := look(ctx, again)
		if err != nil {
			return nil, err
		}
		for n, i := range at {
			ctx.Issue("%s is made anew: at first it came out wrong (%s)", recipes[i].Output, media[i].Reason)
			recipes[i], media[i] = again[n], anew[n]
		}
	}
	all := true
	for i, r := range recipes {
		if !*media[i].Verified {
			ctx.Issue("%s %s", r.Output, media[i].Reason)
			all = false
		}
	}
	ctx.Verified(all)
	return media, nil
}

// look probes what was made, and says of each whether it is as expected.
func look(ctx guest.Context, recipes []Recipe) ([]Media, error) {
	names := make([]string, len(recipes))
	still := ""
	for i, r := range recipes {
		names[i] = r.Output
		if strings.HasSuffix(r.Expect.Format, "_pipe") {
			still = r.Expect.Format
		}
	}
	media, err := probe(ctx, names, still)
	if err != nil {
		return nil, err
	}
	for i, r := range recipes {
		faults := r.Expect.faults(media[i])
		ok := len(faults) == 0
		media[i].Verified, media[i].Reason = &ok, strings.Join(faults, "; ")
	}
	return media, nil
}

// faults is what is not as expected.
func (e Expect) faults(m Media) (all []string) {
	wrong := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if !slices.Contains(strings.Split(m.Format, ","), e.Format) {
		wrong("is %s, not %s", m.Format, e.Format)
	}
	var video, audio string
	if m.Video != nil {
		video = m.Video.Codec
		if e.Width > 0 && (m.Video.Width != e.Width || m.Video.Height != e.Height) {
			wrong("is %d×%d, not %d×%d", m.Video.Width, m.Video.Height, e.Width, e.Height)
		}
	}
	if m.Audio != nil {
		audio = m.Audio.Codec
	}
	if video != e.Video {
		wrong("has %s, not %s", stream(video, "picture"), stream(e.Video, "picture"))
	}
	if audio != e.Audio {
		wrong("has %s, not %s", stream(audio, "sound"), stream(e.Audio, "sound"))
	}
	count := func(have, want int, one, many string) {
		switch {
		case have == want:
		case want == 1:
			wrong("has %d %s, not 1 %s", have, many, one)
		default:
			wrong("has %d, not %d %s", have, want, many)
		}
	}
	if m.Audio != nil && e.Sounds > 0 {
		count(1+len(m.More), e.Sounds, "sound track", "sound tracks")
	}
	count(len(m.Subtitles), e.Subtitles, "subtitle", "subtitles")
	count(len(m.Covers), e.Covers, "cover", "covers")
	if e.Duration > 0 && math.Abs(m.Duration-e.Duration) > e.Tolerance {
		hint := ""
		if m.Duration < e.Duration {
			hint = ": what it is made of may be damaged or cut off"
		}
		wrong("is %s s long, not %s%s", seconds(m.Duration), seconds(e.Duration), hint)
	}
	if e.MaxBytes > 0 && m.Size > e.MaxBytes {
		wrong("has %s, more than %s", guest.Size(m.Size), guest.Size(e.MaxBytes))
	}
	return all
}

func stream(codec, what string) string {
	if codec == "" {
		return "no " + what
	}
	return codec + " " + what
}
