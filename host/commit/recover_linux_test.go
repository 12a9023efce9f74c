package commit

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/fault"
)

// TestUnrecoverableRunsStandInNobodysWay guards that one commit that cannot be
// recovered stops only what would build on it.
func TestUnrecoverableRunsStandInNobodysWay(t *testing.T) {
	ctx := context.Background()
	r, before, after := newEverything(t)
	require.True(t, killed(t, "apply", r, 50))
	state, box := r.state(), r.Sandbox
	other := filepath.Join(filepath.Dir(box), "other")
	require.NoError(t, os.Mkdir(other, 0o755))

	// The sandbox is away: nothing is said, and it is recovered when it is back.
	require.NoError(t, os.Rename(box, box+"-away"))
	require.NoError(t, Recover(ctx, state))
	elsewhere, err := Begin(ctx, state, other)
	require.NoError(t, err)
	require.NoError(t, elsewhere.Close())
	require.Error(t, Remove(r), "it is in the middle of a commit")
	require.NoError(t, os.Rename(box+"-away", box))
	require.NoError(t, Recover(ctx, state))
	require.True(t, whole(t, r, 50, before, after))

	// The journal is damaged.
	r, _, _ = newEverything(t)
	require.True(t, killed(t, "apply", r, 50))
	state, box = r.state(), r.Sandbox
	other = filepath.Join(filepath.Dir(box), "other")
	require.NoError(t, os.Mkdir(other, 0o755))
	require.NoError(t, os.Truncate(filepath.Join(r.Data, nameJournal), 99))
	half := tree(t, box)
	require.ErrorContains(t, Recover(ctx, state), "is damaged")
	elsewhere, err = Begin(ctx, state, other)
	require.NoError(t, err)
	require.NoError(t, elsewhere.Close())
	_, err = Begin(ctx, state, box)
	require.Equal(t, fault.CheckFailed, fault.Of(err), "%v", err)
	require.Equal(t, half, tree(t, box))
}

// TestRecoveryLeavesALiveCommitAlone guards that a second process does not
// touch what the first is doing.
func TestRecoveryLeavesALiveCommitAlone(t *testing.T) {
	r, before, after := newEverything(t)
	require.True(t, killed(t, "apply", r, 50))
	lock, err := lockFile(filepath.Join(r.state(), fileLock), true)
	require.NoError(t, err)
	half := tree(t, r.Sandbox)
	require.NoError(t, Recover(context.Background(), r.state()))
	require.Equal(t, half, tree(t, r.Sandbox))
	require.NoError(t, lock.Close())
	recovered(t, r)
	require.True(t, whole(t, r, 50, before, after))
}
