package admission

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

var header = []byte("\x00asm\x01\x00\x00\x00")

// order is where each section belongs; custom sections (0) go anywhere. The
// ids do not say: data count (12) and tag (13) came later and sit in between.
var order = [14]int{1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 13: 6, 6: 7, 7: 8, 8: 9, 9: 10, 12: 11, 10: 12, 11: 13}

var sectionNames = [14]string{"custom", "type", "import", "function", "table", "memory", "global", "export",
	"start", "element", "code", "data", "data count", "tag"}

// Scan checks the structure and returns what it saw.
func Scan(wasm []byte) (*Module, error) {
	if len(wasm) > MaxModuleBytes {
		return nil, fmt.Errorf("module of %d bytes is over the cap of %d", len(wasm), MaxModuleBytes)
	}
	if !bytes.HasPrefix(wasm, header) {
		return nil, fmt.Errorf("not a WebAssembly module: it does not begin with the magic number and version 1")
	}
	s := scan{in: reader{b: wasm, i: len(header)}}
	last := 0
	for s.in.i < len(wasm) {
		at := s.in.i
		id := s.in.byte()
		size := s.in.u32()
		if s.in.err == nil && (int(id) >= len(order) || size > uint32(len(wasm)-s.in.i)) {
			s.in.fail("section %d of %d bytes does not fit", id, size)
		}
		if s.in.err != nil {
			return nil, fmt.Errorf("malformed module at byte %d: %w", at, s.in.err)
		}
		if id != 0 {
			if order[id] <= last {
				return nil, fmt.Errorf("malformed module at byte %d: %s section out of order or twice", at, sectionNames[id])
			}
			last = order[id]
		}
		body := reader{b: wasm[:s.in.i+int(size)], i: s.in.i}
		s.section(id, &body)
		if body.err == nil && id != 0 && body.i != len(body.b) {
			body.fail("%d bytes are left over", len(body.b)-body.i)
		}
		if body.err != nil {
			return nil, fmt.Errorf("malformed module at byte %d: %s section: %w", body.i, sectionNames[id], body.err)
		}
		s.in.i += int(size)
	}
	if s.functions != s.bodies {
		return nil, fmt.Errorf("malformed module: %d functions are declared and %d have a body", s.functions, s.bodies)
	}
	return &s.m, nil
}

type scan struct {
	in                reader
	m                 Module
	functions, bodies uint32
	elements          uint64
	memories, tables  uint32
}

func (s *scan) section(id byte, r *reader) {
	switch id {
	case 0:
		s.custom(r)
	case 1:
		r.each(MaxTypes, 3, "types", func() { s.typ(r) })
	case 2:
		r.each(MaxImports, 4, "imports", func() { s.imported(r) })
	case 3:
		s.functions = r.each(MaxFunctions, 1, "functions", func() { r.u32() })
	case 4:
		r.each(MaxTables, 3, "tables", func() { s.table(r) })
	case 5:
		r.each(MaxMemories, 2, "memories", func() { s.memory(r) })
	case 6:
		r.each(MaxGlobals, 4, "globals", func() {
			r.valueType()
			r.byte()
			r.constant()
		})
	case 7:
		r.each(MaxExports, 3, "exports", func() { s.exported(r) })
	case 8:
		s.m.Start = true
		r.u32()
	case 9:
		r.each(MaxSegments, 2, "element segments", func() { s.element(r) })
	case 10:
		s.bodies = r.each(MaxFunctions, 3, "function bodies", r.body)
	case 11:
		r.each(MaxSegments, 2, "data segments", func() { s.data(r) })
	case 12:
		if n := r.u32(); n > MaxSegments {
			r.fail("%d data segments are over the cap of %d", n, MaxSegments)
		}
	case 13:
		r.each(MaxFunctions, 2, "tags", func() {
			r.byte()
			r.u32()
		})
	}
}

func (s *scan) typ(r *reader) {
	if f := r.byte(); r.err == nil && f != 0x60 {
		r.fail("type of form %#x is not a function", f)
		return
	}
	for range 2 {
		r.each(MaxParams, 1, "parameters or results", r.valueType)
	}
}

