//go:build unix

package worker

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A memory that is used again must be as empty as a new one, and of its own
// size: the secrets of one call are not the next one's.
func TestMemoryIsWiped(t *testing.T) {
	var p pool
	const max = 1 << 20
	m := p.Allocate(0, max)
	b := m.Reallocate(3 << 16)
	for i := range b {
		b[i] = 0xee
	}
	m.Free()
	require.Nil(t, m.Reallocate(1<<16), "a freed memory serves nobody")
	n := p.Allocate(0, max)
	require.Len(t, n.Reallocate(1<<16), 1<<16)
	for _, c := range n.Reallocate(5 << 16) {
		if c != 0 {
			t.Fatal("a byte of another call was left")
		}
	}
	require.Nil(t, n.Reallocate(max+1))
	n.Free()
	large := p.Allocate(0, 64<<20)
	large.Reallocate(64 << 20)
	large.Free()
	require.Len(t, p.free, 1, "large memories are given back")
}
