package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkCold is a process from start to end, with a warm cache: what a start
// alone takes, and a dry run of an installed bundle.
func BenchmarkCold(b *testing.B) {
	dir := b.TempDir()
	require.NoError(b, os.CopyFS(dir, os.DirFS("../../fixtures/home")))
	stepbox := command(b, dir)
	s, err := prepareOnce()
	require.NoError(b, err)
	stepbox("install", s.bundle, "--allow-unsigned", "--yes")
	for name, args := range map[string][]string{
		"start": {"keys", "list"}, "dry run": {"run", "files", "delete the tmp files in build", "--dry-run"},
	} {
		stepbox(args...)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				stepbox(args...)
			}
		})
	}
}

// command is stepbox in a folder, with state, store and cache of its own.
func command(b *testing.B, dir string) func(args ...string) {
	s, err := prepareOnce()
	require.NoError(b, err)
	work := b.TempDir()
	return func(args ...string) {
		cmd := exec.Command("stepbox", args...)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
		s.setenv(func(k, v string) { cmd.Env = append(cmd.Env, k+"="+v) }, work)
		out, err := cmd.CombinedOutput()
		require.NoError(b, err, string(out))
	}
}

// BenchmarkBundle packs and inspects skills of 20 MB, each time in a process of
// its own: one whose module is large, and two with large files, which are
// deflated, of a text and of what deflates to nothing smaller.
func BenchmarkBundle(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 20<<20)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	text := make([]byte, 0, 20<<20)
	for len(text) < cap(text)-16 {
		text = fmt.Appendf(text, "word%d ", random.IntN(5000))
	}
	dir := b.TempDir()
	write := func(name string, data []byte) {
		path := filepath.Join(dir, name)
		require.NoError(b, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(b, os.WriteFile(path, data, 0o644))
	}
	large := []byte("\x00asm\x01\x00\x00\x00\x05\x04\x01\x00\xc0\x02\x0b") // 320 pages of memory, and data
	data := binary.AppendUvarint([]byte("\x01\x00\x41\x00\x0b"), uint64(len(noise)))
	large = binary.AppendUvarint(large, uint64(len(data)+len(noise)))
	large = append(append(large, data...), noise...)
	for name, files := range map[string]map[string][]byte{
		"module": {"module.wasm": large},
		"text":   {"module.wasm": large[:8], "data/a": text[:8<<20], "data/b": text[8<<20 : 16<<20], "data/c": text[16<<20:]},
		"noise":  {"module.wasm": large[:8], "data/a": noise[:8<<20], "data/b": noise[8<<20 : 16<<20], "data/c": noise[16<<20:]},
	} {
		write(name+"/skill.yaml", []byte("name: "+name+"\n"))
		write(name+"/tools.yaml", []byte("look:\n  description: Looks.\n  readonly: true\n"))
		for file, content := range files {
			write(filepath.Join(name, file), content)
		}
		stepbox := command(b, dir)
		b.Run(name+"/pack", func(b *testing.B) {
			for b.Loop() {
				stepbox("skills", "pack", name, "-o", name+".wasm")
				b.StopTimer()
				require.NoError(b, os.Rename(filepath.Join(dir, name+".wasm"), filepath.Join(dir, name+"-packed.wasm")))
				b.StartTimer()
			}
		})
		b.Run(name+"/inspect", func(b *testing.B) {
			for b.Loop() {
				stepbox("skills", "inspect", name+"-packed.wasm")
			}
		})
	}
}
