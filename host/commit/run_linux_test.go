package commit

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
)

func TestBeginRefusesBadSandboxes(t *testing.T) {
	base := t.TempDir()
	path := func(n string) string { return filepath.Join(base, n) }
	makeTree(t, base, "file", "ok/x", "skilled/@skill/x", "tmped/@TMP", "claimed/.stepbox", "home/x", "private/x", "state/runs/")
	require.NoError(t, os.Symlink("ok", path("link")))
	require.NoError(t, os.Symlink("nowhere", path("dangling")))
	t.Setenv("HOME", path("home"))
	for _, tc := range []struct {
		name, sandbox string
		kind          fault.Kind
		says          string
	}{
		{"missing", path("none"), fault.Usage, "does not exist"},
		{"a dangling link", path("dangling"), fault.Usage, "does not exist"},
		{"a file", path("file"), fault.Usage, "is not a folder"},
		{"below a file", path("file/x"), fault.Usage, "cannot be read"},
		{"the whole file system", "/", fault.Refused, "whole file system"},
		{"the same in other words", "/usr/..", fault.Refused, "whole file system"},
		{"the system's settings", "/etc", fault.Refused, "a folder of the system"},
		{"a process", "/proc/self", fault.Refused, "a folder of the system"},
		{"devices", "/dev", fault.Refused, "a folder of the system"},
		{"below a folder of the system", "/usr/bin", fault.Refused, "a folder of the system"},
		{"home", path("home"), fault.Refused, "home folder"},
		{"a folder with a reserved name", path("skilled"), fault.Refused, `"@skill"`},
		{"the same in another case", path("tmped"), fault.Refused, `"@TMP"`},
		{"a file with stepbox's name", path("claimed"), fault.Refused, `".stepbox"`},
		{"around the state folder", base, fault.Refused, "stepbox's own folder"},
		{"inside the state folder", path("state/runs"), fault.Refused, "stepbox's own folder"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Begin(context.Background(), path("state"), tc.sandbox)
			require.Error(t, err)
			require.Equal(t, tc.kind, fault.Of(err), "%v", err)
			require.ErrorContains(t, err, tc.says)
		})
	}
	t.Run("unreadable", func(t *testing.T) {
		if os.Geteuid() == 0 {
			t.Skip("root reads everything")
		}
		require.NoError(t, os.Chmod(path("private"), 0))
		defer os.Chmod(path("private"), 0o700)
		_, err := Begin(context.Background(), path("state"), path("private"))
		require.Equal(t, fault.Usage, fault.Of(err), "%v", err)
	})
	t.Run("a state folder that cannot be made", func(t *testing.T) {
		_, err := Begin(context.Background(), path("file/state"), path("ok"))
		require.Equal(t, fault.Usage, fault.Of(err), "%v", err)
		require.Contains(t, fault.Next(err), "XDG_STATE_HOME")
	})
	t.Run("a link is resolved once, and said", func(t *testing.T) {
		r, err := Begin(context.Background(), path("state"), path("link"))
		require.NoError(t, err)
		defer r.Close()
		real, err := filepath.EvalSymlinks(path("ok"))
		require.NoError(t, err)
		require.Equal(t, real, r.Sandbox)
		require.Equal(t, path("link"), r.Given)
	})
}

func TestRunsOnDisk(t *testing.T) {
	r, s := begin(t, "a")
	state := r.state()
	info, err := os.Stat(r.Dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	require.True(t, r.Alive())

	again, err := Open(state, r.ID[:len(r.ID)-2])
	require.NoError(t, err)
	require.Equal(t, r.Dir, again.Dir)
	require.Equal(t, r.Began, again.Began)
	require.True(t, again.Alive(), "another holder of the lock is seen")
	require.Equal(t, fault.Refused, fault.Of(Remove(again)), "a live run is kept")
	require.NoError(t, r.Close())
	require.False(t, again.Alive())

	other, err := Begin(context.Background(), state, r.Sandbox)
	require.NoError(t, err)
	require.NoError(t, other.Close())
	list, err := List(state)
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, []string{other.ID, r.ID}, []string{list[0].ID, list[1].ID}, "newest first, also within a second")
	for _, id := range []string{"", "nope", "../x", "2", "."} {
		_, err := Open(state, id)
		require.Equal(t, fault.Usage, fault.Of(err), "%q: %v", id, err)
	}

	s.write("n", strings.Repeat("x", 1<<20))
	require.Greater(t, again.Size(), int64(1<<20))
	require.NoError(t, Discard(again))
	require.Less(t, again.Size(), int64(1<<20))
	require.NoError(t, Remove(again))
	require.NoDirExists(t, r.Dir)

	require.NoError(t, os.WriteFile(filepath.Join(other.Dir, fileRecord), []byte("{"), 0o600))
	list, err = List(state)
	require.NoError(t, err)
	require.Len(t, list, 1, "a damaged run is listed, so that it can be removed")
	require.NoError(t, Remove(list[0]))
}

