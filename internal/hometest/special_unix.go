//go:build unix

package hometest

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// special makes a FIFO: whoever opens it without care hangs.
func special(t testing.TB, o Odd) {
	require.NoError(t, unix.Mkfifo(filepath.Join(o.Dir, "fifo"), 0o644))
}
