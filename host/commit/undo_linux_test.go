package commit

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/fault"
)

// TestUndoRefusesFileByFile guards what undo must not touch: what somebody
// else changed since the commit, and what hangs on it. The rest is done.
func TestUndoRefusesFileByFile(t *testing.T) {
	write := func(path, text string) func(box string) error {
		return func(box string) error { return os.WriteFile(filepath.Join(box, path), []byte(text), 0o644) }
	}
	for _, tc := range []struct {
		name    string
		have    []string
		do      func(s *stager)
		since   func(box string) error
		refused []string
		want    string
	}{
		{"a new file was changed, the other goes", []string{"a"},
			func(s *stager) { s.write("n", "1"); s.write("m", "1") },
			write("n", "mine"), []string{"n"},
			"a f:a -rw-r--r--\nn f:mine -rw-r--r--"},
		{"a replaced file was changed", []string{"a", "b"},
			func(s *stager) { s.write("a", "new"); s.write("b", "new") },
			write("a", "mine"), []string{"a"},
			"a f:mine -rw-r--r--\nb f:b -rw-r--r--"},
		{"a replaced file is gone", []string{"a", "b"},
			func(s *stager) { s.write("a", "new"); s.remove("b") },
			func(box string) error { return os.Remove(filepath.Join(box, "a")) }, []string{"a"},
			"b f:b -rw-r--r--"},
		{"a moved file was changed", []string{"a", "b"},
			func(s *stager) { s.move("a", "n"); s.move("b", "m") },
			write("n", "mine"), []string{"n"},
			"b f:b -rw-r--r--\nn f:mine -rw-r--r--"},
		{"a new folder got a file", []string{"a"},
			func(s *stager) { s.mkdir("d"); s.mkdir("d/e"); s.write("d/e/x", "1"); s.write("d/y", "1") },
			write("d/e/mine", "mine"), []string{"d", "d/e"},
			"a f:a -rw-r--r--\nd d -rwxr-xr-x\nd/e d -rwxr-xr-x\nd/e/mine f:mine -rw-r--r--"},
		{"a new file in a new folder was changed", []string{"a"},
			func(s *stager) { s.mkdir("d"); s.write("d/x", "1"); s.write("d/y", "1") },
			write("d/x", "mine"), []string{"d", "d/x"},
			"a f:a -rw-r--r--\nd d -rwxr-xr-x\nd/x f:mine -rw-r--r--"},
		{"the old name was taken", []string{"a", "b"},
			func(s *stager) { s.move("a", "n"); s.remove("b") },
			write("a", "mine"), []string{"n"},
			"a f:mine -rw-r--r--\nb f:b -rw-r--r--\nn f:a -rw-r--r--"},
		{"a deleted folder's name was taken", []string{"d/x", "d/y", "z"},
			func(s *stager) { s.move("d/x", "x"); s.remove("d/y"); s.remove("d"); s.remove("z") },
			write("d", "mine"), []string{"d", "d/y", "x"},
			"d f:mine -rw-r--r--\nx f:d/x -rw-r--r--\nz f:z -rw-r--r--"},
		{"the old folder is gone", []string{"d/x", "a"},
			func(s *stager) { s.move("d/x", "x"); s.move("a", "b") },
			func(box string) error { return os.Remove(filepath.Join(box, "d")) }, []string{"x"},
			"a f:a -rw-r--r--\nx f:d/x -rw-r--r--"},
		{"one of two that swapped was changed", []string{"a", "b", "c"},
			func(s *stager) { s.move("a", "t"); s.move("b", "a"); s.move("t", "b"); s.remove("c") },
			write("a", "mine"), []string{"a", "b"},
			"a f:mine -rw-r--r--\nb f:a -rw-r--r--\nc f:c -rw-r--r--"},
		{"a folder moved back with what was put into it", []string{"d/x"},
			func(s *stager) { s.move("d", "e") },
			write("e/mine", "mine"), nil,
			"d d -rwxr-xr-x\nd/mine f:mine -rw-r--r--\nd/x f:d/x -rw-r--r--"},
		{"what moved out of a folder that cannot go back", []string{"d/x", "d/y"},
			func(s *stager) { s.move("d/x", "x"); s.move("d", "e") },
			write("d", "mine"), []string{"e", "x"},
			"d f:mine -rw-r--r--\ne d -rwxr-xr-x\ne/y f:d/y -rw-r--r--\nx f:d/x -rw-r--r--"},
		{"a mode was changed", []string{"a"},
			func(s *stager) { s.write("n", "1") },
			func(box string) error { return os.Chmod(filepath.Join(box, "n"), 0o600) }, []string{"n"},
			"a f:a -rw-r--r--\nn f:1 -rw-------"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, s := begin(t, tc.have...)
			tc.do(s)
			apply(t, r)
			require.NoError(t, tc.since(r.Sandbox))
			now := tree(t, r.Sandbox)

			dry, err := Undo(context.Background(), r, true)
			require.NoError(t, err)
			require.Nil(t, dry.Run)
			require.Equal(t, now, tree(t, r.Sandbox), "a dry run changes nothing")

			u := undo(t, r)
			require.Equal(t, dry.Refused, u.Refused)
			require.Equal(t, dry.Changes, u.Changes)
			var refused []string
			for _, x := range u.Refused {
				require.NotEmpty(t, x.Reason)
				refused = append(refused, x.Path)
			}
			require.Equal(t, tc.refused, refused)
			require.Equal(t, tc.want, contents(tree(t, r.Sandbox)))
		})
	}
}

