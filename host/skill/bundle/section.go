package bundle

import "strings"

// Names of the custom sections. The prefix is reserved: a module that uses it
// for anything else is no bundle.
const (
	prefix           = "stepbox."
	sectionManifest  = prefix + "manifest"
	sectionFiles     = prefix + "files"
	sectionSignature = prefix + "signature"
)

// section is one of the bundle's own sections.
type section struct {
	name string
	data []byte
}

// size of the section with its head, as appendSection writes it.
func (s section) size() int {
	body := len(appendVarint(nil, uint32(len(s.name)))) + len(s.name) + len(s.data)
	return 1 + len(appendVarint(nil, uint32(body))) + body
}

// sections is a module taken apart as far as a bundle needs it.
type sections struct {
	own []section
	end int // of the module itself: where the first own section begins
}

const header = "\x00asm\x01\x00\x00\x00"

// split walks the sections of a module. What is inside the standard ones is
// for admission to judge.
func split(wasm []byte) (sections, error) {
	s := sections{end: len(wasm)}
	if !strings.HasPrefix(string(wasm[:min(len(wasm), len(header))]), header) {
		return s, refuse("the file is no WebAssembly module")
	}
	for at := len(header); at < len(wasm); {
		start, id := at, wasm[at]
		size, n := varint(wasm[at+1:])
		at += 1 + n
		if n == 0 || uint64(size) > uint64(len(wasm)-at) {
			return s, refuse("the module is cut short, or a section of it is longer than the file")
		}
		body := wasm[at : at+int(size)]
		at += int(size)
		name, data, ok := "", body, false
		if id == 0 {
			if name, data, ok = named(body); !ok {
				return s, refuse("a custom section has no name")
			}
		}
		switch {
		case id == 0 && strings.HasPrefix(name, prefix):
			if len(s.own) == 0 {
				s.end = start
			}
			s.own = append(s.own, section{name, data})
		case len(s.own) > 0:
			return s, refuse("a section of the module stands after those of the bundle")
		}
	}
	return s, nil
}

func named(body []byte) (name string, data []byte, ok bool) {
	size, n := varint(body)
	if n == 0 || uint64(size) > uint64(len(body)-n) {
		return "", nil, false
	}
	return string(body[n : n+int(size)]), body[n+int(size):], true
}

// varint reads an unsigned LEB128 number of 32 bits; n is 0 when there is none.
func varint(b []byte) (v uint32, n int) {
	for i := 0; i < len(b) && i < 5; i++ {
		if i == 4 && b[i] > 0x0f {
			return 0, 0
		}
		v |= uint32(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

func appendVarint(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

func appendSection(b []byte, name string, data []byte) []byte {
	body := append(appendVarint(nil, uint32(len(name))), name...)
	b = append(b, 0)
	b = appendVarint(b, uint32(len(body)+len(data)))
	return append(append(b, body...), data...)
}
