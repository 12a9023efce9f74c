package commit

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"stepbox.dev/host/stage"
)

// TestStageBlobsLoseTheirModes guards that a blob with an executable bit, or
// attributes of its own, gets into the sandbox as a plain new file.
func TestStageBlobsLoseTheirModes(t *testing.T) {
	r, s := begin(t)
	s.write("n", "#!/bin/sh\n")
	blob := filepath.Join(r.StageDir(), "b", stage.BlobName(s.node("n").Blob))
	require.NoError(t, os.Chmod(blob, 0o777|os.ModeSetuid))
	if err := unix.Setxattr(blob, "user.x", []byte("1"), 0); err != nil {
		t.Logf("no attributes here: %v", err)
	}
	apply(t, r)
	info, err := os.Stat(filepath.Join(r.Sandbox, "n"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o666&^umask()), info.Mode())
	n, err := unix.Getxattr(filepath.Join(r.Sandbox, "n"), "user.x", nil)
	require.True(t, n <= 0 && err != nil)
}

// TestSpecialBitsAreNotInherited guards that a person is told when a file that
// is replaced loses what made it special.
func TestSpecialBitsAreNotInherited(t *testing.T) {
	r, s := begin(t, "tool")
	require.NoError(t, unix.Chmod(filepath.Join(r.Sandbox, "tool"), 0o6755))
	r.Began = tick()
	s.write("tool", "new")
	c := apply(t, r)
	require.Equal(t, "it loses the mode bits setgid, setuid", c.List()[0].Note)
	require.Equal(t, "it is executable", c.List()[0].Protected)
	info, err := os.Stat(filepath.Join(r.Sandbox, "tool"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o755), info.Mode())
}

// TestOpenWriterIsFound guards that nobody can go on writing into a file once
// it is committed.
func TestOpenWriterIsFound(t *testing.T) {
	r, s := begin(t)
	s.write("n", "1")
	f, err := os.OpenFile(filepath.Join(r.StageDir(), "b", stage.BlobName(s.node("n").Blob)), os.O_WRONLY, 0)
	require.NoError(t, err)
	defer f.Close()
	c, err := Read(context.Background(), r, writeOnce)
	require.NoError(t, err)
	_, err = Apply(context.Background(), c, yes{}, nil)
	require.ErrorContains(t, err, "still writes to it")
	require.Empty(t, contents(tree(t, r.Sandbox)))
}

func TestReplacedFilesKeepModeOwnerAndLinks(t *testing.T) {
	r, s := begin(t, "tool", "one")
	require.NoError(t, os.Chmod(filepath.Join(r.Sandbox, "tool"), 0o750))
	require.NoError(t, os.Link(filepath.Join(r.Sandbox, "one"), filepath.Join(r.Sandbox, "two")))
	root := os.Geteuid() == 0
	if root {
		require.NoError(t, os.Chown(filepath.Join(r.Sandbox, "tool"), 12, 34))
	}
	r.Began = tick() // what this test prepared is older than the run
	s.write("tool", "new")
	s.write("one", "parted")
	c, err := Read(context.Background(), r, writeOnce)
	require.NoError(t, err)
	require.Equal(t, []string{"the file has other names (hard links), which keep the old content", "it is executable"},
		[]string{c.List()[0].Note, c.List()[1].Protected})
	require.False(t, c.Safe())
	_, err = Apply(context.Background(), c, yes{}, nil)
	require.NoError(t, err)
	var st unix.Stat_t
	require.NoError(t, unix.Stat(filepath.Join(r.Sandbox, "tool"), &st))
	require.Equal(t, uint32(0o750), st.Mode&0o7777)
	if root {
		require.Equal(t, []uint32{12, 34}, []uint32{st.Uid, st.Gid})
	}
	two, err := os.ReadFile(filepath.Join(r.Sandbox, "two"))
	require.NoError(t, err)
	require.Equal(t, "one", string(two), "the other name keeps the old content")
}

// TestSharedFoldersShareTheirGroup guards team folders: a rename into a folder
// with the setgid bit does not hand on its group by itself.
func TestSharedFoldersShareTheirGroup(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("changing groups needs root")
	}
	r, s := begin(t, "team/x", "plain/x")
	team := filepath.Join(r.Sandbox, "team")
	require.NoError(t, os.Chown(team, -1, 4321))
	require.NoError(t, os.Chmod(team, 0o775|os.ModeSetgid))
	s.mkdir("team/new")
	s.write("team/new/y", "1")
	s.write("plain/y", "1")
	apply(t, r)
	for path, want := range map[string][2]uint32{
		"team/new": {4321, 0o2755}, "team/new/y": {4321, 0o644}, "plain/y": {uint32(os.Getegid()), 0o644},
	} {
		var st unix.Stat_t
		require.NoError(t, unix.Stat(filepath.Join(r.Sandbox, path), &st))
		require.Equal(t, want, [2]uint32{st.Gid, st.Mode & 0o7777}, path)
	}
}

// TestAccessListsAreHandedOn guards folders with a default access list: what a
// commit makes there is as if it had been made there, down to the last byte.
func TestAccessListsAreHandedOn(t *testing.T) {
	r, s := begin(t, "team/x")
	team := filepath.Join(r.Sandbox, "team")
	list := []byte{2, 0, 0, 0}
	for _, e := range [][3]uint32{{1, 7, ^uint32(0)}, {2, 6, 4321}, {4, 5, ^uint32(0)}, {16, 7, ^uint32(0)}, {32, 0, ^uint32(0)}} {
		list = binary.LittleEndian.AppendUint16(list, uint16(e[0]))
		list = binary.LittleEndian.AppendUint16(list, uint16(e[1]))
		list = binary.LittleEndian.AppendUint32(list, e[2])
	}
	if err := unix.Setxattr(team, aclDefault, list, 0); err != nil {
		t.Skipf("no access lists here: %v", err)
	}
	require.NoError(t, os.MkdirAll(filepath.Join(team, "plain"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(team, "plain/y"), nil, 0o666))
	s.mkdir("team/new")
	s.write("team/new/y", "")
	apply(t, r)
	for a, b := range map[string]string{"plain": "new", "plain/y": "new/y"} {
		var was, is unix.Stat_t
		require.NoError(t, unix.Stat(filepath.Join(team, a), &was))
		require.NoError(t, unix.Stat(filepath.Join(team, b), &is))
		require.Equal(t, was.Mode, is.Mode, b)
		for _, name := range []string{aclAccess, aclDefault} {
			get := func(path string) string {
				buf := make([]byte, 1024)
				n, err := unix.Getxattr(filepath.Join(team, path), name, buf)
				if err != nil {
					return err.Error()
				}
				return string(buf[:n])
			}
			require.Equal(t, get(a), get(b), "%s of %s", name, b)
		}
	}
}
