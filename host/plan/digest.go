package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
)

// Digest is a SHA-256 over canonical JSON.
type Digest [32]byte

// String returns the digest in hex.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// ParseDigest reads a digest as String writes it.
func ParseDigest(s string) (Digest, error) {
	var d Digest
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(d) {
		return d, fault.New(fault.Usage, "%q is not a digest: 64 hexadecimal digits are", s)
	}
	copy(d[:], b)
	return d, nil
}

// Digest identifies the program's calls: SHA-256 over their JSON without
// spaces, keys sorted by byte, numbers as written, absent outputs left out. The
// order of keys makes no difference to it; everything else does.
func (p Program) Digest() Digest {
	return sha256.Sum256(appendCalls(make([]byte, 0, 512*len(p.calls)), p.calls))
}

func appendCalls(b []byte, calls []abi.Call) []byte {
	b = append(b, '[')
	for i := range calls {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"args":`...)
		b = appendObject(b, calls[i].Args)
		if calls[i].Output != "" {
			b = append(b, `,"output":`...)
			b = appendString(b, calls[i].Output)
		}
		b = append(b, `,"tool":`...)
		b = append(appendString(b, calls[i].Tool), '}')
	}
	return append(b, ']')
}

func appendObject(b []byte, m map[string]any) []byte {
	var space [16]string
	keys := space[:0]
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	b = append(b, '{')
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, k), ':')
		b = appendValue(b, m[k])
	}
	return append(b, '}')
}

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return appendString(b, v)
	case json.Number:
		return append(b, v...)
	case bool:
		if v {
			return append(b, "true"...)
		}
		return append(b, "false"...)
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, e)
		}
		return append(b, ']')
	case map[string]any:
		return appendObject(b, v)
	case nil:
		return append(b, "null"...)
	}
	// Validation lets no other type through; should one come, it must not be
	// mistaken for anything else.
	return appendString(b, fmt.Sprintf("\x00%T %v", v, v))
}

const hexDigits = "0123456789abcdef"

// appendString escapes what JSON requires and nothing more, so that one string
// has one form.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[start:i]...)
		if c < 0x20 {
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		} else {
			b = append(b, '\\', c)
		}
		start = i + 1
	}
	return append(append(b, s[start:]...), '"')
}
