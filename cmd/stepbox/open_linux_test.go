package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// On a terminal with a desktop, what was made is opened: by its own path, as one
// argument, and only when it is of a kind that programs show.
func TestOpenOnATerminal(t *testing.T) {
	t.Setenv("DISPLAY", ":0")
	work := home(t)
	heard := filepath.Join(work, "heard")
	require.NoError(t, os.Mkdir(filepath.Join(work, "bin"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(work, "bin", "xdg-open"),
		[]byte("#!/bin/sh\nprintf '%s:%s\\n' \"$#\" \"$1\" >> '"+heard+"'\n"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(work, "home", "inbox", "run me.sh"), []byte("#!/bin/sh\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(work, "home", "inbox", "a $(b).txt"), []byte("x"), 0o644))
	plan := filepath.Join(work, "plan.json")
	require.NoError(t, os.WriteFile(plan,
		[]byte(`{"plan":[{"tool":"copy_files","args":{"items":["inbox/run me.sh","inbox/a $(b).txt"],"dst":"kept/"}}]}`), 0o644))

	out := onTerminal(t, work, "exec", "files", plan, "--open").ends(0)
	require.Contains(t, out, "kept/run me.sh", "what is not opened is named all the same")
	want := "1:" + filepath.Join(work, "home", "kept", "a $(b).txt") + "\n"
	require.Eventually(t, func() bool {
		b, err := os.ReadFile(heard)
		return err == nil && string(b) == want
	}, 10*time.Second, 20*time.Millisecond, "the program that opens files")
	require.NotContains(t, out, "cannot open")

	// Without a desktop, programs that would take over the terminal are left alone.
	require.NoError(t, os.Remove(heard))
	t.Setenv("DISPLAY", "")
	require.NoError(t, os.WriteFile(plan, []byte(`{"plan":[{"tool":"copy_files","args":{"items":["inbox/letter.txt"],"dst":"more/"}}]}`), 0o644))
	onTerminal(t, work, "exec", "files", plan, "--open").ends(0)
	require.NoFileExists(t, heard)
}

func TestFolderOf(t *testing.T) {
	for want, files := range map[string][]string{
		"/a":   {"/a/x.txt", "/a/b/y.txt"},
		"/a/b": {"/a/b/x.txt", "/a/b/y.txt"},
		"/":    {"/a/x", "/ab/x"},
	} {
		require.Equal(t, want, folderOf(files))
	}
}
