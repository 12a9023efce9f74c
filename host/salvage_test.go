package host_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host"
	"stepbox.dev/host/commit"
	"stepbox.dev/host/fault"
)

// half makes a folder, and then fails: a name is taken where the file is to go.
func half(t *testing.T) host.Request {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "sub"), 0o755))
	for _, name := range []string{"a.txt", "sub/a.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644))
	}
	return host.Request{Skill: files, Sandbox: dir, Plan: []byte(`{"plan":[{"tool":"make_folder","args":{"paths":["made"]}},
		{"tool":"move_files","args":{"items":["a.txt"],"dst":"sub"}}]}`)}
}

// What ended well before a failure is never kept without somebody who wants it,
// and the run is a failed one all the same.
func TestAFailedRunCanBeKeptInPart(t *testing.T) {
	made := []commit.Change{{Kind: commit.Create, Entry: commit.Folder, Path: "made"}}
	status := func(t *testing.T, h *host.Host, id string) host.RunInfo {
		i, err := h.ShowRun(t.Context(), id)
		require.NoError(t, err)
		return i
	}
	t.Run("a person keeps it", func(t *testing.T) {
		h, r, p := open(t), half(t), &person{approve: true}
		before := tree(t, r.Sandbox)
		res, err := h.Run(t.Context(), r, p, nil)
		require.Equal(t, fault.StepFailed, fault.Of(err), "%v", err)
		require.Equal(t, made, p.shown)
		require.Contains(t, fault.Next(err), "stepbox undo "+res.RunID)
		require.DirExists(t, filepath.Join(r.Sandbox, "made"))
		i := status(t, h, res.RunID)
		require.Equal(t, "committed", i.Status)
		require.NotEmpty(t, i.Error, "that it failed is not forgotten")
		_, err = h.Undo(t.Context(), res.RunID, false, nil)
		require.NoError(t, err)
		require.Equal(t, before, tree(t, r.Sandbox))
	})
	t.Run("a person does not, and changes their mind", func(t *testing.T) {
		h, r, p := open(t), half(t), &person{}
		before := tree(t, r.Sandbox)
		res, err := h.Run(t.Context(), r, p, nil)
		require.Equal(t, fault.StepFailed, fault.Of(err), "%v", err)
		require.Equal(t, made, p.shown)
		require.Contains(t, fault.Next(err), "--partial")
		require.Equal(t, before, tree(t, r.Sandbox))
		i := status(t, h, res.RunID)
		require.Equal(t, "failed", i.Status)
		require.True(t, i.Partial)
		_, err = h.Commit(t.Context(), res.RunID, host.CommitOptions{}, nil, nil)
		require.Equal(t, fault.Usage, fault.Of(err), "%v", err)
		require.Equal(t, before, tree(t, r.Sandbox))
		p.shown = nil
		_, err = h.Commit(t.Context(), res.RunID, host.CommitOptions{Partial: true}, p, nil)
		require.Equal(t, fault.NotApproved, fault.Of(err), "%v", err)
		require.Equal(t, made, p.shown, "nobody had approved a part")
		require.Equal(t, before, tree(t, r.Sandbox))
		_, err = h.Commit(t.Context(), res.RunID, host.CommitOptions{Partial: true}, nil, nil)
		require.NoError(t, err)
		require.DirExists(t, filepath.Join(r.Sandbox, "made"))
		require.Equal(t, "committed", status(t, h, res.RunID).Status)
	})
	t.Run("nobody is there", func(t *testing.T) {
		h, r := open(t), half(t)
		r.Yes = true
		before := tree(t, r.Sandbox)
		res, err := h.Run(t.Context(), r, nil, nil)
		require.Equal(t, fault.StepFailed, fault.Of(err), "%v", err)
		require.Contains(t, fault.Next(err), "stepbox commit "+res.RunID+" --partial")
		require.Equal(t, before, tree(t, r.Sandbox))
	})
	t.Run("nothing ended well", func(t *testing.T) {
		h, r, p := open(t), half(t), &person{approve: true}
		r.Plan = []byte(`{"plan":[{"tool":"move_files","args":{"items":["a.txt"],"dst":"sub"}}]}`)
		res, err := h.Run(t.Context(), r, p, nil)
		require.Equal(t, fault.StepFailed, fault.Of(err), "%v", err)
		require.Nil(t, p.shown)
		require.NotContains(t, fault.Next(err), "--partial")
		require.False(t, status(t, h, res.RunID).Partial)
	})
}

const hostile = "../fixtures/hostile"

func misbehave(t *testing.T, tool, how string) host.Request {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a/old.txt"), []byte("old"), 0o644))
	return host.Request{Skill: hostile, Sandbox: dir, Plan: []byte(`{"plan":[{"tool":"` + tool + `","args":{"how":"` + how + `"}}]}`)}
}

