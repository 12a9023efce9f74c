package worker_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/worker"
)

// A full disk is no fault of the module's: it is told as what it is, with where,
// and nothing half compiled is left.
func TestNoRoomForCode(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skip("a small disk takes root: ", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	full := func(err error) {
		t.Helper()
		require.ErrorContains(t, err, "there is no room for compiled code in")
		require.Equal(t, fault.Usage, fault.Of(err))
		require.Contains(t, fault.Next(err), "free some space")
	}
	cache := filepath.Join(dir, "cache")
	c, err := worker.OpenCache(cache)
	require.NoError(t, err)
	fill := filepath.Join(dir, "fill")
	require.NoError(t, os.WriteFile(fill, make([]byte, 2<<20-16<<10), 0o600))
	_, err = c.Module(t.Context(), good(), nil)
	full(err)
	left, err := filepath.Glob(filepath.Join(cache, "new-*"))
	require.NoError(t, err)
	require.Empty(t, left)

	f, err := os.OpenFile(fill, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	require.ErrorIs(t, err, unix.ENOSPC)
	require.NoError(t, f.Close())
	_, err = worker.OpenCache(filepath.Join(dir, "another"))
	full(err)
	require.NoError(t, os.Remove(fill))
	_, err = c.Module(t.Context(), good(), nil)
	require.NoError(t, err, "once there is room")
}
