package commit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// The test binary is also the process that is killed: with crashEnv set to
// "verb state run point" it commits, undoes or recovers that run, and sends
// itself SIGKILL at the point-th place where a disk changes.
const crashEnv = "STEPBOX_TEST_COMMIT_CRASH"

func TestMain(m *testing.M) {
	if spec := os.Getenv(crashEnv); spec != "" {
		crash(strings.Fields(spec))
	}
	os.Exit(m.Run())
}

func crash(spec []string) {
	at, err := strconv.Atoi(spec[3])
	if err != nil {
		panic(err)
	}
	crashPoint = func() {
		if at--; at == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	ctx := context.Background()
	switch r, err := Open(spec[1], spec[2]); {
	case err != nil:
		panic(err)
	case spec[0] == "apply", spec[0] == "turn":
		c, err := Read(ctx, r, writeOnce)
		if err == nil && spec[0] == "turn" {
			// Somebody takes a name that the commit is about to use.
			err = os.WriteFile(filepath.Join(r.Sandbox, "rescued"), []byte("mine"), 0o644)
		}
		if err == nil {
			_, err = Apply(ctx, c, yes{}, nil)
		}
		exit(err)
	case spec[0] == "undo":
		_, err := Undo(ctx, r, false)
		exit(err)
	case spec[0] == "recover":
		exit(Recover(ctx, spec[1]))
	}
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	os.Exit(0)
}

// killed runs the verb in a process of its own and reports whether it was
// killed at the point; false means that it came to its end before.
func killed(t testing.TB, verb string, r *Run, point int) bool {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), crashEnv+"="+strings.Join([]string{verb, r.state(), r.ID, strconv.Itoa(point)}, " "))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	var e *exec.ExitError
	require.True(t, errors.As(err, &e))
	status := e.Sys().(syscall.WaitStatus)
	if status.Exited() && status.ExitStatus() == 3 {
		return false // it refused, which the caller sees again
	}
	require.True(t, status.Signaled() && status.Signal() == syscall.SIGKILL, "%s", out)
	return true
}

// everything is a commit with one of each kind of difficulty.
var everythingHas = []string{
	"swap/a", "swap/b", "dirs/a/b/x", "dirs/a/y", "file2dir", "dir2file/x", "dir2file/y", "gone/e/f/x", "gone/e/y", "gone/z",
	"move/one", "move/two", "move/three", "target/", "plain", "edit", "over", "onto", "same", "stay/x",
}

func everything(s *stager) {
	s.move("swap/a", "swap/c")
	s.move("swap/b", "swap/a")
	s.move("swap/c", "swap/b")
	s.move("dirs/a/b", "c")
	s.move("dirs/a", "c/a")
	s.move("c", "dirs/b")
	s.remove("file2dir")
	s.mkdir("file2dir")
	s.write("file2dir/in", "in")
	s.remove("dir2file/x")
	s.move("dir2file/y", "rescued")
	s.remove("dir2file")
	s.write("dir2file", "a file now")
	s.move("gone/e/f/x", "kept")
	s.remove("gone/e/f")
	s.remove("gone/e/y")
	s.remove("gone/e")
	s.remove("gone/z")
	s.remove("gone")
	s.mkdir("made")
	s.mkdir("made/deep")
	for _, n := range []string{"one", "two", "three"} {
		s.move("move/"+n, "made/deep/"+n)
	}
	s.move("target", "made/target")
	s.write("edit", "edited")
	s.fresh("plain", "replaced")
	s.move("over", "onto")
	s.link("edit", "link")
	s.times("stay/x", 1e18, 2e18)
	s.move("same", "stay/same")
}

// every calls try with each point until one lies behind the end, and returns
// how many there were.
func every(t *testing.T, try func(point int) bool) int {
	t.Helper()
	for point := 1; ; point++ {
		if !try(point) {
			require.Greater(t, point, 20, "the commit has few points to be killed at")
			return point - 1
		}
		require.Less(t, point, 5000)
	}
}

// whole requires the sandbox to be wholly old or wholly new and reports which.
func whole(t *testing.T, r *Run, point int, before, after string) (isNew bool) {
	t.Helper()
	now := contents(tree(t, r.Sandbox))
	if now != before {
		require.Equal(t, after, now, "killed at point %d", point)
	}
	entries, err := os.ReadDir(filepath.Join(r.state(), dirPending))
	require.NoError(t, err)
	require.Empty(t, entries, "killed at point %d: recovery must end", point)
	return now == after
}

func recovered(t *testing.T, r *Run) {
	t.Helper()
	require.NoError(t, Recover(context.Background(), r.state()))
}

func newEverything(t *testing.T) (r *Run, before, after string) {
	return newEverythingIn(t, memory(t))
}

