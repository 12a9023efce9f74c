package worker_test

import (
	"encoding/binary"

	"stepbox.dev/abi"
)

// A small encoder of modules, for guests that no compiler would make.

const (
	i32 = 0x7f
	i64 = 0x7e
)

type fn struct {
	typ  int
	body []byte
}

type mod struct {
	types   [][]byte
	imports [][]byte
	fns     []fn
	exports [][]byte
	data    []byte
	pages   int
	max     int // pages, 0 for none
	table   bool
	start   int // index + 1
	memory  bool
}

// wasi and the kernel's functions that guests here use, by name.
var signatures = map[string][2][]byte{
	"alloc":       {{i64}, {i64}},
	"store_u8":    {{i64, i32}, nil},
	"store_u64":   {{i64, i64}, nil},
	"output_set":  {{i64, i64}, nil},
	"error_set":   {{i64}, nil},
	"log_info":    {{i64}, nil},
	"poll_oneoff": {{i32, i32, i32, i32}, {i32}},
	"fd_write":    {{i32, i32, i32, i32}, {i32}},
	"fd_renumber": {{i32, i32}, {i32}},
	"proc_exit":   {{i32}, nil},
	"random_get":  {{i32, i32}, {i32}},
	"path_open":   {{i32, i32, i32, i32, i32, i64, i64, i32, i32}, {i32}},

	abi.HostConfirm:  {{i64}, {i64}},
	abi.HostProgress: {{i64}, {i64}},
	abi.HostEngine:   {{i64}, {i64}},
}

