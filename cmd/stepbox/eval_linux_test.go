package main

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/evaluate"
	"stepbox.dev/host/fault"
	"stepbox.dev/internal/hometest"
)

// A pipe that nobody writes to is left when somebody interrupts, and is no bar.
func TestEvalOfAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, hometest.FIFO(pipe))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := (&app{}).readCorpus(ctx, pipe)
	require.Equal(t, fault.Interrupted, fault.Of(err))
	require.ErrorContains(t, compareSnapshot(pipe, evaluate.Report{}), "no regular file")
}
