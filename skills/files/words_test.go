package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/guest-sdk"
)

// A person approves what the sentence says: every filter of the call must stand
// in it.
func TestSummaries(t *testing.T) {
	for _, c := range []struct {
		tool string
		args args
		want string
	}{
		{"list_files", args{"path": []string{"inbox"}, "pattern": []string{"*.pdf"}}, "list files and folders in inbox, named *.pdf"},
		{"list_files", args{"details": true, "sort": "size", "recursive": true}, "list files and folders in this folder, in all folders below too, sorted by size, largest first, with details"},
		{"find_files", args{"path": []string{"a", "b c"}, "file_type": []string{"image", "video"}, "min_size": "5MB", "max_size": "1GB", "limit": 10, "sort": "size", "save_to": "big.csv"},
			`find image or video files in a and "b c", of at least 5 MB, of at most 1 GB, the first 10, sorted by size, largest first; save the list to big.csv`},
		{"find_files", args{"regex": "^a.*z$", "ignore_case": false, "depth": 1, "hidden": "include", "newer_than": "ref.txt"},
			"find files in this folder, whose name matches /^a.*z$/, in exactly this case, newer than ref.txt, hidden ones too, not in folders below"},
		{"find_files", args{"kind": "folders", "empty": true, "depth": 3}, "find empty folders in this folder, 3 levels deep"},
		{"find_files", args{"hidden": "only", "empty": false, "accessed_before": "2026-01-01", "order": "desc"}, "find hidden files in this folder, not empty, last opened before 2026-01-01, in reverse order"},
		{"folder_summary", args{"by": "type"}, "add up the sizes, for each type, of files in this folder, hidden ones too"},
		{"find_duplicates", args{"path": []string{"pictures"}, "file_type": []string{"image"}}, "find files of the same content among image files in pictures"},
		{"delete_files", args{"path": []string{"build"}, "file_type": []string{"temporary"}, "modified_before": "2026-10-30", "exclude": []string{"cache/"}},
			"delete temporary files in build, last changed before 2026-10-30, but not cache/"},
		{"delete_files", args{"items": "$found.duplicates"}, "delete the duplicates that an earlier step found"},
		{"delete_files", args{"items": "$found.kept"}, "delete the files that an earlier step would keep"},
		{"delete_files", args{"items": "$found.paths", "min_size": "$x"}, "delete what an earlier step found; min_size comes from an earlier step"},
		{"delete_files", args{"items": []string{"$$RECYCLE.BIN", "$5.txt"}}, "delete $RECYCLE.BIN and $5.txt"},
		{"delete_files", args{"items": []string{"a", "b"}, "empty": true, "file_type": []string{"log"}}, "delete a and b, only empty log files"},
		{"make_archive", args{"items": "$found.paths", "output": "a.zip"}, "pack what an earlier step found, into a.zip (zip)"},
		{"extract_archive", args{"path": []string{"downloads"}, "modified_before": "2026-01-01"}, "unpack archive files in downloads, last changed before 2026-01-01, each into a folder of its name"},
		{"extract_archive", args{"input": "$found.paths", "dst": "out"}, "unpack what an earlier step found, each into a folder of its name in out"},
		{"delete_files", args{"items": []string{"a.txt", "old stuff"}, "older_than": "x"}, `delete a.txt and "old stuff", older than x`},
		{"move_files", args{"src": []string{"inbox"}, "pattern": []string{"*invoice*"}, "dst": "archive/2026", "keep_folders": true},
			"move files in inbox, named *invoice*, to archive/2026, with the folders they lie in"},
		{"move_files", args{"src": []string{"inbox/todo.txt"}, "dst": "documents/todo.txt"}, "move inbox/todo.txt, to documents/todo.txt"},
		{"delete_files", args{"path": []string{"inbox/todo.txt"}, "pattern": []string{"*.md"}}, "delete files in inbox/todo.txt, named *.md"},
		{"copy_files", args{"items": []string{"a"}, "dst": "b"}, "copy a, to b"},
		{"rename_files", args{"path": []string{"."}, "find": "x", "prefix": "new-", "case": "lower", "number": true, "start": 5, "extension": ".md"},
			`rename files in this folder: take away "x", make it lower case, put "new-" in front, number them from 5, change the extension to md`},
		{"rename_files", args{"items": []string{"a.txt"}, "new_name": "b.txt"}, "rename a.txt: call it b.txt"},
		{"make_folder", args{"paths": []string{"a", "b"}}, "make the folders a and b"},
		{"make_archive", args{"path": []string{"logs"}, "file_type": []string{"log"}, "output": "logs.zip"}, "pack log files in logs, into logs.zip (zip)"},
		{"make_archive", args{"items": []string{"site"}, "format": "tar.gz"}, "pack site, into site.tar.gz (tar.gz)"},
		{"extract_archive", args{"input": []string{"a.zip"}}, "unpack a.zip, into a folder of its name"},
		{"organize_files", args{"path": []string{"downloads"}, "by": "month", "dst": "sorted"}, "sort files in downloads, into a folder for each month, below sorted"},
	} {
		t.Run(c.want, func(t *testing.T) {
			full := args{}
			for k, v := range contract(t).defaults(c.tool) {
				full[k] = v
			}
			for k, v := range c.args {
				full[k] = v
			}
			got, err := guest.Native{}.Summarize(served, guest.Call{Tool: c.tool, Args: full})
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

// Every public tool has a sentence, and the example plans of the contract can
// be told.
func TestEveryPublicToolHasASummary(t *testing.T) {
	for _, tool := range contract(t).Tools() {
		if tool.Core || tool.Internal {
			continue
		}
		got, err := guest.Native{}.Summarize(served, guest.Call{Tool: tool.Name, Args: tool.Defaults})
		require.NoError(t, err, tool.Name)
		require.NotEmpty(t, got)
	}
}
