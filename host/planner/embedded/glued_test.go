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
