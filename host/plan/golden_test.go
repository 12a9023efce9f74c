package plan

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"stepbox.dev/host/registry"
)

// Contracts written for the peer must mean the same here: its golden cases
// come out the same, valid or not.
func TestGoldenCasesOfThePeer(t *testing.T) {
	shared := os.Getenv("STEPBOX_SHARED")
	if shared == "" {
		t.Skip("STEPBOX_SHARED names no folder with the corpora")
	}
	b, err := os.ReadFile(filepath.Join(shared, "corpora", "planner_cases.json"))
	require.NoError(t, err)
	var golden struct {
		Registries map[string]string
		Cases      []struct {
			Name, Registry string
			Plan           json.RawMessage
			Valid          bool
			ErrorContains  string `json:"error_contains"`
		}
	}
	require.NoError(t, json.Unmarshal(b, &golden))
	require.Len(t, golden.Cases, 14)
	for _, c := range golden.Cases {
		t.Run(c.Name, func(t *testing.T) {
			r, err := registry.Parse([]byte(golden.Registries[c.Registry]), registry.Options{File: "tools.yaml"})
			require.NoError(t, err)
			d, err := Parse(c.Plan)
			if err == nil {
				_, err = Validate(Normalize(d, r, Paths{}), r)
			}
			if c.Valid {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			require.Contains(t, strings.ToLower(err.Error()), strings.ToLower(c.ErrorContains))
		})
	}
}
