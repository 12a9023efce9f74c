package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host"
	"stepbox.dev/host/event"
	"stepbox.dev/host/fault"
)

// A name is a name, whatever ffmpeg would take it for.
func TestHostileNames(t *testing.T) {
	s := newStudio(t).film("clip.mov")
	clip, err := os.ReadFile(filepath.Join(s.dir, "clip.mov"))
	require.NoError(t, err)
	names := []string{"-i.mov", "%03d.mov", "a|b.mov", "it's \"it\".mov", "клип 片.mov", "[a][b];c.mov", `back\slash.mov`,
		"subfile,,start,0,end,9,,:clip.mov", "pipe:0.mov", "concat:clip.mov|clip.mov"}
	for _, name := range names {
		require.NoError(t, os.WriteFile(filepath.Join(s.dir, name), clip, 0o600))
	}
	made := s.run(call("convert_video", args{"inputs": names, "container": "mkv"}))
	require.Len(t, made.Paths, len(names))
	for i, name := range names {
		require.Equal(t, strings.TrimSuffix(name, ".mov")+".mkv", made.Paths[i])
		near(t, made.Media[i], "h264 64x36 aac", 2)
	}
	near(t, s.run(call("concat_video", args{"inputs": names, "output": "%d all.mov"})).Media[0], "h264 64x36 aac", float64(2*len(names)))
	// A list has a line for each file: a name must not bring lines of its own.
	lines := "x'\nfile 'file:clip.mov'\n#.mov"
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, lines), clip, 0o600))
	near(t, s.run(call("concat_video", args{"inputs": []string{"-i.mov", lines}, "output": "two.mov"})).Media[0], "h264 64x36 aac", 4)
}

// Files that lie about themselves, or bring others in, end as an error that
// names them; what is made of half a file does not verify. Nothing is kept.
func TestHostileMedia(t *testing.T) {
	fixtures["fast.mp4"] = "-i file:./clip.mov -c copy -movflags +faststart"
	s := newStudio(t).film("clip.mov", "fast.mp4")
	fast, err := os.ReadFile(filepath.Join(s.dir, "fast.mp4"))
	require.NoError(t, err)
	endless := bytes.Clone(fast)
	for _, box := range []struct {
		name string
		at   int // where, behind the name, the length stands
	}{{"mvhd", 16}, {"tkhd", 20}, {"mdhd", 16}, {"elst", 8}} {
		for i := bytes.Index(endless, []byte(box.name)); i >= 0; {
			binary.BigEndian.PutUint32(endless[i+4+box.at:], 0x7ffffffe)
			next := bytes.Index(endless[i+4:], []byte(box.name))
			if next < 0 {
				break
			}
			i += 4 + next
		}
	}
	gif := func(side uint16, frames int) string {
		screen := binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16([]byte("GIF89a"), side), side)
		dot := "\x21\xf9\x04\x00\x0a\x00\x00\x00\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x44\x01\x00"
		return string(screen) + "\x80\x00\x00\x00\x00\x00\xff\xff\xff" + strings.Repeat(dot, frames) + "\x3b"
	}
	for name, text := range map[string]string{
		"cut.mp4":     string(fast[:len(fast)*2/3]),
		"endless.mp4": string(endless),
		"list.ts":     "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nclip.mov\n#EXT-X-ENDLIST\n",
		"stream.mp4":  "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\na=rtpmap:96 H264/90000\n",
		"script.mp4":  "ffconcat version 1.0\nfile clip.mov\n",
		"dash.mp4":    `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"><Period><AdaptationSet><Representation id="0"><BaseURL>clip.mov</BaseURL></Representation></AdaptationSet></Period></MPD>`,
		"noise.mkv":   strings.Repeat("\x1a\x45\xdf\xa3\xff\x00\x7f", 999),
		"huge.gif":    gif(65535, 1),
		"bomb.gif":    gif(800, 20000),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600))
	}
	before := list(t, s.dir)
	convert := func(names ...string) abi.Call {
		return call("convert_video", args{"inputs": names, "container": "mkv"})
	}
	for name, c := range map[string]struct {
		call  abi.Call
		fault fault.Kind
		want  string
	}{
		"half a file, copied":   {convert("cut.mp4"), fault.StepFailed, "its output did not verify: cut.mkv is "},
		"half a file, cut":      {call("trim_video", args{"input": "cut.mp4", "end": "1.9"}), fault.StepFailed, "cut_trimmed.mp4 is made anew: at first it came out wrong"},
		"half a file, encoded":  {call("compress_video", args{"inputs": []string{"cut.mp4"}}), fault.StepFailed, "what it is made of may be damaged or cut off"},
		"half a file, joined":   {call("concat_video", args{"inputs": []string{"cut.mp4", "cut.mp4"}, "output": "a.mp4"}), fault.StepFailed, "its output did not verify: a.mp4 is "},
		"without an end":        {convert("endless.mp4"), fault.NotApproved, "not gone on; nothing was changed"},
		"too large":             {convert("huge.gif"), fault.StepFailed, `"huge.gif" holds neither picture nor sound`},
		"hours out of nothing":  {convert("bomb.gif"), fault.NotApproved, "not gone on; nothing was changed"},
		"a name of many inputs": {call("strip_audio", args{"inputs": []string{"clip.mov", "fast.mp4"}, "output": "a.mp4"}), fault.StepFailed, `"a.mp4" is one name for 2 files`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.try(&person{}, false, c.call)
			require.Equal(t, c.fault, fault.Of(err), "%v", err)
			require.ErrorContains(t, err, c.want)
			require.Equal(t, before, list(t, s.dir))
		})
	}

	// Lists and the like: all of them are named at once.
	lists := []string{"clip.mov", "list.ts", "stream.mp4", "script.mp4", "dash.mp4", "noise.mkv"}
	_, err = s.try(&person{}, false, convert(lists...))
	require.Equal(t, fault.StepFailed, fault.Of(err), "%v", err)
	for _, name := range lists[1:] {
		require.ErrorContains(t, err, `"`+name+`" is not video`)
	}
	require.Equal(t, before, list(t, s.dir))

	// The stream of events says of each file whether it is as it should be.
	var ends failures
	text, err := json.Marshal(map[string]any{"plan": []abi.Call{convert("clip.mov", "cut.mp4")}})
	require.NoError(t, err)
	_, err = s.host.Run(t.Context(), host.Request{Skill: "./", Plan: text, Sandbox: s.dir}, nil, &ends)
	require.Equal(t, fault.StepFailed, fault.Of(err), "%v", err)
	require.Len(t, ends, 1)
	require.False(t, *ends[0].Verified)
	var made Made
	require.NoError(t, json.Unmarshal(ends[0].Result, &made))
	require.True(t, *made.Media[0].Verified)
	require.Empty(t, made.Media[0].Reason)
	require.False(t, *made.Media[1].Verified)
	require.Regexp(t, `^is .* s long, not 2: what it is made of may be damaged or cut off$`, made.Media[1].Reason)
	require.Equal(t, []string{"cut.mkv " + made.Media[1].Reason}, ends[0].Issues)
	require.Equal(t, before, list(t, s.dir))
}

