package fault_test

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/fault"
)

// A disk that is full is told as one, however deep the error lies.
func TestNoRoom(t *testing.T) {
	const devFull = "/dev/full" // Linux has it: no byte fits in
	if _, err := os.Stat(devFull); err != nil {
		t.Skip("no device that is always full: ", err)
	}
	f, err := os.OpenFile(devFull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer f.Close()
	_, err = f.WriteString("x")
	require.True(t, fault.NoRoom(fault.New(fault.Internal, "write: %w", errors.Join(err, nil))))
	require.False(t, fault.NoRoom(fmt.Errorf("open: %w", syscall.ENOENT)))
	require.False(t, fault.NoRoom(nil))
}
