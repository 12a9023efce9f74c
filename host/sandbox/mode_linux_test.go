package sandbox

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero/experimental/sys"

	"stepbox.dev/abi"
)

// Each operation needs a mode, and says which when it does not have it.
func TestModes(t *testing.T) {
	open := func(path string, flag sys.Oflag) func(*CallFS) sys.Errno {
		return func(f *CallFS) sys.Errno {
			h, errno := f.OpenFile(path, flag, 0o600)
			if errno == 0 {
				h.Close()
			}
			return errno
		}
	}
	stat := func(path string) func(*CallFS) sys.Errno {
		return func(f *CallFS) sys.Errno {
			_, errno := f.Stat(path)
			return errno
		}
	}
	cases := []struct {
		name  string
		do    func(*CallFS) sys.Errno
		needs abi.Mode
		op    string
		path  string
	}{
		{"stat", stat("old"), abi.ModeRead, "stat", "old"},
		{"open to read", open("d/f", sys.O_RDONLY), abi.ModeRead, "open", "d/f"},
		{"list", open("d", sys.O_DIRECTORY), abi.ModeRead, "open", "d"},
		{"make a file", open("new", sys.O_RDWR|sys.O_CREAT), abi.ModeCreate, "create", "new"},
		{"make a folder", func(f *CallFS) sys.Errno { return f.Mkdir("n", 0) }, abi.ModeCreate, "mkdir", "n"},
		{"make a link", func(f *CallFS) sys.Errno { return f.Symlink("old", "n") }, abi.ModeCreate, "symlink", "n"},
		{"copy by link", func(f *CallFS) sys.Errno { return f.Link("old", "n") }, abi.ModeCreate, "link", "n"},
		{"write what the run made", open("mine", sys.O_RDWR), abi.ModeCreate, "write", "mine"},
		{"cut what the run made", open("mine", sys.O_RDONLY|sys.O_TRUNC), abi.ModeCreate, "write", "mine"},
		{"remove what the run made", func(f *CallFS) sys.Errno { return f.Unlink("mine") }, abi.ModeCreate, "unlink", "mine"},
		{"remove a folder of the run", func(f *CallFS) sys.Errno { return f.Rmdir("made") }, abi.ModeCreate, "rmdir", "made"},
		{"move what the run made", func(f *CallFS) sys.Errno { return f.Rename("mine", "made/x") }, abi.ModeCreate, "rename", "mine"},
		{"touch what the run made", func(f *CallFS) sys.Errno { return f.Utimens("mine", 1, 1) }, abi.ModeCreate, "utimens", "mine"},
		{"write", open("old", sys.O_WRONLY), abi.ModeWrite, "write", "old"},
		{"append", open("old", sys.O_RDWR|sys.O_APPEND), abi.ModeWrite, "write", "old"},
		{"cut", open("old", sys.O_RDONLY|sys.O_TRUNC), abi.ModeWrite, "write", "old"},
		{"make over", open("old", sys.O_RDWR|sys.O_CREAT|sys.O_TRUNC), abi.ModeWrite, "write", "old"},
		{"remove", func(f *CallFS) sys.Errno { return f.Unlink("d/f") }, abi.ModeWrite, "unlink", "d/f"},
		{"remove a folder", func(f *CallFS) sys.Errno { return f.Rmdir("empty") }, abi.ModeWrite, "rmdir", "empty"},
		{"move", func(f *CallFS) sys.Errno { return f.Rename("old", "n") }, abi.ModeWrite, "rename", "old"},
		{"move a folder", func(f *CallFS) sys.Errno { return f.Rename("d", "n") }, abi.ModeWrite, "rename", "d"},
		{"replace by a move", func(f *CallFS) sys.Errno { return f.Rename("mine", "old") }, abi.ModeWrite, "rename", "mine"},
		{"replace a folder by a move", func(f *CallFS) sys.Errno { return f.Rename("made", "empty") }, abi.ModeWrite, "rename", "made"},
		{"touch", func(f *CallFS) sys.Errno { return f.Utimens("old", 1, 1) }, abi.ModeWrite, "utimens", "old"},
		{"touch a folder", func(f *CallFS) sys.Errno { return f.Utimens("d", 1, 1) }, abi.ModeWrite, "utimens", "d"},
	}
	for _, c := range cases {
		for mode := abi.ModeNone; mode <= abi.ModeWrite; mode++ {
			t.Run(fmt.Sprint(c.name, " in mode ", mode), func(t *testing.T) {
				r := newRig(t, map[string]string{"old": "o", "d/f": "f", "empty/": ""})
				before := r.in(abi.ModeCreate)
				mustPut(t, before, "mine", "m")
				require.Zero(t, before.Mkdir("made", 0))
				require.NoError(t, before.Seal())
				shown := tree(t, r.in(abi.ModeRead))

				f := r.in(mode)
				errno := c.do(f)
				if mode >= c.needs {
					require.Zero(t, errno)
					require.Empty(t, f.Denials())
					return
				}
				require.Equal(t, sys.EPERM, errno)
				// In mode none looking is what is denied first.
				want := Denial{Op: c.op, Path: c.path, Needs: c.needs}
				if mode == abi.ModeNone {
					require.Equal(t, abi.ModeRead, f.Denials()[0].Needs)
				} else {
					require.Equal(t, []Denial{want}, f.Denials())
				}
				require.Equal(t, shown, tree(t, r.in(abi.ModeRead)))
			})
		}
	}
}

