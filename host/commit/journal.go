package commit

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// journal is everything that a commit will do, written and synced before its
// first operation. Its file begins with journalMagic and a SHA-256 of the rest.
// The reader accepts exactly what the writer writes.
type journal struct {
	run     string // the run that commits
	sandbox string
	ino     uint64 // of the sandbox
	// undoes is the run that this one takes back, and source its data folder.
	undoes, source string
	items          []item
	ops            []op
	// dirs are the times of the folders whose entries change, before it; set
	// are times to give to folders at the end.
	dirs, set []dirTimes
}

// dirTimes are times of a folder of the sandbox.
type dirTimes struct {
	path string
	stamps
}

// aftermath is what the sandbox looked like when a commit had ended: what undo
// compares with.
type aftermath struct {
	items []identity // by item; its kind is 0 where the item is not in the sandbox
	dirs  []int64    // modification times, by journal.dirs
}

const (
	journalMagic   = "stepbox journal 1\n"
	aftermathMagic = "stepbox aftermath 1\n"
	// maxJournal bounds what is read back, in bytes.
	maxJournal = 1 << 30
)

var errDamaged = errors.New("it is damaged")

func (j *journal) encode() []byte {
	e := &encoder{}
	e.text(j.run, j.sandbox)
	e.uints(j.ino)
	e.text(j.undoes, j.source)
	e.uints(uint64(len(j.items)))
	for i := range j.items {
		e.item(&j.items[i])
	}
	e.uints(uint64(len(j.ops)))
	for _, o := range j.ops {
		e.uints(uint64(o.kind), uint64(o.i), uint64(o.other))
	}
	for _, list := range [][]dirTimes{j.dirs, j.set} {
		e.uints(uint64(len(list)))
		for _, d := range list {
			e.text(d.path)
			e.ints(d.atime, d.mtime)
		}
	}
	return seal(journalMagic, e.b)
}

func decodeJournal(b []byte) (*journal, error) {
	body, err := unseal(journalMagic, b)
	if err != nil {
		return nil, err
	}
	d := &decoder{b: body}
	j := &journal{run: d.text(), sandbox: d.text(), ino: d.uint(), undoes: d.text(), source: d.text()}
	for n := d.count(); n > 0 && d.err == nil; n-- {
		j.items = append(j.items, d.item())
	}
	for n := d.count(); n > 0 && d.err == nil; n-- {
		j.ops = append(j.ops, op{kind: opKind(d.uint()), i: d.index(len(j.items)), other: d.index(len(j.items))})
	}
	for _, list := range []*[]dirTimes{&j.dirs, &j.set} {
		for n := d.count(); n > 0 && d.err == nil; n-- {
			*list = append(*list, dirTimes{d.text(), stamps{d.int(), d.int()}})
		}
	}
	if d.err == nil && !bytes.Equal(j.encode(), b) {
		d.err = errDamaged // not what the writer writes
	}
	if d.err != nil {
		return nil, d.err
	}
	return j, nil
}

func (a *aftermath) encode() []byte {
	e := &encoder{}
	e.uints(uint64(len(a.items)))
	for _, id := range a.items {
		e.identity(id)
	}
	e.uints(uint64(len(a.dirs)))
	e.ints(a.dirs...)
	return seal(aftermathMagic, e.b)
}

func decodeAftermath(b []byte) (*aftermath, error) {
	body, err := unseal(aftermathMagic, b)
	if err != nil {
		return nil, err
	}
	d := &decoder{b: body}
	a := &aftermath{}
	for n := d.count(); n > 0 && d.err == nil; n-- {
		a.items = append(a.items, d.identity())
	}
	for n := d.count(); n > 0 && d.err == nil; n-- {
		a.dirs = append(a.dirs, d.int())
	}
	if d.err == nil && !bytes.Equal(a.encode(), b) {
		d.err = errDamaged
	}
	if d.err != nil {
		return nil, d.err
	}
	return a, nil
}

// seal puts magic and checksum before a body; unseal takes them off.
func seal(magic string, body []byte) []byte {
	sum := sha256.Sum256(body)
	return append(append([]byte(magic), sum[:]...), body...)
}

func unseal(magic string, b []byte) ([]byte, error) {
	rest, ok := bytes.CutPrefix(b, []byte(magic))
	if !ok || len(rest) < sha256.Size {
		return nil, fmt.Errorf("does not begin with %q: it is damaged, or of another version", magic)
	}
	body := rest[sha256.Size:]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], rest[:sha256.Size]) {
		return nil, errDamaged
	}
	return body, nil
}

type encoder struct{ b []byte }

func (e *encoder) uints(vs ...uint64) {
	for _, v := range vs {
		e.b = binary.AppendUvarint(e.b, v)
	}
}

func (e *encoder) ints(vs ...int64) {
	for _, v := range vs {
		e.b = binary.AppendVarint(e.b, v)
	}
}

func (e *encoder) text(ss ...string) {
	for _, s := range ss {
		e.uints(uint64(len(s)))
		e.b = append(e.b, s...)
	}
}

func (e *encoder) item(it *item) {
	e.uints(uint64(it.kind))
	e.text(it.from, it.to, it.home, it.fetch)
	flags := uint64(0)
	if it.touch {
		flags |= 1
	}
	if it.times {
		flags |= 2
	}
	e.uints(flags, uint64(it.undoes))
	e.ints(it.new.atime, it.new.mtime, it.old.atime, it.old.mtime)
	e.identity(it.was)
}

func (e *encoder) identity(id identity) {
	e.uints(uint64(id.kind), id.dev, id.ino, uint64(id.mode), uint64(id.uid), uint64(id.gid), id.links)
	e.ints(id.size, id.mtime, id.ctime, id.atime)
}

// decoder reads what encoder wrote. After the first fault it yields zeros.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail() { d.b, d.err = nil, errDamaged }

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) text() string {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.fail()
		return ""
	}
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

// count reads a number of entries: never more than bytes that remain.
func (d *decoder) count() uint64 {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.fail()
		return 0
	}
	return n
}

func (d *decoder) index(n int) int {
	v := d.uint()
	if v >= uint64(n) {
		d.fail()
		return 0
	}
	return int(v)
}

func (d *decoder) small() uint32 {
	v := d.uint()
	if v > math.MaxUint32 {
		d.fail()
		return 0
	}
	return uint32(v)
}

func (d *decoder) item() item {
	it := item{kind: kindOf(d.small()), from: d.text(), to: d.text(), home: d.text(), fetch: d.text()}
	flags := d.small()
	it.touch, it.times = flags&1 != 0, flags&2 != 0
	it.undoes = int(d.small())
	it.new = stamps{d.int(), d.int()}
	it.old = stamps{d.int(), d.int()}
	it.was = d.identity()
	return it
}

func (d *decoder) identity() identity {
	return identity{
		kind: kindOf(d.small()), dev: d.uint(), ino: d.uint(),
		mode: d.small(), uid: d.small(), gid: d.small(), links: d.uint(),
		size: d.int(), mtime: d.int(), ctime: d.int(), atime: d.int(),
	}
}
