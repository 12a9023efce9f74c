package commit

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/plan"
)

// yes approves anything: the rules of approvals are tested in host/approval.
type yes struct{}

func (yes) Redeem(plan.Digest) error { return nil }

var writeOnce = Source{Tools: []string{"change"}, Modes: []abi.Mode{abi.ModeWrite}}

// tree is files by path: "d" for folders, "l:target", "f:content"; every value
// ends with permissions and modification time.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	m := make(map[string]string)
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if rel == abi.HiddenDir {
			return fs.SkipDir
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		switch {
		case e.IsDir():
			m[rel] = "d"
		case e.Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			m[rel] = "l:" + target
		default:
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			m[rel] = "f:" + string(b)
		}
		m[rel] += fmt.Sprintf(" %v %d", info.Mode().Perm(), info.ModTime().UnixNano())
		return nil
	}))
	return m
}

// names is the tree without times.
func contents(m map[string]string) string {
	var list []string
	for p, v := range m {
		if p != "." {
			list = append(list, p+" "+v[:strings.LastIndexByte(v, ' ')])
		}
	}
	sort.Strings(list)
	return strings.Join(list, "\n")
}

// makeTree fills a folder: names that end in / are folders, the rest files
// that hold their own name; all are an hour old.
func makeTree(t testing.TB, dir string, names ...string) {
	t.Helper()
	for _, n := range names {
		path := filepath.Join(dir, n)
		if strings.HasSuffix(n, "/") {
			require.NoError(t, os.MkdirAll(path, 0o755))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(n), 0o644))
		old := time.Now().Add(-time.Hour).Truncate(time.Second).Add(123456789)
		require.NoError(t, os.Chtimes(path, old, old))
	}
}

func begin(t testing.TB, names ...string) (*Run, *stager) {
	t.Helper()
	return beginIn(t, t.TempDir(), names...)
}

func beginIn(t testing.TB, base string, names ...string) (*Run, *stager) {
	t.Helper()
	box := filepath.Join(base, "box")
	require.NoError(t, os.Mkdir(box, 0o755))
	makeTree(t, box, names...)
	r, err := Begin(context.Background(), filepath.Join(base, "state"), box)
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return r, newStager(t, r)
}

func apply(t testing.TB, r *Run) *Changes {
	t.Helper()
	c, err := Read(context.Background(), r, writeOnce)
	require.NoError(t, err)
	_, err = Apply(context.Background(), c, yes{}, nil)
	require.NoError(t, err)
	return c
}

func undo(t testing.TB, r *Run) Undone {
	t.Helper()
	u, err := Undo(context.Background(), r, false)
	require.NoError(t, err)
	return u
}

