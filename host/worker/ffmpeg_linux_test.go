package worker_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/skill"
	"stepbox.dev/host/worker"
)

// ffmpregFile is where "go run ./cmd/mkengines" puts ffmpeg.
const ffmpregFile = "../../wasm/ffmpreg.wasm"

// ffmpreg is ffmpeg and ffprobe, when somebody fetched it.
func ffmpreg(t testing.TB) *worker.Module {
	t.Helper()
	if _, err := os.Stat(ffmpregFile); err != nil {
		t.Skip("no ffmpeg: go run ./cmd/mkengines brings it")
	}
	m, err := ffmpregModule()
	require.NoError(t, err)
	return m
}

var ffmpregModule = sync.OnceValues(func() (*worker.Module, error) {
	e, err := skill.LoadEngine(ffmpregFile)
	if err != nil {
		return nil, err
	}
	wasm, err := e.Module(context.Background())
	if err != nil {
		return nil, err
	}
	c, err := engineCache()
	if err != nil {
		return nil, err
	}
	return c.Engine(context.Background(), wasm, e.WasmFeatures(), nil)
})

// ffmpeg makes a run of ffmpeg's, on one thread and without questions.
func ffmpeg(args string, more ...string) abi.EngineRun {
	return abi.EngineRun{Argv: append(strings.Fields("ffmpeg -nostdin -hide_banner -loglevel error "+args), more...)}
}

func ffprobe(file string) abi.EngineRun {
	return abi.EngineRun{Argv: []string{"ffprobe", "-loglevel", "error", "-of", "json", "-show_format", "-show_streams", file}}
}

// probed is what ffprobe says.
type probed struct {
	Format struct {
		Name     string `json:"format_name"`
		Duration string `json:"duration"`
	} `json:"format"`
	Streams []struct {
		Codec  string `json:"codec_name"`
		Width  int    `json:"width"`
		Height int    `json:"height"`
	} `json:"streams"`
}

func readProbe(t testing.TB, text string) (p probed) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &p), text)
	return p
}

// ffmpeg generates, probes and transcodes inside the sandbox.
func TestFFmpeg(t *testing.T) {
	b := newBench(t, worker.Engine{Module: ffmpreg(t), MemoryBytes: 1 << 30}, worker.Options{})
	encode := ffmpeg("-i clip.mp4 -c:v libx264 -preset ultrafast -vf scale=80:60 -c:a libopus -progress pipe:1 small.mkv")
	encode.Progress = &abi.EngineProgress{Pattern: `^out_time_us=(\d+)`, Total: 2e6, Label: "small.mkv"}
	out, err := b.call(t.Context(), abi.ModeCreate, 0, abi.EngineRequest{Runs: []abi.EngineRun{
		ffmpeg("-f lavfi -i testsrc=size=160x120:rate=10:duration=2 -f lavfi -i sine=duration=2 -pix_fmt yuv420p -c:v libx264 -preset ultrafast -c:a aac clip.mp4"),
		ffprobe("clip.mp4"),
		encode,
		ffprobe("small.mkv"),
		ffmpeg("-i nothing.mp4 out.mp4"),
	}}, nil)
	require.NoError(t, err)
	for i, r := range out.Runs[:4] {
		require.Equal(t, 0, r.ExitCode, "run %d: %s", i, r.Stderr)
	}
	clip, small := readProbe(t, out.Runs[1].Stdout), readProbe(t, out.Runs[3].Stdout)
	require.Equal(t, "h264 160 120 aac", clip.Streams[0].Codec+" 160 120 "+clip.Streams[1].Codec)
	require.Equal(t, [2]int{80, 60}, [2]int{small.Streams[0].Width, small.Streams[0].Height})
	require.Equal(t, "opus", small.Streams[1].Codec)
	require.Contains(t, small.Format.Name, "matroska")
	require.Equal(t, "2.0", small.Format.Duration[:3])
	require.NotEmpty(t, b.told)
	require.NotZero(t, out.Runs[4].ExitCode)
	require.Contains(t, out.Runs[4].Stderr, "No such file")
	files := b.files(t)
	require.Len(t, files, 2)
	require.Contains(t, files, "clip.mp4")
	require.Contains(t, files, "small.mkv")
	b.same(t)
}
