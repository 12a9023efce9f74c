//go:build unix

package worker

import (
	"syscall"

	"github.com/tetratelabs/wazero/experimental"
)

// allocate reserves a guest's linear memory as address space and turns it into
// memory as it grows. Growing then never copies, a fresh instance costs the
// pages it touches, and the process limit on data counts what is in use.
func allocate(_, max uint64) experimental.LinearMemory {
	b, err := syscall.Mmap(-1, 0, int(max), syscall.PROT_NONE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return &noMemory{}
	}
	return &mapped{all: b}
}

type mapped struct {
	all  []byte
	size uint64 // usable so far
}

// Reallocate implements experimental.LinearMemory. Nil refuses to grow.
func (m *mapped) Reallocate(size uint64) []byte {
	if size > uint64(len(m.all)) {
		return nil
	}
	if size > m.size {
		if err := syscall.Mprotect(m.all[m.size:size], syscall.PROT_READ|syscall.PROT_WRITE); err != nil {
			return nil
		}
		m.size = size
	}
	return m.all[:size:m.size]
}

// Free implements experimental.LinearMemory.
func (m *mapped) Free() {
	if m.all != nil {
		_ = syscall.Munmap(m.all)
		m.all = nil
	}
}

type noMemory struct{}

// Reallocate implements experimental.LinearMemory.
func (noMemory) Reallocate(uint64) []byte { return nil }

// Free implements experimental.LinearMemory.
func (noMemory) Free() {}
