package commit

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/fault"
)

func TestSystemFolders(t *testing.T) {
	for path, want := range map[string]string{
		"/etc": "/etc", "/etc/ssh": "/etc", "/proc/1": "/proc", "/sys/kernel": "/sys", "/usr/local/bin": "/usr", "/var": "/var", "/dev/shm": "/dev",
		"/dev/shm/work": "", "/usr/src/linux": "", "/run/media/me/stick": "", "/etcetera": "", "/var/www": "", "/home/me/etc": "", "/tmp/x": "", "/srv": "",
	} {
		require.Equal(t, want, systemFolder(path), path)
	}
}

// A shortened id means one run or none: never by chance, and never a list of
// hundreds.
func TestOpenByAShortenedID(t *testing.T) {
	state := t.TempDir()
	for i := range 9 {
		require.NoError(t, os.MkdirAll(filepath.Join(state, dirRuns, fmt.Sprintf("20261129-00000%d-aaaaa", i)), 0o700))
	}
	for _, tc := range []struct{ id, says string }{
		{"2", `there is no run "2"`},
		{"2026112", `there is no run "2026112"`},
		{"20261130", `there is no run "20261130"`},
		{"20261129", `could be any of 9 runs: 20261129-000004-aaaaa, 20261129-000005-aaaaa, 20261129-000006-aaaaa, 20261129-000007-aaaaa, 20261129-000008-aaaaa, …`},
	} {
		_, err := Open(state, tc.id)
		require.Equal(t, fault.Usage, fault.Of(err), "%v", err)
		require.ErrorContains(t, err, tc.says)
	}
	_, err := Open(state, "20261129-000003")
	require.ErrorContains(t, err, `run "20261129-000003-aaaaa" is damaged`, "found, and there is nothing in it")
}
