package worker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deep JSON from a guest may nest.
const maxDepth = 64

// strictJSON decodes b into v. Unlike encoding/json it refuses invalid UTF-8,
// lone surrogates, duplicate keys (the fields of v are matched without case,
// so those are compared without case too), deep nesting, and anything after
// the value: two readers of one answer must not see two answers.
func strictJSON(b []byte, v any) error {
	if err := checkJSON(b); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		var te *json.UnmarshalTypeError
		if errors.As(err, &te) {
			return fmt.Errorf("%q is a %s, want %s", te.Field, te.Value, te.Type)
		}
		return err
	}
	return nil
}

// checkJSON checks that b is exactly one strict JSON value.
func checkJSON(b []byte) error {
	if !utf8.Valid(b) {
		return errors.New("not valid UTF-8")
	}
	s := jsonScan{b: b}
	s.space()
	if err := s.value(0); err != nil {
		return err
	}
	s.space()
	if s.i != len(b) {
		return fmt.Errorf("something follows the JSON value at byte %d", s.i)
	}
	return nil
}

type jsonScan struct {
	b []byte
	i int
}

func (s *jsonScan) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

func (s *jsonScan) bad(what string) error {
	if s.i >= len(s.b) {
		return errors.New("not JSON: it ends too early")
	}
	return fmt.Errorf("not JSON: %s at byte %d", what, s.i)
}

// next consumes c, and says whether it was there.
func (s *jsonScan) next(c byte) bool {
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

func (s *jsonScan) value(depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("nested deeper than %d", maxDepth)
	}
	if s.i >= len(s.b) {
		return s.bad("")
	}
	switch c := s.b[s.i]; {
	case c == '{':
		return s.object(depth)
	case c == '[':
		return s.array(depth)
	case c == '"':
		_, err := s.str()
		return err
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	}
	for _, w := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(s.b[s.i:], []byte(w)) {
			s.i += len(w)
			return nil
		}
	}
	return s.bad("unexpected character")
}

func (s *jsonScan) object(depth int) error {
	s.i++
	s.space()
	if s.next('}') {
		return nil
	}
	// A few keys are compared one by one; a map is made for many.
	var few [8]string
	var many map[string]bool
	n := 0
	for {
		raw, err := s.str()
		if err != nil {
			return err
		}
		key := raw
		if strings.IndexByte(raw, '\\') >= 0 {
			if err := json.Unmarshal([]byte(`"`+raw+`"`), &key); err != nil {
				return err
			}
		}
		if depth <= 1 {
			key = strings.ToLower(key)
		}
		dup := many[key]
		for i := 0; many == nil && i < n; i++ {
			dup = dup || few[i] == key
		}
		if dup {
			return fmt.Errorf("key %q appears twice", clip(key, 80))
		}
		switch {
		case many != nil:
			many[key] = true
		case n < len(few):
			few[n] = key
		default:
			many = map[string]bool{key: true}
			for _, k := range few {
				many[k] = true
			}
		}
		n++
		s.space()
		if !s.next(':') {
			return s.bad("no colon")
		}
		s.space()
		if err := s.value(depth + 1); err != nil {
			return err
		}
		s.space()
		if s.next('}') {
			return nil
		}
		if !s.next(',') {
			return s.bad("no comma")
		}
		s.space()
	}
}

func (s *jsonScan) array(depth int) error {
	s.i++
	s.space()
	if s.next(']') {
		return nil
	}
	for {
		if err := s.value(depth + 1); err != nil {
			return err
		}
		s.space()
		if s.next(']') {
			return nil
		}
		if !s.next(',') {
			return s.bad("no comma")
		}
		s.space()
	}
}

// str consumes a string and returns what is between its quotes, raw.
func (s *jsonScan) str() (string, error) {
	if !s.next('"') {
		return "", s.bad("no string")
	}
	start := s.i
	for s.i < len(s.b) {
		switch c := s.b[s.i]; {
		case c == '"':
			raw := string(s.b[start:s.i])
			s.i++
			return raw, nil
		case c < 0x20:
			return "", s.bad("control character in a string")
		case c == '\\':
			if err := s.escape(); err != nil {
				return "", err
			}
		default:
			s.i++
		}
	}
	return "", s.bad("")
}

func (s *jsonScan) escape() error {
	s.i++
	if s.i >= len(s.b) {
		return s.bad("")
	}
	switch s.b[s.i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.i++
		return nil
	case 'u':
		r, ok := s.hex()
		if !ok {
			return s.bad("bad escape")
		}
		if utf16.IsSurrogate(r) {
			if r >= 0xdc00 || s.i+1 >= len(s.b) || s.b[s.i] != '\\' || s.b[s.i+1] != 'u' {
				return errors.New("a lone surrogate in a string")
			}
			s.i++
			if low, ok := s.hex(); !ok || low < 0xdc00 || low > 0xdfff {
				return errors.New("a lone surrogate in a string")
			}
		}
		return nil
	}
	return s.bad("bad escape")
}

// hex consumes u and four digits.
func (s *jsonScan) hex() (rune, bool) {
	if s.i+5 > len(s.b) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s.b[s.i+1:s.i+5]), 16, 16)
	s.i += 5
	return rune(n), err == nil
}

func (s *jsonScan) number() error {
	s.next('-')
	switch {
	case s.next('0'):
	case s.digits() == 0:
		return s.bad("bad number")
	}
	if s.next('.') && s.digits() == 0 {
		return s.bad("bad number")
	}
	if s.next('e') || s.next('E') {
		if !s.next('+') {
			s.next('-')
		}
		if s.digits() == 0 {
			return s.bad("bad number")
		}
	}
	return nil
}

func (s *jsonScan) digits() (n int) {
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
		s.i++
		n++
	}
	return n
}

// clip shortens s to at most n bytes at a rune boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// clean makes text from a guest fit for one line of a message: valid UTF-8,
// no control and no bidirectional characters, at most n bytes.
func clean(s string, n int) string {
	s = clip(strings.ToValidUTF8(s, "\ufffd"), n)
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return ' '
		case r < 0x20, r >= 0x7f && r < 0xa0, r == 0x061c, r == 0x200e, r == 0x200f,
			r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return -1
		}
		return r
	}, s)
}