// wazero panics when the root does not open, and a mode that sees no files has
// still the skill's.
func TestModeNoneSeesTheSkillOnly(t *testing.T) {
	f := newRig(t, map[string]string{"old": "o"}).in(abi.ModeNone)
	require.Empty(t, names(t, f, "."))
	require.Equal(t, []string{"profiles/", "vocab.yaml"}, names(t, f, "/@skill"))
	require.Equal(t, "A", mustGet(t, f, "@skill/profiles/a.txt"))
	_, errno := f.Stat(".")
	require.Zero(t, errno)
	require.Empty(t, f.Denials())
	require.NotZero(t, f.Mkdir("@tmp/x", 0))
}

func TestViewsWithoutFilesOrStage(t *testing.T) {
	v, err := Open(Options{})
	require.NoError(t, err)
	defer v.Close()
	f := v.Call(0, abi.ModeWrite)
	require.Empty(t, names(t, f, "."))
	require.Equal(t, sys.EPERM, f.Mkdir("x", 0))
	require.NoError(t, f.Seal())

	r := newRig(t, map[string]string{"old": "o"})
	v, err = Open(Options{Lower: r.folder(r.lower)})
	require.NoError(t, err)
	defer v.Close()
	f = v.Call(0, abi.ModeRead)
	require.Equal(t, "o", mustGet(t, f, "old"))
	require.Equal(t, sys.EPERM, put(f, "new", "x"))
}

// Reserved names are the view's own: hidden, and refused in any spelling.
func TestReservedNames(t *testing.T) {
	r := newRig(t, map[string]string{
		".stepbox/undo": "secret", ".StepBox/undo": "secret", "@SKILL": "x", "a/.stepbox": "fine", "l": "-> .stepbox", "m": "-> a/../.stepbox/undo",
	})
	f := r.in(abi.ModeWrite)
	require.Equal(t, []string{"a/", "l", "m"}, names(t, f, "."))
	require.Equal(t, "fine", mustGet(t, f, "a/.stepbox"))
	_, errno := f.Stat("m")
	require.Equal(t, sys.ENOENT, errno)
	for _, path := range []string{".stepbox", ".stepbox/undo", ".StepBox/undo", ".ſtepbox", "@SKILL", "l/undo"} {
		_, errno := f.Stat(path)
		require.Equal(t, sys.ENOENT, errno, path)
		require.NotZero(t, f.Unlink(path), path)
		require.NotZero(t, f.Rename(path, "x"), path)
	}
	require.Empty(t, f.Denials())
	for i, path := range []string{".stepbox", ".STEPBOX/x", "@Tmp", "@skill/new"} {
		require.Equal(t, sys.EPERM, put(f, path, "x"), path)
		require.Equal(t, sys.EPERM, f.Mkdir(path, 0), path)
		require.NotZero(t, f.Rename("a", path), path)
		require.Len(t, f.Denials(), 3*(i+1), path)
	}
	require.Equal(t, sys.EPERM, f.Unlink("@skill/vocab.yaml"))
	require.Equal(t, "words", mustGet(t, f, "@skill/vocab.yaml"))
}

// What lies in /@tmp is writable in every mode that sees files, never staged,
// and gone when the call ends.
func TestScratch(t *testing.T) {
	r := newRig(t, map[string]string{"old": "o"})
	f := r.in(abi.ModeRead)
	mustPut(t, f, "@tmp/x", "12345")
	require.Zero(t, f.Mkdir("@tmp/d", 0))
	mustPut(t, f, "@tmp/d/y", "y")
	require.Zero(t, f.Rename("@tmp/x", "@tmp/d/z"))
	require.Equal(t, []string{"d/"}, names(t, f, "@tmp"))
	require.Equal(t, "12345", mustGet(t, f, "/@tmp/d/z"))
	require.Equal(t, sys.ENOTEMPTY, f.Rmdir("@tmp/d"))
	require.NotZero(t, f.Symlink("../old", "@tmp/l"))
	require.Equal(t, []string{"old"}, names(t, f, "."))
	require.Empty(t, f.Denials())
	require.NotZero(t, f.Rename("@tmp/d/z", "kept"))
	require.Equal(t, abi.ModeCreate, f.Denials()[0].Needs)
	require.NoError(t, f.End())
	require.Zero(t, r.view.used.Load())
	f = r.in(abi.ModeCreate)
	require.Empty(t, names(t, f, "@tmp"))
	mustPut(t, f, "@tmp/x", "12345")
	require.Zero(t, f.Rename("@tmp/x", "kept"))
	require.Empty(t, names(t, f, "@tmp"))
	require.Equal(t, "12345", mustGet(t, f, "kept"))
	mustPut(t, f, "@tmp/x", "123")
	require.Zero(t, f.Rename("@tmp/x", "kept"))
	require.Equal(t, "123", mustGet(t, f, "kept"))
	require.Equal(t, int64(3), r.view.used.Load())
	mustPut(t, f, "@tmp/x", "new")
	require.Equal(t, sys.EPERM, f.Rename("@tmp/x", "old"))
	require.Equal(t, []Denial{{Op: "rename", Path: "old", Needs: abi.ModeWrite}}, f.Denials())

	// One file is one thing, by whichever way a guest asks.
	h, errno := f.OpenFile("@tmp/x", sys.O_RDONLY, 0)
	require.Zero(t, errno)
	defer h.Close()
	open, errno := h.Stat()
	require.Zero(t, errno)
	path, errno := f.Stat("@tmp/x")
	require.Zero(t, errno)
	require.Equal(t, path, open)
}
