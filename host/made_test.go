package host_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host"
	"stepbox.dev/host/event"
	"stepbox.dev/host/fault"
)

// A question in the middle of a run comes with copies of what was made so far;
// a no ends the run, is not asked again, and leaves neither changes nor copies.
func TestAQuestionInTheMiddle(t *testing.T) {
	plan := func(t *testing.T) []byte {
		return given(t,
			abi.Call{Tool: "copy", Args: map[string]any{"path": "a.txt", "output": "new/$x.txt"}},
			abi.Call{Tool: "wait_for_confirmation", Args: map[string]any{"prompt": "Is it right?"}},
			abi.Call{Tool: "copy", Args: map[string]any{"path": "b.txt", "output": "c.txt"}})
	}
	for name, yes := range map[string]bool{"yes": true, "no": false} {
		t.Run(name, func(t *testing.T) {
			h, dir := open(t), hostileHome(t)
			before := tree(t, dir)
			var looked []string
			e := &events{on: func(ev event.Event) error {
				c, ok := ev.(event.Confirm)
				if !ok || c.Given != nil {
					return nil
				}
				require.Equal(t, "Is it right?", c.Prompt)
				require.Len(t, c.Staged, 1, "only what came before the question")
				b, err := os.ReadFile(c.Staged[0])
				require.NoError(t, err)
				require.Equal(t, "a", string(b))
				require.NoError(t, os.WriteFile(c.Staged[0], []byte("scribbled over"), 0o600))
				looked = c.Staged
				return nil
			}}
			_, err := h.Run(t.Context(), host.Request{Skill: parrot, Sandbox: dir, Plan: plan(t)}, &person{approve: yes}, e)
			require.NotEmpty(t, looked)
			require.NoFileExists(t, looked[0])
			if yes {
				require.NoError(t, err)
				after := tree(t, dir)
				require.Equal(t, "a", after["new/$x.txt"], "copies are no way to change what is committed")
				require.Equal(t, "b", after["c.txt"])
				return
			}
			require.Equal(t, fault.NotApproved, fault.Of(err), "%v", err)
			require.Equal(t, before, tree(t, dir))
			require.NotContains(t, e.types(), "changes")
			runs, err := h.Runs(t.Context())
			require.NoError(t, err)
			require.Equal(t, "failed", runs[0].Status)
		})
	}
	t.Run("nobody is a no", func(t *testing.T) {
		_, err := open(t).Run(t.Context(), host.Request{Skill: parrot, Sandbox: hostileHome(t), Plan: plan(t)}, nil, nil)
		var e *fault.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, fault.NotApproved, e.Kind)
		require.Contains(t, e.Next, `"Is it right?"`, "nobody has seen the question")
	})
	t.Run("unless everything is approved beforehand", func(t *testing.T) {
		dir := hostileHome(t)
		_, err := open(t).Run(t.Context(), host.Request{Skill: parrot, Sandbox: dir, Plan: plan(t), Yes: true}, nil, nil)
		require.NoError(t, err)
		require.FileExists(t, filepath.Join(dir, "c.txt"))
	})
}

// What a run made can be opened: as copies before it is committed, afterwards
// where it is.
func TestMade(t *testing.T) {
	h, dir := open(t), hostileHome(t)
	text := given(t, abi.Call{Tool: "copy", Args: map[string]any{"path": "a.txt", "output": "new.txt"}},
		abi.Call{Tool: "copy", Args: map[string]any{"path": "b.txt", "output": "sub/new.txt"}})
	res, err := h.Run(t.Context(), host.Request{Skill: parrot, Sandbox: dir, Plan: text}, nil, nil)
	require.Equal(t, fault.NotApproved, fault.Of(err), "%v", err)
	for range 2 { // looking twice is looking at the same
		m, err := h.Made(t.Context(), res.RunID)
		require.NoError(t, err)
		require.True(t, m.Copies)
		require.Len(t, m.Files, 2)
		b, err := os.ReadFile(m.Files[1])
		require.NoError(t, err)
		require.Equal(t, "b", string(b))
		require.NotContains(t, m.Files[1], dir)
	}
	_, err = h.Commit(t.Context(), res.RunID, host.CommitOptions{}, nil, nil)
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(dir, "new.txt")))
	m, err := h.Made(t.Context(), res.RunID)
	require.NoError(t, err)
	require.Equal(t, host.Made{RunID: res.RunID, Files: []string{filepath.Join(dir, "sub", "new.txt")}}, m)

	_, err = h.Undo(t.Context(), res.RunID, false, nil)
	require.Equal(t, fault.CheckFailed, fault.Of(err), "%v", err)
	_, err = h.Made(context.Background(), "nosuch")
	require.Equal(t, fault.Usage, fault.Of(err), "%v", err)
}
