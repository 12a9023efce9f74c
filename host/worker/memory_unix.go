//go:build unix

package worker

import (
	"sync"
	"syscall"

	"github.com/tetratelabs/wazero/experimental"
)

// pool makes the linear memories of guests. A memory is reserved as address
// space and becomes usable as it grows, so growing never copies and the
// process limit on data counts what is in use. Small ones are wiped and used
// again by the next instance: faulting fresh pages in costs more than half of
// a fresh Go guest.
type pool struct {
	mu   sync.Mutex
	free []*mapped
}

// Bounds of what a pool keeps: the two memories of one call, guest and kernel,
// when they are not large.
const (
	poolCount = 2
	poolBytes = 32 << 20
)

// Allocate implements experimental.MemoryAllocator.
func (p *pool) Allocate(_, max uint64) experimental.LinearMemory {
	p.mu.Lock()
	for i, m := range p.free {
		if uint64(len(m.all)) == max {
			p.free = append(p.free[:i], p.free[i+1:]...)
			p.mu.Unlock()
			<-m.wiped
			return m
		}
	}
	p.mu.Unlock()
	b, err := syscall.Mmap(-1, 0, int(max), syscall.PROT_NONE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return &mapped{} // refuses to grow
	}
	return &mapped{pool: p, all: b}
}

// mapped is one memory.
type mapped struct {
	pool  *pool
	all   []byte
	size  uint64 // usable so far
	wiped chan struct{}
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
	if m.all == nil {
		return
	}
	p := m.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.size <= poolBytes && len(p.free) < poolCount {
		// A new value: the instance that is going must not reach it by m.
		again := &mapped{pool: p, all: m.all, size: m.size, wiped: make(chan struct{})}
		m.all, m.size = nil, 0
		p.free = append(p.free, again)
		go func() {
			clear(again.all[:again.size])
			close(again.wiped)
		}()
		return
	}
	_ = syscall.Munmap(m.all)
	m.all = nil
}
