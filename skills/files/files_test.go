package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// box is a folder to run calls in. Names ending in / are folders; "name=text"
// gives content, otherwise a file holds its own name.
func box(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, n := range names {
		name, text, given := strings.Cut(n, "=")
		full := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			require.NoError(t, os.MkdirAll(full, 0o755))
			continue
		}
		if !given {
			text = name
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
		require.NoError(t, os.WriteFile(full, []byte(text), 0o644))
	}
	return dir
}

func age(t *testing.T, dir, name string, days int) {
	t.Helper()
	when := now.AddDate(0, 0, -days)
	require.NoError(t, os.Chtimes(filepath.Join(dir, name), when, when))
}

// tree lists all files (name=text) and empty folders (name/) of a folder.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	list := []string{}
	require.NoError(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		rel, _ := filepath.Rel(dir, p)
		switch {
		case d.IsDir():
			if entries, _ := os.ReadDir(p); len(entries) == 0 {
				list = append(list, rel+"/")
			}
		case d.Type().IsRegular():
			data, err := os.ReadFile(p)
			require.NoError(t, err)
			if string(data) != rel {
				rel += "=" + string(data)
			}
			list = append(list, rel)
		default:
			list = append(list, rel+"@")
		}
		return nil
	}))
	sort.Strings(list)
	return list
}

type args = map[string]any

// call runs a public tool with the defaults of tools.yaml, as the host would.
func call(t *testing.T, dir, tool string, a args) ([]abi.CallResult, error) {
	t.Helper()
	full := args{}
	for name, v := range contract(t).defaults(tool) {
		full[name] = v
	}
	for name, v := range a {
		full[name] = v
	}
	return guest.Native{Dir: dir, Now: now}.Run(served, guest.Call{Tool: tool, Args: full})
}

func do(t *testing.T, dir, tool string, a args) []abi.CallResult {
	t.Helper()
	results, err := call(t, dir, tool, a)
	require.NoError(t, err)
	return results
}

// last decodes the result of the last step.
func last[T any](t *testing.T, results []abi.CallResult) T {
	t.Helper()
	var v T
	require.NoError(t, json.Unmarshal(results[len(results)-1].Result, &v))
	return v
}

func found(t *testing.T, dir string, a args) []string {
	t.Helper()
	return last[Listing](t, do(t, dir, "find_files", a)).Paths
}

func refused(t *testing.T, dir, tool string, a args, code abi.Code, wants ...string) {
	t.Helper()
	before := tree(t, dir)
	_, err := call(t, dir, tool, a)
	var e *abi.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, code, e.Code, e.Message)
	for _, want := range wants {
		require.Contains(t, e.Message, want)
	}
	require.Equal(t, before, tree(t, dir), "a refused call changes nothing")
}

