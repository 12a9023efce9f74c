package commit

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"os"
)

const (
	blockBytes = 64 << 10
	chunkBytes = 16 * blockBytes
)

var zeros [blockBytes]byte

// span is a part of a file.
type span struct{ at, bytes int64 }

// sumOf is a SHA-256 of a file's size and of every block of it that is not all
// zeros, with its place: holes cost nothing, and where a file system keeps them
// makes no difference. Blocks of zeros that are no holes are returned as well.
func sumOf(ctx context.Context, f *os.File, size int64) (sum [sha256.Size]byte, filled []span, err error) {
	h := sha256.New()
	number := func(n int64) { h.Write(binary.BigEndian.AppendUint64(nil, uint64(n))) }
	number(size)
	buf := make([]byte, min(size, chunkBytes))
	for at := int64(0); at < size; {
		if err := ctx.Err(); err != nil {
			return sum, nil, err
		}
		if at = nextData(f, at); at >= size {
			break
		}
		at -= at % blockBytes
		n := min(size-at, chunkBytes)
		if _, err := f.ReadAt(buf[:n], at); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return sum, nil, err
		}
		for b := buf[:n]; len(b) > 0; {
			block := b[:min(len(b), blockBytes)]
			if string(block) != string(zeros[:len(block)]) {
				number(at)
				h.Write(block)
			} else if last := len(filled) - 1; last >= 0 && filled[last].at+filled[last].bytes == at {
				filled[last].bytes += int64(len(block))
			} else {
				filled = append(filled, span{at, int64(len(block))})
			}
			at += int64(len(block))
			b = b[len(block):]
		}
	}
	h.Sum(sum[:0])
	return sum, filled, nil
}

// content looks at a blob and hashes what is in it.
func (rd *reader) content(ctx context.Context, home string, m *making) (err error) {
	f, err := rd.data.openFile(home)
	if err != nil {
		return err
	}
	defer f.Close()
	if m.content, err = statFile(f); err != nil {
		return err
	}
	size := m.content.size
	if rd.bytes += size; size > maxBytes || rd.bytes > maxBytes {
		return errTooMuch
	}
	m.sum, m.filled, err = sumOf(ctx, f, size)
	return err
}

// fewZeros is up to how many bytes of zeros a file keeps as they are.
const fewZeros = 1 << 20

// thin makes holes again of what a guest filled with zeros when it copied a
// file that has some: a guest does not see holes.
func (e *engine) thin(home string, filled []span) (done bool, err error) {
	total := int64(0)
	for _, s := range filled {
		total += s.bytes
	}
	if total <= fewZeros {
		return false, nil
	}
	return true, e.data.punch(home, filled)
}

var errTooMuch = errors.New("too much content")
