package admission

// What follows an opcode.
const (
	immNone     = iota
	immUnknown  // no such instruction
	immLEB      // one number
	immLEB2     // two numbers
	immMem      // alignment, perhaps a memory index, offset
	immF32      // four bytes
	immF64      // eight bytes
	immBlock    // block type; opens a block
	immEnd      // closes a block
	immBrTable  // branch targets
	immSelect   // value types
	immTry      // block type and catch clauses; opens a block
	immByte     // one reserved byte or index
	immI64      // one 64-bit number
	immMisc     // prefix 0xfc
	immSIMD     // prefix 0xfd
	immAtomic   // prefix 0xfe
	immOldCatch // legacy catch and else arms, delegate: closed by their own rule
)

// immediates is what follows each one-byte opcode.
var immediates = func() (t [256]uint8) {
	for i := range t {
		t[i] = immUnknown
	}
	fill := func(k uint8, ops ...[2]int) {
		for _, o := range ops {
			for i := o[0]; i <= o[1]; i++ {
				t[i] = k
			}
		}
	}
	fill(immNone, [2]int{0x00, 0x01}, [2]int{0x05, 0x05}, [2]int{0x0a, 0x0a}, [2]int{0x0f, 0x0f}, [2]int{0x19, 0x1b},
		[2]int{0x45, 0xc4}, [2]int{0xd1, 0xd1}, [2]int{0xd3, 0xd4})
	fill(immBlock, [2]int{0x02, 0x04}, [2]int{0x06, 0x06})
	fill(immLEB, [2]int{0x07, 0x09}, [2]int{0x0c, 0x0d}, [2]int{0x10, 0x10}, [2]int{0x12, 0x12}, [2]int{0x14, 0x15},
		[2]int{0x20, 0x26}, [2]int{0x41, 0x41}, [2]int{0xd0, 0xd0}, [2]int{0xd2, 0xd2}, [2]int{0xd5, 0xd6})
	fill(immLEB2, [2]int{0x11, 0x11}, [2]int{0x13, 0x13})
	fill(immMem, [2]int{0x28, 0x3e})
	fill(immByte, [2]int{0x3f, 0x40})
	fill(immI64, [2]int{0x42, 0x42})
	fill(immF32, [2]int{0x43, 0x43})
	fill(immF64, [2]int{0x44, 0x44})
	fill(immEnd, [2]int{0x0b, 0x0b})
	fill(immBrTable, [2]int{0x0e, 0x0e})
	fill(immSelect, [2]int{0x1c, 0x1c})
	fill(immTry, [2]int{0x1f, 0x1f})
	fill(immOldCatch, [2]int{0x18, 0x18})
	fill(immMisc, [2]int{0xfc, 0xfc})
	fill(immSIMD, [2]int{0xfd, 0xfd})
	fill(immAtomic, [2]int{0xfe, 0xfe})
	return t
}()

// body reads one function body: its locals, and its instructions for their
// nesting and tables.
func (r *reader) body() {
	size := r.u32()
	if r.err == nil && size > MaxBodyBytes {
		r.fail("function body of %d bytes is over the cap of %d", size, MaxBodyBytes)
	}
	if r.err == nil && size > uint32(len(r.b)-r.i) {
		r.fail("function body of %d bytes does not fit into the %d that are left", size, len(r.b)-r.i)
	}
	if r.err != nil {
		return
	}
	f := reader{b: r.b[:r.i+int(size)], i: r.i}
	f.locals()
	f.instructions()
	if f.err == nil && f.i != len(f.b) {
		f.fail("%d bytes follow the end of a function body", len(f.b)-f.i)
	}
	r.i = f.i
	if f.err != nil {
		r.fail("%w", f.err)
	}
}

func (r *reader) locals() {
	var sum uint64
	n := r.count(MaxLocals, 2, "groups of locals")
	for range n {
		c := r.u32()
		r.valueType()
		if sum += uint64(c); sum > MaxLocals {
			r.fail("%d locals are over the cap of %d", sum, MaxLocals)
			return
		}
	}
}

