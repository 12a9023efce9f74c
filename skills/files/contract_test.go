package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
	"stepbox.dev/host/lint"
	"stepbox.dev/host/skill"
)

// The host refuses a skill whose module and tools.yaml differ: here, before
// anybody loads it.
func TestContractIsWhatTheModuleDescribes(t *testing.T) {
	d, err := guest.Native{}.Describe(served)
	require.NoError(t, err)
	require.Empty(t, contract(t).Check(d))
}

// native is the handlers in the place of the module.
type native struct{}

func (native) Describe(context.Context) (abi.Description, error) {
	return guest.Native{}.Describe(served)
}

func (native) Expand(_ context.Context, r abi.ExpandRequest) (abi.ExpandResponse, error) {
	calls, err := guest.Native{}.Expand(served, abi.Call{Tool: r.Tool, Args: r.Args})
	return abi.ExpandResponse{Plan: calls}, err
}

// Nothing in the contract bites later: every example validates and expands into
// what its declarations allow.
func TestLint(t *testing.T) {
	s, err := skill.Load(".", skill.Options{})
	require.NoError(t, err)
	findings, err := lint.Skill(t.Context(), s, native{})
	require.NoError(t, err)
	require.Empty(t, findings)
}
