package plan

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// MaxDepth is how deep lists and objects may nest, in a plan's text and in an
// argument.
const MaxDepth = 64

// scanner reads JSON (RFC 8259) into the same values as encoding/json with
// UseNumber, and refuses what that package lets pass: a key given twice,
// invalid UTF-8, half of a surrogate pair, deep nesting. It exists because
// finding duplicate keys with encoding/json's tokens is several times slower
// than a whole plan may take; a fuzz test compares the two.
type scanner struct {
	text string
	at   int
}

type syntaxError struct {
	at      int
	message string
}

func (e *syntaxError) Error() string { return e.message }

func (s *scanner) fail(format string, args ...any) error {
	return &syntaxError{at: s.at, message: fmt.Sprintf(format, args...)}
}

// scanJSON reads one value that fills the text.
func scanJSON(text []byte) (any, error) {
	// The text is not changed while it is read, and every string is copied out.
	s := scanner{text: unsafe.String(unsafe.SliceData(text), len(text))}
	v, err := s.document()
	return v, err
}

func (s *scanner) document() (any, error) {
	s.space()
	v, err := s.value(0)
	if err != nil {
		return nil, err
	}
	if s.space(); s.at < len(s.text) {
		return nil, s.fail("%s after the value", s.here())
	}
	return v, nil
}

func (s *scanner) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// here describes what stands at the current place, for messages.
func (s *scanner) here() string {
	if s.at >= len(s.text) {
		return "the end of the text"
	}
	r, _ := utf8.DecodeRuneInString(s.text[s.at:])
	return fmt.Sprintf("%q", r)
}

func (s *scanner) value(depth int) (any, error) {
	if depth > MaxDepth {
		return nil, s.fail("nested more than %d levels deep", MaxDepth)
	}
	if s.at >= len(s.text) {
		return nil, s.fail("the text ends where a value belongs")
	}
	switch c := s.text[s.at]; {
	case c == '{':
		return s.object(depth)
	case c == '[':
		return s.array(depth)
	case c == '"':
		return s.str()
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	case strings.HasPrefix(s.text[s.at:], "true"):
		s.at += 4
		return true, nil
	case strings.HasPrefix(s.text[s.at:], "false"):
		s.at += 5
		return false, nil
	case strings.HasPrefix(s.text[s.at:], "null"):
		s.at += 4
		return nil, nil
	}
	return nil, s.fail("%s where a value belongs", s.here())
}

func (s *scanner) object(depth int) (any, error) {
	s.at++
	m := map[string]any{}
	for first := true; ; first = false {
		s.space()
		if first && s.at < len(s.text) && s.text[s.at] == '}' {
			s.at++
			return m, nil
		}
		if s.at >= len(s.text) || s.text[s.at] != '"' {
			return nil, s.fail("%s where a key in quotes belongs", s.here())
		}
		start := s.at
		key, err := s.str()
		if err != nil {
			return nil, err
		}
		if s.space(); s.at >= len(s.text) || s.text[s.at] != ':' {
			return nil, s.fail("%s where : belongs", s.here())
		}
		s.at++
		s.space()
		before := len(m)
		v, err := s.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if m[key] = v; len(m) == before {
			s.at = start
			return nil, s.fail("key %q is given twice", key)
		}
		s.space()
		switch {
		case s.at < len(s.text) && s.text[s.at] == ',':
			s.at++
		case s.at < len(s.text) && s.text[s.at] == '}':
			s.at++
			return m, nil
		default:
			return nil, s.fail("%s where , or } belongs", s.here())
		}
	}
}

func (s *scanner) array(depth int) (any, error) {
	s.at++
	list := []any{}
	for first := true; ; first = false {
		s.space()
		if first && s.at < len(s.text) && s.text[s.at] == ']' {
			s.at++
			return list, nil
		}
		v, err := s.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		s.space()
		switch {
		case s.at < len(s.text) && s.text[s.at] == ',':
			s.at++
		case s.at < len(s.text) && s.text[s.at] == ']':
			s.at++
			return list, nil
		default:
			return nil, s.fail("%s where , or ] belongs", s.here())
		}
	}
}

