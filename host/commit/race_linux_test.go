package commit

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestFoldersThatTurnIntoLinks guards row 5: while commits and undos walk a
// folder, somebody swaps it for a link that leads out, all the time. Nothing
// outside may be read or changed; commits may fail.
func TestFoldersThatTurnIntoLinks(t *testing.T) {
	t.Parallel()
	base := memory(t)
	box, outside := filepath.Join(base, "box"), filepath.Join(base, "outside")
	makeTree(t, base, "box/d/e/x", "box/d/e/y", "outside/e/x", "outside/e/y")
	require.NoError(t, os.Symlink(outside, filepath.Join(base, "box/trap")))
	before := tree(t, outside)

	swap := func() {
		_ = unix.Renameat2(unix.AT_FDCWD, filepath.Join(box, "d"), unix.AT_FDCWD, filepath.Join(box, "trap"), unix.RENAME_EXCHANGE)
	}
	committed := 0
	for range 200 {
		if info, err := os.Lstat(filepath.Join(box, "d")); err == nil && !info.IsDir() {
			swap()
		}
		r, s := stageInto(t, base, box)
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					swap()
				}
			}
		})
		if through(r) {
			committed++
		}
		close(stop)
		wg.Wait()
		s.log.Close()
		_ = Remove(r)
	}
	require.Equal(t, before, tree(t, outside))
	t.Logf("%d of 200 commits got through", committed)
}

// stageInto begins a run that replaces, adds and moves in the folder.
func stageInto(t *testing.T, base, box string) (*Run, *stager) {
	r, err := Begin(context.Background(), filepath.Join(base, "state"), box)
	require.NoError(t, err)
	s := newStager(t, r)
	for _, n := range []string{"x", "y", "z", "n"} {
		if s.node("d/e/"+n) != nil {
			s.write("d/e/"+n, "new")
			s.move("d/e/"+n, "d/"+n)
			s.move("d/"+n, "d/e/"+n+n)
			s.move("d/e/"+n+n, "d/e/"+n)
		}
	}
	s.fresh("d/e/n", "new")
	return r, s
}

// through commits and undoes; whatever refuses on the way is fine.
func through(r *Run) bool {
	ctx := context.Background()
	for range 20 {
		c, err := Read(ctx, r, writeOnce)
		if err != nil {
			continue
		}
		if _, err := Apply(ctx, c, yes{}, nil); err != nil {
			continue
		}
		for range 20 {
			if u, err := Undo(ctx, r, false); err == nil && u.Run != nil {
				_ = Remove(u.Run)
				break
			}
		}
		return true
	}
	return false
}
