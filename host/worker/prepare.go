package worker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Loading a module from the runtime's cache is dominated by validating code
// that will not be used: the native code is what runs. And a fresh instance of
// a Go program is dominated by its data, which the linker cuts into thousands
// of segments. So the compile child rewrites a module: the one it compiles has
// its data in one piece; the one a worker loads is the same without code, and
// the compiled code of the first is filed under the name of the second.
// Everything the runtime looks at besides code (types, imports, tables,
// memory, globals, exports, data) is equal in both.

// Ids of sections.
const (
	secCustom    = 0
	secMemory    = 5
	secCode      = 10
	secData      = 11
	secDataCount = 12
)

// maxMerged bounds the single data segment that replaces many.
const maxMerged = 64 << 20

// stubBody is a function without locals that does nothing but trap. It has
// every type, so it validates as any function.
var stubBody = []byte{3, 0, 0x00, 0x0b}

var errMalformed = errors.New("malformed module")

// prepare rewrites an admitted module: full is what is compiled, stub what is
// loaded. Custom sections are left out of both.
func prepare(wasm []byte) (full, stub []byte, err error) {
	if len(wasm) < 8 {
		return nil, nil, errMalformed
	}
	full, stub = append(full, wasm[:8]...), append(stub, wasm[:8]...)
	var pages uint32
	mergeable := true
	for rest := wasm[8:]; len(rest) > 0; {
		id := rest[0]
		size, n := binary.Uvarint(rest[1:])
		if n <= 0 || size > uint64(len(rest)-1-n) {
			return nil, nil, errMalformed
		}
		body := rest[1+n : 1+n+int(size)]
		rest = rest[1+n+int(size):]
		switch id {
		case secCustom:
			continue
		case secMemory:
			pages = leastPages(body)
		case secDataCount:
			mergeable = false // some instruction names a segment by its number
		case secCode:
			full = appendSection(full, id, body)
			count, n := binary.Uvarint(body)
			if n <= 0 || count > uint64(len(body)) {
				return nil, nil, errMalformed
			}
			bodies := append(bytes.Clone(body[:n]), bytes.Repeat(stubBody, int(count))...)
			stub = appendSection(stub, id, bodies)
			continue
		case secData:
			if mergeable {
				if merged, ok := mergeData(body, int64(pages)<<16); ok {
					body = merged
				}
			}
		}
		full, stub = appendSection(full, id, body), appendSection(stub, id, body)
	}
	return full, stub, nil
}

func appendSection(b []byte, id byte, body []byte) []byte {
	b = binary.AppendUvarint(append(b, id), uint64(len(body)))
	return append(b, body...)
}

func leastPages(body []byte) uint32 {
	if len(body) < 3 {
		return 0
	}
	n, _ := binary.Uvarint(body[2:])
	return uint32(min(n, 1<<16))
}

// mergeData turns active segments with plain offsets into one. They are laid
// over zeros in their order, as an instance would lay them into fresh memory.
// ok is false when that is not possible, or not worth it.
func mergeData(body []byte, memory int64) (merged []byte, ok bool) {
	count, n := binary.Uvarint(body)
	if n <= 0 || count < 2 {
		return nil, false
	}
	type segment struct {
		at   int64
		data []byte
	}
	var segs []segment
	low, high := memory, int64(0)
	rest := body[n:]
	for range count {
		if len(rest) < 2 || rest[0] != 0 || rest[1] != 0x41 { // memory 0, i32.const
			return nil, false
		}
		at, n := varint32(rest[2:])
		if n <= 0 || 2+n >= len(rest) || rest[2+n] != 0x0b {
			return nil, false
		}
		rest = rest[3+n:]
		size, n := binary.Uvarint(rest)
		if n <= 0 || size > uint64(len(rest)-n) {
			return nil, false
		}
		data := rest[n : n+int(size)]
		rest = rest[n+int(size):]
		if at+int64(len(data)) > memory {
			return nil, false // it traps, and shall go on to
		}
		segs = append(segs, segment{at, data})
		low, high = min(low, at), max(high, at+int64(len(data)))
	}
	if len(rest) != 0 || high-low > maxMerged || high <= low {
		return nil, false
	}
	all := make([]byte, high-low)
	for _, s := range segs {
		copy(all[s.at-low:], s.data)
	}
	merged = append(merged, 1, 0, 0x41)
	merged = append(merged, varint32Bytes(low)...)
	merged = binary.AppendUvarint(append(merged, 0x0b), uint64(len(all)))
	return append(merged, all...), true
}

// varint32 reads a signed LEB128 number as the unsigned address it stands for.
func varint32(b []byte) (v int64, n int) {
	var shift uint
	for n < len(b) && n < 5 {
		c := b[n]
		n++
		v |= int64(c&0x7f) << shift
		shift += 7
		if c < 0x80 {
			if c&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			return int64(uint32(v)), n
		}
	}
	return 0, 0
}

// varint32Bytes is the signed LEB128 form of an address below 2³².
func varint32Bytes(v int64) (b []byte) {
	n := int64(int32(uint32(v)))
	for {
		c := byte(n & 0x7f)
		n >>= 7
		if n == 0 && c&0x40 == 0 || n == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// errPrepared explains a compile whose files are not those expected.
func errPrepared(names []string) error {
	return fmt.Errorf("the runtime filed its code as %q", names)
}
