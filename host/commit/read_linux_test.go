package commit

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/stage"
)

func refused(t *testing.T, r *Run, s Source, kind fault.Kind, says string) {
	t.Helper()
	before := tree(t, r.Sandbox)
	_, err := Read(context.Background(), r, s)
	require.Error(t, err)
	require.Equal(t, kind, fault.Of(err), "%v", err)
	require.ErrorContains(t, err, says)
	require.Equal(t, before, tree(t, r.Sandbox))
}

// TestDeclarations guards row 20 with the jail switched off: the stage holds
// what the view would have denied.
func TestDeclarations(t *testing.T) {
	for _, tc := range []struct {
		name string
		mode abi.Mode
		do   func(s *stager)
		says string // "" when it is allowed
	}{
		{"safe adds", abi.ModeCreate, func(s *stager) { s.mkdir("d/n"); s.write("d/n/x", "1"); s.write("d/n/x", "2") }, ""},
		{"safe removes what it added", abi.ModeCreate, func(s *stager) { s.write("n", "1"); s.move("n", "m"); s.remove("m"); s.write("k", "1") }, ""},
		{"safe adds a link", abi.ModeCreate, func(s *stager) { s.link("a", "l") }, ""},
		{"safe removes", abi.ModeCreate, func(s *stager) { s.remove("a") }, `"tool" (call 0) is declared safe and`},
		{"safe changes in place", abi.ModeCreate, func(s *stager) { s.write("a", "x") }, "was there before"},
		{"safe replaces", abi.ModeCreate, func(s *stager) { s.write("n", "x"); s.move("n", "a") }, "was there before"},
		{"safe moves", abi.ModeCreate, func(s *stager) { s.move("a", "n") }, "was there before"},
		{"safe moves a folder", abi.ModeCreate, func(s *stager) { s.move("d", "n") }, "was there before"},
		{"safe touches", abi.ModeCreate, func(s *stager) { s.times("a", 1, 2) }, "was there before"},
		{"safe touches a folder", abi.ModeCreate, func(s *stager) { s.times("d", 1, 2) }, "was there before"},
		{"safe hides what it never looked at", abi.ModeCreate, func(s *stager) {
			s.rec = append(s.rec, stage.Effect{Op: stage.OpEntry, Parent: stage.Root, Name: "a", Hides: true})
			s.flush()
		}, "replaced or removed"},
		{"readonly adds", abi.ModeRead, func(s *stager) { s.write("n", "1") }, "declared read and changed something"},
		{"none adds", abi.ModeNone, func(s *stager) { s.write("n", "1") }, "declared none and changed something"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, s := begin(t, "a", "d/x")
			s.mode = tc.mode
			tc.do(s)
			src := Source{Tools: []string{"tool"}, Modes: []abi.Mode{tc.mode}}
			if tc.says == "" {
				c, err := Read(context.Background(), r, src)
				require.NoError(t, err)
				require.True(t, c.Safe())
				return
			}
			refused(t, r, src, fault.Stopped, tc.says)
			// A worker that lies about the mode gains nothing.
			r, s = begin(t, "a", "d/x")
			s.mode = abi.ModeWrite
			tc.do(s)
			refused(t, r, src, fault.Stopped, "is declared")
		})
	}
}

// TestTrim guards that a run that failed keeps what a commit of a part needs,
// and no more.
func TestTrim(t *testing.T) {
	r, s := begin(t, "a")
	s.write("n", "sealed")
	s.write("a", "sealed too")
	s.seal()
	s.write("big", strings.Repeat("x", 1<<20))
	s.write("n", "not sealed")
	src := Source{Modes: []abi.Mode{abi.ModeWrite, abi.ModeWrite}, Partial: true}
	before, err := Read(context.Background(), r, src)
	require.NoError(t, err)
	require.NoError(t, Trim(r))
	require.Less(t, r.Size(), int64(200<<10))
	c, err := Read(context.Background(), r, src)
	require.NoError(t, err)
	require.Equal(t, before.Digest(), c.Digest())
	_, err = Apply(context.Background(), c, yes{}, nil)
	require.NoError(t, err)
	require.Equal(t, "a f:sealed too -rw-r--r--\nn f:sealed -rw-r--r--", contents(tree(t, r.Sandbox)))
	require.NoError(t, Trim(r), "what was committed is kept for undo")
	require.Empty(t, undo(t, r).Refused)
}

func TestPartialKeepsSealedCallsOnly(t *testing.T) {
	r, s := begin(t, "a", "b")
	s.write("a", "by the first call")
	s.seal()
	s.write("a", "half of the second")
	s.remove("b")
	src := Source{Modes: []abi.Mode{abi.ModeWrite, abi.ModeWrite}, Partial: true}
	c, err := Read(context.Background(), r, src)
	require.NoError(t, err)
	_, err = Apply(context.Background(), c, yes{}, nil)
	require.NoError(t, err)
	require.Equal(t, "a f:by the first call -rw-r--r--\nb f:b -rw-r--r--", contents(tree(t, r.Sandbox)))
}

