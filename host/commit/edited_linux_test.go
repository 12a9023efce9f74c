package commit

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKilledAndEdited kills a commit, lets a person change something, and
// requires that the change survives and nothing else is lost or half done.
func TestKilledAndEdited(t *testing.T) {
	t.Parallel()
	rounds := 60
	if v := os.Getenv("STEPBOX_TEST_CRASHES"); v != "" {
		var err error
		rounds, err = strconv.Atoi(v)
		require.NoError(t, err)
	}
	for i := range rounds {
		seed := uint64(i + 1)
		rnd := rand.New(rand.NewPCG(seed, 7))
		r, before, after := newEverything(t)
		verb := "apply"
		if rnd.IntN(2) == 0 {
			verb = "undo"
			apply(t, r)
			before, after = after, before
		}
		point := 1 + rnd.IntN(130)
		hit := killed(t, verb, r, point)
		edited, path := edit(t, rnd, r.Sandbox)
		t.Logf("seed %d: %s killed at %d (%v), then %q edited", seed, verb, point, hit, path)
		for range rnd.IntN(3) {
			killed(t, "recover", r, 1+rnd.IntN(80))
		}
		t.Logf("seed %d: recovery says: %v", seed, Recover(context.Background(), r.state())) // a conflict is an answer too
		entries, err := os.ReadDir(filepath.Join(r.state(), dirPending))
		require.NoError(t, err)
		require.Empty(t, entries, "seed %d", seed)

		now := bodies(contents(tree(t, r.Sandbox)))
		require.Contains(t, now, edited, "seed %d: the person's edit is lost", seed)
		old, fresh := bodies(before), bodies(after)
		lostOld, lostNew := missing(old, now), missing(fresh, now)
		// One file may be the one that the person wrote over.
		require.True(t, lostOld <= 1 || lostNew <= 1, "seed %d: %d old and %d new contents are lost\n%v", seed, lostOld, lostNew, now)
	}
}

// edit changes a random file of the sandbox, or adds one where one was.
func edit(t *testing.T, rnd *rand.Rand, box string) (text, path string) {
	t.Helper()
	var files []string
	for p, v := range tree(t, box) {
		if strings.HasPrefix(v, "f:") {
			files = append(files, p)
		}
	}
	for _, n := range everythingHas {
		if dir := filepath.Dir(filepath.Join(box, n)); !strings.HasSuffix(n, "/") {
			if info, err := os.Stat(dir); err == nil && info.IsDir() {
				files = append(files, n)
			}
		}
	}
	path = files[rnd.IntN(len(files))]
	text = "a person wrote this"
	if info, err := os.Lstat(filepath.Join(box, path)); err == nil && info.IsDir() {
		path += "/person"
	}
	require.NoError(t, os.WriteFile(filepath.Join(box, path), []byte(text), 0o644))
	return text, path
}

// bodies are the contents of the files.
func bodies(s string) map[string]int {
	m := make(map[string]int)
	for line := range strings.SplitSeq(s, "\n") {
		if _, v, ok := strings.Cut(line, " f:"); ok {
			m[strings.TrimSuffix(v, " -rw-r--r--")]++
		}
	}
	return m
}

func missing(want, have map[string]int) (n int) {
	for body, k := range want {
		n += max(0, k-have[body])
	}
	return n
}
