package approval_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"stepbox.dev/abi"
	"stepbox.dev/host/approval"
	"stepbox.dev/host/commit"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/stage"
)

// staged returns the changes of a stage that makes the named files, and the
// folders among them that end in a slash.
func staged(t *testing.T, mode abi.Mode, names ...string) *commit.Changes {
	t.Helper()
	base := t.TempDir()
	box := filepath.Join(base, "box")
	require.NoError(t, os.Mkdir(box, 0o755))
	r, err := commit.Begin(context.Background(), filepath.Join(base, "state"), box)
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	dir, err := os.Open(r.StageDir())
	require.NoError(t, err)
	defer dir.Close()
	log, err := stage.OpenLog(dir)
	require.NoError(t, err)
	defer log.Close()
	folders := map[string]stage.ID{"": stage.Root}
	for _, n := range names {
		id := log.Tree.Last() + 1
		dir, name := stage.Split(strings.TrimSuffix(n, "/"))
		if strings.HasSuffix(n, "/") {
			folders[stage.Join(dir, name)] = id
			require.NoError(t, log.Lock())
			require.NoError(t, log.Append(stage.Record{Mode: mode, Effects: []stage.Effect{
				{Op: stage.OpNode, ID: id, Kind: stage.Folder},
				{Op: stage.OpEntry, Parent: folders[dir], Name: name, ID: id},
			}}))
			log.Unlock()
			continue
		}
		fd, err := log.CreateBlob(id + 1)
		require.NoError(t, err)
		require.NoError(t, unix.Close(fd))
		require.NoError(t, log.Lock())
		require.NoError(t, log.Append(stage.Record{Mode: mode, Effects: []stage.Effect{
			{Op: stage.OpNode, ID: id, Kind: stage.File},
			{Op: stage.OpContent, ID: id, Blob: id + 1},
			{Op: stage.OpEntry, Parent: folders[dir], Name: name, ID: id},
		}}))
		log.Unlock()
	}
	c, err := commit.Read(context.Background(), r, commit.Source{Modes: []abi.Mode{mode}})
	require.NoError(t, err)
	return c
}

func notApproved(t *testing.T, err error, says string) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, fault.NotApproved, fault.Of(err), "%v", err)
	require.ErrorContains(t, err, says)
}

func TestSafe(t *testing.T) {
	a, err := approval.Safe(staged(t, abi.ModeCreate, "a"))
	require.NoError(t, err)
	require.NotZero(t, a)
	_, err = approval.Safe(staged(t, abi.ModeCreate))
	require.NoError(t, err, "nothing to do needs no question")
	_, err = approval.Safe(staged(t, abi.ModeWrite, "a"))
	notApproved(t, err, "need an approval")
	_, err = approval.Safe(staged(t, abi.ModeCreate, ".envrc"))
	notApproved(t, err, "need an approval")
}

func TestGrant(t *testing.T) {
	plain := staged(t, abi.ModeWrite, "a")
	guarded := staged(t, abi.ModeWrite, "a", ".envrc", ".npmrc")
	added := staged(t, abi.ModeCreate, "a", ".envrc")
	below := staged(t, abi.ModeWrite, ".git/", ".git/hooks/", ".git/hooks/pre-commit", "src/", "src/.envrc")
	bare := staged(t, abi.ModeCreate, "r/", "r/HEAD", "r/refs/", "r/refs/x")
	for _, tc := range []struct {
		name   string
		c      *commit.Changes
		answer approval.Answer
		says   string // "" when it is granted
	}{
		{"yes", plain, approval.Answer{Yes: true}, ""},
		{"no", plain, approval.Answer{}, "not approved"},
		{"yes does not cover what is protected", guarded, approval.Answer{Yes: true}, `".envrc" (a shell runs it)`},
		{"nor does one name the other", guarded, approval.Answer{Yes: true, Protected: []string{".envrc"}}, `".npmrc"`},
		{"names without a yes", guarded, approval.Answer{Protected: []string{".envrc", ".npmrc"}}, "not approved"},
		{"what only adds needs the names alone", added, approval.Answer{Protected: []string{".envrc"}}, ""},
		{"what only adds needs the names", added, approval.Answer{Yes: true}, `".envrc"`},
		{"a protected folder stands for what is below", below, approval.Answer{Yes: true, Protected: []string{".git", "src/.envrc"}}, ""},
		{"any other folder does not", below, approval.Answer{Yes: true, Protected: []string{".git", "src"}}, `"src/.envrc"`},
		{"nor does the top", below, approval.Answer{Yes: true, Protected: []string{".git", "", "/", ".", "./"}}, `"src/.envrc"`},
		{"a repository is protected under any name", bare, approval.Answer{Yes: true}, `"r/HEAD" (git takes its folder for a repository`},
		{"and stands for what is below", bare, approval.Answer{Yes: true, Protected: []string{"r/"}}, ""},
		{"yes and every name", guarded, approval.Answer{Yes: true, Protected: []string{"./.envrc", ".npmrc"}}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, err := approval.Grant(tc.c, tc.answer)
			if tc.says != "" {
				notApproved(t, err, tc.says)
				notApproved(t, a.Redeem(tc.c.Digest()), "nobody approved")
				return
			}
			require.NoError(t, err)
			notApproved(t, a.Redeem(plan.Digest{}), "for other changes")
			require.NoError(t, a.Redeem(tc.c.Digest()))
			notApproved(t, a.Redeem(tc.c.Digest()), "used already")
		})
	}
}

func TestZeroValueApprovesNothing(t *testing.T) {
	c := staged(t, abi.ModeWrite, "a")
	_, err := commit.Apply(context.Background(), c, approval.Approved{}, nil)
	notApproved(t, err, "nobody approved")
	_, err = commit.Apply(context.Background(), c, nil, nil)
	notApproved(t, err, "nobody approved")
}

func TestSingleUseUnderConcurrency(t *testing.T) {
	c := staged(t, abi.ModeWrite, "a")
	a, err := approval.Grant(c, approval.Answer{Yes: true})
	require.NoError(t, err)
	var redeemed atomic.Int32
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			if a.Redeem(c.Digest()) == nil {
				redeemed.Add(1)
			}
		})
	}
	wg.Wait()
	require.Equal(t, int32(1), redeemed.Load())
}
