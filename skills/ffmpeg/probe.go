package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// parseProbe reads ffprobe's JSON.
func parseProbe(name string, text []byte) (Media, error) {
	var p struct {
		Format struct {
			Name     string `json:"format_name"`
			Start    string `json:"start_time"`
			Duration string `json:"duration"`
			Size     string `json:"size"`
		} `json:"format"`
		Streams  []probed   `json:"streams"`
		Chapters []struct{} `json:"chapters"`
		Packets  []struct {
			Stream int    `json:"stream_index"`
			Flags  string `json:"flags"`
		} `json:"packets"`
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return Media{}, guest.Errorf(abi.CodeFailed, "what ffprobe says of %q cannot be read: %v", name, err)
	}
	m := Media{Path: name, Format: p.Format.Name, Duration: number(p.Format.Duration), Size: int64(number(p.Format.Size)), Chapters: len(p.Chapters)}
	// Matroska counts from zero, wherever the first picture stands.
	late := 0.0
	if strings.Contains(m.Format, "matroska") {
		late = number(p.Format.Start)
		m.Duration = max(m.Duration-late, 0)
	}
	lasting, others := 0.0, false
	for _, s := range p.Streams {
		s.lasts = s.duration(late)
		switch {
		case s.Type == "video" && s.Disposition["attached_pic"] == 1:
			m.Covers = append(m.Covers, Stream{s.Index, s.Codec})
		case s.Type == "video" && m.Video == nil && s.Width > 0 && s.Height > 0:
			m.Video = s.video()
			for _, packet := range p.Packets {
				if packet.Stream == s.Index {
					m.Video.Preroll = strings.Contains(packet.Flags, "D")
					break
				}
			}
			lasting = max(lasting, s.lasts)
		case s.Type == "audio" && s.Duration != "" && s.lasts == 0: // a track that holds nothing
		case s.Type == "audio" && s.Channels > 0:
			a := s.audio()
			const meant = 0.1 // seconds; less is how codecs and containers begin
			if a.Late = number(s.Start) - number(p.Format.Start); a.Late < meant {
				a.Late = 0
			}
			if number(s.Duration) > 0 {
				a.Duration += a.Late // where it ends; Matroska says just that
			}
			if m.Audio == nil {
				m.Audio = a
			} else {
				m.More = append(m.More, *a)
			}
			lasting = max(lasting, s.lasts)
		case s.Type == "subtitle":
			m.Subtitles, others = append(m.Subtitles, Stream{s.Index, s.Codec}), true
		default:
			others = true
		}
	}
	if lasting > 0 && (p.Format.Duration == "" || others) {
		m.Duration = lasting // subtitles may stand in a file for longer than it plays
	}
	if m.Video == nil && m.Audio == nil {
		return m, guest.Errorf(abi.CodeBadRequest, "%q holds neither picture nor sound", name)
	}
	return m, nil
}

// probed is what ffprobe says of a stream.
type probed struct {
	Index       int               `json:"index"`
	Type        string            `json:"codec_type"`
	Codec       string            `json:"codec_name"`
	Profile     string            `json:"profile"`
	Level       int               `json:"level"`
	Extra       string            `json:"extradata_hash"`
	Base        string            `json:"time_base"`
	Width       int               `json:"width"`
	Height      int               `json:"height"`
	Aspect      string            `json:"sample_aspect_ratio"`
	Pixels      string            `json:"pix_fmt"`
	Reorder     int               `json:"has_b_frames"`
	Rate        string            `json:"r_frame_rate"`
	Average     string            `json:"avg_frame_rate"`
	Start       string            `json:"start_time"`
	Duration    string            `json:"duration"`
	BitRate     string            `json:"bit_rate"`
	SampleRate  string            `json:"sample_rate"`
	Channels    int               `json:"channels"`
	Layout      string            `json:"channel_layout"`
	Disposition map[string]int    `json:"disposition"`
	Tags        map[string]string `json:"tags"`
	lasts       float64
	Side        []struct {
		Rotation float64 `json:"rotation"`
	} `json:"side_data_list"`
}

// duration is how long the stream lasts, 0 when nothing says so. late is where
// the file begins.
func (s probed) duration(late float64) float64 {
	if v := number(s.Duration); v > 0 {
		return v
	}
	v, _ := clock(s.Tags["DURATION"][:min(len(s.Tags["DURATION"]), 15)]) // as Matroska has it: 00:00:03.023000000
	return max(v-late, 0)
}

func (s probed) video() *Video {
	v := &Video{Index: s.Index, Codec: s.Codec, Width: s.Width, Height: s.Height, Pixels: s.Pixels, Reorder: s.Reorder, BitRate: int64(number(s.BitRate)), Duration: s.lasts}
	if v.FPS = ratio(s.Average, "/"); v.FPS <= 0 || v.FPS > 1000 {
		v.FPS = ratio(s.Rate, "/")
	}
	if sar := ratio(s.Aspect, ":"); sar > 0 && sar != 1 {
		v.Squeezed = true
		v.Width = int(math.Round(float64(v.Width) * sar))
	}
	for _, side := range s.Side {
		if side.Rotation != 0 {
			v.Rotation = int(side.Rotation)
		}
	}
	if v.Rotation%180 != 0 {
		v.Width, v.Height = v.Height, v.Width
	}
	v.Setup = fmt.Sprint([]any{s.Index, s.Codec, s.Profile, s.Level, s.Width, s.Height, s.Aspect, s.Pixels, s.Reorder, s.Rate, s.Base, v.Rotation, s.Extra})
	return v
}

func (s probed) audio() *Audio {
	return &Audio{Index: s.Index, Codec: s.Codec, Rate: int(number(s.SampleRate)), Channels: s.Channels, BitRate: int64(number(s.BitRate)), Duration: s.lasts,
		Setup: fmt.Sprint([]any{s.Index, s.Codec, s.Profile, s.SampleRate, s.Channels, s.Layout, s.Base, s.Extra})}
}
