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

// A pipe or socket stays where it is and stops nothing; what would get its name
// does not replace it.
func TestPipeStays(t *testing.T) {
	dir := box(t, "in/a.txt", "in/sub/b.txt")
	err := hometest.FIFO(filepath.Join(dir, "in/pipe.log"))
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("no pipes on this system")
	}
	require.NoError(t, err)
	result, err := inModule(t, dir, withDefaults(t, []abi.Call{
		{Tool: "move_files", Args: args{"src": []string{"in"}, "dst": "out"}},
		{Tool: "organize_files", Args: args{"path": []string{"in"}}},
	})...)
	require.NoError(t, err)
	require.Equal(t, []string{"in/pipe.log@", "out/a.txt=in/a.txt", "out/sub/b.txt=in/sub/b.txt"}, tree(t, dir))
	const remark = "in/pipe.log is no file, folder or link and stays where it is"
	require.Equal(t, []string{remark}, result.Results[0].Issues)
	require.Equal(t, 2, last[Moved](t, result.Results[:1]).Count)
	require.Equal(t, []string{remark}, result.Results[2].Issues)

	_, err = inModule(t, dir, withDefaults(t, []abi.Call{
		{Tool: "move_files", Args: args{"items": []string{"out/a.txt"}, "dst": "in"}},
		{Tool: "rename_files", Args: args{"path": []string{"in"}, "number": true, "new_name": "n", "start": 2}},
	})...)
	require.NoError(t, err)
	require.Equal(t, []string{"in/n-002.txt=in/a.txt", "in/pipe.log@", "out/sub/b.txt=in/sub/b.txt"}, tree(t, dir))
}

// A name that is not text, which the view opens for no module, stops nothing that
// can be done without it, and is named where it does.
func TestNamesThatAreNoText(t *testing.T) {
	dir := box(t, "odd/a.txt")
	if err := os.WriteFile(filepath.Join(dir, "odd", "bad\xff.txt"), nil, 0o644); err != nil {
		t.Skip("no such names on this system")
	}
	const remark = `"odd/bad\xff.txt" is left out: its name is not text`
	result, err := inModule(t, dir, withDefaults(t, []abi.Call{
		{Tool: "copy_files", Args: args{"items": []string{"odd"}, "dst": "copy"}},
		{Tool: "make_archive", Args: args{"items": []string{"odd"}, "output": "odd.zip"}},
		{Tool: "extract_archive", Args: args{"input": []string{"odd.zip"}, "dst": "again"}},
	})...)
	require.NoError(t, err)
	require.Equal(t, []string{remark}, result.Results[0].Issues)
	require.Equal(t, []string{remark}, result.Results[2].Issues)
	require.FileExists(t, filepath.Join(dir, "copy/odd/a.txt"))
	require.FileExists(t, filepath.Join(dir, "again/odd/a.txt"))

	_, err = inModule(t, dir, withDefaults(t, []abi.Call{{Tool: "delete_files", Args: args{"items": []string{"odd"}}}})...)
	require.ErrorContains(t, err, `"odd" holds "odd/bad\xff.txt", whose name is not text`)
	require.FileExists(t, filepath.Join(dir, "odd/a.txt"))
	_, err = inModule(t, dir, withDefaults(t, []abi.Call{{Tool: "delete_files", Args: args{"items": []string{"odd"}, "exclude": []string{"bad*"}}}})...)
	require.NoError(t, err)
	require.NoFileExists(t, filepath.Join(dir, "odd/a.txt"))
}
