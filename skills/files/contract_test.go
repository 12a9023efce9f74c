package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/guest-sdk"
	"stepbox.dev/host/registry"
)

// The host refuses a skill whose module and tools.yaml differ: here, before
// anybody loads it.
func TestContractIsWhatTheModuleDescribes(t *testing.T) {
	text, err := os.ReadFile("tools.yaml")
	require.NoError(t, err)
	r, err := registry.Parse(text, registry.Options{File: "tools.yaml"})
	require.NoError(t, err)
	d, err := guest.Native{}.Describe(skill)
	require.NoError(t, err)
	require.Empty(t, r.Check(d))
}
