//go:build unix

package store

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// What lies beside a program is taken for a part of it. A group that cannot change
// the program must not be able to change that.
func TestShippedToAGroup(t *testing.T) {
	dir := t.TempDir()
	bin, lib := filepath.Join(dir, "bin"), filepath.Join(dir, "wasm")
	program, shipped := filepath.Join(bin, "stepbox"), filepath.Join(lib, "files.wasm")
	for _, path := range []string{program, shipped} {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, nil, 0o644))
	}
	check := func() error { return Shipped(program, lib, shipped) }
	require.NoError(t, check())
	require.NoError(t, os.Chmod(shipped, 0o666))
	require.ErrorContains(t, check(), "can be changed by anybody")
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to a group that it is not in")
	}
	const group = 54321
	require.NoError(t, os.Chmod(shipped, 0o664))
	require.NoError(t, check(), "root's own group")
	require.NoError(t, os.Chown(shipped, -1, group))
	require.ErrorContains(t, check(), "can be changed by group 54321")
	require.NoError(t, os.Chmod(shipped, 0o644))
	require.NoError(t, check())
	require.NoError(t, os.Chown(lib, -1, group))
	require.NoError(t, os.Chmod(lib, 0o775))
	require.ErrorContains(t, check(), "can be changed by group 54321", "the folder too")

	require.NoError(t, os.Chown(bin, -1, group))
	require.ErrorContains(t, check(), "can be changed by group 54321", "it may not write there")
	require.NoError(t, os.Chmod(bin, 0o775))
	require.NoError(t, check(), "it could replace the program as well")
	require.NoError(t, os.Chmod(bin, 0o775|os.ModeSticky))
	require.ErrorContains(t, check(), "can be changed by group 54321", "only its owner can")

	one, err := user.Lookup("daemon")
	if err != nil {
		t.Skip("there is no user called daemon")
	}
	uid, err := strconv.Atoi(one.Uid)
	require.NoError(t, err)
	gid, err := strconv.Atoi(one.Gid)
	require.NoError(t, err)
	for _, path := range []string{program, lib, shipped} {
		require.NoError(t, os.Chown(path, uid, gid))
	}
	require.Equal(t, private(uint32(uid), uint32(gid)), check() == nil)
	if g, err := user.LookupGroup("daemon"); err == nil && g.Gid == one.Gid {
		require.NoError(t, check(), "a group of the owner's own")
	}
}
