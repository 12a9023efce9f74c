package admission

import "fmt"

// reader reads b from i. After the first error it stays where it is and
// returns zeros, so callers look at err once.
type reader struct {
	b   []byte
	i   int
	err error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
		r.b = r.b[:r.i] // nothing more can be read
	}
}

func (r *reader) byte() byte {
	if r.i >= len(r.b) {
		r.fail("it ends too early")
		return 0
	}
	r.i++
	return r.b[r.i-1]
}

// u32 reads an unsigned LEB128 number of 32 bits.
func (r *reader) u32() uint32 {
	if r.i < len(r.b) && r.b[r.i] < 0x80 {
		r.i++
		return uint32(r.b[r.i-1])
	}
	return uint32(r.leb(32))
}

// leb reads an unsigned LEB128 number of at most the given bits.
func (r *reader) leb(bits uint) (v uint64) {
	for shift := uint(0); shift < bits; shift += 7 {
		c := r.byte()
		if r.err != nil {
			return 0
		}
		if left := bits - shift; left < 7 && c>>left != 0 {
			r.fail("number is too large")
			return 0
		}
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	r.fail("number is too long")
	return 0
}

// skipLEB passes over a LEB128 number of at most n bytes, signed or not. Its
// value does not matter here.
func (r *reader) skipLEB(n int) {
	for range n {
		if r.byte() < 0x80 {
			return
		}
	}
	r.fail("number is too long")
}

func (r *reader) skip(n uint32) {
	if n > uint32(len(r.b)-r.i) {
		r.fail("%d bytes do not fit into the %d that are left", n, len(r.b)-r.i)
		return
	}
	r.i += int(n)
}

// bytes reads a length and that many bytes.
func (r *reader) bytes() []byte {
	n := r.u32()
	start := r.i
	r.skip(n)
	if r.err != nil {
		return nil
	}
	return r.b[start:r.i]
}

// count reads the number of entries that follow, each of at least size bytes.
// On failure it is 0, so that loops end.
func (r *reader) count(limit, size uint32, what string) uint32 {
	n := r.u32()
	switch {
	case r.err != nil:
		return 0
	case n > limit:
		r.fail("%d %s are over the cap of %d", n, what, limit)
		return 0
	case uint64(n)*uint64(size) > uint64(len(r.b)-r.i):
		r.fail("%d %s do not fit into the %d bytes that are left", n, what, len(r.b)-r.i)
		return 0
	}
	return n
}

// each reads a list: how many, and then each of them, until one is faulty. It
// returns how many there should be.
func (r *reader) each(limit, size uint32, what string, read func()) uint32 {
	n := r.count(limit, size, what)
	for range n {
		if r.err != nil {
			break
		}
		read()
	}
	return n
}

// valueType reads a value or reference type. Typed references carry a heap type.
func (r *reader) valueType() {
	switch t := r.byte(); t {
	case 0x7f, 0x7e, 0x7d, 0x7c, 0x7b, 0x70, 0x6f, 0x69, 0x74:
	case 0x63, 0x64:
		r.skipLEB(5)
	default:
		r.fail("unknown type %#x", t)
	}
}

// limits reads the bounds of a table or memory whose least size is capped.
func (r *reader) limits(limit uint32, what string) {
	flags := r.byte()
	if flags&^3 != 0 { // 1: has a maximum, 2: shared
		r.fail("%s with flags %#x", what, flags)
		return
	}
	if n := r.u32(); n > limit {
		r.fail("%s of %d is over the cap of %d", what, n, limit)
	}
	if flags&1 != 0 {
		r.u32()
	}
}

// constant reads a constant expression. Only what the format and its extension
// for arithmetic allow there is let through: no blocks, so no nesting.
func (r *reader) constant() {
	for {
		switch op := r.byte(); op {
		case 0x0b:
			return
		case 0x23, 0xd2: // global.get, ref.func
			r.u32()
		case 0x41, 0xd0: // i32.const, ref.null
			r.skipLEB(5)
		case 0x42:
			r.skipLEB(10)
		case 0x43:
			r.skip(4)
		case 0x44:
			r.skip(8)
		case 0x6a, 0x6b, 0x6c, 0x7c, 0x7d, 0x7e: // add, sub, mul
		case 0xfd:
			if r.u32() != 12 { // v128.const
				r.fail("not a constant expression")
			}
			r.skip(16)
		default:
			r.fail("instruction %#x in a constant expression", op)
		}
		if r.err != nil {
			return
		}
	}
}
