package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/internal/hometest"
)

// When something was opened is not when it was changed. A folder was opened
// when a file in it was: looking into it, as stepbox does itself, is not that.
func TestAccessed(t *testing.T) {
	dir := box(t, "long.txt", "lately.txt", "old/a", "old/b", "new/c")
	for name, days := range map[string]int{"long.txt": 300, "lately.txt": 3, "old/a": 200, "old/b": 100, "new/c": 2} {
		when := now.AddDate(0, 0, -days)
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), when, now), name)
	}
	for name, c := range map[string]struct {
		args args
		want []string
	}{
		"long ago":       {args{"accessed_before": "2026-06-01"}, []string{"long.txt", "old/a"}},
		"lately":         {args{"accessed_after": "2026-11-01"}, []string{"lately.txt", "new/c"}},
		"between":        {args{"accessed_after": "2026-05-01", "accessed_before": "2026-11-01"}, []string{"old/a", "old/b"}},
		"changed, too":   {args{"accessed_before": "2026-06-01", "modified_before": "2026-06-01"}, []string{}},
		"longest ago":    {args{"sort": "accessed", "order": "asc", "limit": 2}, []string{"long.txt", "old/a"}},
		"folders":        {args{"kind": "folders", "accessed_before": "2026-09-01"}, []string{"old"}},
		"folders in use": {args{"kind": "folders", "accessed_after": "2026-11-01"}, []string{"new"}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, found(t, dir, c.args)) })
	}
}

// A pipe or socket stays where it is, and the message says how to go on.
func TestMovePipe(t *testing.T) {
	dir := box(t, "in/a.txt")
	err := hometest.FIFO(filepath.Join(dir, "in/pipe"))
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("no pipes on this system")
	}
	require.NoError(t, err)
	_, err = inModule(t, dir, withDefaults(t, []abi.Call{{Tool: "move_files", Args: args{"src": []string{"in"}, "dst": "out"}}})...)
	require.ErrorContains(t, err, `"in/pipe" is no file, folder or link and cannot be moved; leave it out with exclude`)
	_, err = inModule(t, dir, withDefaults(t, []abi.Call{{Tool: "move_files", Args: args{"src": []string{"in"}, "dst": "out", "exclude": []string{"pipe"}}}})...)
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(dir, "out/a.txt"))
}
