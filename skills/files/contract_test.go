package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/guest-sdk"
)

// The host refuses a skill whose module and tools.yaml differ: here, before
// anybody loads it.
func TestContractIsWhatTheModuleDescribes(t *testing.T) {
	d, err := guest.Native{}.Describe(skill)
	require.NoError(t, err)
	require.Empty(t, contract(t).Check(d))
}