// memory is a folder on a file system in memory where there is one: a kill
// loses nothing that was written, so few tests need the disk.
func memory(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "stepbox")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func newEverythingIn(t *testing.T, base string) (r *Run, before, after string) {
	r, s := beginIn(t, base, everythingHas...)
	before = contents(tree(t, r.Sandbox))
	everything(s)
	require.NoError(t, r.Close())
	return r, before, everythingAfter
}

// everythingAfter is what must come out.
const everythingAfter = `dir2file f:a file now -rw-r--r--
dirs d -rwxr-xr-x
dirs/b d -rwxr-xr-x
dirs/b/a d -rwxr-xr-x
dirs/b/a/y f:dirs/a/y -rw-r--r--
dirs/b/x f:dirs/a/b/x -rw-r--r--
edit f:edited -rw-r--r--
file2dir d -rwxr-xr-x
file2dir/in f:in -rw-r--r--
kept f:gone/e/f/x -rw-r--r--
link l:edit -rwxrwxrwx
made d -rwxr-xr-x
made/deep d -rwxr-xr-x
made/deep/one f:move/one -rw-r--r--
made/deep/three f:move/three -rw-r--r--
made/deep/two f:move/two -rw-r--r--
made/target d -rwxr-xr-x
move d -rwxr-xr-x
onto f:over -rw-r--r--
plain f:replaced -rw-r--r--
rescued f:dir2file/y -rw-r--r--
stay d -rwxr-xr-x
stay/same f:same -rw-r--r--
stay/x f:stay/x -rw-r--r--
swap d -rwxr-xr-x
swap/a f:swap/b -rw-r--r--
swap/b f:swap/a -rw-r--r--`

func TestKilledAtEveryPointOfACommit(t *testing.T) {
	t.Parallel()
	n := every(t, func(point int) bool {
		base := memory(t)
		if point%5 == 0 {
			base = t.TempDir()
		}
		r, before, after := newEverythingIn(t, base)
		hit := killed(t, "apply", r, point)
		recovered(t, r)
		if !whole(t, r, point, before, after) {
			require.True(t, hit)
			apply(t, r) // what is old can still be committed
			require.Equal(t, after, contents(tree(t, r.Sandbox)), "killed at point %d, then committed", point)
		}
		require.Empty(t, undo(t, r).Refused, "killed at point %d", point)
		require.Equal(t, before, contents(tree(t, r.Sandbox)), "killed at point %d, then undone", point)
		return hit
	})
	t.Logf("%d points", n)
}

func TestKilledAtEveryPointOfAnUndo(t *testing.T) {
	t.Parallel()
	n := every(t, func(point int) bool {
		r, before, after := newEverything(t)
		full := tree(t, r.Sandbox)
		apply(t, r)
		hit := killed(t, "undo", r, point)
		recovered(t, r)
		committed := whole(t, r, point, before, after)
		require.Equal(t, !committed, r.Undone(), "killed at point %d", point)
		if committed {
			require.Empty(t, undo(t, r).Refused, "killed at point %d", point)
		}
		require.Equal(t, full, tree(t, r.Sandbox), "killed at point %d", point)
		return hit
	})
	t.Logf("%d points", n)
}

func TestKilledAtEveryPointOfARecovery(t *testing.T) {
	t.Parallel()
	for _, first := range []int{15, 40} {
		n := every(t, func(point int) bool {
			r, before, after := newEverything(t)
			require.True(t, killed(t, "apply", r, first))
			hit := killed(t, "recover", r, point)
			recovered(t, r)
			require.True(t, whole(t, r, point, before, after), "what was decided goes forward")
			return hit
		})
		t.Logf("%d points after %d", n, first)
	}
}

// TestKilledAtEveryPointOfGoingBack kills a commit that meets a conflict and
// turns back: whatever the point, it goes on going back.
func TestKilledAtEveryPointOfGoingBack(t *testing.T) {
	t.Parallel()
	n := every(t, func(point int) bool {
		r, before, after := newEverything(t)
		hit := killed(t, "turn", r, point)
		_ = Recover(context.Background(), r.state()) // it may say so again
		require.NoError(t, Recover(context.Background(), r.state()), "killed at point %d", point)
		mine := filepath.Join(r.Sandbox, "rescued")
		text, err := os.ReadFile(mine)
		require.NoError(t, err)
		require.Equal(t, "mine", string(text))
		require.NoError(t, os.Remove(mine))
		require.False(t, whole(t, r, point, before, after), "killed at point %d", point)
		apply(t, r)
		require.Equal(t, after, contents(tree(t, r.Sandbox)), "killed at point %d, then committed", point)
		return hit
	})
	t.Logf("%d points", n)
}