func TestFilter(t *testing.T) {
	dir := box(t, "a.txt", "B.TXT", "c.md", "empty.txt=", "big.bin="+strings.Repeat("x", 5000), "notes", "run=#!/bin/sh\n",
		".hidden.txt", ".conf/x.txt", "build/o.tmp", "build/cache/p.tmp", "build/cache/deep/q.tmp", "void/",
		"пример.txt", "报告 2.pdf", "报告 10.pdf", "-dash.txt", "line\nbreak.txt", "emoji 🎉.png", "report[1].pdf", "app.log.1")
	for i, name := range []string{"a.txt", "c.md", "big.bin", "build/o.tmp"} {
		age(t, dir, name, 10*(i+1))
	}
	for name, c := range map[string]struct {
		args args
		want []string
	}{
		"pattern":                      {args{"pattern": []string{"*.md"}}, []string{"c.md"}},
		"patterns are or-ed":           {args{"pattern": []string{"*.md", "*.bin"}}, []string{"big.bin", "c.md"}},
		"case is ignored":              {args{"pattern": []string{"b.txt"}}, []string{"B.TXT"}},
		"case counts":                  {args{"pattern": []string{"*.TXT"}, "ignore_case": false}, []string{"B.TXT"}},
		"path pattern":                 {args{"pattern": []string{"build/**/*.tmp"}}, []string{"build/cache/deep/q.tmp", "build/cache/p.tmp", "build/o.tmp"}},
		"brackets are a name":          {args{"pattern": []string{"report[1].pdf"}}, []string{"report[1].pdf"}},
		"braces":                       {args{"pattern": []string{"*.{md,bin}"}}, []string{"big.bin", "c.md"}},
		"natural order":                {args{"pattern": []string{"报告*"}}, []string{"报告 2.pdf", "报告 10.pdf"}},
		"exclude a name":               {args{"pattern": []string{"*.tmp"}, "exclude": []string{"o.tmp"}}, []string{"build/cache/deep/q.tmp", "build/cache/p.tmp"}},
		"exclude a folder":             {args{"pattern": []string{"*.tmp"}, "exclude": []string{"cache/"}}, []string{"build/o.tmp"}},
		"exclude a path":               {args{"pattern": []string{"*.tmp"}, "exclude": []string{"build/cache/deep"}}, []string{"build/cache/p.tmp", "build/o.tmp"}},
		"exclude a pattern":            {args{"pattern": []string{"c*", "a.txt"}, "exclude": []string{"*.md"}}, []string{"a.txt"}},
		"exclude with a slash in path": {args{"path": []string{"build"}, "exclude": []string{"cache/deep"}}, []string{"build/cache/p.tmp", "build/o.tmp"}},
		"type":                         {args{"file_type": []string{"image"}}, []string{"emoji 🎉.png"}},
		"types are or-ed":              {args{"file_type": []string{"image", "log"}}, []string{"app.log.1", "emoji 🎉.png"}},
		"type without ext":             {args{"file_type": []string{"script"}}, []string{"run"}},
		"text without ext":             {args{"file_type": []string{"text"}, "pattern": []string{"notes"}}, []string{"notes"}},
		"min size":                     {args{"min_size": "5kB"}, []string{"big.bin"}},
		"max size":                     {args{"max_size": 0}, []string{"empty.txt"}},
		"empty":                        {args{"empty": true}, []string{"empty.txt"}},
		"not empty":                    {args{"empty": false, "pattern": []string{"e*"}}, []string{"emoji 🎉.png"}},
		"empty folders":                {args{"empty": true, "kind": "folders"}, []string{"void"}},
		"folders":                      {args{"kind": "folders"}, []string{"build", "build/cache", "build/cache/deep", "void"}},
		"before":                       {args{"modified_before": "2026-11-10"}, []string{"big.bin", "build/o.tmp", "c.md"}},
		"between":                      {args{"modified_before": "2026-11-10", "modified_after": "2026-11-01"}, []string{"c.md"}},
		"before is not until":          {args{"modified_before": "2026-11-19T12:00:00Z", "modified_after": "2026-11-09T12:00:00Z"}, []string{"c.md"}},
		"newer than a file":            {args{"newer_than": "c.md", "pattern": []string{"*.md", "a.txt"}}, []string{"a.txt"}},
		"older than a file":            {args{"older_than": "c.md"}, []string{"big.bin", "build/o.tmp"}},
		"this folder only":             {args{"recursive": false, "pattern": []string{"*.tmp"}}, []string{}},
		"depth 2":                      {args{"depth": 2, "pattern": []string{"*.tmp"}}, []string{"build/o.tmp"}},
		"hidden too":                   {args{"hidden": "include", "pattern": []string{"*x.txt", ".h*"}}, []string{".conf/x.txt", ".hidden.txt"}},
		"hidden only":                  {args{"hidden": "only"}, []string{".conf/x.txt", ".hidden.txt"}},
		"hidden by name":               {args{"path": []string{".conf"}}, []string{".conf/x.txt"}},
		"regex":                        {args{"regex": `^report|\d\.pdf$`}, []string{"report[1].pdf", "报告 2.pdf", "报告 10.pdf"}},
		"largest":                      {args{"sort": "size", "limit": 1}, []string{"big.bin"}},
		"oldest two":                   {args{"sort": "modified", "order": "asc", "limit": 2}, []string{"build/o.tmp", "big.bin"}},
		"several places":               {args{"path": []string{"build", "build/cache", "a.txt"}}, []string{"build/cache/deep/q.tmp", "build/cache/p.tmp", "build/o.tmp", "a.txt"}},
		"dash, line break":             {args{"pattern": []string{"-d*", "line*"}}, []string{"-dash.txt", "line\nbreak.txt"}},
		"cyrillic in any case":         {args{"pattern": []string{"ПРИМЕР.*"}}, []string{"пример.txt"}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, found(t, dir, c.args)) })
	}
}