// TestConflicts guards that nothing is committed over what somebody else did
// since the run began.
func TestConflicts(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(s *stager)
		edit func(box string) error
		says string
	}{
		{"a file to replace was written", func(s *stager) { s.write("a", "x") },
			func(box string) error { return os.WriteFile(filepath.Join(box, "a"), []byte("mine"), 0o644) }, `"a" was changed`},
		{"a file to delete was written with the old time", func(s *stager) { s.remove("a") },
			func(box string) error {
				p := filepath.Join(box, "a")
				info, err := os.Stat(p)
				if err != nil {
					return err
				}
				if err := os.WriteFile(p, []byte("b"), 0o644); err != nil {
					return err
				}
				return os.Chtimes(p, info.ModTime(), info.ModTime())
			}, `"a" was changed`},
		{"a file to move is gone", func(s *stager) { s.move("a", "n") },
			func(box string) error { return os.Remove(filepath.Join(box, "a")) }, `"a" is gone`},
		{"another file has its name", func(s *stager) { s.move("a", "n") },
			func(box string) error {
				return os.Rename(filepath.Join(box, "b"), filepath.Join(box, "a"))
			}, `"a" is not the one`},
		{"the target appeared", func(s *stager) { s.move("a", "n") },
			func(box string) error { return os.WriteFile(filepath.Join(box, "n"), nil, 0o644) }, `"n" appeared`},
		{"a new file's name appeared", func(s *stager) { s.write("n", "1") },
			func(box string) error { return os.Symlink("a", filepath.Join(box, "n")) }, `"n" appeared`},
		{"a file came into a folder to delete", func(s *stager) { s.remove("d/x"); s.remove("d") },
			func(box string) error { return os.WriteFile(filepath.Join(box, "d/late"), nil, 0o644) }, `"d" was changed`},
		{"the folder was replaced", func(s *stager) { s.write("d/n", "1") },
			func(box string) error {
				if err := os.Rename(filepath.Join(box, "d"), filepath.Join(box, "old")); err != nil {
					return err
				}
				return os.Mkdir(filepath.Join(box, "d"), 0o755)
			}, `"d" is not the one`},
		{"the folder became a link", func(s *stager) { s.write("d/n", "1") },
			func(box string) error {
				if err := os.Rename(filepath.Join(box, "d"), filepath.Join(box, "old")); err != nil {
					return err
				}
				return os.Symlink("/etc", filepath.Join(box, "d"))
			}, `"d" is not the one`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, s := begin(t, "a", "b", "d/x")
			tc.do(s)
			require.NoError(t, tc.edit(r.Sandbox))
			refused(t, r, writeOnce, fault.CheckFailed, tc.says)
		})
		t.Run("after approval: "+tc.name, func(t *testing.T) {
			r, s := begin(t, "a", "b", "d/x")
			tc.do(s)
			c, err := Read(context.Background(), r, writeOnce)
			require.NoError(t, err)
			require.NoError(t, tc.edit(r.Sandbox))
			before := tree(t, r.Sandbox)
			_, err = Apply(context.Background(), c, yes{}, nil)
			if strings.HasPrefix(tc.name, "the folder was replaced") {
				require.NoError(t, err) // a file is added to the folder of that name
				return
			}
			require.Error(t, err)
			require.Equal(t, fault.CheckFailed, fault.Of(err), "%v", err)
			require.Equal(t, contents(before), contents(tree(t, r.Sandbox)))
		})
	}
}

// TestHostileStages guards row 27: a stage written behind the jail's back.
func TestHostileStages(t *testing.T) {
	stageFile := func(s *stager, name string) string { return filepath.Join(s.r.StageDir(), name) }
	swap := func(s *stager, make func(path string) error) {
		s.write("n", "content")
		blob := stageFile(s, "b/"+stage.BlobName(s.node("n").Blob))
		require.NoError(s.t, os.Remove(blob))
		require.NoError(s.t, make(blob))
	}
	for _, tc := range []struct {
		name string
		do   func(s *stager)
		says string
	}{
		{"a blob that is a link", func(s *stager) { swap(s, func(p string) error { return os.Symlink("/etc/passwd", p) }) }, "not a plain file"},
		{"a blob that is a hard link", func(s *stager) {
			swap(s, func(p string) error { return os.Link(filepath.Join(s.r.Sandbox, "a"), p) })
		}, "not a plain file"},
		{"a blob that is a FIFO", func(s *stager) { swap(s, func(p string) error { return unix.Mkfifo(p, 0o600) }) }, "not a plain file"},
		{"a blob that is a folder", func(s *stager) { swap(s, func(p string) error { return os.Mkdir(p, 0o700) }) }, "not a plain file"},
		{"no blob", func(s *stager) { swap(s, func(string) error { return nil }) }, "not a plain file"},
		{"a sparse blob of terabytes", func(s *stager) {
			swap(s, func(p string) error {
				f, err := os.Create(p)
				if err != nil {
					return err
				}
				defer f.Close()
				return f.Truncate(8 << 40)
			})
		}, "more than"},
		{"a log that is a FIFO", func(s *stager) {
			require.NoError(s.t, os.Remove(stageFile(s, "log")))
			require.NoError(s.t, unix.Mkfifo(stageFile(s, "log"), 0o600))
		}, "tampered"},
		{"a log that is a link", func(s *stager) {
			require.NoError(s.t, os.Remove(stageFile(s, "log")))
			require.NoError(s.t, os.Symlink("/etc/passwd", stageFile(s, "log")))
		}, "tampered"},
		{"a log of rubbish", func(s *stager) { require.NoError(s.t, os.WriteFile(stageFile(s, "log"), []byte("rubbish"), 0o600)) }, "refused"},
		{"an origin that is stepbox's own", func(s *stager) {
			s.rec = []stage.Effect{
				{Op: stage.OpNode, ID: 2, Kind: stage.Folder, HasOrigin: true, Origin: stage.Origin{Path: ".StepBox"}},
				{Op: stage.OpEntry, Parent: 1, Name: ".StepBox", ID: 2, Hides: true},
			}
			if s.log.Lock() == nil {
				require.Error(s.t, s.log.Append(stage.Record{Mode: abi.ModeWrite, Effects: s.rec}))
				s.log.Unlock()
			}
			s.rec = nil
			s.write(strings.Repeat("x", 200), "1")
			s.call = 7
			s.write("y", "1")
		}, "call 7"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, s := begin(t, "a")
			tc.do(s)
			refused(t, r, writeOnce, fault.Stopped, tc.says)
		})
	}
}

