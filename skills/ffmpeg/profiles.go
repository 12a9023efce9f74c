package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// platform is what a place where videos are put takes.
type platform struct {
	Container string  `json:"container"`
	Video     string  `json:"video"`
	Audio     string  `json:"audio"`
	Width     int     `json:"width"` // at most; with exact, just that
	Height    int     `json:"height"`
	Exact     bool    `json:"exact"`
	AudioKbps int     `json:"audio_kbps"`
	SizeMB    float64 `json:"size_mb"`
	Quality   string  `json:"quality"` // when none is asked for
}

// profiles are what the two steps here loaded.
type profiles struct {
	platforms map[string]platform
	qualities map[string]quality
}

// profile reads one of the skill's data files.
func profile[P any](ctx guest.Context, name string) (p map[string]P, err error) {
	text, err := ctx.SkillFile("profiles/" + name + ".json")
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return nil, guest.Errorf(abi.CodeFailed, "profiles/%s.json: %v", name, err)
	}
	return p, nil
}

type platformArgs struct {
	Platform string `json:"platform" required:"true" enum:"whatsapp,email,web,youtube,instagram_reels,tiktok,archive"`
}

func loadPlatform(ctx guest.Context, in platformArgs) (platform, error) {
	all, err := profile[platform](ctx, "platforms")
	if err != nil {
		return platform{}, err
	}
	p, ok := all[in.Platform]
	if !ok {
		return p, guest.Errorf(abi.CodeBadRequest, "there is no platform %q", in.Platform)
	}
	return p, nil
}

type qualityArgs struct {
	Quality    string `json:"quality" enum:"small_file,balanced,visually_good,high_quality,lossless,best_possible"`
	Container  string `json:"container"`
	VideoCodec string `json:"video_codec"`
	AudioCodec string `json:"audio_codec"`
}

// Qualities is the result of load_quality_profile: the one that is asked for,
// or all of them to choose from.
type Qualities struct {
	Profiles map[string]quality `json:"profiles"`
}

func loadQuality(ctx guest.Context, in qualityArgs) (Qualities, error) {
	all, err := profile[quality](ctx, "qualities")
	if err == nil && in.Quality != "" {
		maps.DeleteFunc(all, func(name string, _ quality) bool { return name != in.Quality })
	}
	return Qualities{all}, err
}

// encoders says, before anything runs, what the engine cannot make and what it
// can.
func encoders(_ guest.Context, in qualityArgs) (problems []abi.Problem) {
	problem := func(format string, args ...any) {
		problems = append(problems, abi.Problem{Kind: abi.ProblemOther, Message: fmt.Sprintf(format, args...)})
	}
	if in.VideoCodec != "" && !slices.Contains(encodable, in.VideoCodec) {
		problem("the engine has no encoder for %s; it encodes %s", in.VideoCodec, strings.Join(encodable, ", "))
	}
	if in.AudioCodec != "" && audioEncoders[in.AudioCodec] == "" {
		problem("the engine has no encoder for %s; it encodes %s", in.AudioCodec, encodableSound())
	}
	if _, ok := containers[in.Container]; in.Container != "" && !ok {
		problem("a file of type %q cannot be made; %s can", in.Container, strings.Join(slices.Sorted(maps.Keys(containers)), ", "))
	}
	if why := loses(in.VideoCodec); in.Quality == "lossless" && in.VideoCodec != "" && why != "" {
		problem("%s", why)
	}
	return problems
}

// loading are the steps that load the profiles, and the arguments by which
// build_recipes gets them.
func loading(o options) (list []guest.Call, into map[string]any) {
	into = map[string]any{"qualities": "$quality.profiles"}
	if o.Platform != "" {
		list = append(list, guest.Call{Tool: "load_platform_profile", Args: map[string]any{"platform": o.Platform}, Output: "$platform"})
		into["platform"] = "$platform"
	}
	given := map[string]any{}
	kind := o.Container
	if kind == "" && o.Named && o.Mode != modeThumbnail {
		kind = kindNamed(extension(o.Output))
	}
	for name, value := range map[string]string{"quality": o.Quality, "container": kind, "video_codec": o.Video, "audio_codec": o.Audio} {
		if value != "" {
			given[name] = value
		}
	}
	return append(list, guest.Call{Tool: "load_quality_profile", Args: given, Output: "$quality"}), into
}

// quality is the quality that is asked for, by name and by number.
func (p profiles) quality(o options, usual string) (quality, error) {
	name := o.Quality
	if name == "" {
		name = usual
	}
	q, ok := p.qualities[name]
	if !ok {
		return q, guest.Errorf(abi.CodeBadRequest, "there is no quality %q", name)
	}
	if o.CRF != nil {
		q.CRF = *o.CRF
	}
	if o.Kbps > 0 {
		q.AudioKbps = o.Kbps
	}
	return q, nil
}
