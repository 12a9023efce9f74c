package worker_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/worker"
)

// writer is a module whose step makes the file name, writes "hello" into it,
// and answers what the errno of path_open was.
func writer(name, answer string) []byte {
	p := newPlug()
	open, write := p.wasi("path_open"), p.wasi("fd_write")
	p.pages = 1
	// 0: iovec, 8: written, 16: descriptor, 32: text, 64: name
	p.data = cat(le32(32), le32(5), make([]byte, 24), []byte("hello"), make([]byte, 27), []byte(name))
	p.fn(abi.ExportDescribe, p.says(described), ok)
	p.fn(abi.ExportStep,
		c32(3), c32(0), c32(64), c32(int32(len(name))), c32(1), c64(1<<1|1<<6), c64(0), c32(0), c32(16), run(open), drop,
		c32(16), []byte{0x28, 2, 0}, c32(0), c32(1), c32(8), run(write), drop,
		p.says(answer), ok)
	return p.bytes()
}

type place struct{ sandbox, stage string }

func newPlace(t testing.TB) place {
	t.Helper()
	dir := t.TempDir()
	p := place{filepath.Join(dir, "sandbox"), filepath.Join(dir, "run", "stage")}
	require.NoError(t, os.MkdirAll(p.sandbox, 0o755))
	require.NoError(t, os.MkdirAll(p.stage, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(p.sandbox, "old.txt"), []byte("old"), 0o644))
	return p
}

// same checks that the sandbox is as newPlace made it.
func (p place) same(t testing.TB) {
	t.Helper()
	entries, err := os.ReadDir(p.sandbox)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	b, err := os.ReadFile(filepath.Join(p.sandbox, "old.txt"))
	require.NoError(t, err)
	require.Equal(t, "old", string(b))
}

func (p place) options() worker.Options {
	return worker.Options{Sandbox: p.sandbox, Stage: p.stage}
}

// staged is everything in the stage's blobs.
func (p place) staged(t testing.TB) string {
	t.Helper()
	var all strings.Builder
	paths, err := filepath.Glob(filepath.Join(p.stage, "b", "*"))
	require.NoError(t, err)
	for _, f := range paths {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		all.Write(b)
	}
	return all.String()
}

func TestStepWritesToTheStageAlone(t *testing.T) {
	p := newPlace(t)
	w := start(t, writer("new.txt", `{"result":1}`), p.options())
	_, err := w.Step(t.Context(), abi.ModeCreate, abi.StepRequest{Tool: "go"})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.Equal(t, "hello", p.staged(t))
	p.same(t)
	rest, err := os.ReadDir(filepath.Dir(p.stage))
	require.NoError(t, err)
	require.Len(t, rest, 1, "the scratch folder is gone")
}

// Row 20: what the declaration does not allow is denied, the step fails though
// the guest swallowed the error, and the message names what would allow it.
func TestDenials(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		mode abi.Mode
		want []string
		hint string
	}{
		"create while reading":     {"new.txt", abi.ModeRead, []string{`"go" may not create "new.txt"`, "mode read"}, "safety_category: safe"},
		"overwrite while creating": {"old.txt", abi.ModeCreate, []string{`"go" may not`, `"old.txt"`, "mode create"}, "safety_category: destructive"},
		"write to the skill":       {"@skill/x", abi.ModeWrite, []string{"@skill"}, "no declaration"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			w := start(t, writer(c.file, `{"result":"all is well"}`), p.options())
			_, err := w.Step(t.Context(), c.mode, abi.StepRequest{Tool: "go"})
			require.Equal(t, fault.Stopped, fault.Of(err), "%v", err)
			for _, want := range c.want {
				require.ErrorContains(t, err, want)
			}
			require.Contains(t, fault.Next(err), c.hint)
			require.NoError(t, w.Close())
			p.same(t)
		})
	}
}

// A view without a sandbox is what pure calls have; opening fails, and that is
// all.
func TestPureCallsSeeNoFiles(t *testing.T) {
	p := newPlace(t)
	wasm := newPlug()
	open := wasm.wasi("path_open")
	wasm.pages = 1
	wasm.data = cat(make([]byte, 64), []byte("old.txt"))
	wasm.fn(abi.ExportDescribe,
		c32(3), c32(0), c32(64), c32(7), c32(0), c64(1<<1), c64(0), c32(0), c32(16), run(open),
		[]byte{0x04, 0x40}, wasm.says(described), []byte{0x05}, wasm.says(`{"abi":666}`), []byte{0x0b}, ok)
	w := start(t, wasm.bytes(), p.options())
	d, err := w.Describe(t.Context())
	if err == nil {
		require.Equal(t, 1, d.ABI, "the file could be opened")
	} else {
		require.Equal(t, fault.Stopped, fault.Of(err), "%v", err)
	}
	p.same(t)
}

func TestSandboxMustBeAFolder(t *testing.T) {
	p := newPlace(t)
	m, err := openCache(t).Module(t.Context(), good(), nil)
	require.NoError(t, err)
	for _, sandbox := range []string{filepath.Join(p.sandbox, "old.txt"), filepath.Join(p.sandbox, "none")} {
		_, err := worker.Start(t.Context(), worker.Options{Module: m, Sandbox: sandbox})
		require.Equal(t, fault.Usage, fault.Of(err), "%v", err)
	}
}
