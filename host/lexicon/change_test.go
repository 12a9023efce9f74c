package lexicon

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A level that is said to go down must never come out as one that goes up, and
// a number whose unit stands apart must keep it.
func TestChange(t *testing.T) {
	for _, c := range []struct {
		in   string
		more bool
		want any
	}{
		{"6 dB", true, "6dB"}, {"6dB", true, "6dB"}, {"3 dB", false, "-3dB"}, {"6 дБ", true, "6dB"}, {"5分贝", false, "-5dB"},
		{"50%", true, 1.5}, {"25 percent", false, 0.75}, {"100%", false, nil}, {"2x", true, int64(2)}, {"3 times", false, 0.3333},
		{"0.5x", false, 0.5}, {"half", true, 1.5}, {"half", false, 0.5}, {"2 раза", false, 0.5}, {"10 MB", true, nil}, {"word", true, nil},
	} {
		got, n := Reader{Tokens: Tokenize(c.in)}.Change(0, c.more)
		require.Equal(t, c.want, got, "%q more=%v", c.in, c.more)
		require.Equal(t, c.want != nil, n > 0, c.in)
	}
}

func TestMeasures(t *testing.T) {
	at := func(s string) Reader { return Reader{Tokens: Tokenize(s)} }
	for in, want := range map[string][2]int64{"1280x720": {1280, 720}, "1280×720": {1280, 720}, "640 x 360": {640, 360}, "9x16": {}, "2x": {}, "0x0": {}, "99999999999x720": {}} {
		w, h, _ := at(in).Dimensions(0)
		require.Equal(t, want, [2]int64{w, h}, in)
	}
	for in, want := range map[string]string{"1080p": "1080p", "4k": "4k", "1280x720": "1280x720", "500k": "", "p": ""} {
		got, _ := at(in).Resolution(0)
		require.Equal(t, want, got, in)
	}
	for in, want := range map[string]string{"192k": "192k", "56kbps": "56k", "128 kbit/s": "128k", "192": "", "5 MB": ""} {
		got, _ := at(in).Bitrate(0)
		require.Equal(t, want, got, in)
	}
	for in, want := range map[string]float64{"700 KB": 0.7, "25 MB": 25, "1.5 GB": 1500, "300 Ko": 0.3} {
		got, _ := at(in).Megabytes(0)
		require.Equal(t, want, got, in) // exactly: 0.7000000000000001 would be shown to a person
	}
}
