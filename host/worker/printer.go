package worker

import (
	"bytes"
	"strings"
)

// printer sends what a guest prints to the host, line by line, up to a cap.
// It never fails a write: a guest must not learn anything from its output.
type printer struct {
	c    *child
	left int64
	part []byte // an unfinished line
	cut  bool
}

func (p *printer) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 && !p.cut {
		line, rest, whole := bytes.Cut(b, []byte("\n"))
		if room := maxLine - len(p.part); len(line) > room {
			line, rest, whole = b[:room], b[room:], true
		}
		p.part = append(p.part, line...)
		if !whole {
			break
		}
		p.flush()
		b = rest
	}
	return n, nil
}

// line sends a message that stands alone.
func (p *printer) line(s string) {
	for l := range strings.Lines(s) {
		_, _ = p.Write([]byte(strings.TrimSuffix(l, "\n") + "\n"))
	}
}

func (p *printer) flush() {
	if p.left -= int64(len(p.part)) + 1; p.left < 0 {
		p.cut, p.part = true, nil
		return
	}
	// A host that is gone ends this process anyway.
	_ = writeFrame(p.c.conn, kindOutput, nil, p.part)
	p.part = p.part[:0]
}

// finish sends the last line and reports whether something was cut.
func (p *printer) finish() bool {
	if len(p.part) > 0 {
		p.flush()
	}
	return p.cut
}
