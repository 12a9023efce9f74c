package gate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/registry"
)

func TestScreen(t *testing.T) {
	r, err := registry.Parse([]byte(contract), registry.Options{})
	require.NoError(t, err)
	phrases := []string{"rm -rf", "nuke", "wipe", "shred", "delete all", "all files", "delete everything", "format drive"}
	for _, tc := range []struct {
		name, request string
		refused       bool
	}{
		{"a word", "Nuke the folder with my songs.", true},
		{"a word is a word", "show nuked.txt and swipes", false},
		{"not inside a file name", "split wipe.pdf at 2", false},
		{"not inside a path", "list delete/all/files", false},
		{"a single word is never narrowed", "Shred taxes.pdf for ever.", true},
		{"case, punctuation", "please WIPE, now", true},
		{"a phrase", "delete all of it", true},
		{"across a hyphen", "run rm -rf on it", true},
		{"invisible characters do not hide it", "wi\u200bpe it", true},
		{"wide characters do not hide it", "ｗｉｐｅ it", true},
		{"narrowed by a kind", "delete all log files in logs", false},
		{"narrowed by a kind in the plural", "delete all logs", false},
		{"narrowed by a file", "merge all files in a.pdf", false},
		{"narrowed by a pattern", "delete all *.tmp", false},
		{"narrowed by an extension", "delete all mp3 files", false},
		{"a wildcard alone narrows nothing", "delete all *", true},
		{"nor does a folder", "delete all in photos/2024", true},
		{"nor a word for everything", "rm -rf everything", true},
		{"nor a batch word that is a value", "delete all, both of them", true},
		{"nor another spelling of one", "delete all the lot", true},
		{"nor a word for files of any kind", "delete all files and folders", true},
		{"nor how it is sorted", "delete all by image", true},
		{"nor a kind that is a place", "delete all in archive", true},
		{"nor what is left out", "delete all except log files", true},
		{"nor what is named besides", "delete everything including a.pdf", true},
		{"nor another clause", "delete everything and convert a.pdf", true},
		{"nor another sentence", "Delete everything. Then list a.pdf", true},
		{"nor a sequence", "delete all then list a.pdf", true},
		{"two phrases, one narrowed", "delete all log files and wipe it", true},
		{"in another order it is no phrase", "files all of them", false},
		{"nothing", "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := NewPhrases(phrases, r).Screen(tc.request)
			if tc.refused {
				require.Equal(t, Reject, d.Outcome)
				require.NotEmpty(t, d.Reason)
			} else {
				require.Equal(t, Proceed, d.Outcome, d.Reason)
			}
		})
	}
}
