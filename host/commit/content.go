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

// sumOf is a SHA-256 of a file's size and of every block of it that is not all
// zeros, with its place: holes cost nothing, and where a file system keeps them
// makes no difference.
func sumOf(ctx context.Context, f *os.File, size int64) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	number := func(n int64) { h.Write(binary.BigEndian.AppendUint64(nil, uint64(n))) }
	number(size)
	buf := make([]byte, min(size, chunkBytes))
	for at := int64(0); at < size; {
		if err := ctx.Err(); err != nil {
			return sum, err
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
			return sum, err
		}
		for b := buf[:n]; len(b) > 0; {
			block := b[:min(len(b), blockBytes)]
			if string(block) != string(zeros[:len(block)]) {
				number(at)
				h.Write(block)
			}
			at += int64(len(block))
			b = b[len(block):]
		}
	}
	h.Sum(sum[:0])
	return sum, nil
}

// content looks at a blob and hashes what is in it.
func (rd *reader) content(ctx context.Context, home string) (id identity, sum [sha256.Size]byte, err error) {
	f, err := rd.data.openFile(home)
	if err != nil {
		return id, sum, err
	}
	defer f.Close()
	if id, err = statFile(f); err != nil {
		return id, sum, err
	}
	if rd.bytes += id.size; id.size > maxBytes || rd.bytes > maxBytes {
		return id, sum, errTooMuch
	}
	sum, err = sumOf(ctx, f, id.size)
	return id, sum, err
}

var errTooMuch = errors.New("too much content")