// instructions reads to the end of the function's outermost block. It is the
// hot loop of a scan, so the frequent one-byte cases come first.
func (r *reader) instructions() {
	depth := 1
	for {
		if r.i >= len(r.b) {
			r.fail("a function body ends within a block")
			return
		}
		op := r.b[r.i]
		r.i++
		switch immediates[op] {
		case immNone:
		case immLEB:
			if r.i < len(r.b) && r.b[r.i] < 0x80 {
				r.i++
				continue
			}
			r.skipLEB(5)
		case immMem:
			if r.i+1 < len(r.b) && r.b[r.i] < 0x40 && r.b[r.i+1] < 0x80 {
				r.i += 2
				continue
			}
			r.memarg()
		case immI64:
			r.skipLEB(10)
		case immBlock:
			r.blockType()
			depth++
		case immEnd:
			if depth--; depth == 0 {
				return
			}
			continue
		case immOldCatch:
			// delegate ends its try block.
			r.u32()
			if depth--; depth == 0 {
				r.fail("delegate outside of a block")
			}
		default:
			depth = r.rare(immediates[op], op, depth)
		}
		if depth > MaxNesting {
			r.fail("blocks nested deeper than %d", MaxNesting)
		}
		if r.err != nil {
			return
		}
	}
}

// rare reads the immediates of the less frequent opcodes.
func (r *reader) rare(imm, op uint8, depth int) int {
	switch imm {
	case immLEB2:
		r.u32()
		r.u32()
	case immF32:
		r.skip(4)
	case immF64:
		r.skip(8)
	case immByte:
		r.u32()
	case immBrTable:
		n := r.count(MaxBranches, 1, "branches of a br_table")
		for range n {
			r.u32()
		}
		r.u32()
	case immSelect:
		n := r.count(MaxParams, 1, "types of a select")
		for range n {
			r.valueType()
		}
	case immTry:
		r.blockType()
		n := r.count(MaxBranches, 2, "catch clauses")
		for range n {
			k := r.byte()
			if k > 3 {
				r.fail("catch clause of kind %d", k)
				return depth
			}
			if k < 2 {
				r.u32() // tag
			}
			r.u32() // label
		}
		return depth + 1
	case immMisc:
		r.misc()
	case immSIMD:
		r.simd()
	case immAtomic:
		if o := r.u32(); o == 3 {
			r.byte() // fence
		} else {
			r.memarg()
		}
	default:
		r.fail("unknown instruction %#x", op)
	}
	return depth
}

// blockType reads a value type or the index of a function type.
func (r *reader) blockType() {
	if r.i < len(r.b) && (r.b[r.i] == 0x63 || r.b[r.i] == 0x64) { // a typed reference
		r.i++
	}
	r.skipLEB(5)
}

// memarg reads alignment and offset. Bit 6 of the alignment announces the
// index of a memory.
func (r *reader) memarg() {
	if align := r.u32(); align&0x40 != 0 {
		r.u32()
	}
	r.skipLEB(10)
}

func (r *reader) misc() {
	switch o := r.u32(); {
	case o <= 7: // saturating conversions
	case o == 8, o == 10, o == 12, o == 14: // memory.init, memory.copy, table.init, table.copy
		r.u32()
		r.u32()
	case o == 9, o == 11, o == 13, o >= 15 && o <= 17:
		r.u32()
	default:
		r.fail("unknown instruction 0xfc %d", o)
	}
}

func (r *reader) simd() {
	switch o := r.u32(); {
	case o <= 11, o == 92, o == 93: // loads and stores
		r.memarg()
	case o == 12, o == 13: // v128.const, shuffle
		r.skip(16)
	case o >= 21 && o <= 34: // lanes
		r.byte()
	case o >= 84 && o <= 91: // loads and stores of lanes
		r.memarg()
		r.byte()
	case o <= 0x1ff:
	default:
		r.fail("unknown instruction 0xfd %d", o)
	}
}