// TestUndoAgainTakesBackTheRest guards that what was refused once can be taken
// back once the reason is gone.
func TestUndoAgainTakesBackTheRest(t *testing.T) {
	r, s := begin(t, "a", "b", "d/x")
	before := tree(t, r.Sandbox)
	s.move("a", "n")
	s.move("d", "e")
	s.move("e/x", "x")
	s.remove("b")
	apply(t, r)
	inTheWay := filepath.Join(r.Sandbox, "d")
	require.NoError(t, os.WriteFile(inTheWay, nil, 0o644))
	require.Len(t, undo(t, r).Refused, 2)
	require.FileExists(t, filepath.Join(r.Sandbox, "a"))
	require.NoError(t, os.Remove(inTheWay))
	require.Empty(t, undo(t, r).Refused)
	require.Equal(t, contents(before), contents(tree(t, r.Sandbox)))
	_, err := Undo(context.Background(), r, false)
	require.Equal(t, fault.CheckFailed, fault.Of(err))
	require.ErrorContains(t, err, "undone already")
}

func TestUndoOfDamagedData(t *testing.T) {
	for _, tc := range []struct {
		name string
		harm func(t *testing.T, r *Run)
		kind fault.Kind // 0: the file alone is refused
	}{
		{"the journal is cut", func(t *testing.T, r *Run) {
			require.NoError(t, os.Truncate(filepath.Join(r.Data, nameDone), 50))
		}, fault.CheckFailed},
		{"the aftermath is gone", func(t *testing.T, r *Run) {
			require.NoError(t, os.Remove(filepath.Join(r.Data, nameAftermath)))
		}, fault.CheckFailed},
		{"a kept file is gone", func(t *testing.T, r *Run) {
			require.NoError(t, os.RemoveAll(filepath.Join(r.Data, nameUndo)))
		}, 0},
		{"nothing was committed", func(t *testing.T, r *Run) {
			require.NoError(t, os.Remove(filepath.Join(r.Data, nameDone)))
		}, fault.CheckFailed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, s := begin(t, "a", "b")
			s.remove("a")
			s.move("b", "c")
			apply(t, r)
			before := tree(t, r.Sandbox)
			tc.harm(t, r)
			u, err := Undo(context.Background(), r, false)
			if tc.kind != 0 {
				require.Equal(t, tc.kind, fault.Of(err), "%v", err)
				require.Equal(t, before, tree(t, r.Sandbox))
				return
			}
			require.NoError(t, err)
			require.Equal(t, "a", u.Refused[0].Path)
			require.FileExists(t, filepath.Join(r.Sandbox, "b"))
		})
	}
}
