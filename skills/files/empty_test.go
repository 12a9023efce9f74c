package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
)

// What an earlier step found may be nothing. A filter that is empty then must
// not become no filter at all, and no place must not become every place.
func TestEmptyIsNotEverything(t *testing.T) {
	start := []string{"build/a.o", "build/b.tmp", "notes.txt"}
	for name, c := range map[string]struct {
		tool string
		args args
		why  string // "": nothing is done, without an error
	}{
		"pattern":            {"delete_files", args{"path": []string{"build"}, "pattern": []string{}}, `argument "pattern" is an empty list`},
		"type":               {"delete_files", args{"path": []string{"build"}, "file_type": []string{}}, `argument "file_type" is an empty list`},
		"exclude":            {"delete_files", args{"path": []string{"build"}, "exclude": []string{}}, `argument "exclude" is an empty list`},
		"regex":              {"delete_files", args{"path": []string{"build"}, "regex": ""}, "regex is empty"},
		"date":               {"delete_files", args{"path": []string{"build"}, "modified_before": ""}, `"" is not a date`},
		"a file beside":      {"delete_files", args{"path": []string{"build"}, "older_than": ""}, `argument "older_than" is an empty path`},
		"null":               {"delete_files", args{"path": []string{"build"}, "pattern": nil}, `argument "pattern" is null`},
		"an intent's filter": {"make_archive", args{"path": []string{"build"}, "pattern": []string{}, "output": "a.zip"}, `argument "pattern" is an empty list`},
		"no items to delete": {"delete_files", args{"items": []string{}}, ""},
		"no items to move":   {"move_files", args{"items": []string{}, "dst": "out"}, ""},
		"no items to copy":   {"copy_files", args{"items": []string{}, "dst": "out"}, ""},
		"no items to rename": {"rename_files", args{"items": []string{}, "prefix": "x-"}, ""},
		"no folders":         {"rename_files", args{"path": []string{}, "prefix": "x-"}, ""},
		"no folders to find": {"find_files", args{"path": []string{}}, ""},
		"no items to pack":   {"make_archive", args{"items": []string{}, "output": "a.zip"}, "nothing matches"},
		"nothing to unpack":  {"scan_files", args{"items": []string{}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := box(t, start...)
			results, err := call(t, dir, c.tool, c.args)
			if c.why != "" {
				require.ErrorContains(t, err, c.why)
			} else {
				require.NoError(t, err)
				require.Zero(t, last[struct{ Count int }](t, results).Count)
			}
			require.Equal(t, start, tree(t, dir))
		})
	}
	// The same as the product does it, with a variable that comes to nothing.
	dir := box(t, start...)
	look := abi.Call{Tool: "find_files", Args: args{"pattern": []string{"*.pdf"}}, Output: "$found"}
	result, err := inModule(t, dir, withDefaults(t, []abi.Call{look, {Tool: "rename_files", Args: args{"items": "$found.paths", "prefix": "x-"}}})...)
	require.NoError(t, err)
	require.Zero(t, last[Moved](t, result.Results).Count)
	_, err = inModule(t, dir, withDefaults(t, []abi.Call{look, {Tool: "delete_files", Args: args{"path": []string{"."}, "pattern": "$found.paths"}}})...)
	require.ErrorContains(t, err, `argument "pattern" is an empty list`)
	_, err = inModule(t, dir, abi.Call{Tool: "delete_files", Args: args{"path": []string{"build"}, "pattern": []string{}}})
	require.ErrorContains(t, err, `"pattern" is an empty list`)
	require.Equal(t, start, tree(t, dir))
}

