//go:build stepbox_nowalls

package worker_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/worker"
)

// What each wall of the kernel has to hold while the other is missing. What
// neither list names needs both, or is held by either.
var alone = map[string][]string{
	"landlock": {"read outside", "list outside", "read /etc/passwd", "read /proc", "write in the sandbox",
		"truncate in the sandbox", "open and truncate", "create in the sandbox", "make a folder in the sandbox",
		"delete in the sandbox", "rename in the sandbox", "rename out of the sandbox", "rename into the sandbox",
		"exchange with the sandbox", "link from the sandbox", "symlink in the stage", "FIFO in the stage",
		"device in the stage", "open a device", "a signal to the host"},
	"seccomp": {"link in the stage", "link from the sandbox", "symlink in the stage", "FIFO in the stage", "device in the stage",
		"chmod in the sandbox", "chmod in the stage", "fchmod of a read-only descriptor", "fchmodat2", "chown", "utimes",
		"futimens of a descriptor", "setxattr", "fsetxattr", "setxattrat", "file_setattr", "flags of a file", "flock", "a lease",
		"a notification", "TCP", "UDP", "a local socket", "a socket pair", "netlink", "exec", "execveat", "a process", "ptrace",
		"another process's memory", "a signal to the host", "a signal to a thread of the host", "a pidfd", "io_uring", "a namespace",
		"a mount", "chroot", "bpf", "userfaultfd", "keys", "memory as a file", "more memory", "being dumped", "outliving the host",
		"another working folder"},
}

func TestEachWallAlone(t *testing.T) {
	for wall, other := range map[string]string{"landlock": "seccomp", "seccomp": "landlock"} {
		t.Run(wall, func(t *testing.T) {
			dir := t.TempDir()
			layOut(t, dir)
			cmd := self(t, roleProbe, dir)
			cmd.Env = append(os.Environ(), "STEPBOX_WALLS_OFF="+other)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			could := strings.Split(strings.TrimSpace(string(out)), "\n")
			require.True(t, slices.ContainsFunc(could, func(s string) bool { return strings.HasPrefix(s, "could: ") }),
				"the other wall was not switched off")
			for _, name := range alone[wall] {
				require.NotContains(t, could, "could: "+name)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		dir := t.TempDir()
		layOut(t, dir)
		cmd := self(t, roleProbe, dir)
		cmd.Env = append(os.Environ(), "STEPBOX_WALLS_OFF=landlock,seccomp")
		out, err := cmd.CombinedOutput()
		require.Contains(t, string(out), "could: read outside", "%v", err)
	})
}

// A machine that lacks a wall: the run refuses and says so, unless that was
// allowed.
func TestMissingWallRefuses(t *testing.T) {
	t.Setenv("STEPBOX_WALLS_MISSING", "landlock")
	_, err := openCache(t).Module(t.Context(), good(), nil)
	require.Equal(t, fault.Stopped, fault.Of(err), "%v", err)
	require.ErrorContains(t, err, "landlock")
	require.Contains(t, fault.Next(err), "doctor")

	c := openCache(t)
	c.AllowMissingWalls = true
	m, err := c.Module(t.Context(), good(), nil)
	require.NoError(t, err)
	w, err := worker.Start(t.Context(), worker.Options{Module: m})
	require.NoError(t, err)
	_, err = step(t.Context(), w)
	require.Equal(t, fault.Stopped, fault.Of(err), "%v", err)
	require.NoError(t, w.Close())
	w, err = worker.Start(t.Context(), worker.Options{Module: m, AllowMissingWalls: true})
	require.NoError(t, err)
	works(t, w)
	require.NoError(t, w.Close())
}
