package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host"
	"stepbox.dev/host/commit"
	"stepbox.dev/host/event"
	"stepbox.dev/host/skill"
	"stepbox.dev/internal/moduletest"
)

func TestMain(m *testing.M) { moduletest.Main(m, &scratch) }

// scratch is a folder for what the tests build.
var scratch string

type args = map[string]any

func call(tool string, a args) abi.Call { return abi.Call{Tool: tool, Args: a} }

// person answers every question in the middle with yes or no, and notes what
// they could look at.
type person struct {
	yes   bool
	asked []string
}

func (p *person) Clarify(context.Context, event.Decision) (string, error) { return "", nil }
func (p *person) Proceed(context.Context, string) (bool, error)           { return true, nil }
func (p *person) Approve(context.Context, *commit.Changes) (bool, []string, error) {
	return true, nil, nil
}
func (p *person) Confirm(_ context.Context, r abi.ConfirmRequest) (bool, error) {
	p.asked = append(p.asked, r.Prompt+" "+r.Preview)
	return p.yes, nil
}

// studio is a sandbox with the skill and its engine. Compiling the engine takes
// a minute, so its code is kept where stepbox itself keeps it.
type studio struct {
	t     *testing.T
	dir   string
	state string
	host  *host.Host
}

func newStudio(t *testing.T) *studio {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("modules run only where the walls stand")
	}
	if _, err := os.Stat("../../wasm/ffmpreg.wasm"); err != nil {
		t.Skip("no ffmpeg: go run ./cmd/mkengines brings it")
	}
	base, err := os.UserCacheDir()
	if err != nil { // nobody's home
		base = scratch
	}
	state := t.TempDir()
	h, err := host.New(t.Context(), host.Options{State: state, Cache: filepath.Join(base, "stepbox"), Skills: []string{"../../wasm"}})
	require.NoError(t, err)
	return &studio{t, t.TempDir(), state, h}
}

func (s *studio) try(p host.Person, dry bool, calls ...abi.Call) (host.Result, error) {
	text, err := json.Marshal(map[string]any{"plan": calls})
	require.NoError(s.t, err)
	return s.host.Run(s.t.Context(), host.Request{Skill: "./", Plan: text, Sandbox: s.dir, DryRun: dry}, p, event.Discard)
}

// run runs calls that must end well, and returns what the last of them made.
func (s *studio) run(calls ...abi.Call) Made {
	s.t.Helper()
	r, err := s.try(&person{yes: true}, false, calls...)
	require.NoError(s.t, err)
	var m Made
	require.NoError(s.t, json.Unmarshal(r.Results[len(r.Results)-1].Result, &m))
	for _, name := range m.Paths {
		require.FileExists(s.t, filepath.Join(s.dir, name))
	}
	return m
}

// fixtures are the clips of the tests: the proportions, lengths and codecs of
// what people have, with few pixels and frames.
var fixtures = map[string]string{
	"clip.mp4":      "-f lavfi -i testsrc2=size=96x54:rate=5:duration=6 -f lavfi -i sine=duration=6 -c:v libx264 -preset ultrafast -g 10 -pix_fmt yuv420p -c:a aac",
	"clip.mov":      "-f lavfi -i testsrc2=size=64x36:rate=10:duration=2 -f lavfi -i sine=duration=2:sample_rate=22050 -c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac",
	"quiet.mp4":     "-f lavfi -i testsrc2=size=64x36:rate=5:duration=2 -c:v libx264 -preset ultrafast -pix_fmt yuv420p",
	"odd.mkv":       "-f lavfi -i testsrc=size=65x37:rate=5:duration=2 -f lavfi -i sine=duration=2 -c:v ffv1 -c:a flac",
	"song.mp3":      "-f lavfi -i sine=duration=3 -c:a libmp3lame",
	"-dash odd.mp4": "-f lavfi -i testsrc2=size=64x36:rate=5:duration=1 -c:v libx264 -preset ultrafast -pix_fmt yuv420p",
}

// roll keeps the fixtures that are made of nothing, by how they are made and their extension.
var roll = map[string][]byte{}

// film makes fixtures, with the engine itself. No tool of the skill makes
// something out of nothing, so the skill that runs engines as told does.
func (s *studio) film(names ...string) *studio {
	s.t.Helper()
	var missing []string
	for _, name := range names {
		if clip := roll[fixtures[name]+" "+filepath.Ext(name)]; clip != nil {
			require.NoError(s.t, os.WriteFile(filepath.Join(s.dir, name), clip, 0o600))
		} else {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		s.shoot(missing)
	}
	return s
}

func (s *studio) shoot(names []string) {
	s.t.Helper()
	dir, err := camera()
	require.NoError(s.t, err)
	var r abi.EngineRequest
	for _, name := range names {
		argv := append([]string{"ffmpeg", "-nostdin", "-loglevel", "error"}, strings.Fields(fixtures[name])...)
		r.Runs = append(r.Runs, abi.EngineRun{Argv: append(argv, "file:./"+name)})
	}
	r.Engine = engine
	request, err := json.Marshal(r)
	require.NoError(s.t, err)
	plan, err := json.Marshal(map[string]any{"plan": []abi.Call{call("run", args{"request": string(request)})}})
	require.NoError(s.t, err)
	_, err = s.host.Run(s.t.Context(), host.Request{Skill: dir, Plan: plan, Sandbox: s.dir}, &person{yes: true}, event.Discard)
	require.NoError(s.t, err)
	for _, name := range names {
		clip, err := os.ReadFile(filepath.Join(s.dir, name))
		require.NoError(s.t, err)
		if !strings.Contains(fixtures[name], "file:") {
			roll[fixtures[name]+" "+filepath.Ext(name)] = clip
		}
	}
}

// camera builds fixtures/caller, with this skill's engine.
var camera = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(scratch, "caller")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-buildmode=c-shared", "-buildvcs=false", "-o", filepath.Join(dir, "caller.wasm"), "./caller")
	build.Dir = "../../fixtures"
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOTOOLCHAIN=local")
	if msg, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, msg)
	}
	s, err := skill.Load(".", skill.Options{})
	if err != nil {
		return "", err
	}
	for _, name := range []string{"skill.yaml", "tools.yaml"} {
		text, err := os.ReadFile(filepath.Join("../../fixtures/caller", name))
		if err != nil {
			return "", err
		}
		if name == "skill.yaml" {
			text = fmt.Appendf(text, "engines: [{name: %s, digest: %s}]\n", engine, s.Engines()[0].Digest)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return "", err
		}
	}
	return dir, nil
})

// near says that a file is what is wanted.
func near(t *testing.T, m Media, want string, duration float64) {
	t.Helper()
	got := []string{}
	if m.Video != nil {
		got = append(got, m.Video.Codec, seconds(float64(m.Video.Width))+"x"+seconds(float64(m.Video.Height)))
	}
	if m.Audio != nil {
		got = append(got, m.Audio.Codec)
	}
	require.Equal(t, want, strings.Join(got, " "), m.Path)
	if duration > 0 {
		require.InDelta(t, duration, m.Duration, 0.25, m.Path)
	}
}
