package worker

import "github.com/tetratelabs/wazero/experimental"

// pool is never used: there are no workers on Windows.
type pool struct{}

// Allocate implements experimental.MemoryAllocator.
func (*pool) Allocate(_, _ uint64) experimental.LinearMemory { return nil }
