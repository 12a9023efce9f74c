// Package moduletest is what the tests of skills and of others who run modules
// have in common. Only tests import it.
package moduletest

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
	"stepbox.dev/host"
	"stepbox.dev/host/lint"
	"stepbox.dev/host/skill"
)

// Main runs the tests of a package, in a binary that is the worker too. While
// they run, *scratch is a folder that all of them share: a module is compiled
// once.
func Main(m *testing.M, scratch *string) {
	host.RunWorkerIfAsked()
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "stepbox-test-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		*scratch = dir
		return m.Run()
	}())
}

// Contract checks the contract in the working directory: it says what the module
// describes, and nothing in it bites later. Every example validates and expands
// into what its declarations allow.
func Contract(t *testing.T, served *guest.Skill) {
	t.Helper()
	s, err := skill.Load(".", skill.Options{})
	require.NoError(t, err)
	d, err := handlers{served}.Describe(t.Context())
	require.NoError(t, err)
	require.Empty(t, s.Registry().Check(d))
	findings, err := lint.Skill(t.Context(), s, handlers{served})
	require.NoError(t, err)
	require.Empty(t, findings)
}

// handlers stand in the place of the module that they become.
type handlers struct{ served *guest.Skill }

func (h handlers) Describe(context.Context) (abi.Description, error) {
	return guest.Native{}.Describe(h.served)
}

func (h handlers) Expand(_ context.Context, r abi.ExpandRequest) (abi.ExpandResponse, error) {
	calls, err := guest.Native{}.Expand(h.served, abi.Call{Tool: r.Tool, Args: r.Args})
	return abi.ExpandResponse{Plan: calls}, err
}
