package lexicon_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/lexicon"
)

// Ranges are read in words too, and end before what counts something else.
func TestRanges(t *testing.T) {
	for in, want := range map[string]string{
		"3":                  "3",
		"4-6":                "4-6",
		"2 to 5":             "2-5",
		"2 bis 5":            "2-5",
		"2 à 4":              "2-4",
		"1到3":                "1-3",
		"2 and 3":            "2,3",
		"1, 3 und 5":         "1,3,5",
		"1-2 and 7":          "1-2,7",
		"1-2 to 7":           "1-2",
		"3 and 90 degrees":   "3",
		"2 to the end":       "2",
		"three":              "",
		"3 and then 5 pages": "3",
	} {
		got, _ := lexicon.Reader{Tokens: lexicon.Tokenize(in)}.Ranges(0)
		require.Equal(t, want, got, in)
	}
}