func TestFilterRefuses(t *testing.T) {
	dir := box(t, "a.txt")
	for name, c := range map[string]struct {
		args args
		code abi.Code
		want string
	}{
		"no such folder":  {args{"path": []string{"nowhere"}}, abi.CodeNotFound, `there is no "nowhere"`},
		"no such file":    {args{"newer_than": "gone"}, abi.CodeNotFound, `no "gone" to compare with`},
		"regex":           {args{"regex": "("}, abi.CodeBadRequest, "missing closing )"},
		"date":            {args{"modified_after": "soon"}, abi.CodeBadRequest, `"soon" is not a date`},
		"size":            {args{"min_size": "huge"}, abi.CodeBadRequest, `"huge" is not a size`},
		"unknown":         {args{"colour": "red"}, abi.CodeBadRequest, `argument "colour" is unknown`},
		"saved as a .doc": {args{"save_to": "x.doc"}, abi.CodeUnsupported, "name a .txt, .csv or .json file"},
	} {
		t.Run(name, func(t *testing.T) { refused(t, dir, "find_files", c.args, c.code, c.want) })
	}
}

// Dates alone begin at midnight where the person is, not in Greenwich.
func TestDatesAreThePersonsOwn(t *testing.T) {
	dir := box(t, "a.txt")
	when := time.Date(2026, 1, 31, 23, 30, 0, 0, time.UTC) // 00:30 on 1 February in Berlin
	require.NoError(t, os.Chtimes(filepath.Join(dir, "a.txt"), when, when))
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	n := guest.Native{Dir: dir, Now: now.In(berlin)}
	results, err := n.Run(served, guest.Call{Tool: "find_files", Args: args{"modified_after": "2026-02-01"}})
	require.NoError(t, err)
	require.Equal(t, []string{"a.txt"}, last[Listing](t, results).Paths)
}

func TestLinksAreNotFollowed(t *testing.T) {
	dir := box(t, "real/a.txt", "outside.txt")
	require.NoError(t, os.Symlink("real", filepath.Join(dir, "folder-link")))
	require.NoError(t, os.Symlink("../../etc/passwd", filepath.Join(dir, "real", "out")))
	require.NoError(t, os.Symlink("real", filepath.Join(dir, "real", "loop")))
	listing := last[Listing](t, do(t, dir, "find_files", args{}))
	require.Equal(t, []string{"folder-link", "outside.txt", "real/a.txt", "real/loop", "real/out"}, listing.Paths)
	require.Equal(t, "link", listing.Entries[0].Kind)

	do(t, dir, "delete_files", args{"items": []string{"folder-link"}})
	require.Equal(t, []string{"outside.txt", "real/a.txt", "real/loop@", "real/out@"}, tree(t, dir))
}

func TestListShowsTheFolderItself(t *testing.T) {
	dir := box(t, "inbox/a.pdf", "inbox/b.txt", "inbox/old/c.pdf", "x.pdf")
	require.Equal(t, []string{"inbox/a.pdf"}, last[Listing](t, do(t, dir, "list_files", args{"path": []string{"inbox"}, "pattern": []string{"*.pdf"}})).Paths)
	require.Equal(t, []string{"inbox/a.pdf", "inbox/b.txt", "inbox/old"}, last[Listing](t, do(t, dir, "list_files", args{"path": []string{"inbox"}})).Paths)
}

