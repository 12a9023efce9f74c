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

// native is the handlers in the place of the module.
type native struct{}

func (native) Describe(context.Context) (abi.Description, error) {
	return guest.Native{}.Describe(served)
}

func (native) Expand(_ context.Context, r abi.ExpandRequest) (abi.ExpandResponse, error) {
	calls, err := guest.Native{}.Expand(served, abi.Call{Tool: r.Tool, Args: r.Args})
	return abi.ExpandResponse{Plan: calls}, err
}

// The contract says what the module describes, and nothing in it bites later:
// every example validates and expands into what its declarations allow.
func TestContract(t *testing.T) {
	s, err := skill.Load(".", skill.Options{})
	require.NoError(t, err)
	d, err := native{}.Describe(t.Context())
	require.NoError(t, err)
	require.Empty(t, s.Registry().Check(d))
	findings, err := lint.Skill(t.Context(), s, native{})
	require.NoError(t, err)
	require.Empty(t, findings)
}