// Bounds that exclude each other and patterns that are none match nothing, and
// an exclusion that is none keeps nothing: a person is told.
func TestImpossibleFilters(t *testing.T) {
	dir := box(t, "build/a.o", "build/report[1.pdf", "ref.txt")
	age(t, dir, "build/a.o", 10)
	age(t, dir, "ref.txt", 5)
	for why, a := range map[string]args{
		"min_size and max_size exclude each other: nothing is at least 2 MB and at most 1 kB": {"min_size": "2MB", "max_size": 1000},
		"nothing was last changed at or after 2026-02-01 00:00:00 and before 2026-01-01":      {"modified_after": "2026-02-01", "modified_before": "2026-01-01"},
		"nothing was last opened at or after 2026-01-01":                                      {"accessed_after": "2026-01-01", "accessed_before": "2026-01-01"},
		"the times exclude each other: nothing was last changed at or after 2026-11-29":       {"newer_than": "ref.txt", "modified_before": "2026-11-01", "modified_after": "2026-11-29"},
		`pattern: "[a" is no valid pattern`:                                                   {"pattern": []string{"*.o", "[a"}},
		`pattern: "build/{a,b" is no valid pattern`:                                           {"pattern": []string{"build/{a,b"}},
		`exclude: "[a" is no valid pattern`:                                                   {"exclude": []string{"[a"}},
	} {
		t.Run(why, func(t *testing.T) {
			a["path"] = []string{"build"}
			refused(t, dir, "delete_files", a, abi.CodeBadRequest, why)
		})
	}
	require.Equal(t, []string{"build/report[1.pdf"}, found(t, dir, args{"pattern": []string{"report[1.pdf"}}), "a name first")
	require.Equal(t, []string{"build/a.o"}, found(t, dir, args{"path": []string{"build"}, "exclude": []string{"report[1.pdf"}}))
	require.Equal(t, []string{"build/a.o", "ref.txt"}, found(t, dir, args{"exclude": []string{"build/report[1.pdf"}}))
}

// A pattern with a slash is matched below the folder looked in, and no deeper
// than it says: how one call takes other names from other folders.
func TestPatternsWithSlashes(t *testing.T) {
	for name, c := range map[string]struct{ pattern, want []string }{
		"a pair for each folder": {[]string{"logs/*.log", "inbox/*.pdf"}, []string{"inbox/b.pdf", "logs/app.log"}},
		"not deeper":             {[]string{"logs/*"}, []string{"logs/a.pdf", "logs/app.log"}},
		"deeper when said":       {[]string{"logs/**/*.log", "inbox/*.log"}, []string{"inbox/b.log", "logs/app.log", "logs/old/app.log"}},
		"by backslashes":         {[]string{`logs\*.log`}, []string{"logs/app.log"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := box(t, "logs/app.log", "logs/old/app.log", "logs/a.pdf", "inbox/b.pdf", "inbox/b.log", "inbox/deep/c.pdf")
			require.Equal(t, c.want, found(t, dir, args{"pattern": c.pattern}))
			do(t, dir, "delete_files", args{"path": []string{"."}, "pattern": c.pattern})
			require.Empty(t, found(t, dir, args{"pattern": c.pattern}))
			require.Len(t, found(t, dir, args{}), 6-len(c.want))
		})
	}
}

// Where a backslash is part of a name, the name means that file and no other.
func TestBackslashInPatterns(t *testing.T) {
	if filepath.Separator == '\\' {
		t.Skip("no name holds a backslash on this system")
	}
	dir := box(t, `t/back\slash.tmp`, "t/back/slash.tmp", "t/backslash.tmp", `u/v/back\slash.tmp`)
	for pattern, want := range map[string][]string{
		`t/back\slash.tmp`: {`t/back\slash.tmp`},
		`t\back\*`:         {"t/back/slash.tmp"},
		`back?slash.tmp`:   {`t/back\slash.tmp`, `u/v/back\slash.tmp`},
	} {
		require.Equal(t, want, found(t, dir, args{"pattern": []string{pattern}}), pattern)
	}
	require.Equal(t, []string{`t/back\slash.tmp`}, found(t, dir, args{"path": []string{"t"}, "pattern": []string{`back\slash.tmp`}}))
	require.Equal(t, []string{"t/backslash.tmp"}, found(t, dir, args{"path": []string{"t"}, "exclude": []string{`back\slash.tmp`}}), "an exclusion keeps whatever may be meant")
}