// A folder counts with all that is in it, so that "large" and "old" folders
// are what people mean.
func TestFoldersAreMeasuredWhole(t *testing.T) {
	dir := box(t, "big/a="+strings.Repeat("x", 3000), "big/sub/b="+strings.Repeat("x", 3000), "small/c=x", "old/d=x", "fresh/e=x")
	for _, name := range []string{"old/d", "old", "fresh"} {
		age(t, dir, name, 100)
	}
	require.Equal(t, []string{"big"}, found(t, dir, args{"kind": "folders", "min_size": "5kB"}))
	require.Equal(t, []string{"old"}, found(t, dir, args{"kind": "folders", "modified_before": "2026-10-01"}), "fresh holds something new")
	require.Equal(t, []string{"big", "big/sub"}, found(t, dir, args{"kind": "folders", "sort": "size", "limit": 2}))
}

func words(t *testing.T, dir string, results []abi.CallResult, dryRun bool) []string {
	t.Helper()
	items, err := guest.Native{Dir: dir, DryRun: dryRun}.Format(served, results)
	require.NoError(t, err)
	var lines []string
	for _, i := range items {
		lines = append(lines, i.Message)
	}
	return lines
}

func TestListingInWords(t *testing.T) {
	dir := box(t, "a.txt=12345", "docs/b.pdf=%PDF")
	age(t, dir, "a.txt", 1)
	age(t, dir, "docs", 2)
	require.Equal(t, []string{"a.txt", "docs/", "1 file, 1 folder, 5 B"}, words(t, dir, do(t, dir, "list_files", args{}), false))
	require.Equal(t, []string{
		"      5 B  2026-11-28 12:00  text          a.txt",
		"        -  2026-11-27 12:00  folder        docs/",
		"1 file, 1 folder, 5 B",
	}, words(t, dir, do(t, dir, "list_files", args{"details": true}), false))
	require.Equal(t, []string{"nothing matches"}, words(t, dir, do(t, dir, "find_files", args{"pattern": []string{"*.zip"}}), false))
}

func TestSaveTo(t *testing.T) {
	for name, c := range map[string]struct{ to, want string }{
		"text": {"out/list.txt", "=1+1.txt\na.txt\n\"line\\nbreak.txt\"\n"},
		"csv":  {"list.csv", "path,kind,size,modified\n./=1+1.txt,file,1,2026-11-28T12:00:00Z\na.txt,file,1,2026-11-28T12:00:00Z\n\"line\nbreak.txt\",file,1,2026-11-28T12:00:00Z\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := box(t, "a.txt=1", "line\nbreak.txt=1")
			require.NoError(t, os.WriteFile(filepath.Join(dir, "=1+1.txt"), []byte("1"), 0o644))
			for _, n := range []string{"a.txt", "=1+1.txt", "line\nbreak.txt"} {
				age(t, dir, n, 1)
			}
			results := do(t, dir, "find_files", args{"save_to": c.to})
			data, err := os.ReadFile(filepath.Join(dir, c.to))
			require.NoError(t, err)
			require.Equal(t, c.want, string(data))
			require.Len(t, last[Listing](t, results).Paths, 3, "the list is still there for later calls")
			require.Contains(t, words(t, dir, results, false), "saved 3 lines to "+c.to)
			refused(t, dir, "find_files", args{"save_to": c.to}, abi.CodeConflict, "is there already and is not overwritten")
		})
	}
	t.Run("json", func(t *testing.T) {
		dir := box(t, "a.txt")
		do(t, dir, "list_files", args{"save_to": "l.json"})
		data, err := os.ReadFile(filepath.Join(dir, "l.json"))
		require.NoError(t, err)
		var records []map[string]string
		require.NoError(t, json.Unmarshal(data, &records))
		require.Equal(t, "a.txt", records[0]["path"])
	})
}

