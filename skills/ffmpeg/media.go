package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// Media is what is known of one file.
type Media struct {
	Path      string   `json:"path"`
	Format    string   `json:"format"` // as ffprobe names it, several with commas
	Duration  float64  `json:"duration"`
	Size      int64    `json:"size"`
	Video     *Video   `json:"video,omitempty"`
	Audio     *Audio   `json:"audio,omitempty"`
	More      []Audio  `json:"more,omitempty"` // the sound tracks after the first
	Subtitles []Stream `json:"subtitles,omitempty"`
	Covers    []Stream `json:"covers,omitempty"`
	Chapters  int      `json:"chapters,omitempty"`
	Planned   bool     `json:"planned,omitempty"` // a dry run would have made it
	// Verified is, of what was made, whether it is what was to be made, Reason
	// why not.
	Verified *bool  `json:"verified,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// Stream is one that is carried along, if it is.
type Stream struct {
	Index int    `json:"index"`
	Codec string `json:"codec"`
}

// Video is the first picture stream that is no cover. Width and height are as
// shown: after rotation, with square pixels.
type Video struct {
	Index    int     `json:"index"`
	Codec    string  `json:"codec"`
	Width    int     `json:"width"`
	Height   int     `json:"height"`
	Pixels   string  `json:"pixels"`
	FPS      float64 `json:"fps"`
	Rotation int     `json:"rotation,omitempty"`
	Squeezed bool    `json:"squeezed,omitempty"` // its pixels are not square
	Reorder  int     `json:"reorder,omitempty"`  // how many frames are stored before earlier ones
	BitRate  int64   `json:"bit_rate,omitempty"`
	Duration float64 `json:"duration,omitempty"` // 0 when only the file's is known
	Preroll  bool    `json:"preroll,omitempty"`  // it holds frames that are not shown, in front of the first that is
	Setup    string  `json:"setup,omitempty"`    // the same for pictures that go on in one another
}

// Audio is a sound stream.
type Audio struct {
	Index    int     `json:"index"`
	Codec    string  `json:"codec"`
	Rate     int     `json:"rate"`
	Channels int     `json:"channels"`
	BitRate  int64   `json:"bit_rate,omitempty"`
	Duration float64 `json:"duration,omitempty"`
	Late     float64 `json:"late,omitempty"`  // by how much it begins after the file does
	Setup    string  `json:"setup,omitempty"` // likewise
}

// engine is the name of the engine in skill.yaml.
const engine = "ffmpreg"

// demuxers are the formats that are read. Those that name other files
// (playlists, concat scripts, numbered images) are left out: a file that is
// given must not bring in others.
const demuxers = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,gif,ogg,flv,live_flv,asf,mpegts,mpeg,mpegvideo,mp3,wav,w64,flac,aac,aiff,amr,caf,au,ac3,eac3,dv,mxf,h264,hevc,m4v"

// fileURL names a file so that nothing in the name is a protocol or an option.
func fileURL(name string) string {
	if strings.HasPrefix(name, "/") {
		return "file:" + name
	}
	return "file:./" + name
}

// reading are the options in front of every input.
func reading(name string) []string {
	return []string{"-protocol_whitelist", "file", "-format_whitelist", demuxers, "-i", fileURL(name)}
}

type probeArgs struct {
	Files []string `json:"files" required:"true" role:"input"`
	Show  bool     `json:"show"`
}

// Probed is the result of probe_media.
type Probed struct {
	Media []Media `json:"media"`
	Show  bool    `json:"show,omitempty"`
}

func probeMedia(ctx guest.Context, in probeArgs) (Probed, error) {
	media, err := probe(ctx, in.Files, "")
	return Probed{media, in.Show}, err
}

// probe looks at files with ffprobe, several at once. format says what they
// are, "" when that is to be found out.
func probe(ctx guest.Context, files []string, format string) ([]Media, error) {
	media := make([]Media, len(files))
	var runs []guest.EngineRun
	var at []int
	for i, name := range files {
		if planned(ctx, name, &media[i]) {
			continue
		}
		argv := []string{"ffprobe", "-v", "error", "-of", "json", "-show_format", "-show_streams", "-show_chapters", "-show_data_hash", "sha256",
			"-show_entries", "packet=stream_index,flags", "-read_intervals", "%+#20", "-protocol_whitelist", "file"}
		if format == "" {
			argv = append(argv, "-format_whitelist", demuxers)
		} else {
			argv = append(argv, "-f", format)
		}
		argv = append(argv, fileURL(name))
		runs, at = append(runs, guest.EngineRun{Argv: argv}), append(at, i)
	}
	// Of many runs at once the host keeps less of what each says.
	const once = 8
	var results []guest.EngineResult
	for some := range slices.Chunk(runs, once) {
		more, err := ctx.Engine(engine).RunAll(len(some), some)
		if err != nil {
			return nil, err
		}
		results = append(results, more...)
	}
	var bad []string // all of them: a person leaves them out at once
	for n, r := range results {
		name := files[at[n]]
		if info, err := ctx.Files().Stat(name); r.ExitCode != 0 && err == nil && info.Size() == 0 {
			bad = append(bad, fmt.Sprintf("%q is empty", name))
			continue
		}
		if r.ExitCode != 0 {
			bad = append(bad, fmt.Sprintf("%q is not video or sound that can be read: %s", name, reason(r.Stderr)))
			continue
		}
		m, err := parseProbe(name, []byte(r.Stdout))
		if err != nil {
			return nil, err
		}
		media[at[n]] = m
	}
	const told = 5
	switch more := len(bad) - told; {
	case more > 0:
		return nil, guest.Errorf(abi.CodeBadRequest, "%s; and %d more like these", strings.Join(bad[:told], "; "), more)
	case len(bad) > 0:
		return nil, guest.Errorf(abi.CodeBadRequest, "%s", strings.Join(bad, "; "))
	}
	return media, nil
}

// plannedMark begins the files that stand, in a dry run, for those that would
// be made, so that later calls of the plan can be planned too.
const plannedMark = "stepbox dry run\n"

func planned(ctx guest.Context, name string, m *Media) bool {
	if !ctx.DryRun() {
		return false
	}
	f, err := ctx.Files().Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 1<<16))
	rest, ok := strings.CutPrefix(string(text), plannedMark)
	if err != nil || !ok || json.Unmarshal([]byte(rest), m) != nil {
		return false
	}
	m.Path, m.Planned = name, true
	return true
}

// address is how ffmpeg begins a line that a part of it says: the part, and
// where it lies in memory.
var address = regexp.MustCompile(`(?m)^(\[[^\]\n]{1,60} @ 0x[0-9a-f]+\] )+`)

// reason is what ffmpeg said: the first line, which is mostly the cause, and
// the last, which is what it gave up on.
func reason(stderr string) string {
	stderr = address.ReplaceAllString(stderr, "")
	lines := strings.FieldsFunc(strings.TrimSpace(stderr), func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) == 0 {
		return "no reason was given"
	}
	first, last := strings.TrimSpace(lines[0]), strings.TrimSpace(lines[len(lines)-1])
	if first == last {
		return first
	}
	return first + "; " + last
}

// number reads what ffprobe writes, 0 for what it does not know.
func number(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return 0
	}
	return v
}

func ratio(text, sep string) float64 {
	a, b, _ := strings.Cut(text, sep)
	if number(b) == 0 {
		return 0
	}
	return number(a) / number(b)
}

// loose says that a position in the file is found only roughly, and that some of
// its packets do not say when they are to be shown.
func (m Media) loose() bool {
	return strings.Contains(m.Format, "mpeg") || m.Format == "avi" // mpegts, mpeg, mpegvideo
}

// slack is by how many seconds a copy that ends somewhere may be too long:
// frames that are stored before earlier ones come along.
func (v Video) slack() float64 { return 2 * float64(v.Reorder) / math.Max(v.FPS, 1) }

// videoRate is the bits a second of the picture, guessed from the file when
// the stream does not say, 0 when nothing does.
func (m Media) videoRate() int64 {
	switch {
	case m.Video == nil:
		return 0
	case m.Video.BitRate > 0:
		return m.Video.BitRate
	case m.Duration <= 0:
		return 0
	}
	all := int64(float64(m.Size) * 8 / m.Duration)
	if m.Audio != nil {
		all -= m.Audio.BitRate
	}
	return max(all, 0)
}

// stem is a name without its folder's and its extension's part.
func stem(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }

// extension is the lower case extension without its dot.
func extension(name string) string { return strings.ToLower(strings.TrimPrefix(path.Ext(name), ".")) }

func seconds(v float64) string {
	return strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64)
}

// length tells a duration to a person.
func length(v float64) string {
	switch {
	case v < 60:
		return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) + " s"
	case v < 3600:
		return fmt.Sprintf("%d:%02d", int(v)/60, int(v)%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", int(v)/3600, int(v)/60%60, int(v)%60)
}
