package sandbox

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero/experimental/sys"
	"golang.org/x/sys/unix"

	"stepbox.dev/abi"
)

// The view follows links itself. On random trees full of links, some of them
// leading out, it must find what the kernel finds when told to stay beneath the
// folder, and refuse what the kernel refuses.
func TestLinksResolveAsInTheKernel(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	elem := func(choice string) string { return string(choice[rnd.IntN(len(choice))]) }
	denied, found := 0, 0
	for round := range 40 {
		r := newRig(t, map[string]string{"a/b/c": "1", "b/d": "2", "c": "3", "d/a/b/": ""})
		for range 12 {
			target := make([]string, 1+rnd.IntN(4))
			for i := range target {
				target[i] = elem("aabbccdef....")
				if target[i] == "." && rnd.IntN(4) > 0 {
					target[i] = ".."
				}
			}
			to := strings.Join(target, "/")
			if rnd.IntN(12) == 0 {
				to = filepath.Join(r.lower, to)
			}
			from := elem("efgh")
			if rnd.IntN(2) == 0 {
				from = elem("abd") + "/" + from
			}
			_ = os.Symlink(to, filepath.Join(r.lower, from))
		}
		f := r.in(abi.ModeWrite)
		if round%2 == 1 { // the same through nodes
			for _, dir := range []string{"a", "b", "d"} {
				mustPut(t, f, dir+"/zz", "")
			}
		}
		lower := r.folder(r.lower)
		for range 150 {
			path := make([]string, 1+rnd.IntN(5))
			for i := range path {
				path[i] = elem("abcdefgh")
			}
			name := strings.Join(path, "/")
			how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH}
			fd, err := unix.Openat2(int(lower.Fd()), name, &how)
			for err == unix.EAGAIN { // somebody renamed something, anywhere
				fd, err = unix.Openat2(int(lower.Fd()), name, &how)
			}
			want := toErrno(err)
			st, got := f.Stat(name)
			require.Equal(t, want, got, fmt.Sprint(round, " ", name))
			if got == sys.EPERM {
				denied++
			}
			if err != nil {
				continue
			}
			var real unix.Stat_t
			require.NoError(t, unix.Fstat(fd, &real))
			require.NoError(t, unix.Close(fd))
			require.Equal(t, fileType(real.Mode), st.Mode.Type(), name)
			if st.Mode.IsRegular() {
				found++
				b, err := os.ReadFile(filepath.Join(r.lower, name))
				require.NoError(t, err)
				require.Equal(t, string(b), mustGet(t, f, name), name)
			}
		}
	}
	require.Greater(t, denied, 100)
	require.Greater(t, found, 100)
}

// Names that no guest can spell are listed, so that no folder looks empty that
// is not; they do not open.
func TestNamesInOtherEncodings(t *testing.T) {
	r := newRig(t, map[string]string{"d/ok": "x"})
	if err := os.WriteFile(filepath.Join(r.lower, "d/\xff"), nil, 0o644); err != nil {
		t.Skip("this file system has no such names: ", err)
	}
	f := r.in(abi.ModeWrite)
	require.Equal(t, []string{"ok", "\xff"}, names(t, f, "d"))
	_, errno := f.Stat("d/\xff")
	require.Equal(t, sys.EINVAL, errno)
	require.Zero(t, f.Unlink("d/ok"))
	require.Equal(t, sys.ENOTEMPTY, f.Rmdir("d"))
	require.Zero(t, f.Rename("d", "e"))
	require.Equal(t, []string{"\xff"}, names(t, f, "e"))
}

// A stage that is damaged, or cannot be written, is an error at the start.
func TestBadStages(t *testing.T) {
	for name, prepare := range map[string]func(dir string) error{
		"damaged": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "log"), []byte("stepbox\x01\x01\x00\x00\x00xxxxx"), 0o600)
		},
		"other version": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "log"), []byte("stepbox\x02"), 0o600)
		},
		"log is a folder": func(dir string) error { return os.Mkdir(filepath.Join(dir, "log"), 0o700) },
		"removed":         os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			dir := t.TempDir()
			f := r.folder(dir)
			require.NoError(t, prepare(dir))
			_, err := Open(Options{Lower: r.folder(r.lower), Stage: f})
			require.Error(t, err)
		})
	}
	r := newRig(t, map[string]string{"file": ""})
	_, err := Open(Options{Lower: r.folder(filepath.Join(r.lower, "file"))})
	require.ErrorContains(t, err, "open the sandbox")
}

// A sandbox that goes away while a call runs is an error, not a crash.
func TestSandboxRemovedMeanwhile(t *testing.T) {
	r := newRig(t, map[string]string{"d/f": "f"})
	f := r.in(abi.ModeWrite)
	mustPut(t, f, "d/new", "new")
	require.NoError(t, os.RemoveAll(r.lower))
	_, errno := get(f, "d/f")
	require.Equal(t, sys.ENOENT, errno)
	require.Equal(t, "new", mustGet(t, f, "d/new"))
	require.NotZero(t, f.Unlink("d/f"))
	require.NoError(t, os.Mkdir(r.lower, 0o755))
}
