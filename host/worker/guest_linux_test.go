package worker_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/worker"
)

// hostileSkill is fixtures/hostile, built and compiled once for all tests that
// share it.
var hostileSkill = sync.OnceValues(func() (*worker.Module, error) {
	dir, err := os.MkdirTemp("", "hostile-")
	if err != nil {
		return nil, err
	}
	hostileDir = dir
	wasm, err := buildGuest("fixtures", "./hostile")
	if err != nil {
		return nil, err
	}
	// For runtimes that want a file.
	if err := os.WriteFile(filepath.Join(dir, "hostile.wasm"), wasm, 0o600); err != nil {
		return nil, err
	}
	c, err := worker.OpenCache(filepath.Join(dir, "cache"))
	if err != nil {
		return nil, err
	}
	return c.Module(context.Background(), wasm, nil)
})

// hostileDir is removed by TestMain.
var hostileDir string

// outcome is what the guest says that it reached.
type outcome struct {
	Got []string `json:"got"`
}

// trap is a sandbox with a folder beside it that nothing may touch, and links
// that lead there.
func newTrap(t testing.TB) place {
	t.Helper()
	p := newPlace(t)
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(p.sandbox), "secret.txt"), []byte("secret"), 0o644))
	require.NoError(t, os.Mkdir(filepath.Join(p.sandbox, "a"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(p.sandbox, "a", "old.txt"), []byte("old"), 0o644))
	require.NoError(t, os.Symlink("../secret.txt", filepath.Join(p.sandbox, "out.txt")))
	require.NoError(t, os.Symlink("..", filepath.Join(p.sandbox, "outdir")))
	return p
}

// snapshot is everything below a folder: names, kinds, modes, times, content.
func snapshot(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		if path == filepath.Join(dir, "run") {
			return filepath.SkipDir
		}
		text := info.Mode().String() + " " + info.ModTime().String()
		switch {
		case info.Mode()&os.ModeSymlink != 0:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			text += " -> " + to
		case info.Mode().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + string(b)
		}
		all[path] = text
		return nil
	}))
	return all
}

// Each way to misbehave, through a real guest, in the modes it is worth trying
// in. Whatever it does: it ends as stated, it reached nothing, nothing but the
// stage changed, and the host still works.
func TestHostileGuest(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a guest with Go")
	}
	m, err := hostileSkill()
	require.NoError(t, err)
	for _, c := range []struct {
		row  string // of the threat model
		how  string
		mode abi.Mode
		kind fault.Kind // 0: the step may end well, having reached nothing
	}{
		{"1", "link outside", abi.ModeWrite, 0},
		{"1", "link outside", abi.ModeCreate, 0},
		{"2,3", "write outside", abi.ModeWrite, 0},
		{"3", "read outside", abi.ModeRead, 0},
		{"3", "read outside", abi.ModeWrite, 0},
		{"6", "odd names", abi.ModeCreate, 0},
		{"8", "spin", abi.ModeRead, fault.Timeout},
		{"8", "deadlock", abi.ModeRead, fault.StepFailed},
		{"9", "sleep", abi.ModeRead, fault.Timeout},
		{"10", "grow", abi.ModeRead, fault.StepFailed},
		{"10", "crowd", abi.ModeRead, fault.StepFailed},
		{"12", "open without end", abi.ModeRead, fault.Stopped},
		{"13", "sparse", abi.ModeCreate, fault.Stopped},
		{"13", "litter", abi.ModeCreate, fault.Stopped},
		{"14", "flood", abi.ModeRead, 0},
		{"14", "large result", abi.ModeRead, fault.Stopped},
		{"14", "ask without end", abi.ModeRead, 0},
		{"15", "recurse", abi.ModeRead, fault.StepFailed},
		{"15", "panic", abi.ModeRead, fault.Internal},
		{"15", "exit", abi.ModeRead, fault.StepFailed},
		{"20", "overwrite", abi.ModeRead, fault.Stopped},
		{"20", "overwrite", abi.ModeCreate, fault.Stopped},
		{"20", "delete everything", abi.ModeRead, fault.Stopped},
		{"20", "delete everything", abi.ModeCreate, fault.Stopped},
		{"22", "fake a screen", abi.ModeRead, 0},
	} {
		t.Run(c.row+" "+c.how+" "+c.mode.String(), func(t *testing.T) {
			p := newTrap(t)
			around := filepath.Dir(p.sandbox)
			before := snapshot(t, around)
			var printed int
			o := p.options()
			o.Module = m
			o.Output = func(line string) {
				printed += len(line)
				require.False(t, strings.ContainsAny(line, "\x1b\u202e\x07"), "%q", line)
			}
			o.Limits = worker.Limits{MemoryBytes: 64 << 20, Step: time.Minute, ResultBytes: 1 << 20}
			if c.kind == fault.Timeout {
				o.Limits.Step = time.Second
			}
			o.Limits.Quotas.Files = 1000
			o.Limits.Quotas.FileBytes = 1 << 30
			w, err := worker.Start(t.Context(), o)
			require.NoError(t, err)
			_, err = w.Describe(t.Context())
			require.NoError(t, err)
			begin := time.Now()
			r, err := w.Step(t.Context(), c.mode, abi.StepRequest{Tool: "look", Args: map[string]any{"how": c.how},
				Ctx: abi.Context{DryRun: true}})
			took := time.Since(begin)
			require.Less(t, took, o.Limits.Step+grace)
			switch {
			case c.kind != 0:
				require.Equal(t, c.kind, fault.Of(err), "%v %s", err, r.Result)
			case err != nil:
				require.Equal(t, fault.Stopped, fault.Of(err), "%v", err)
			default:
				var got outcome
				require.NoError(t, json.Unmarshal(r.Result, &got))
				if c.row != "22" && c.row != "14" {
					require.Empty(t, got.Got)
				}
			}
			require.LessOrEqual(t, int64(printed), worker.DefaultLimits.OutputBytes)
			// The host can go on with this very worker, or its successor.
			_, err = w.Describe(t.Context())
			require.NoError(t, err)
			require.NoError(t, w.Close())
			require.Equal(t, before, snapshot(t, around))
		})
	}
	hostWorks(t)
}