// failures are the ends of the steps that failed.
type failures []event.StepEnd

func (f *failures) Handle(e event.Event) error {
	if end, ok := e.(event.StepEnd); ok && !end.OK {
		*f = append(*f, end)
	}
	return nil
}

// Files of one name but for its ending, or in several folders, get names that
// are free, the same ones every time.
func TestNamesOfBatches(t *testing.T) {
	s := newStudio(t).film("clip.mov", "clip.mp4")
	require.NoError(t, os.Mkdir(filepath.Join(s.dir, "more"), 0o755))
	clip, err := os.ReadFile(filepath.Join(s.dir, "clip.mov"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "more", "clip.mov"), clip, 0o400))
	convert := call("convert_video", args{"inputs": []string{"clip.mov", "clip.mp4", "more/*.mov"}, "container": "mkv"})
	require.Equal(t, []string{"clip.mkv", "clip_converted.mkv", "more/clip.mkv"}, s.run(convert).Paths)
	require.Equal(t, []string{"clip_converted_2.mkv", "clip_converted_3.mkv", "more/clip_converted.mkv"}, s.run(convert).Paths)

	// An output that is a folder, or says so, gets files with names of their own.
	mute := func(output string) abi.Call {
		return call("strip_audio", args{"inputs": []string{"clip.mov", "clip.mp4"}, "output": output})
	}
	require.Equal(t, []string{"more/clip_silent.mov", "more/clip_silent.mp4"}, s.run(mute("more")).Paths)
	require.Equal(t, []string{"new/clip_silent.mov", "new/clip_silent.mp4"}, s.run(mute("new/")).Paths)
	require.Equal(t, []string{"more/combined.mp4"}, s.run(call("concat_video", args{"inputs": []string{"clip.mov", "clip.mp4"}, "output": "more"})).Paths)

	_, err = s.try(&person{}, false, call("strip_audio", args{"inputs": []string{"clip.mov"}, "output": "clip.mov"}))
	require.ErrorContains(t, err, `the output "clip.mov" would overwrite the input "clip.mov"`)
}
