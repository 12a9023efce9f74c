package worker

import "github.com/tetratelabs/wazero/experimental"

// allocate is never reached: there are no workers on Windows.
func allocate(_, max uint64) experimental.LinearMemory { return &sliced{max: max} }

type sliced struct {
	b   []byte
	max uint64
}

// Reallocate implements experimental.LinearMemory.
func (s *sliced) Reallocate(size uint64) []byte {
	if size > s.max {
		return nil
	}
	if n := size - uint64(len(s.b)); size > uint64(len(s.b)) {
		s.b = append(s.b, make([]byte, n)...)
	}
	return s.b[:size]
}

// Free implements experimental.LinearMemory.
func (s *sliced) Free() { s.b = nil }
