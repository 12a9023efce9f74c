package bundle

import (
	"io"
	"strings"
)

// maxPeek is how many sections Peek looks at; a module has about fifteen.
const maxPeek = 1000

// Peek reads the manifest of a bundle without its module and files, which it
// does not check: enough to tell what a file is. ok is false for what is no
// bundle.
func Peek(r io.ReaderAt, size int64) (m Manifest, ok bool) {
	head := make([]byte, len(header))
	if _, err := r.ReadAt(head, 0); err != nil || string(head) != header {
		return m, false
	}
	at := int64(len(header))
	for range maxPeek {
		start := make([]byte, 6+1+len(sectionManifest)) // id, size, length of the name, name
		n, err := r.ReadAt(start, at)
		if start = start[:n]; n < 2 || err != nil && err != io.EOF {
			return m, false
		}
		length, k := varint(start[1:])
		body := at + 1 + int64(k)
		if k == 0 || int64(length) > size-body {
			return m, false
		}
		name, data, named := named(start[1+k:])
		if start[0] == 0 && named && name == sectionManifest {
			skipped := int64(len(start)-1-k) - int64(len(data))
			if int64(length) < skipped {
				return m, false
			}
			text := make([]byte, min(int64(length)-skipped, maxManifest))
			if _, err := r.ReadAt(text, body+skipped); err != nil {
				return m, false
			}
			return m, m.decode(text) == nil
		}
		if start[0] == 0 && named && strings.HasPrefix(name, prefix) {
			return m, false
		}
		at = body + int64(length)
	}
	return m, false
}
