package worker

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/admission"
)

// Whatever a child sends, reading a frame ends, takes no more memory than the
// cap, and an accepted frame is exactly the bytes that were read.
func FuzzFrame(f *testing.F) {
	var b bytes.Buffer
	require.NoError(f, writeFrame(&b, kindResult, result{End: endOK}, []byte(`{"result":1}`)))
	f.Add(b.Bytes())
	f.Add(header(kindOutput, 0, 1<<31-1))
	f.Add(header(kindReady, 1<<31-1, 0))
	f.Add([]byte{frameVersion + 1, byte(kindReady), 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{frameVersion})
	f.Fuzz(func(t *testing.T, in []byte) {
		const limit = 1 << 16
		fr, err := readFrame(bufio.NewReader(bytes.NewReader(in)), limit)
		if err != nil {
			return
		}
		require.LessOrEqual(t, len(fr.body), limit)
		again := append(header(fr.kind, len(fr.head), len(fr.body)), fr.head...)
		require.True(t, bytes.HasPrefix(in, append(again, fr.body...)))
	})
}

// The strict reader accepts a part of JSON: it never accepts what the lenient
// one refuses, and refuses valid JSON for the stated reasons alone.
func FuzzStrictJSON(f *testing.F) {
	for _, s := range []string{`{"result":{"a":[1,2.5e-3,true,null,"x\u00e9\ud83d\ude00"]},"verified":true,"issues":["x"]}`,
		`{"a":1,"A":2}`, `{"a":{"b":1,"b":2}}`, `"\ud800"`, `[[[[]]]]`, `{"a":1}{}`, `01`, `-`, `1e`, `NaN`, "\"\xff\"", `"\x"`, ` `,
		`{"result":1,"verified":"x"}`, `{"code":"failed","message":"m"}`, strings.Repeat("[", 70) + strings.Repeat("]", 70)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		err := checkJSON(in)
		valid := json.Valid(in) && utf8.Valid(in)
		if err == nil {
			require.True(t, valid)
			var v any
			require.NoError(t, strictJSON(in, &v))
			var r abi.StepResponse
			_ = strictJSON(in, &r) // a wrong type is an error, and no panic
			return
		}
		if valid {
			msg := err.Error()
			require.True(t, strings.Contains(msg, "twice") || strings.Contains(msg, "surrogate") || strings.Contains(msg, "deeper"), msg)
		}
	})
}

// Whatever admission lets through is rewritten without a panic, into modules
// that admission lets through.
func FuzzPrepare(f *testing.F) {
	f.Add([]byte("\x00asm\x01\x00\x00\x00"))
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x05\x03\x01\x00\x01\x0a\x04\x01\x02\x00\x0b\x0b\x0d\x02" +
		"\x00\x41\x00\x0b\x01a\x00\x41\x04\x0b\x01b"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if admission.Check(in, admission.Structure) != nil {
			return
		}
		full, stub, err := prepare(in)
		if errors.Is(err, errMalformed) {
			return
		}
		require.NoError(t, err)
		require.NoError(t, admission.Check(full, admission.Structure))
		require.NoError(t, admission.Check(stub, admission.Structure))
	})
}

// Text for a person has no character that moves the cursor, colours, or turns
// the direction of writing, however it is cut.
func FuzzClean(f *testing.F) {
	f.Add("a\x1b[2Jb\u202ec\r\nd\u009b31m", 8)
	f.Fuzz(func(t *testing.T, s string, n int) {
		if n < 0 || n > 1<<16 {
			return
		}
		out := clean(s, n)
		require.True(t, utf8.ValidString(out))
		require.LessOrEqual(t, len(out), n+len("…"))
		require.NotContains(t, out, "\x1b")
		require.False(t, strings.ContainsFunc(out, func(r rune) bool {
			return r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
		}))
	})
}
