package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkCold is a process from start to end, with a warm cache: what a start
// alone takes, and a dry run of an installed bundle.
func BenchmarkCold(b *testing.B) {
	s, err := prepareOnce()
	require.NoError(b, err)
	work := b.TempDir()
	require.NoError(b, os.CopyFS(filepath.Join(work, "home"), os.DirFS("../../fixtures/home")))
	stepbox := func(args ...string) {
		cmd := exec.Command("stepbox", args...)
		cmd.Dir = filepath.Join(work, "home")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
		s.setenv(func(k, v string) { cmd.Env = append(cmd.Env, k+"="+v) }, work)
		out, err := cmd.CombinedOutput()
		require.NoError(b, err, string(out))
	}
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
