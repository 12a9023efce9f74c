package worker_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/worker"
)

// clip is what the benchmarks work on: a moving picture with some noise, so
// that an encoder has to do what it does with a camera's.
const clip = "-f lavfi -i testsrc2=size=640x360:rate=25:duration=4 -f lavfi -i sine=duration=4 -vf noise=alls=8:allf=t -pix_fmt yuv420p " +
	"-c:v libx264 -preset ultrafast -crf 18 -c:a aac clip.mp4"

// work is what is measured, as arguments of ffmpeg or ffprobe. OUT is a new
// name each time.
var work = []struct{ name, line string }{
	{"probe", "ffprobe -loglevel error -of json -show_format -show_streams clip.mp4"},
	{"remux", "ffmpeg -nostdin -loglevel error -i clip.mp4 -c copy OUT.mkv"},
	{"ultrafast", encodes + "ultrafast OUT.mkv"},
	{"veryfast", encodes + "veryfast OUT.mkv"},
	{"medium", encodes + "medium OUT.mkv"},
}

const encodes = "ffmpeg -nostdin -loglevel error -threads 1 -filter_threads 1 -i clip.mp4 -c:a aac -c:v libx264 -threads 1 -preset "

// BenchmarkFFmpeg compares the engine with the machine's own ffmpeg on one
// thread: as it is, with the option that keeps its own assembler out (the
// encoder's stays), and with no assembler at all. The engine is loaded before.
// cpu-ms/op is what the processes took, which other load changes less.
func BenchmarkFFmpeg(b *testing.B) {
	w := newBench(b, worker.Engine{Module: ffmpreg(b), MemoryBytes: 1 << 30}, worker.Options{})
	call := 0
	run := func(b *testing.B, line, out string) {
		argv := strings.Fields(strings.ReplaceAll(line, "OUT", out))
		r, err := w.call(b.Context(), abi.ModeCreate, call, abi.EngineRequest{Runs: []abi.EngineRun{{Argv: argv}}}, nil)
		require.NoError(b, err)
		require.Equal(b, 0, r.Runs[0].ExitCode, r.Runs[0].Stderr)
		call++
	}
	run(b, "ffmpeg -nostdin -loglevel error "+clip, "")
	dir, out := b.TempDir(), ""
	native := func(b *testing.B, line string) time.Duration {
		argv := strings.Fields(strings.ReplaceAll(line, "OUT", out))
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = dir
		msg, err := cmd.CombinedOutput()
		require.NoError(b, err, "%s", msg)
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	_, missing := exec.LookPath("ffmpeg")
	if missing == nil {
		native(b, "ffmpeg -nostdin -loglevel error "+clip)
	}
	for _, k := range work {
		lines := []struct{ name, line string }{{"native", k.line}}
		if strings.HasPrefix(k.line, encodes) {
			noflags := strings.Replace(k.line, "ffmpeg ", "ffmpeg -cpuflags 0 ", 1)
			lines = append(lines, struct{ name, line string }{"native-cpuflags-0", noflags},
				struct{ name, line string }{"native-no-asm", strings.Replace(noflags, "-preset ", "-x264-params asm=0 -preset ", 1)})
		}
		for _, l := range lines {
			b.Run(k.name+"/"+l.name, func(b *testing.B) {
				if missing != nil {
					b.Skip(missing)
				}
				var cpu time.Duration
				for b.Loop() {
					out = filepath.Join(dir, "out")
					cpu += native(b, l.line)
					os.Remove(out + ".mkv")
				}
				b.ReportMetric(float64(cpu.Milliseconds())/float64(b.N), "cpu-ms/op")
			})
		}
		b.Run(k.name+"/sandbox", func(b *testing.B) {
			before := childrensTime(b)
			for b.Loop() {
				run(b, k.line, k.name+strconv.Itoa(call))
			}
			b.ReportMetric(float64((childrensTime(b)-before).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
}

// BenchmarkEngineStart starts the worker of a skill, which runs the engine
// once: what a run pays before its first frame.
func BenchmarkEngineStart(b *testing.B) {
	m := ffmpreg(b)
	_, err := caller()
	require.NoError(b, err)
	for b.Loop() {
		w := newBench(b, worker.Engine{Module: m, MemoryBytes: 1 << 30}, worker.Options{})
		r, err := w.call(b.Context(), abi.ModeRead, 0, abi.EngineRequest{Runs: []abi.EngineRun{ffmpeg("-version")}}, nil)
		require.NoError(b, err)
		require.Equal(b, 0, r.Runs[0].ExitCode)
		require.NoError(b, w.w.Close())
	}
}

// childrensTime is the processor time of this process's children.
func childrensTime(b *testing.B) (all time.Duration) {
	const tick = 10 * time.Millisecond
	for pid := range children(b) {
		text, err := os.ReadFile("/proc/" + pid + "/stat")
		require.NoError(b, err)
		_, rest, _ := strings.Cut(string(text), ") ")
		for _, field := range strings.Fields(rest)[11:13] {
			n, err := strconv.Atoi(field)
			require.NoError(b, err)
			all += time.Duration(n) * tick
		}
	}
	return all
}

// BenchmarkEngineBatch runs ten encodes, one after the other and two at once.
func BenchmarkEngineBatch(b *testing.B) {
	w := newBench(b, worker.Engine{Module: ffmpreg(b), MemoryBytes: 1 << 30}, worker.Options{})
	call := 0
	batch := func(b *testing.B, jobs int) {
		r := abi.EngineRequest{Jobs: jobs}
		for range 10 {
			r.Runs = append(r.Runs, ffmpeg("-f lavfi -i testsrc2=size=320x180:rate=25:duration=2 -c:v libx264 -preset ultrafast -threads 1 out-"+strconv.Itoa(call)+"-"+strconv.Itoa(len(r.Runs))+".mp4"))
		}
		out, err := w.call(b.Context(), abi.ModeCreate, call, r, nil)
		require.NoError(b, err)
		for _, run := range out.Runs {
			require.Equal(b, 0, run.ExitCode, run.Stderr)
		}
		call++
	}
	batch(b, 2) // both children load the engine
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			batch(b, 1)
		}
	})
	b.Run("two", func(b *testing.B) {
		for b.Loop() {
			batch(b, 2)
		}
	})
}