func TestCommittedRunsKeepTheirUndoData(t *testing.T) {
	r, s := begin(t, "a")
	s.remove("a")
	apply(t, r)
	require.NoError(t, Discard(r))
	require.Empty(t, undo(t, r).Refused)
	_, err := Undo(context.Background(), r, false)
	require.ErrorContains(t, err, "undone already")
	_, err = Read(context.Background(), r, writeOnce)
	require.ErrorContains(t, err, "committed already")
	require.Len(t, r.UndoneBy(), 1)
}

// TestSandboxChangedItsPlace guards that a later commit or undo does not work
// on another folder that has the sandbox's name by then.
func TestSandboxChangedItsPlace(t *testing.T) {
	r, s := begin(t, "a")
	s.remove("a")
	c, err := Read(context.Background(), r, writeOnce)
	require.NoError(t, err)
	require.NoError(t, os.Rename(r.Sandbox, r.Sandbox+"2"))
	_, err = Read(context.Background(), r, writeOnce)
	require.Equal(t, fault.CheckFailed, fault.Of(err), "%v", err)
	require.NoError(t, os.Mkdir(r.Sandbox, 0o755))
	makeTree(t, r.Sandbox, "a")
	_, err = Read(context.Background(), r, writeOnce)
	require.Equal(t, fault.CheckFailed, fault.Of(err), "%v", err)
	_, err = Apply(context.Background(), c, yes{}, nil)
	require.Equal(t, fault.CheckFailed, fault.Of(err), "%v", err)
	require.FileExists(t, filepath.Join(r.Sandbox, "a"))
}

// TestOtherFileSystem guards stage and undo store in .stepbox where renames
// from the state folder do not work.
func TestOtherFileSystem(t *testing.T) {
	box, err := os.MkdirTemp("/dev/shm", "stepbox")
	if err != nil {
		t.Skip("no second file system here")
	}
	defer os.RemoveAll(box)
	state := t.TempDir()
	if same, err := sameMount(state, box); err != nil || same {
		t.Skip("no second file system here")
	}
	makeTree(t, box, "a", "b", "d/x")
	before := tree(t, box)
	r, err := Begin(context.Background(), state, box)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(box, abi.HiddenDir, r.ID), r.Data)
	s := newStager(t, r)
	s.write("n", "1")
	s.move("a", "d/a")
	s.write("b", "2")
	apply(t, r)
	require.Equal(t, "b f:2 -rw-r--r--\nd d -rwxr-xr-x\nd/a f:a -rw-r--r--\nd/x f:d/x -rw-r--r--\nn f:1 -rw-r--r--", contents(tree(t, box)))
	u := undo(t, r)
	require.Empty(t, u.Refused)
	require.Equal(t, contents(before), contents(tree(t, box)))
	require.NoError(t, Remove(u.Run))
	require.NoError(t, r.Close())
	require.NoError(t, Remove(r))
	require.NoDirExists(t, filepath.Join(box, abi.HiddenDir))
}

func TestForeignHiddenFolderIsNotUsed(t *testing.T) {
	box, err := os.MkdirTemp("/dev/shm", "stepbox")
	if err != nil {
		t.Skip("no second file system here")
	}
	defer os.RemoveAll(box)
	makeTree(t, box, "a")
	require.NoError(t, os.Mkdir(filepath.Join(box, abi.HiddenDir), 0o777))
	require.NoError(t, os.Chmod(filepath.Join(box, abi.HiddenDir), 0o777))
	r, err := Begin(context.Background(), t.TempDir(), box)
	require.NoError(t, err)
	defer r.Close()
	if r.Data != r.Dir {
		t.Fatalf("others can write to %q", r.Data)
	}
	s := newStager(t, r)
	s.remove("a")
	c, err := Read(context.Background(), r, writeOnce)
	require.NoError(t, err)
	_, err = Apply(context.Background(), c, yes{}, nil)
	if err == nil {
		t.Skip("the temporary folder is on the same file system")
	}
	require.Equal(t, fault.StepFailed, fault.Of(err), "%v", err)
	require.FileExists(t, filepath.Join(box, "a"))
}