func (s *scan) imported(r *reader) {
	i := Import{Module: r.name(), Name: r.name()}
	switch k := r.byte(); k {
	case 0:
		i.Kind = "func"
		r.u32()
	case 1:
		i.Kind = "table"
		s.table(r)
	case 2:
		i.Kind = "memory"
		s.memory(r)
	case 3:
		i.Kind = "global"
		r.valueType()
		r.byte()
	case 4:
		i.Kind = "tag"
		r.byte()
		r.u32()
	default:
		r.fail("import of kind %d", k)
	}
	if r.err == nil {
		s.m.Imports = append(s.m.Imports, i)
	}
}

func (s *scan) exported(r *reader) {
	name := r.name()
	k := r.byte()
	r.u32()
	switch {
	case r.err != nil:
	case k > 4:
		r.fail("export of kind %d", k)
	case k == 0:
		s.m.Exports = append(s.m.Exports, name)
	}
}

func (s *scan) table(r *reader) {
	if s.tables++; s.tables > MaxTables {
		r.fail("more than %d tables", MaxTables)
	}
	// 0x40 0x00 begins a table with an initial value.
	init := r.i < len(r.b) && r.b[r.i] == 0x40
	if init {
		r.byte()
		if r.byte() != 0 {
			r.fail("unknown form of table")
		}
	}
	r.valueType()
	// The maximum is not capped: growing is bounded where it happens.
	r.limits(MaxTableSize, "table")
	if init {
		r.constant()
	}
}

func (s *scan) memory(r *reader) {
	if s.memories++; s.memories > MaxMemories {
		r.fail("more than %d memory", MaxMemories)
	}
	r.limits(MaxPages, "memory")
}

func (s *scan) element(r *reader) {
	flags := r.u32()
	if flags > 7 {
		r.fail("element segment of form %d", flags)
		return
	}
	if flags&1 == 0 { // active
		if flags&2 != 0 {
			r.u32() // table
		}
		r.constant()
	}
	if flags&3 != 0 {
		if flags&4 != 0 {
			r.valueType()
		} else {
			r.byte() // element kind
		}
	}
	n := r.count(MaxElements, 1, "elements")
	if s.elements += uint64(n); s.elements > MaxElements {
		r.fail("more than %d elements in all segments", MaxElements)
		return
	}
	for range n {
		if r.err != nil {
			return
		}
		if flags&4 != 0 {
			r.constant()
		} else {
			r.u32()
		}
	}
}

func (s *scan) data(r *reader) {
	switch flags := r.u32(); flags {
	case 0:
		r.constant()
	case 1:
	case 2:
		r.u32()
		r.constant()
	default:
		r.fail("data segment of form %d", flags)
		return
	}
	n := r.u32()
	r.skip(n)
	s.m.Data += int64(n)
}

// custom reads the name section, because decoders allocate from its counts;
// other custom sections are skipped by everyone.
func (s *scan) custom(r *reader) {
	name := r.bytes()
	if r.err != nil || string(name) != "name" {
		return
	}
	for r.i < len(r.b) && r.err == nil {
		id := r.byte()
		size := r.u32()
		if r.err != nil || size > uint32(len(r.b)-r.i) {
			r.fail("a subsection of names does not fit")
			return
		}
		sub := reader{b: r.b[:r.i+int(size)], i: r.i}
		switch id {
		case 0:
			sub.bytes()
		case 1:
			sub.names()
		case 2:
			sub.each(MaxFunctions, 2, "functions with named locals", func() {
				sub.u32()
				sub.names()
			})
		}
		if sub.err != nil {
			r.err = sub.err
			return
		}
		r.i += int(size)
	}
}

// names reads a map of indices to names.
func (r *reader) names() {
	r.each(MaxElements, 2, "names", func() {
		r.u32()
		r.bytes()
	})
}

// name reads a name that the module is linked by.
func (r *reader) name() string {
	b := r.bytes()
	switch {
	case r.err != nil:
	case len(b) > MaxNameBytes:
		r.fail("name of %d bytes is over the cap of %d", len(b), MaxNameBytes)
	case !utf8.Valid(b):
		r.fail("a name is not valid UTF-8")
	default:
		return string(b)
	}
	return ""
}