func (s *scanner) digits() bool {
	start := s.at
	for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
		s.at++
	}
	return s.at > start
}

func (s *scanner) number() (any, error) {
	start := s.at
	if s.text[s.at] == '-' {
		s.at++
	}
	if s.at < len(s.text) && s.text[s.at] == '0' {
		s.at++
	} else if !s.digits() {
		return nil, s.fail("%s where a digit belongs", s.here())
	}
	if s.at < len(s.text) && s.text[s.at] == '.' {
		s.at++
		if !s.digits() {
			return nil, s.fail("%s where a digit belongs", s.here())
		}
	}
	if s.at < len(s.text) && (s.text[s.at] == 'e' || s.text[s.at] == 'E') {
		s.at++
		if s.at < len(s.text) && (s.text[s.at] == '+' || s.text[s.at] == '-') {
			s.at++
		}
		if !s.digits() {
			return nil, s.fail("%s where a digit belongs", s.here())
		}
	}
	n := json.Number(strings.Clone(s.text[start:s.at]))
	if len(n) > 300 || strings.ContainsAny(string(n), "eE") { // others cannot overflow
		if f, err := n.Float64(); err != nil || math.IsInf(f, 0) {
			s.at = start
			return nil, s.fail("a number too large to hold")
		}
	}
	return n, nil
}

// str reads a string in quotes.
func (s *scanner) str() (string, error) {
	s.at++
	start := s.at
	ascii := true
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '"':
			out := s.text[start:s.at]
			if !ascii && !utf8.ValidString(out) {
				s.at = start
				return "", s.fail("a string that is not valid UTF-8")
			}
			s.at++
			return strings.Clone(out), nil
		case c == '\\':
			return s.escaped(start)
		case c < 0x20:
			return "", s.fail("a control character in a string: write it as \\u%04x", c)
		case c >= 0x80:
			ascii = false
		}
		s.at++
	}
	return "", s.fail("the text ends inside a string")
}

// escaped goes on with a string whose first backslash is at s.at.
func (s *scanner) escaped(start int) (string, error) {
	b := append(make([]byte, 0, s.at-start+32), s.text[start:s.at]...)
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '"':
			if !utf8.Valid(b) {
				s.at = start
				return "", s.fail("a string that is not valid UTF-8")
			}
			s.at++
			return string(b), nil
		case c == '\\':
			var err error
			if b, err = s.escape(b); err != nil {
				return "", err
			}
		case c < 0x20:
			return "", s.fail("a control character in a string: write it as \\u%04x", c)
		default:
			b = append(b, c)
			s.at++
		}
	}
	return "", s.fail("the text ends inside a string")
}

func (s *scanner) escape(b []byte) ([]byte, error) {
	if s.at+1 >= len(s.text) {
		return nil, s.fail("the text ends inside a string")
	}
	const plain, means = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	c := s.text[s.at+1]
	if i := strings.IndexByte(plain, c); i >= 0 {
		s.at += 2
		return append(b, means[i]), nil
	}
	if c != 'u' {
		return nil, s.fail("unknown escape %q", s.text[s.at:s.at+2])
	}
	r, ok := s.unit()
	if !ok {
		return nil, s.fail("\\u takes four hexadecimal digits")
	}
	if utf16.IsSurrogate(r) {
		low, ok := s.unit()
		if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
			return nil, s.fail("half of a surrogate pair in a string")
		}
	}
	return utf8.AppendRune(b, r), nil
}

// unit reads \uXXXX.
func (s *scanner) unit() (rune, bool) {
	if s.at+6 > len(s.text) || s.text[s.at] != '\\' || s.text[s.at+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range []byte(s.text[s.at+2 : s.at+6]) {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	s.at += 6
	return r, true
}
