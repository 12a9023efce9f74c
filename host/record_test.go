package host_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host"
	"stepbox.dev/internal/hometest"
)

// TestAnUndoThatWasKilledBeforeItsRecord guards that what lies on disk decides:
// a process may die between the end of an undo and what it says about it.
func TestAnUndoThatWasKilledBeforeItsRecord(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	h, err := host.New(t.Context(), host.Options{State: state, Cache: cache})
	require.NoError(t, err)
	dir := hometest.Copy(t)
	res, err := h.Run(t.Context(), host.Request{Skill: files, Sandbox: dir, Utterance: "delete the tmp files in build", Yes: true}, nil, &events{})
	require.NoError(t, err)
	record := filepath.Join(state, "runs", res.RunID, "run.json")
	before, err := os.ReadFile(record)
	require.NoError(t, err)
	undone, err := h.Undo(t.Context(), res.RunID, false, &events{})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(record, before, 0o600))
	require.NoError(t, os.Remove(filepath.Join(state, "runs", undone.Run.ID, "run.json")))

	info, err := h.ShowRun(t.Context(), res.RunID)
	require.NoError(t, err)
	require.Equal(t, "undone", info.Status)
	info, err = h.ShowRun(t.Context(), undone.Run.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"undo", "committed", "undo " + res.RunID}, []string{info.Verb, info.Status, info.Request})
	_, err = h.Undo(t.Context(), undone.Run.ID, false, &events{}) // it can be undone as any other
	require.NoError(t, err)
	b, err := json.Marshal(info)
	require.NoError(t, err)
	require.NotContains(t, string(b), "error")
}

// TestARefusedSandboxIsLeftAlone guards that nothing is made in a folder before
// it is known to be one that stepbox may work in.
func TestARefusedSandboxIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	h, err := host.New(t.Context(), host.Options{State: filepath.Join(dir, "state"), Cache: filepath.Join(dir, "cache"), Data: filepath.Join(dir, "data")})
	require.NoError(t, err)
	_, err = h.Run(t.Context(), host.Request{Skill: files, Sandbox: dir, Utterance: "list the pdfs"}, nil, &events{})
	require.ErrorContains(t, err, "lie one in the other")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

// TestListsSayWhatShowSays guards that a list, which reads only the beginning of
// a record, leaves nothing out but what it does not show.
func TestListsSayWhatShowSays(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	h, err := host.New(t.Context(), host.Options{State: state, Cache: cache})
	require.NoError(t, err)
	dir := hometest.Copy(t)
	request := host.Request{Skill: files, Sandbox: dir, Utterance: "delete the tmp files in build"}
	_, err = h.Run(t.Context(), request, nil, &events{}) // nobody agrees
	require.Error(t, err)
	request.Yes = true
	_, err = h.Run(t.Context(), request, nil, &events{})
	require.NoError(t, err)
	runs, err := h.Runs(t.Context())
	require.NoError(t, err)
	require.Len(t, runs, 2)
	for _, listed := range runs {
		shown, err := h.ShowRun(t.Context(), listed.ID)
		require.NoError(t, err)
		require.NotEmpty(t, shown.Changes)
		require.NotEmpty(t, shown.Plan)
		shown.Changes, shown.Plan = nil, nil
		require.Equal(t, shown, listed)
	}
	require.NotEmpty(t, runs[1].Error)

	record := filepath.Join(state, "runs", runs[0].ID, "run.json")
	for name, text := range map[string]string{"empty": "", "null": "null", "a list": "[1, 2]", "cut off": `{"id": "x", `, "cut off in a text": `{"id": "x`} {
		require.NoError(t, os.WriteFile(record, []byte(text), 0o600))
		runs, err = h.Runs(t.Context())
		require.NoError(t, err)
		require.Len(t, runs, 2, name)
		require.Contains(t, runs[0].Error, "record", name)
	}
}

// BenchmarkRuns lists 600 runs of 300 changes each.
func BenchmarkRuns(b *testing.B) {
	state := filepath.Join(b.TempDir(), "state")
	h, err := host.New(b.Context(), host.Options{State: state, Cache: cache})
	require.NoError(b, err)
	dir := b.TempDir()
	require.NoError(b, os.Mkdir(filepath.Join(dir, "in"), 0o755))
	for i := range 300 {
		require.NoError(b, os.WriteFile(filepath.Join(dir, "in", fmt.Sprintf("%d.txt", i)), nil, 0o644))
	}
	res, err := h.Run(b.Context(), host.Request{Skill: files, Sandbox: dir, Utterance: "move the txt files from in to archive", Yes: true}, nil, &events{})
	require.NoError(b, err)
	require.Len(b, res.Changes, 301)
	run := os.DirFS(filepath.Join(state, "runs", res.RunID))
	for i := range 599 {
		require.NoError(b, os.CopyFS(filepath.Join(state, "runs", fmt.Sprintf("%s-%d", res.RunID, i)), run))
	}
	for b.Loop() {
		runs, err := h.Runs(b.Context())
		require.NoError(b, err)
		require.Len(b, runs, 600)
	}
}