// scenes are what commits have to get right: each is a tree and what happens
// to it, with the tree that must come out.
var scenes = []struct {
	name string
	have []string
	do   func(s *stager)
	want string
	list []Change
}{
	{
		name: "a new file in a new folder",
		have: []string{"a"},
		do:   func(s *stager) { s.mkdir("d"); s.write("d/x", "new") },
		want: "a f:a -rw-r--r--\nd d -rwxr-xr-x\nd/x f:new -rw-r--r--",
		list: []Change{{Kind: Create, Entry: Folder, Path: "d"}, {Kind: Create, Entry: File, Path: "d/x", Size: 3}},
	},
	{
		name: "a file changes in place",
		have: []string{"a"},
		do:   func(s *stager) { s.write("a", "other") },
		want: "a f:other -rw-r--r--",
		list: []Change{{Kind: Replace, Entry: File, Path: "a", Size: 5}},
	},
	{
		name: "a file is replaced by a new one of its name",
		have: []string{"a"},
		do:   func(s *stager) { s.write("tmp", "other"); s.move("tmp", "a") },
		want: "a f:other -rw-r--r--",
		list: []Change{{Kind: Replace, Entry: File, Path: "a", Size: 5}},
	},
	{
		name: "made and gone again is no change",
		have: []string{"a"},
		do:   func(s *stager) { s.write("x", "1"); s.remove("x"); s.move("a", "b"); s.move("b", "a") },
		want: "a f:a -rw-r--r--",
	},
	{
		name: "a folder moves with what is in it",
		have: []string{"d/e/x", "d/y"},
		do:   func(s *stager) { s.move("d", "f") },
		want: "f d -rwxr-xr-x\nf/e d -rwxr-xr-x\nf/e/x f:d/e/x -rw-r--r--\nf/y f:d/y -rw-r--r--",
		list: []Change{{Kind: Move, Entry: Folder, Path: "f", From: "d"}},
	},
	{
		name: "two files swap through a third name",
		have: []string{"a", "b"},
		do:   func(s *stager) { s.move("a", "c"); s.move("b", "a"); s.move("c", "b") },
		want: "a f:b -rw-r--r--\nb f:a -rw-r--r--",
		list: []Change{{Kind: Move, Entry: File, Path: "a", From: "b", Size: 1}, {Kind: Move, Entry: File, Path: "b", From: "a", Size: 1}},
	},
	{
		name: "two folders trade places one inside the other",
		have: []string{"a/b/x", "a/y"},
		do:   func(s *stager) { s.move("a/b", "c"); s.move("a", "c/a"); s.move("c", "b") },
		want: "b d -rwxr-xr-x\nb/a d -rwxr-xr-x\nb/a/y f:a/y -rw-r--r--\nb/x f:a/b/x -rw-r--r--",
		list: []Change{{Kind: Move, Entry: Folder, Path: "b", From: "a/b"}, {Kind: Move, Entry: Folder, Path: "b/a", From: "a"}},
	},
	{
		name: "a file becomes a folder and a folder a file",
		have: []string{"f", "d/x"},
		do: func(s *stager) {
			s.remove("f")
			s.mkdir("f")
			s.write("f/in", "1")
			s.remove("d/x")
			s.remove("d")
			s.write("d", "now a file")
		},
		want: "d f:now a file -rw-r--r--\nf d -rwxr-xr-x\nf/in f:1 -rw-r--r--",
		list: []Change{
			{Kind: Create, Entry: File, Path: "d", Size: 10}, {Kind: Delete, Entry: Folder, Path: "d"},
			{Kind: Delete, Entry: File, Path: "d/x", Size: 3},
			{Kind: Create, Entry: Folder, Path: "f"}, {Kind: Delete, Entry: File, Path: "f", Size: 1},
			{Kind: Create, Entry: File, Path: "f/in", Size: 1},
		},
	},
	{
		name: "a file moves over another, in a folder that moves",
		have: []string{"d/a", "d/b", "x"},
		do:   func(s *stager) { s.move("x", "d/a"); s.move("d", "e"); s.write("e/b", "changed") },
		want: "e d -rwxr-xr-x\ne/a f:x -rw-r--r--\ne/b f:changed -rw-r--r--",
	},
	{
		name: "deep removal, a rescue and a link",
		have: []string{"d/e/f/x", "d/e/y", "d/z"},
		do: func(s *stager) {
			s.move("d/e/f/x", "kept")
			s.remove("d/e/f")
			s.remove("d/e/y")
			s.remove("d/e")
			s.remove("d/z")
			s.remove("d")
			s.link("kept", "l")
		},
		want: "kept f:d/e/f/x -rw-r--r--\nl l:kept -rwxrwxrwx",
	},
	{
		name: "files move into a new folder, and its name was a file's",
		have: []string{"a", "b", "n"},
		do: func(s *stager) {
			s.move("n", "m")
			s.mkdir("n")
			s.move("a", "n/a")
			s.move("b", "n/b")
			s.move("m", "n/n")
		},
		want: "n d -rwxr-xr-x\nn/a f:a -rw-r--r--\nn/b f:b -rw-r--r--\nn/n f:n -rw-r--r--",
	},
}

func TestCommitThenUndo(t *testing.T) {
	for _, sc := range scenes {
		t.Run(sc.name, func(t *testing.T) {
			r, s := begin(t, sc.have...)
			before := tree(t, r.Sandbox)
			sc.do(s)
			require.Equal(t, before, tree(t, r.Sandbox), "staging must not touch the sandbox")
			c := apply(t, r)
			require.Equal(t, sc.want, contents(tree(t, r.Sandbox)))
			if sc.list != nil {
				require.Equal(t, sc.list, c.List())
			}
			if c.Empty() {
				return
			}
			after := tree(t, r.Sandbox)
			u := undo(t, r)
			require.Empty(t, u.Refused)
			require.Equal(t, before, tree(t, r.Sandbox), "undo must restore names, bytes, modes and times")
			u = undo(t, u.Run)
			require.Empty(t, u.Refused)
			require.Equal(t, contents(after), contents(tree(t, r.Sandbox)), "the undo must be undone")
			u = undo(t, u.Run)
			require.Equal(t, before, tree(t, r.Sandbox))
			require.Empty(t, u.Refused)
			pending, err := os.ReadDir(filepath.Join(r.state(), dirPending))
			require.NoError(t, err)
			require.Empty(t, pending)
		})
	}
}
