package gate

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPathAnswer(t *testing.T) {
	for answer, want := range map[string]string{
		"backup":                 "backup",
		" backup/ ":              "backup/",
		"to backup":              "backup",
		"into the folder backup": "backup",
		"in the backup folder":   "backup",
		"nach archiv/2026":       "archiv/2026",
		"в папку архив":          "архив",
		"my holiday photo.jpg":   "holiday photo.jpg",
		`"to backup"`:            "to backup",
		"to":                     "to",
		"the":                    "the",
		"holiday  photo.jpg":     "holiday  photo.jpg",
		"$odd.txt":               "$odd.txt",
		"":                       "",
		`"`:                      `"`,
	} {
		require.Equal(t, want, PathAnswer(answer), "%q", answer)
	}
}
