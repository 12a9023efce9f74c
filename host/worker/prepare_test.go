package worker

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMergeData(t *testing.T) {
	seg := func(at int64, data string) []byte {
		b := append([]byte{0, 0x41}, varint32Bytes(at)...)
		return append(append(b, 0x0b, byte(len(data))), data...)
	}
	join := func(segs ...[]byte) []byte {
		b := []byte{byte(len(segs))}
		for _, s := range segs {
			b = append(b, s...)
		}
		return b
	}
	for name, c := range map[string]struct {
		body, want []byte
	}{
		"neighbours":           {join(seg(8, "ab"), seg(10, "cd")), join(seg(8, "abcd"))},
		"a gap":                {join(seg(8, "ab"), seg(12, "cd")), join(seg(8, "ab\x00\x00cd"))},
		"backwards":            {join(seg(70, "cd"), seg(68, "ab")), join(seg(68, "abcd"))},
		"the later one wins":   {join(seg(8, "aaaa"), seg(9, "bb")), join(seg(8, "abba"))},
		"one stays":            {join(seg(8, "ab")), nil},
		"beyond the memory":    {join(seg(8, "ab"), seg(65535, "cd")), nil},
		"a negative offset":    {join(seg(8, "ab"), seg(-4, "cd")), nil},
		"a passive one":        {append(join(seg(8, "ab")), 1, 1, 'x'), nil},
		"a global's offset":    {[]byte{2, 0, 0x23, 0, 0x0b, 1, 'x', 0, 0x41, 0, 0x0b, 1, 'y'}, nil},
		"something left over":  {append(join(seg(8, "ab"), seg(10, "cd")), 0), nil},
		"ends in the middle":   {join(seg(8, "ab"), seg(10, "cd"))[:9], nil},
		"a count without data": {[]byte{9, 0, 0x41}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := mergeData(c.body, 1<<16)
			require.Equal(t, c.want != nil, ok)
			require.Equal(t, c.want, got)
		})
	}
}
