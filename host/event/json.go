package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON is a Handler that writes one JSON object a line: "type" first, then the
// event's fields. Lists are never null.
//
// A reader gets every file name back byte for byte. JSON strings hold Unicode
// only, file names hold bytes, so a string that is not valid UTF-8, or that
// holds a backslash followed by x, is written escaped: each backslash doubled,
// each stray byte as \xNN (that is `\\xNN` in the raw JSON). [Unescape] is the
// inverse. Every other string stands as it is, and so does all of a step's
// result, which is the step's own JSON.
//
// Control, format and bidirectional characters are written as \uXXXX, which
// means the same to a parser and nothing to a terminal.
type JSON struct{ w io.Writer }

// NewJSON returns a handler that writes to w, one Write an event.
func NewJSON(w io.Writer) *JSON { return &JSON{w: w} }

// Handle implements Handler. Its error is that of the writer, or of a field
// that no JSON can hold.
func (j *JSON) Handle(e Event) error {
	line, err := Line(e)
	if err != nil {
		return err
	}
	if _, err := j.w.Write(line); err != nil {
		return fmt.Errorf("write event %s: %w", e.Type(), err)
	}
	return nil
}

// Line returns the event as the line that JSON writes, its newline included.
func Line(e Event) ([]byte, error) {
	body, err := Encode(e)
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", e.Type(), err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"type":%q`, e.Type())
	if rest := body[1:]; len(rest) > 1 { // more than the closing brace
		b.WriteByte(',')
		b.Write(rest)
	} else {
		b.WriteByte('}')
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// Encode returns v as JSON under the rules of [JSON], for the commands that
// print one object.
func Encode(v any) ([]byte, error) {
	copied := escapeValue(reflect.ValueOf(v))
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(copied.Interface()); err != nil {
		return nil, err
	}
	return escapeInvisible(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// rawMessage is JSON already: its strings are not file names to be escaped.
var rawMessage = reflect.TypeFor[json.RawMessage]()

// escapeValue copies v with every string escaped and every nil list empty. A
// type that marshals itself is kept whole.
func escapeValue(v reflect.Value) reflect.Value {
	if !v.IsValid() || v.Type() == rawMessage || marshals(v.Type()) {
		return v
	}
	switch v.Kind() {
	case reflect.String:
		out := reflect.New(v.Type()).Elem()
		out.SetString(Escape(v.String()))
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(escapeValue(v.Field(i)))
			}
		}
		return out
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(escapeValue(v.Index(i)))
		}
		return out
	case reflect.Map:
		out := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			out.SetMapIndex(escapeValue(it.Key()), escapeValue(it.Value()))
		}
		return out
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(escapeValue(v.Elem()))
		return out
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		out.Set(escapeValue(v.Elem()))
		return out
	}
	return v
}

var marshaler = reflect.TypeFor[json.Marshaler]()

func marshals(t reflect.Type) bool { return t.Kind() != reflect.Interface && t.Implements(marshaler) }

// Escape makes s valid UTF-8 so that Unescape gives s back.
func Escape(s string) string {
	if utf8.ValidString(s) && !strings.Contains(s, `\x`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\\':
			b.WriteString(`\\`)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// Unescape is the inverse of Escape: it returns the bytes that s stands for,
// and an error for text that Escape never makes.
func Unescape(s string) (string, error) {
	if !strings.Contains(s, `\x`) {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		var stray byte
		switch {
		case strings.HasPrefix(s[i:], `\\`):
			b.WriteByte('\\')
			i++
		case i+4 <= len(s) && s[i+1] == 'x' && hexByte(s[i+2:i+4], &stray):
			b.WriteByte(stray)
			i += 3
		default:
			return "", fmt.Errorf("%q holds a backslash that escapes nothing", s)
		}
	}
	return b.String(), nil
}

func hexByte(s string, out *byte) bool {
	var n byte
	for _, c := range []byte(s) {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | (c - '0')
		case c >= 'a' && c <= 'f':
			n = n<<4 | (c - 'a' + 10)
		default:
			return false
		}
	}
	*out = n
	return true
}

// escapeInvisible writes control and format characters of encoded JSON as
// \uXXXX. They can only stand inside its strings.
func escapeInvisible(text []byte) []byte {
	clean := true
	for _, r := range string(text) {
		clean = clean && !invisible(r)
	}
	if clean {
		return text
	}
	var b bytes.Buffer
	for _, r := range string(text) {
		switch {
		case !invisible(r):
			b.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

func invisible(r rune) bool {
	return r >= 0x7f && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}
