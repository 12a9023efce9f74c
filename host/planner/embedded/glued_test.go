package embedded_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A name in a script without spaces is glued to the words around it: it must
// come out as that name, never as all files with its extension.
func TestGluedNames(t *testing.T) {
	b := load(t, "../../../skills/ffmpeg")
	for in, want := range map[string]string{
		"压缩会议.mp4":                     `compress_video {"inputs":["会议.mp4"]}`,
		"把散步.mp4静音":                    `strip_audio {"inputs":["散步.mp4"]}`,
		"压缩视频.mp4":                     `compress_video {"inputs":["视频.mp4"]}`,
		"合并第一.mp4和第二.mp4":              `concat_video {"inputs":["第一.mp4","第二.mp4"]}`,
		"压缩所有mp4文件":                    `compress_video {"inputs":["*.mp4"]}`,
		"截取前10秒的比赛.mp4":                `trim_video {"end":"00:00:10","input":"比赛.mp4","start":"00:00:00"}`,
		"压缩和平.mp4":                     `compress_video {"inputs":["和平.mp4"]}`,
		"将clip.mp4压缩到10MB以下":           `compress_video {"inputs":["clip.mp4"],"target_size_mb":10}`,
		"为YouTube优化日志.mp4":             `prepare_for_platform {"inputs":["日志.mp4"],"platform":"youtube","preview":true}`,
		"make talk.mp4 louder by 4 dB": `adjust_volume {"inputs":["talk.mp4"],"level":"4dB"}`,
		"turn talk.mp4 down 3 dB":      `adjust_volume {"inputs":["talk.mp4"],"level":"-3dB"}`,
		"compress every mp4 in clips":  `compress_video {"inputs":["clips/*.mp4"]}`,
	} {
		_, calls := b.ask(t, in)
		require.Equal(t, want, short(calls), in)
	}
	b.exists = func(p string) (bool, bool) { return p == "videos", true }
	_, calls := b.ask(t, "compress every mp4 in videos")
	require.Equal(t, `compress_video {"inputs":["videos/*.mp4"]}`, short(calls), "a word without meaning is a folder when there is one")
	b.exists = func(p string) (bool, bool) { return p == "把手.mp4" || p == "2024会议v2.mp4", false }
	for in, want := range map[string]string{
		"把手.mp4静音":       `strip_audio {"inputs":["把手.mp4"]}`,
		"压缩2024会议v2.mp4": `compress_video {"inputs":["2024会议v2.mp4"]}`,
	} {
		_, calls := b.ask(t, in)
		require.Equal(t, want, short(calls), "what exists decides where the name begins")
	}
}

// What a fresh reader met: each of these did the opposite of what was said, or
// something else, and said nothing.
func TestDirections(t *testing.T) {
	b := load(t, "../../../skills/ffmpeg")
	for in, want := range map[string]string{
		"cut the first 2 seconds off talk.mp4":                                 `trim_video {"input":"talk.mp4","start":"00:00:02"}`,
		"remove the first 2 seconds of talk.mp4":                               `trim_video {"input":"talk.mp4","start":"00:00:02"}`,
		"speed up talk.mp4 by 50%":                                             `adjust_speed {"inputs":["talk.mp4"],"speed":1.5}`,
		"slow talk.mp4 to 75%":                                                 `adjust_speed {"inputs":["talk.mp4"],"speed":0.75}`,
		"reduce the volume of talk.mp4 by 20%":                                 `adjust_volume {"inputs":["talk.mp4"],"level":0.8}`,
		"turn down the volume of talk.mp4 by 6dB":                              `adjust_volume {"inputs":["talk.mp4"],"level":"-6dB"}`,
		"pad talk.mp4 to 16:9 with black bars":                                 `resize_video {"aspect":"16:9","fit":"pad","inputs":["talk.mp4"]}`,
		"rotate talk.mp4 90 degrees counterclockwise":                          `rotate_video {"angle":270,"inputs":["talk.mp4"]}`,
		"merge a.mp4 with b.mp4":                                               `concat_video {"inputs":["a.mp4","b.mp4"]}`,
		"add b.mp4 to the end of a.mp4":                                        `concat_video {"append":["b.mp4"],"base":"a.mp4"}`,
		"join a.mp4, b.mp4, c.mp4 and b.mp4 as all.mp4":                        `concat_video {"inputs":["a.mp4","b.mp4","c.mp4","b.mp4"],"output":"all.mp4"}`,
		"join a.mp4 and b.mp4 into one file called all.mp4":                    `concat_video {"inputs":["a.mp4","b.mp4"],"output":"all.mp4"}`,
		"cut talk.mp4 from 0:01 to 0:04 and save it as intro.mp4":              `trim_video {"end":"00:00:04","input":"talk.mp4","output":"intro.mp4","start":"00:00:01"}`,
		"turn the first 2 seconds of talk.mp4 into a gif":                      `trim_video {"end":"00:00:02","input":"talk.mp4","output":"talk_trim.mp4","start":"00:00:00"}; convert_video {"container":"gif","inputs":["talk_trim.mp4"]}`,
		"cut talk.mp4 to the first 3 seconds, remove the sound and make a gif": `trim_video {"end":"00:00:03","input":"talk.mp4","output":"talk_trim.mp4","start":"00:00:00"}; strip_audio {"inputs":["talk_trim.mp4"],"output":"talk_trim_strip.mp4"}; convert_video {"container":"gif","inputs":["talk_trim_strip.mp4"]}`,
		"convert talk.mp4 to movie.mov":                                        `convert_video {"container":"mov","inputs":["talk.mp4"],"output":"movie.mov"}`,
		"convert talk.mov to mp4 with av1 and opus":                            `convert_video {"audio_codec":"opus","container":"mp4","inputs":["talk.mov"],"video_codec":"av1"}`,
	} {
		_, calls := b.ask(t, in)
		require.Equal(t, want, short(calls), in)
	}
	_, calls := b.ask(t, "extract the audio from talk.mp4 as alac")
	require.Equal(t, "clarify", calls[0].Tool, "a codec is never skipped")
	b.exists = func(p string) (bool, bool) { return p == "talk.mp4" || p == "talk.mov", false }
	_, calls = b.ask(t, "convert talk.mov to mp4 and then trim it to 3 seconds")
	require.Equal(t, "talk_2.mp4", calls[0].Args["output"], "what is made in the middle takes no name that is taken")
}

// What a skill shows as an example is understood as it shows it. What is made in
// the middle may be called otherwise.
func TestExamplesAreUnderstood(t *testing.T) {
	for _, dir := range []string{"ffmpeg", "files"} {
		b := load(t, "../../../skills/"+dir)
		for _, e := range b.skill.Prompt().Examples {
			_, calls := b.ask(t, e.Request)
			want := e.Plan
			require.Len(t, calls, len(want), e.Request)
			for i := range want {
				require.Equal(t, want[i].Tool, calls[i].Tool, e.Request)
				if len(want) > 1 || want[i].Tool == "clarify" || want[i].Tool == "reject" {
					continue
				}
				tool, _ := b.skill.Registry().Tool(want[i].Tool)
				for arg, v := range tool.Defaults {
					if _, said := calls[i].Args[arg]; !said && want[i].Args[arg] != nil {
						calls[i].Args[arg] = v
					}
				}
				require.Equal(t, short(want), short(calls), e.Request)
			}
		}
	}
}