func TestDigestCoversEverything(t *testing.T) {
	r, s := begin(t, "a", "b")
	s.write("n", "1")
	digest := func(src Source) string {
		c, err := Read(context.Background(), r, src)
		require.NoError(t, err)
		d := c.Digest()
		return string(d[:])
	}
	seen := map[string]string{}
	for name, src := range map[string]Source{
		"plain":   writeOnce,
		"program": {Program: [32]byte{1}, Modes: writeOnce.Modes},
		"modes":   {Modes: []abi.Mode{abi.ModeWrite, abi.ModeRead}},
		"extra":   {Modes: writeOnce.Modes, Extra: []string{"x"}},
		"extras":  {Modes: writeOnce.Modes, Extra: []string{"", "x"}},
	} {
		seen[digest(src)] = name
		require.Equal(t, digest(src), digest(src), "the same stage has the same digest")
	}
	s.write("m", "1")
	seen[digest(writeOnce)] = "another file"
	s.write("m", "12")
	seen[digest(writeOnce)] = "another size"
	s.remove("m")
	s.link("a", "m")
	seen[digest(writeOnce)] = "a link"
	s.link("b", "m")
	seen[digest(writeOnce)] = "another target"
	require.Len(t, seen, 9)
}

func TestManyConflictsAreCut(t *testing.T) {
	var names []string
	for i := range 50 {
		names = append(names, "f"+strconv.Itoa(i))
	}
	r, s := begin(t, names...)
	for _, n := range names {
		s.remove(n)
		now := time.Now()
		require.NoError(t, os.Chtimes(filepath.Join(r.Sandbox, n), now, now))
	}
	refused(t, r, writeOnce, fault.CheckFailed, "and 30 more")
}

// TestCommitAgainAfterGoingBack guards that a commit that was turned back, by
// a name that appeared in its midst, can be done once the name is free.
func TestCommitAgainAfterGoingBack(t *testing.T) {
	r, s := begin(t, everythingHas...)
	everything(s)
	c, err := Read(context.Background(), r, writeOnce)
	require.NoError(t, err)
	before := tree(t, r.Sandbox)
	inTheWay := filepath.Join(r.Sandbox, "rescued")
	require.NoError(t, os.WriteFile(inTheWay, []byte("mine"), 0o644))
	_, err = Apply(context.Background(), c, yes{}, nil)
	require.Equal(t, fault.CheckFailed, fault.Of(err), "%v", err)
	require.ErrorContains(t, err, `"rescued" appeared`)
	require.NoError(t, os.Remove(inTheWay))
	require.Equal(t, contents(before), contents(tree(t, r.Sandbox)))

	again := apply(t, r)
	require.Equal(t, c.Digest(), again.Digest(), "an approval by digest still holds")
	require.Equal(t, everythingAfter, contents(tree(t, r.Sandbox)))

	// But what somebody changes meanwhile is still a conflict.
	r, s = begin(t, everythingHas...)
	everything(s)
	c, err = Read(context.Background(), r, writeOnce)
	require.NoError(t, err)
	inTheWay = filepath.Join(r.Sandbox, "rescued")
	require.NoError(t, os.WriteFile(inTheWay, []byte("mine"), 0o644))
	_, err = Apply(context.Background(), c, yes{}, nil)
	require.Error(t, err)
	require.NoError(t, os.Remove(inTheWay))
	require.NoError(t, os.Chmod(filepath.Join(r.Sandbox, "edit"), 0o600))
	refused(t, r, writeOnce, fault.CheckFailed, `"edit" was changed`)
}
