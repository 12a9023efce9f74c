package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/fault"
)

// A script learns by the exit code that all of several updates wait for a person,
// and a person what to do about each.
func TestWhatWentWrongWithSeveral(t *testing.T) {
	unseen := fault.New(fault.NotApproved, "nobody agreed to install %q", "a").Hint("pass --yes")
	gone := fault.New(fault.CheckFailed, "there is no b.wasm")
	require.NoError(t, all(nil))
	require.Equal(t, error(unseen), all([]error{unseen}))
	err := all([]error{unseen, unseen})
	require.Equal(t, fault.NotApproved, fault.Of(err))
	require.ErrorContains(t, err, "2 could not be updated:\nnobody agreed to install \"a\": pass --yes\n")
	require.Equal(t, fault.CheckFailed, fault.Of(all([]error{unseen, gone})))
}
