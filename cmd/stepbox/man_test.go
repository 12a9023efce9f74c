package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// Every command that a help text names has a page, with its exit codes and its
// example, and the pages of two days are the same.
func TestManual(t *testing.T) {
	dirs := []string{t.TempDir(), t.TempDir()}
	for _, dir := range dirs {
		require.Zero(t, run(t.Context(), []string{"man", dir}, nil, io.Discard, io.Discard))
	}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				walk(c)
			}
		}
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		text, err := os.ReadFile(filepath.Join(dirs[0], name))
		require.NoError(t, err)
		require.Contains(t, string(text), "Exit codes:", name)
		require.Contains(t, string(text), ".SH EXAMPLE", name)
		again, err := os.ReadFile(filepath.Join(dirs[1], name))
		require.NoError(t, err)
		require.Equal(t, string(text), string(again))
	}
	walk(newRoot(newApp(nil, io.Discard, io.Discard)))
	require.Equal(t, 2, run(t.Context(), []string{"man", "/dev/null/x"}, nil, io.Discard, io.Discard))
}
