package commit

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKilledWithHardLinks guards that "is this operation done?" is never
// answered by what an object is: files that are one object under several names
// trade places, move and part, and the process is killed at every point.
func TestKilledWithHardLinks(t *testing.T) {
	t.Parallel()
	n := every(t, func(point int) bool {
		base := memory(t)
		box := filepath.Join(base, "box")
		require.NoError(t, os.Mkdir(box, 0o755))
		makeTree(t, box, "a", "other", "d/b", "keep", "e/x")
		for to, from := range map[string]string{"b": "a", "c": "a", "d/a": "a", "e/a": "a", "kept": "keep"} {
			require.NoError(t, os.Link(filepath.Join(box, from), filepath.Join(box, to)))
		}
		before := tree(t, box)
		r, err := Begin(context.Background(), filepath.Join(base, "state"), box)
		require.NoError(t, err)
		s := newStager(t, r)
		// Two names of one object trade places, one moves on into a new folder,
		// one takes another file's place, one goes with its folder.
		s.move("a", "z")
		s.move("b", "a")
		s.move("z", "b")
		s.mkdir("n")
		s.move("c", "n/c")
		s.move("other", "y")
		s.move("d/a", "other")
		s.move("y", "d/a")
		s.move("e", "n/e")
		s.move("n/e/a", "a2")
		s.write("keep", "parted")
		require.NoError(t, r.Close())
		s.log.Close()

		apart := func() bool { // whether keep was replaced
			b, err := os.ReadFile(filepath.Join(box, "keep"))
			require.NoError(t, err)
			return string(b) == "parted"
		}
		hit := killed(t, "apply", r, point)
		recovered(t, r)
		if !apart() {
			require.True(t, hit)
			require.Equal(t, contents(before), contents(tree(t, box)), "killed at point %d", point)
			apply(t, r)
		}
		require.Equal(t, `a f:a -rw-r--r--
a2 f:a -rw-r--r--
b f:a -rw-r--r--
d d -rwxr-xr-x
d/a f:other -rw-r--r--
d/b f:d/b -rw-r--r--
keep f:parted -rw-r--r--
kept f:keep -rw-r--r--
n d -rwxr-xr-x
n/c f:a -rw-r--r--
n/e d -rwxr-xr-x
n/e/x f:e/x -rw-r--r--
other f:a -rw-r--r--`, contents(tree(t, box)), "killed at point %d", point)
		killed(t, "undo", r, point)
		recovered(t, r)
		if apart() {
			require.Empty(t, undo(t, r).Refused, "killed at point %d", point)
		}
		require.Equal(t, before, tree(t, box), "killed at point %d, then undone", point)
		a, err := os.Stat(filepath.Join(box, "a"))
		require.NoError(t, err)
		b, err := os.Stat(filepath.Join(box, "e/a"))
		require.NoError(t, err)
		require.True(t, os.SameFile(a, b), "what was one object is one again")
		return hit
	})
	t.Logf("%d points", n)
}

// TestAReplacedFileIsNeverAbsent reads a file all the time while commits and
// undos replace it: it is always there, and always wholly old or wholly new.
func TestAReplacedFileIsNeverAbsent(t *testing.T) {
	t.Parallel()
	base := memory(t)
	box := filepath.Join(base, "box")
	require.NoError(t, os.Mkdir(box, 0o755))
	makeTree(t, box, "file")
	const fresh = "something much longer than it was before"
	stop := make(chan struct{})
	seen := make(map[string]int)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			b, err := os.ReadFile(filepath.Join(box, "file"))
			if err != nil {
				seen[err.Error()]++
				return
			}
			seen[string(b)]++
		}
	})
	for range 50 {
		r, err := Begin(context.Background(), filepath.Join(base, "state"), box)
		require.NoError(t, err)
		s := newStager(t, r)
		s.write("file", fresh)
		apply(t, r)
		require.Empty(t, undo(t, r).Refused)
		require.NoError(t, r.Close())
		s.log.Close()
	}
	close(stop)
	wg.Wait()
	require.Len(t, seen, 2, "%v", seen)
	require.NotZero(t, seen["file"])
	require.NotZero(t, seen[fresh])
}