// mount mounts a tmpfs of the size, or skips.
func mount(t *testing.T, size string, flags uintptr) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", flags, "size="+size); err != nil {
		t.Skipf("cannot mount here: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

func TestReadOnlySandboxCanBeLookedAt(t *testing.T) {
	box := mount(t, "1m", 0)
	makeTree(t, box, "a")
	require.NoError(t, unix.Mount("none", box, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	r, err := Begin(context.Background(), t.TempDir(), box)
	require.NoError(t, err)
	defer r.Close()
	require.Equal(t, r.Dir, r.Data)
	s := newStager(t, r)
	s.remove("a")
	c, err := Read(context.Background(), r, writeOnce)
	require.NoError(t, err)
	require.Len(t, c.List(), 1)
	_, err = Apply(context.Background(), c, yes{}, nil)
	require.Equal(t, fault.StepFailed, fault.Of(err), "%v", err)
	require.ErrorContains(t, err, "read-only file system; nothing was changed")
}

// TestFullDisk guards that a disk without room stops a commit before or in the
// middle of it, and leaves the sandbox as it was.
func TestFullDisk(t *testing.T) {
	base := mount(t, "1m", 0)
	r, s := beginIn(t, base, "a", "b", "d/x")
	s.move("a", "d/a")
	s.write("b", "new")
	c, err := Read(context.Background(), r, writeOnce)
	require.NoError(t, err)
	before := tree(t, r.Sandbox)
	fill, err := os.Create(filepath.Join(base, "fill"))
	require.NoError(t, err)
	for err == nil {
		_, err = fill.Write(make([]byte, 4096))
	}
	require.NoError(t, fill.Close())
	_, err = Apply(context.Background(), c, yes{}, nil)
	require.Equal(t, fault.StepFailed, fault.Of(err), "%v", err)
	require.ErrorContains(t, err, "is full")
	require.Equal(t, before, tree(t, r.Sandbox))
	require.NoError(t, os.Remove(filepath.Join(base, "fill")))
	_, err = Apply(context.Background(), c, yes{}, nil)
	require.NoError(t, err, "the same changes can be committed once there is room")
}

func TestNoRunBeginsOnAFullDisk(t *testing.T) {
	base := mount(t, "1m", 0)
	makeTree(t, base, "box/a", "state/runs/", "state/pending/")
	fill, err := os.Create(filepath.Join(base, "fill"))
	require.NoError(t, err)
	for err == nil {
		_, err = fill.Write(make([]byte, 4096))
	}
	require.NoError(t, fill.Close())
	_, err = Begin(context.Background(), filepath.Join(base, "state"), filepath.Join(base, "box"))
	require.Equal(t, fault.StepFailed, fault.Of(err), "%v", err)
	require.ErrorContains(t, err, "the disk is full")
	runs, err := os.ReadDir(filepath.Join(base, "state/runs"))
	require.NoError(t, err)
	require.Empty(t, runs)
}

// TestHiddenFolders guards what is said about .stepbox where the stage has to
// lie in it: one of somebody else is named, one that was removed as well.
func TestHiddenFolders(t *testing.T) {
	box := mount(t, "1m", 0)
	makeTree(t, box, "a", ".stepbox/x")
	require.NoError(t, os.Chmod(filepath.Join(box, ".stepbox"), 0o777))
	state := t.TempDir()
	remove := func() (*Run, error) {
		r, err := Begin(context.Background(), state, box)
		require.NoError(t, err)
		t.Cleanup(func() { _ = r.Close() })
		newStager(t, r).remove("a")
		c, err := Read(context.Background(), r, writeOnce)
		require.NoError(t, err)
		_, err = Apply(context.Background(), c, yes{}, nil)
		return r, err
	}
	_, err := remove()
	require.Equal(t, fault.StepFailed, fault.Of(err), "%v", err)
	require.ErrorContains(t, err, `.stepbox" is not a folder of this user alone; nothing was changed`)

	require.NoError(t, os.RemoveAll(filepath.Join(box, ".stepbox")))
	r, err := remove()
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(filepath.Join(box, ".stepbox")))
	_, err = Undo(context.Background(), r, false)
	require.Equal(t, fault.CheckFailed, fault.Of(err), "%v", err)
	require.ErrorContains(t, err, "what stepbox kept of run")
}

// TestMountInsideTheSandbox guards that a file system mounted below the
// sandbox is refused with the reason and not half changed.
func TestMountInsideTheSandbox(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	r, s := begin(t, "a", "m/", "z")
	if err := unix.Mount("none", filepath.Join(r.Sandbox, "m"), "tmpfs", 0, ""); err != nil {
		t.Skipf("cannot mount here: %v", err)
	}
	defer unix.Unmount(filepath.Join(r.Sandbox, "m"), unix.MNT_DETACH)
	r.Began = tick()
	s.move("a", "m/a")
	s.remove("z")
	refused(t, r, writeOnce, fault.Stopped, "another file system")
	require.FileExists(t, filepath.Join(r.Sandbox, "a"))
	require.FileExists(t, filepath.Join(r.Sandbox, "z"))
}

// TestPathsLongerThanTheKernelTakes guards folders so deep that no single
// system call can name what lies in them.
func TestPathsLongerThanTheKernelTakes(t *testing.T) {
	r, s := begin(t, "a")
	path := ""
	for range 40 {
		path = filepath.Join(path, strings.Repeat("n", 200))
		s.mkdir(path)
	}
	s.write(path+"/x", "deep")
	s.move("a", path+"/a")
	apply(t, r)
	box, err := openRoot(r.Sandbox)
	require.NoError(t, err)
	defer box.close()
	id, err := box.stat(path + "/x")
	require.NoError(t, err)
	require.Equal(t, int64(4), id.size)
	names, err := box.names(path)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "x"}, names)
	require.Empty(t, undo(t, r).Refused)
	require.Equal(t, "a f:a -rw-r--r--", contents(tree(t, r.Sandbox)))
}