// Row 21: a guest that ignores dry_run. The sandbox is as before, and the
// report lists the attempt.
func TestADryRunHoldsAgainstAGuestThatIgnoresIt(t *testing.T) {
	h, r := open(t), misbehave(t, "change", "delete everything")
	r.DryRun, r.Yes = true, true
	before := tree(t, r.Sandbox)
	res, err := h.Run(t.Context(), r, nil, nil)
	require.NoError(t, err)
	require.Equal(t, []commit.Change{
		{Kind: commit.Delete, Entry: commit.Folder, Path: "a"}, {Kind: commit.Delete, Entry: commit.File, Path: "a/old.txt", Size: 3},
	}, res.Changes)
	require.Equal(t, before, tree(t, r.Sandbox))
	for _, o := range []host.CommitOptions{{}, {Partial: true}} {
		_, err = h.Commit(t.Context(), res.RunID, o, nil, nil)
		require.Equal(t, fault.Usage, fault.Of(err), "%v", err)
	}
	require.Equal(t, before, tree(t, r.Sandbox))
}

// A step that did what it is not declared to do fails, also when its guest
// took no notice, and the error says what was denied and what would allow it.
func TestADeniedOperationIsNamed(t *testing.T) {
	for _, tool := range []string{"look", "add"} {
		t.Run(tool, func(t *testing.T) {
			h, r := open(t), misbehave(t, tool, "overwrite")
			r.Yes = true
			before := tree(t, r.Sandbox)
			_, err := h.Run(t.Context(), r, nil, nil)
			require.Equal(t, fault.Stopped, fault.Of(err), "%v", err)
			for _, says := range []string{`"` + tool + `"`, "write", `"a/old.txt"`} {
				require.ErrorContains(t, err, says)
			}
			require.Contains(t, fault.Next(err), "safety_category: destructive")
			require.Equal(t, before, tree(t, r.Sandbox))
		})
	}
}

// Retention takes the oldest first, and never what somebody still needs.
func TestRunsAreRetained(t *testing.T) {
	h, dir := open(t), t.TempDir()
	run := func(yes bool) string {
		name := filepath.Join(dir, "x.tmp")
		require.NoError(t, os.WriteFile(name, make([]byte, 100_000), 0o644))
		res, err := h.Run(t.Context(), host.Request{
			Skill: files, Sandbox: dir, Yes: yes, Plan: []byte(`{"plan":[{"tool":"delete_files","args":{"items":["x.tmp"]}}]}`),
		}, nil, nil)
		require.True(t, yes && err == nil || fault.Of(err) == fault.NotApproved, "%v", err)
		return res.RunID
	}
	ids := func(list []host.RunInfo) (ids []string) {
		for _, i := range list {
			ids = append(ids, i.ID)
		}
		return ids
	}
	first, waiting, last := run(true), run(false), run(true)
	list, err := h.Runs(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{last, waiting, first}, ids(list))
	require.Greater(t, list[2].Bytes, int64(100_000), "what an undo needs is counted")

	for _, keep := range []host.Retention{{}, {Age: time.Hour, Bytes: 1 << 30}} {
		gone, err := h.Prune(t.Context(), keep)
		require.NoError(t, err)
		require.Empty(t, gone)
	}
	gone, err := h.Prune(t.Context(), host.Retention{Bytes: list[0].Bytes + list[1].Bytes})
	require.NoError(t, err)
	require.Equal(t, []string{first}, ids(gone))
	gone, err = h.Prune(t.Context(), host.Retention{Bytes: 1})
	require.NoError(t, err)
	require.Equal(t, []string{last}, ids(gone), "what waits stays")
	gone, err = h.Prune(t.Context(), host.Retention{Age: 1})
	require.NoError(t, err)
	require.Equal(t, []string{waiting}, ids(gone))
}

// Once a day, a run that begins removes old ones by itself; a damaged one, too,
// is only removed for its age.
func TestOldRunsGoByThemselves(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	h, err := host.New(t.Context(), host.Options{State: state, Cache: cache})
	require.NoError(t, err)
	for _, id := range []string{"old", "new"} {
		require.NoError(t, os.MkdirAll(filepath.Join(state, "runs", id), 0o700))
	}
	then := time.Now().Add(-host.DefaultRetention.Age - time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(state, "runs/old"), then, then))
	look := func() {
		_, err := h.Run(t.Context(), host.Request{Skill: files, Sandbox: t.TempDir(), Plan: []byte(`{"plan":[{"tool":"list_files","args":{"path":["."]}}]}`)}, nil, nil)
		require.NoError(t, err)
	}
	look()
	require.NoDirExists(t, filepath.Join(state, "runs/old"))
	require.DirExists(t, filepath.Join(state, "runs/new"))
	require.NoError(t, os.Chtimes(filepath.Join(state, "runs/new"), then, then))
	look()
	require.DirExists(t, filepath.Join(state, "runs/new"), "once a day is enough")
}