func TestSummary(t *testing.T) {
	dir := box(t, "pics/a.jpg="+strings.Repeat("x", 600), "pics/sub/b.png="+strings.Repeat("x", 300), "docs/c.pdf="+strings.Repeat("x", 100), "d.txt=", ".cache/e="+strings.Repeat("x", 1000))
	rows := func(a args) map[string]int64 {
		m := map[string]int64{}
		for _, r := range last[Summary](t, do(t, dir, "folder_summary", a)).Rows {
			m[r.Name] = r.Bytes
		}
		return m
	}
	require.Equal(t, map[string]int64{"pics/": 900, "docs/": 100, ".cache/": 1000, "./ itself": 0}, rows(args{}))
	require.Equal(t, map[string]int64{"images": 900, "documents": 100, "text": 1000}, rows(args{"by": "type"}))
	require.Equal(t, map[string]int64{".jpg": 600, ".png": 300, ".pdf": 100, ".txt": 0, "no extension": 1000}, rows(args{"by": "extension"}))
	require.Equal(t, map[string]int64{"total": 1000}, rows(args{"by": "total", "hidden": "skip"}))
	require.Equal(t, map[string]int64{"pics/sub/": 300, "pics/ itself": 600}, rows(args{"path": []string{"pics"}}))
	all := func(a args) string {
		lines := words(t, dir, do(t, dir, "folder_summary", a), false)
		return strings.TrimSpace(lines[len(lines)-1])
	}
	require.Equal(t, "0 B   100%    4 folders  in all", all(args{"kind": "folders"}))
	require.Equal(t, "2 kB   100%      5 files  in all, and 4 folders", all(args{"kind": "both"}))
	lines := words(t, dir, do(t, dir, "folder_summary", args{"limit": 2}), false)
	require.Len(t, lines, 3)
	require.Contains(t, lines[0], "50%")
	require.Contains(t, lines[0], ".cache/")
	require.Contains(t, lines[1], "pics/")
	require.Contains(t, lines[2], "in all")
}

func TestDuplicates(t *testing.T) {
	long := strings.Repeat("y", 10_000)
	dir := box(t, "a.jpg="+long, "copy/a2.jpg="+long, "copy/a3.jpg="+long, "other.jpg="+strings.Repeat("y", 9_999)+"z",
		"x.txt=same", "y.txt=same", "z.txt=diff", "e1=", "e2=")
	age(t, dir, "copy/a3.jpg", 30)
	got := last[Duplicates](t, do(t, dir, "find_duplicates", args{}))
	require.Equal(t, []string{"copy/a3.jpg", "x.txt"}, got.Kept, "the oldest is kept; empty files are no copies")
	require.ElementsMatch(t, []string{"a.jpg", "copy/a2.jpg", "y.txt"}, got.Duplicates)
	require.Equal(t, int64(20_004), got.Wasted)

	results := do(t, dir, "find_duplicates", args{"file_type": []string{"image"}, "limit": 1})
	require.Equal(t, []string{"a.jpg", "copy/a2.jpg"}, last[Duplicates](t, results).Duplicates)
	lines := words(t, dir, results, false)
	require.Equal(t, "3 files of 10 kB, 20 kB wasted:", lines[0])
	require.Equal(t, "  copy/a3.jpg  (the oldest)", lines[1])
	require.Equal(t, "2 duplicates in 1 group, 20 kB wasted", lines[len(lines)-1])
}

func TestNaturalOrder(t *testing.T) {
	names := []string{"1", "2", "10", "a", "A1", "a01", "a2", "a10", "B", "б", "В", "图1", "图10"}
	for i, a := range names {
		for j, b := range names {
			c := naturalCompare(a, b)
			require.Equal(t, i < j, c < 0, "%s %s", a, b)
			require.Equal(t, i == j, c == 0, "%s %s", a, b)
		}
	}
}

// A result that the host would refuse for its size must not be made: a list is
// cut and says so, and what a next step needs whole is an error.
func TestLargeResults(t *testing.T) {
	room := budget(100)
	require.True(t, room.take(60))
	require.False(t, room.take(60))
	require.True(t, room.take(40))

	dir := t.TempDir()
	ctx, err := guest.Native{Dir: dir}.Context()
	require.NoError(t, err)
	moves, from := make([]move, 200_000), make([]string, 200_000)
	for i := range moves {
		moves[i] = move{To: "some/folder/of/some/length/" + strings.Repeat("n", 50)}
		from[i] = moves[i].To
	}
	out := movedOf(ctx, moves, from, 0)
	require.Equal(t, 200_000, out.Count)
	text, err := json.Marshal(out)
	require.NoError(t, err)
	require.Less(t, len(text), 16<<20)
}
