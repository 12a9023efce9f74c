//go:build stepbox_nowalls

package host_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host"
	"stepbox.dev/host/config"
	"stepbox.dev/host/fault"
	"stepbox.dev/internal/hometest"
)

// Row 20 with the view's modes switched off, and then with every wall below the
// host: a guest does what its declaration does not allow, and the commit refuses.
func TestTheHostAloneHoldsDeclarations(t *testing.T) {
	for _, off := range []string{"modes", "modes,landlock,seccomp"} {
		for tool, how := range map[string]string{"look": "delete everything", "add": "overwrite"} {
			t.Run(off+" "+tool, func(t *testing.T) {
				t.Setenv("STEPBOX_WALLS_OFF", off)
				h, r := open(t), misbehave(t, tool, how)
				r.Yes = true
				before := tree(t, r.Sandbox)
				res, err := h.Run(t.Context(), r, nil, nil)
				require.Equal(t, fault.Stopped, fault.Of(err), "%v", err)
				require.ErrorContains(t, err, "the stage of run")
				require.ErrorContains(t, err, "is declared")
				require.Equal(t, before, tree(t, r.Sandbox))
				_, err = h.Commit(t.Context(), res.RunID, host.CommitOptions{Partial: true}, nil, nil)
				require.Equal(t, fault.Usage, fault.Of(err), "%v", err)
				require.Equal(t, before, tree(t, r.Sandbox))
			})
		}
	}
	t.Run("they are switched off", func(t *testing.T) {
		t.Setenv("STEPBOX_WALLS_OFF", "modes")
		h, r := open(t), misbehave(t, "look", "overwrite")
		_, err := h.Run(t.Context(), r, nil, nil)
		require.NotContains(t, err.Error(), "may not")
		_, err = os.Stat(filepath.Join(r.Sandbox, "a/old.txt"))
		require.NoError(t, err)
	})
}

// Where the system lacks a wall nothing runs, unless the configuration says
// that it may.
func TestAMissingWallIsTheConfigurationsChoice(t *testing.T) {
	t.Setenv("STEPBOX_WALLS_MISSING", "landlock")
	for name, test := range map[string]struct {
		set  string
		want fault.Kind
	}{
		"refuse":  {"refuse", fault.Stopped},
		"not set": {"", fault.Stopped},
		"allow":   {"allow", 0},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := host.New(t.Context(), host.Options{State: t.TempDir(), Cache: t.TempDir(), Settings: config.Settings{MissingWalls: test.set}})
			require.NoError(t, err)
			_, err = h.Run(t.Context(), host.Request{Skill: files, Sandbox: hometest.Copy(t), Utterance: "list the pdf files in inbox"}, nil, nil)
			require.Equal(t, test.want, fault.Of(err), "%v", err)
		})
	}
}
