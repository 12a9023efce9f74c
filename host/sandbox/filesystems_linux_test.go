package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero/experimental/sys"
	"golang.org/x/sys/unix"

	"stepbox.dev/abi"
)

// mount mounts something at a new folder until the test ends, or skips.
func mount(t *testing.T, args ...string) string {
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	at := t.TempDir()
	if out, err := exec.Command("mount", append(args, at)...).CombinedOutput(); err != nil {
		t.Skipf("mount %v: %v: %s", args, err, out)
	}
	t.Cleanup(func() {
		out, err := exec.Command("umount", at).CombinedOutput()
		require.NoError(t, err, string(out))
	})
	return at
}

func disk(t *testing.T, kind string, args ...string) string {
	mkfs, err := exec.LookPath("mkfs." + kind)
	if err != nil {
		t.Skipf("no mkfs.%s here", kind)
	}
	image := filepath.Join(t.TempDir(), "image")
	require.NoError(t, os.WriteFile(image, nil, 0o600))
	require.NoError(t, os.Truncate(image, 320<<20))
	if out, err := exec.Command(mkfs, append(args, image)...).CombinedOutput(); err != nil {
		t.Skipf("mkfs.%s: %v: %s", kind, err, out)
	}
	return mount(t, "-o", "loop", image)
}

// The view is the same on other file systems, and shares blocks where they can:
// then one byte into a large file copies nothing.
func TestFileSystems(t *testing.T) {
	tmpfs := func(t *testing.T) string { return mount(t, "-t", "tmpfs", "-o", "size=64m", "tmpfs") }
	cases := map[string]struct {
		at     func(t *testing.T) string
		shares bool
	}{
		"xfs":   {func(t *testing.T) string { return disk(t, "xfs", "-q") }, true},
		"btrfs": {func(t *testing.T) string { return disk(t, "btrfs", "-q") }, true},
		"tmpfs": {tmpfs, false},
		"overlay": {func(t *testing.T) string {
			dir := tmpfs(t)
			for _, sub := range []string{"low", "up", "work"} {
				require.NoError(t, os.Mkdir(filepath.Join(dir, sub), 0o755))
			}
			return mount(t, "-t", "overlay", "-o", strings.ReplaceAll("lowerdir=D/low,upperdir=D/up,workdir=D/work", "D", dir), "overlay")
		}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			at := c.at(t)
			for seed := range uint64(3) {
				sameAsPlainFolder(t, at, 1000+seed)
			}
			r := newRigIn(t, at, map[string]string{"big": strings.Repeat("x", 16<<20)})
			before := used(t, at)
			f := r.in(abi.ModeWrite)
			h, errno := f.OpenFile("big", sys.O_RDWR, 0)
			require.Zero(t, errno)
			_, errno = h.Pwrite([]byte("y"), 0)
			require.Zero(t, errno)
			require.Zero(t, h.Close())
			got := mustGet(t, f, "big")
			require.Equal(t, 16<<20, len(got))
			require.Equal(t, "yx", got[:2])
			if c.shares {
				require.Less(t, used(t, at)-before, int64(4<<20))
			}
			require.NoError(t, f.End())
		})
	}
}

// used is how many bytes of a file system are taken.
func used(t *testing.T, at string) int64 {
	dir, err := os.Open(at)
	require.NoError(t, err)
	defer dir.Close()
	require.NoError(t, unix.Syncfs(int(dir.Fd()))) // blocks are taken late
	var st unix.Statfs_t
	require.NoError(t, unix.Statfs(at, &st))
	return int64(st.Blocks-st.Bfree) * st.Bsize
}
