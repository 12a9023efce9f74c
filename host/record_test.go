package host_test

import (
	"encoding/json"
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
