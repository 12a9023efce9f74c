//go:build unix

package store

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func fifo(t *testing.T, path string, f func(path string)) {
	t.Helper()
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	f(path)
}
