package commit

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"stepbox.dev/host/fault"
)

// disk makes a file system of the kind on a loop device and mounts it, or
// skips with the reason.
func disk(t *testing.T, kind string, args ...string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	mkfs, err := exec.LookPath("mkfs." + kind)
	if err != nil {
		t.Skipf("no mkfs.%s here", kind)
	}
	dir := t.TempDir()
	image, at := filepath.Join(dir, "image"), filepath.Join(dir, "at")
	require.NoError(t, os.WriteFile(image, nil, 0o600))
	require.NoError(t, os.Truncate(image, 320<<20))
	require.NoError(t, os.Mkdir(at, 0o755))
	if out, err := exec.Command(mkfs, append(args, image)...).CombinedOutput(); err != nil {
		t.Skipf("mkfs.%s: %v: %s", kind, err, out)
	}
	if out, err := exec.Command("mount", "-o", "loop", image, at).CombinedOutput(); err != nil {
		t.Skipf("mount %s: %v: %s", kind, err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", at).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return at
}

// TestFileSystems commits everything, with the state folder on the same file
// system and on another, and takes it back.
func TestFileSystems(t *testing.T) {
	for _, tc := range []struct {
		kind string
		args []string
	}{
		{"ext4", []string{"-q", "-F"}},
		{"xfs", []string{"-q"}},
		{"btrfs", []string{"-q"}},
		{"vfat", nil},
	} {
		t.Run(tc.kind, func(t *testing.T) {
			at := disk(t, tc.kind, tc.args...)
			t.Run("state beside it", func(t *testing.T) { onFileSystem(t, at, filepath.Join(at, "state")) })
			t.Run("state elsewhere", func(t *testing.T) { onFileSystem(t, at, t.TempDir()) })
		})
	}
}

func onFileSystem(t *testing.T, at, state string) {
	box := filepath.Join(at, "box")
	require.NoError(t, os.Mkdir(box, 0o755))
	defer os.RemoveAll(box)
	makeTree(t, box, everythingHas...)
	before := tree(t, box)
	r, err := Begin(context.Background(), state, box)
	require.NoError(t, err)
	defer r.Close()
	s := newStager(t, r)
	defer s.log.Close()
	everything(s)
	apply(t, r)
	require.Equal(t, everythingAfter, contents(tree(t, box)))
	u := undo(t, r)
	require.Empty(t, u.Refused)
	require.Equal(t, before, tree(t, box))
	require.NoError(t, Remove(u.Run))
}

// TestOverlay guards containers: an overlay may rename files of its lower
// layer, but not its folders. What works is done, the rest is refused with the
// reason and nothing is changed.
func TestOverlay(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	base := memory(t)
	for _, d := range []string{"lower/box", "upper", "work", "at"} {
		require.NoError(t, os.MkdirAll(filepath.Join(base, d), 0o755))
	}
	makeTree(t, filepath.Join(base, "lower/box"), "a", "b", "d/x", "e/y")
	at := filepath.Join(base, "at")
	opts := "lowerdir=" + filepath.Join(base, "lower") + ",upperdir=" + filepath.Join(base, "upper") + ",workdir=" + filepath.Join(base, "work") + ",redirect_dir=off"
	if err := unix.Mount("overlay", at, "overlay", 0, opts); err != nil {
		t.Skipf("no overlay here: %v", err)
	}
	defer unix.Unmount(at, unix.MNT_DETACH)
	box := filepath.Join(at, "box")
	for _, tc := range []struct {
		name string
		do   func(s *stager)
		says string
	}{
		{"files", func(s *stager) { s.move("a", "d/a"); s.write("b", "new"); s.mkdir("n"); s.write("n/x", "1") }, ""},
		{"a folder", func(s *stager) { s.write("n", "1"); s.move("e", "f") }, "cannot be moved"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := contents(tree(t, box))
			r, err := Begin(context.Background(), filepath.Join(at, "state"), box)
			require.NoError(t, err)
			defer r.Close()
			s := newStager(t, r)
			defer s.log.Close()
			tc.do(s)
			c, err := Read(context.Background(), r, writeOnce)
			require.NoError(t, err)
			_, err = Apply(context.Background(), c, yes{}, nil)
			if tc.says != "" {
				require.Equal(t, fault.StepFailed, fault.Of(err), "%v", err)
				require.ErrorContains(t, err, tc.says)
			} else {
				require.NoError(t, err)
				require.Empty(t, undo(t, r).Refused)
			}
			require.Equal(t, before, contents(tree(t, box)))
		})
	}
}
