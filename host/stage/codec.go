package stage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"stepbox.dev/abi"
)

// header begins every log. Its last byte is the version of the format.
const header = "stepbox\x01"

// frameBytes come before every payload: its length and its checksum.
const frameBytes = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendRecord appends the framed form of r to b.
func appendRecord(b []byte, r Record) ([]byte, error) {
	at := len(b)
	b = append(b, make([]byte, frameBytes)...)
	b = binary.AppendUvarint(b, uint64(r.Call))
	b = append(b, byte(r.Mode))
	b = binary.AppendVarint(b, r.Time)
	for i := range r.Effects {
		b = appendEffect(b, &r.Effects[i])
	}
	payload := b[at+frameBytes:]
	if len(payload) > MaxRecord {
		return b[:at], fmt.Errorf("record of %d bytes: the format allows %d", len(payload), MaxRecord)
	}
	binary.LittleEndian.PutUint32(b[at:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(b[at+4:], crc32.Checksum(payload, castagnoli))
	return b, nil
}

func appendEffect(b []byte, e *Effect) []byte {
	b = append(b, byte(e.Op))
	switch e.Op {
	case OpNode:
		b = binary.AppendUvarint(b, uint64(e.ID))
		b = append(b, byte(e.Kind), boolByte(e.HasOrigin))
		if e.HasOrigin {
			b = appendString(b, e.Origin.Path)
			b = binary.AppendUvarint(b, e.Origin.Dev)
			b = binary.AppendUvarint(b, e.Origin.Ino)
		} else if e.Kind == Link {
			b = appendString(b, e.Target)
		}
	case OpContent:
		b = binary.AppendUvarint(b, uint64(e.ID))
		b = binary.AppendUvarint(b, uint64(e.Blob))
	case OpTimes:
		b = binary.AppendUvarint(b, uint64(e.ID))
		b = binary.AppendVarint(b, e.Atime)
		b = binary.AppendVarint(b, e.Mtime)
	case OpEntry:
		b = binary.AppendUvarint(b, uint64(e.Parent))
		b = appendString(b, e.Name)
		b = binary.AppendUvarint(b, uint64(e.ID))
		b = append(b, boolByte(e.Hides))
	case OpDies:
		b = binary.AppendUvarint(b, uint64(e.ID))
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func boolByte(v bool) byte {
	if v {
		return 1
	}
	return 0
}

// errTorn says that a log ends inside a record: the writer was killed, or is
// still writing.
var errTorn = errors.New("the log ends inside a record")

// nextRecord decodes the record at the start of b and says how long its frame
// is. It allocates in proportion to the bytes that are there, never to a
// declared count.
func nextRecord(b []byte) (Record, int, error) {
	if len(b) < frameBytes {
		return Record{}, 0, errTorn
	}
	n := binary.LittleEndian.Uint32(b)
	if n > MaxRecord {
		return Record{}, 0, fmt.Errorf("record of %d bytes: the format allows %d", n, MaxRecord)
	}
	if uint64(n) > uint64(len(b)-frameBytes) {
		return Record{}, 0, errTorn
	}
	payload := b[frameBytes : frameBytes+int(n)]
	if crc32.Checksum(payload, castagnoli) != binary.LittleEndian.Uint32(b[4:]) {
		return Record{}, 0, errors.New("checksum mismatch")
	}
	r, err := decodePayload(payload)
	return r, frameBytes + int(n), err
}

func decodePayload(payload []byte) (Record, error) {
	d := decoder{b: payload, s: string(payload)}
	r := Record{Call: int(d.bounded(MaxCall)), Mode: abi.Mode(d.byte()), Time: d.varint()}
	if d.err == nil && r.Mode > abi.ModeWrite {
		return Record{}, fmt.Errorf("mode %d is unknown", r.Mode)
	}
	if d.err == nil {
		r.Effects = make([]Effect, 0, min(4, len(d.b)))
	}
	for d.err == nil && len(d.b) > 0 {
		r.Effects = append(r.Effects, d.effect())
	}
	if d.err == nil && len(r.Effects) == 0 {
		return Record{}, errors.New("record without effects")
	}
	return r, d.err
}

// decoder reads one payload. After the first error every read returns zero.
type decoder struct {
	b   []byte // what is left
	s   string // the whole payload, of which names are parts
	err error
}

func (d *decoder) effect() Effect {
	e := Effect{Op: Op(d.byte())}
	switch e.Op {
	case OpNode:
		e.ID = ID(d.bounded(MaxID))
		e.Kind = Kind(d.byte())
		if e.HasOrigin = d.bool(); e.HasOrigin {
			e.Origin = Origin{Path: d.string(MaxPath), Dev: d.uvarint(), Ino: d.uvarint()}
		} else if e.Kind == Link {
			e.Target = d.string(MaxTarget)
		}
	case OpContent:
		e.ID, e.Blob = ID(d.bounded(MaxID)), ID(d.bounded(MaxID))
	case OpTimes:
		e.ID, e.Atime, e.Mtime = ID(d.bounded(MaxID)), d.varint(), d.varint()
	case OpEntry:
		e.Parent, e.Name = ID(d.bounded(MaxID)), d.string(MaxName)
		e.ID, e.Hides = ID(d.bounded(MaxID)), d.bool()
	case OpDies:
		e.ID = ID(d.bounded(MaxID))
	case OpSeal:
	default:
		d.fail(fmt.Errorf("effect %d is unknown", e.Op))
	}
	return e
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
		d.b = nil
	}
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.fail(errors.New("record ends inside an effect"))
		return 0
	}
	v := d.b[0]
	d.b = d.b[1:]
	return v
}

func (d *decoder) bool() bool {
	v := d.byte()
	if v > 1 {
		d.fail(fmt.Errorf("flag %d is neither 0 nor 1", v))
	}
	return v == 1
}

// uvarint refuses a longer spelling than needed, so that a record has one form.
func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || n > 1 && d.b[n-1] == 0 {
		d.fail(errors.New("number that is cut off or not in its shortest form"))
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) varint() int64 {
	u := d.uvarint()
	v := int64(u >> 1)
	if u&1 != 0 {
		v = ^v
	}
	return v
}

func (d *decoder) bounded(limit uint64) uint64 {
	v := d.uvarint()
	if v > limit {
		d.fail(fmt.Errorf("number %d is beyond %d", v, limit))
		return 0
	}
	return v
}

func (d *decoder) string(limit uint64) string {
	n := d.bounded(limit)
	if n > uint64(len(d.b)) {
		d.fail(errors.New("record ends inside a string"))
		return ""
	}
	at := len(d.s) - len(d.b)
	d.b = d.b[n:]
	return d.s[at : at+int(n)]
}