func uleb(n uint64) (b []byte) {
	for {
		c := byte(n & 0x7f)
		if n >>= 7; n == 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func sleb(n int64) (b []byte) {
	for {
		c := byte(n & 0x7f)
		n >>= 7
		if n == 0 && c&0x40 == 0 || n == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func cat(parts ...[]byte) (b []byte) {
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

func vec(items [][]byte) []byte { return append(uleb(uint64(len(items))), cat(items...)...) }

func str(s string) []byte { return append(uleb(uint64(len(s))), s...) }

func sec(id byte, body []byte) []byte { return cat([]byte{id}, uleb(uint64(len(body))), body) }

func (m *mod) sig(params, results []byte) int {
	m.types = append(m.types, cat([]byte{0x60}, str(string(params)), str(string(results))))
	return len(m.types) - 1
}

// imp imports a known function and returns its index. All imports come first.
func (m *mod) imp(module, name string) int {
	s := signatures[name]
	m.imports = append(m.imports, cat(str(module), str(name), []byte{0}, uleb(uint64(m.sig(s[0], s[1])))))
	return len(m.imports) - 1
}

func (m *mod) env(name string) int  { return m.imp("extism:host/env", name) }
func (m *mod) wasi(name string) int { return m.imp("wasi_snapshot_preview1", name) }
func (m *mod) user(name string) int { return m.imp(abi.HostNamespace, name) }

// fn adds a function of no parameters with the i32 result of an export, four
// i64 locals (0 to 3), and the body, and exports it.
func (m *mod) fn(export string, body ...[]byte) int {
	code := cat([]byte{1, 4, i64}, cat(body...), []byte{0x0b})
	m.fns = append(m.fns, fn{m.sig(nil, []byte{i32}), code})
	i := len(m.imports) + len(m.fns) - 1
	if export != "" {
		m.exports = append(m.exports, cat(str(export), []byte{0}, uleb(uint64(i))))
	}
	return i
}

func (m *mod) bytes() []byte {
	out := cat([]byte("\x00asm\x01\x00\x00\x00"), sec(1, vec(m.types)))
	if len(m.imports) > 0 {
		out = append(out, sec(2, vec(m.imports))...)
	}
	var types, codes [][]byte
	for _, f := range m.fns {
		types = append(types, uleb(uint64(f.typ)))
		codes = append(codes, cat(uleb(uint64(len(f.body))), f.body))
	}
	out = append(out, sec(3, vec(types))...)
	if m.table {
		out = append(out, sec(4, []byte{1, 0x70, 0, 1})...)
	}
	if m.pages > 0 {
		if m.max > 0 {
			out = append(out, sec(5, cat([]byte{1, 1}, uleb(uint64(m.pages)), uleb(uint64(m.max))))...)
		} else {
			out = append(out, sec(5, cat([]byte{1, 0}, uleb(uint64(m.pages))))...)
		}
		m.exports = append(m.exports, cat(str("memory"), []byte{2, 0}))
	}
	out = append(out, sec(7, vec(m.exports))...)
	if m.start > 0 {
		out = append(out, sec(8, uleb(uint64(m.start-1)))...)
	}
	out = append(out, sec(10, vec(codes))...)
	if len(m.data) > 0 {
		out = append(out, sec(11, cat([]byte{1, 0}, c32(0), []byte{0x0b}, str(string(m.data))))...)
	}
	return out
}

// Instructions.
func le32(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
func le64(n int64) []byte  { return binary.LittleEndian.AppendUint64(nil, uint64(n)) }

func c32(n int32) []byte { return append([]byte{0x41}, sleb(int64(n))...) }
func c64(n int64) []byte { return append([]byte{0x42}, sleb(n)...) }
func get(i int) []byte   { return append([]byte{0x20}, uleb(uint64(i))...) }
func set(i int) []byte   { return append([]byte{0x21}, uleb(uint64(i))...) }
func run(f int) []byte   { return append([]byte{0x10}, uleb(uint64(f))...) }

var (
	drop      = []byte{0x1a}
	add64     = []byte{0x7c}
	ok        = c32(0)
	failed    = c32(1)
	forever   = []byte{0x03, 0x40, 0x0c, 0x00, 0x0b}
	busy      = cat([]byte{0x03, 0x40}, get(3), c64(1), add64, set(3), []byte{0x0c, 0x00, 0x0b})
	trap      = []byte{0x00}
	grow64MiB = cat(c32(1024), []byte{0x40, 0x00})
)

// loop repeats the body n times, counting in local 2.
func loop(n int64, body ...[]byte) []byte {
	return cat(c64(0), set(2), []byte{0x03, 0x40}, cat(body...), get(2), c64(1), add64, []byte{0x22, 2}, c64(n),
		[]byte{0x54, 0x0d, 0x00, 0x0b})
}

// text allocates kernel memory, fills it with s and leaves its offset in local 0.
func text(alloc, store8, store64 int, s string) []byte {
	b := cat(c64(int64(len(s))), run(alloc), set(0))
	i := 0
	for ; i+8 <= len(s); i += 8 {
		v := int64(binary.LittleEndian.Uint64([]byte(s[i:])))
		b = append(b, cat(get(0), c64(int64(i)), add64, c64(v), run(store64))...)
	}
	for ; i < len(s); i++ {
		b = append(b, cat(get(0), c64(int64(i)), add64, c32(int32(s[i])), run(store8))...)
	}
	return b
}

// plug is a module with the kernel's functions at hand.
type plug struct {
	mod
	alloc, s8, s64, out, errs, poll int
}

func newPlug() *plug {
	p := &plug{}
	p.alloc, p.s8, p.s64 = p.env("alloc"), p.env("store_u8"), p.env("store_u64")
	p.out, p.errs = p.env("output_set"), p.env("error_set")
	return p
}

// says sets the output.
func (p *plug) says(s string) []byte {
	return cat(text(p.alloc, p.s8, p.s64, s), get(0), c64(int64(len(s))), run(p.out))
}

// complains sets the error and fails.
func (p *plug) complains(s string) []byte {
	return cat(text(p.alloc, p.s8, p.s64, s), get(0), run(p.errs), failed)
}

const described = `{"abi":1,"sdk":"hand/1","tools":[{"name":"go","kind":"step","args":{}}]}`

// good is a module whose every call ends well.
func good() []byte {
	p := newPlug()
	p.fn(abi.ExportDescribe, p.says(described), ok)
	p.fn(abi.ExportStep, p.says(`{"result":{"n":1}}`), ok)
	return p.bytes()
}

// stepping is a module whose step has the body.
func stepping(build func(p *plug) []byte) []byte {
	p := newPlug()
	body := build(p)
	p.fn(abi.ExportDescribe, p.says(described), ok)
	p.fn(abi.ExportStep, body)
	return p.bytes()
}
