package main

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

func TestMove(t *testing.T) {
	start := []string{"inbox/a.pdf", "inbox/b.txt", "inbox/sub/c.pdf", "inbox/done/old.pdf", "notes.txt", "drafts/x/y.txt"}
	for name, c := range map[string]struct {
		args args
		want []string
	}{
		"matching files land in dst": {args{"src": []string{"inbox"}, "dst": "out/2026", "pattern": []string{"*.pdf"}},
			[]string{"drafts/x/y.txt", "inbox/b.txt", "inbox/done/", "inbox/sub/", "notes.txt", "out/2026/a.pdf=inbox/a.pdf", "out/2026/c.pdf=inbox/sub/c.pdf", "out/2026/old.pdf=inbox/done/old.pdf"}},
		"what is in dst stays": {args{"src": []string{"inbox"}, "dst": "inbox/done", "pattern": []string{"*.pdf"}},
			[]string{"drafts/x/y.txt", "inbox/b.txt", "inbox/done/a.pdf=inbox/a.pdf", "inbox/done/c.pdf=inbox/sub/c.pdf", "inbox/done/old.pdf", "inbox/sub/", "notes.txt"}},
		"up into the folder itself": {args{"src": []string{"inbox"}, "dst": "inbox", "pattern": []string{"*.pdf"}},
			[]string{"drafts/x/y.txt", "inbox/a.pdf", "inbox/b.txt", "inbox/c.pdf=inbox/sub/c.pdf", "inbox/done/", "inbox/old.pdf=inbox/done/old.pdf", "inbox/sub/", "notes.txt"}},
		"everything stays together": {args{"src": []string{"inbox"}, "dst": "out", "recursive": true},
			[]string{"drafts/x/y.txt", "inbox/", "notes.txt", "out/a.pdf=inbox/a.pdf", "out/b.txt=inbox/b.txt", "out/done/old.pdf=inbox/done/old.pdf", "out/sub/c.pdf=inbox/sub/c.pdf"}},
		"everything but some": {args{"src": []string{"inbox"}, "dst": "out", "recursive": true, "exclude": []string{"c.pdf", "b.txt"}},
			[]string{"drafts/x/y.txt", "inbox/b.txt", "inbox/sub/c.pdf", "notes.txt", "out/a.pdf=inbox/a.pdf", "out/done/old.pdf=inbox/done/old.pdf"}},
		"everything, into a folder far below": {args{"src": []string{"."}, "dst": "inbox/done/new", "recursive": true},
			[]string{"inbox/done/new/drafts/x/y.txt=drafts/x/y.txt", "inbox/done/new/inbox/a.pdf=inbox/a.pdf", "inbox/done/new/inbox/b.txt=inbox/b.txt", "inbox/done/new/inbox/done/old.pdf=inbox/done/old.pdf", "inbox/done/new/inbox/sub/c.pdf=inbox/sub/c.pdf", "inbox/done/new/notes.txt=notes.txt"}},
		"files alone, when they are said": {args{"src": []string{"inbox"}, "dst": "out", "recursive": true, "kind": "files"},
			[]string{"drafts/x/y.txt", "inbox/done/", "inbox/sub/", "notes.txt", "out/a.pdf=inbox/a.pdf", "out/b.txt=inbox/b.txt", "out/c.pdf=inbox/sub/c.pdf", "out/old.pdf=inbox/done/old.pdf"}},
		"folders kept": {args{"src": []string{"inbox"}, "dst": "out", "pattern": []string{"*.pdf"}, "keep_folders": true},
			[]string{"drafts/x/y.txt", "inbox/b.txt", "inbox/done/", "inbox/sub/", "notes.txt", "out/a.pdf=inbox/a.pdf", "out/done/old.pdf=inbox/done/old.pdf", "out/sub/c.pdf=inbox/sub/c.pdf"}},
		"a folder as an item": {args{"items": []string{"drafts"}, "dst": "inbox"},
			[]string{"inbox/a.pdf", "inbox/b.txt", "inbox/done/old.pdf", "inbox/drafts/x/y.txt=drafts/x/y.txt", "inbox/sub/c.pdf", "notes.txt"}},
		"one file, a new name": {args{"src": []string{"notes.txt"}, "dst": "ideas.md"},
			[]string{"drafts/x/y.txt", "ideas.md=notes.txt", "inbox/a.pdf", "inbox/b.txt", "inbox/done/old.pdf", "inbox/sub/c.pdf"}},
		"one file, into a folder with a dot": {args{"items": []string{"notes.txt"}, "dst": "v1.0/"},
			[]string{"drafts/x/y.txt", "inbox/a.pdf", "inbox/b.txt", "inbox/done/old.pdf", "inbox/sub/c.pdf", "v1.0/notes.txt=notes.txt"}},
		"nothing matches, nothing is made": {args{"src": []string{"inbox"}, "dst": "out", "pattern": []string{"*.zip"}},
			[]string{"drafts/x/y.txt", "inbox/a.pdf", "inbox/b.txt", "inbox/done/old.pdf", "inbox/sub/c.pdf", "notes.txt"}},
		"there already": {args{"items": []string{"notes.txt"}, "dst": "."},
			[]string{"drafts/x/y.txt", "inbox/a.pdf", "inbox/b.txt", "inbox/done/old.pdf", "inbox/sub/c.pdf", "notes.txt"}},
		"apart, still a folder": {args{"src": []string{"."}, "dst": "all", "kind": "both", "exclude": []string{"c.pdf", "notes.txt", "drafts"}},
			[]string{"all/inbox/a.pdf=inbox/a.pdf", "all/inbox/b.txt=inbox/b.txt", "all/inbox/done/old.pdf=inbox/done/old.pdf", "drafts/x/y.txt", "inbox/sub/c.pdf", "notes.txt"}},
		"a folder taken apart around an exclusion": {args{"items": []string{"inbox"}, "dst": "out", "exclude": []string{"sub"}, "keep_folders": true},
			[]string{"drafts/x/y.txt", "inbox/sub/c.pdf", "notes.txt", "out/inbox/a.pdf=inbox/a.pdf", "out/inbox/b.txt=inbox/b.txt", "out/inbox/done/old.pdf=inbox/done/old.pdf"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := box(t, start...)
			do(t, dir, "move_files", c.args)
			require.Equal(t, c.want, tree(t, dir))
		})
	}
}

func TestMoveRefuses(t *testing.T) {
	dir := box(t, "a/x.txt", "b/x.txt", "b/y.txt", "c/y.txt", "d/x.txt", "file.txt", "notes.txt", "a/deep/")
	refused(t, dir, "move_files", args{"src": []string{"a", "b"}, "dst": "out"}, abi.CodeConflict, `"a/x.txt" and "b/x.txt" would both be "out/x.txt"`)
	refused(t, dir, "move_files", args{"src": []string{"b"}, "dst": "c"}, abi.CodeConflict, `"c/y.txt" is there already`)
	refused(t, dir, "move_files", args{"src": []string{"a", "b", "d"}, "dst": "c"}, abi.CodeConflict,
		`"a/x.txt" and "b/x.txt"`, `"a/x.txt" and "d/x.txt"`, `"c/y.txt" is there already`)
	refused(t, dir, "move_files", args{"items": []string{"a"}, "dst": "a/deep"}, abi.CodeConflict, `"a" cannot be put into itself`)
	refused(t, dir, "move_files", args{"src": []string{"a"}, "dst": "file.txt"}, abi.CodeConflict, `"file.txt" is there already, and it is no folder`)
	refused(t, dir, "move_files", args{"items": []string{"."}, "dst": "a"}, abi.CodeBadRequest, "cannot be changed as a whole")
	refused(t, dir, "move_files", args{"items": []string{"gone"}, "dst": "a"}, abi.CodeNotFound, `there is no "gone"`)
	refused(t, dir, "move_files", args{"dst": "a"}, abi.CodeBadRequest, "name folders in src")
	refused(t, dir, "copy_files", args{"items": []string{"notes.txt"}, "dst": "file.txt"}, abi.CodeConflict, `"file.txt" is there already`)
}

func TestCopyKeepsTimesAndLeavesLinks(t *testing.T) {
	dir := box(t, "a/one.txt", "a/sub/two.txt", "a/empty/", "b.sh=#!/bin/sh")
	age(t, dir, "a/one.txt", 50)
	age(t, dir, "a/sub", 60)
	require.NoError(t, os.Symlink("one.txt", filepath.Join(dir, "a/link")))
	results := do(t, dir, "copy_files", args{"items": []string{"a", "b.sh"}, "dst": "out"})
	require.Equal(t, []string{"a/empty/", "a/link@", "a/one.txt", "a/sub/two.txt", "b.sh=#!/bin/sh",
		"out/a/empty/", "out/a/one.txt=a/one.txt", "out/a/sub/two.txt=a/sub/two.txt", "out/b.sh=#!/bin/sh"}, tree(t, dir))
	require.Equal(t, []string{"a/link is a link and is not copied"}, results[0].Issues)
	for name, days := range map[string]int{"out/a/one.txt": 50, "out/a/sub": 60} {
		info, err := os.Lstat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.True(t, info.ModTime().Equal(now.AddDate(0, 0, -days)), name)
	}
}

func TestDelete(t *testing.T) {
	start := []string{"a.tmp", "b.txt", "build/c.tmp", "build/cache/d.tmp", "build/keep.o", "old/x/y.txt", "void/", "void/1/2/"}
	for name, c := range map[string]struct {
		args args
		want []string
	}{
		"by pattern":           {args{"path": []string{"build"}, "pattern": []string{"*.tmp"}}, []string{"a.tmp", "b.txt", "build/cache/", "build/keep.o", "old/x/y.txt", "void/1/2/"}},
		"by type":              {args{"path": []string{"."}, "file_type": []string{"temporary"}, "exclude": []string{"cache"}}, []string{"b.txt", "build/cache/d.tmp", "build/keep.o", "old/x/y.txt", "void/1/2/"}},
		"a folder":             {args{"items": []string{"old"}}, []string{"a.tmp", "b.txt", "build/c.tmp", "build/cache/d.tmp", "build/keep.o", "void/1/2/"}},
		"all in a folder":      {args{"path": []string{"build"}, "kind": "both"}, []string{"a.tmp", "b.txt", "build/", "old/x/y.txt", "void/1/2/"}},
		"everything, no husks": {args{"path": []string{"build", "void"}, "recursive": true, "hidden": "skip"}, []string{"a.tmp", "b.txt", "build/", "old/x/y.txt", "void/"}},
		"everything but a name": {args{"path": []string{"."}, "recursive": true, "hidden": "skip", "exclude": []string{"d.tmp", "void"}},
			[]string{"build/cache/d.tmp", "void/1/2/"}},
		"all but a folder": {args{"path": []string{"build"}, "kind": "both", "exclude": []string{"cache"}}, []string{"a.tmp", "b.txt", "build/cache/d.tmp", "old/x/y.txt", "void/1/2/"}},
		"empty folders":    {args{"path": []string{"."}, "kind": "folders", "empty": true}, []string{"a.tmp", "b.txt", "build/c.tmp", "build/cache/d.tmp", "build/keep.o", "old/x/y.txt"}},
		"folders by name, but not all of one": {args{"path": []string{"."}, "kind": "folders", "pattern": []string{"build", "old"}, "exclude": []string{"keep.o"}},
			[]string{"a.tmp", "b.txt", "build/keep.o", "void/1/2/"}},
		"all but a file, in a folder named": {args{"items": []string{"build"}, "exclude": []string{"d.tmp"}},
			[]string{"a.tmp", "b.txt", "build/cache/d.tmp", "old/x/y.txt", "void/1/2/"}},
		"an item that does not fit": {args{"items": []string{"b.txt", "a.tmp"}, "pattern": []string{"*.tmp"}},
			[]string{"b.txt", "build/c.tmp", "build/cache/d.tmp", "build/keep.o", "old/x/y.txt", "void/1/2/"}},
		"a folder and what is in it": {args{"items": []string{"old", "old/x"}},
			[]string{"a.tmp", "b.txt", "build/c.tmp", "build/cache/d.tmp", "build/keep.o", "void/1/2/"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := box(t, start...)
			do(t, dir, "delete_files", c.args)
			require.Equal(t, c.want, tree(t, dir))
		})
	}
}

// A deletion that means more than was said must not happen.
func TestDeleteRefuses(t *testing.T) {
	dir := box(t, "a", "b/c")
	for name, c := range map[string]args{
		"everything":        {"path": []string{"."}},
		"everything, again": {"path": []string{"b", "./"}, "pattern": []string{"*"}},
		"everything below":  {"path": []string{""}, "pattern": []string{"**/*"}, "kind": "both"},
		"the top folder":    {"items": []string{"b/.."}},
		"nothing said":      {},
	} {
		t.Run(name, func(t *testing.T) { refused(t, dir, "delete_files", c, abi.CodeBadRequest) })
	}
}

func TestRename(t *testing.T) {
	for name, c := range map[string]struct {
		start []string
		args  args
		want  []string
	}{
		"prefix":            {[]string{"a.txt"}, args{"prefix": "x-"}, []string{"x-a.txt=a.txt"}},
		"suffix":            {[]string{"a.tar.gz"}, args{"suffix": "-old"}, []string{"a-old.tar.gz=a.tar.gz"}},
		"remove prefix":     {[]string{"IMG_1.jpg", "img_2.jpg", "other.jpg"}, args{"remove_prefix": "IMG_"}, []string{"1.jpg=IMG_1.jpg", "2.jpg=img_2.jpg", "other.jpg"}},
		"remove suffix":     {[]string{"a (copy).txt"}, args{"remove_suffix": " (copy)"}, []string{"a.txt=a (copy).txt"}},
		"replace":           {[]string{"my file name.txt"}, args{"find": " ", "replace": "_"}, []string{"my_file_name.txt=my file name.txt"}},
		"literal dollars":   {[]string{"a$1.txt"}, args{"find": "$1", "replace": "$$2"}, []string{"a$$2.txt=a$1.txt"}},
		"with the ext":      {[]string{"a.jpeg"}, args{"find": ".jpeg", "replace": ".jpg"}, []string{"a.jpg=a.jpeg"}},
		"regex":             {[]string{"2026-11-29 x.txt"}, args{"find": `(\d+)-(\d+)-(\d+)`, "replace": "$3.$2.$1", "use_regex": true}, []string{"29.11.2026 x.txt=2026-11-29 x.txt"}},
		"upper":             {[]string{"été.txt"}, args{"case": "upper"}, []string{"ÉTÉ.txt=été.txt"}},
		"title":             {[]string{"the END-of it.txt"}, args{"case": "title"}, []string{"The End-Of It.txt=the END-of it.txt"}},
		"lower":             {[]string{"Notes OLD.TXT"}, args{"case": "lower"}, []string{"notes old.txt=Notes OLD.TXT"}},
		"case only":         {[]string{"README.md"}, args{"case": "lower"}, []string{"readme.md=README.md"}},
		"extension":         {[]string{"a.text", "b"}, args{"extension": ".txt"}, []string{"a.txt=a.text", "b.txt=b"}},
		"number":            {[]string{"b2.jpg", "b10.jpg"}, args{"number": true}, []string{"b10-002.jpg=b10.jpg", "b2-001.jpg=b2.jpg"}},
		"number by date":    {[]string{"x.jpg", "y.jpg"}, args{"number": true, "new_name": "trip.jpg", "start": 9, "digits": 1, "sort": "modified", "order": "asc"}, []string{"trip-09.jpg=y.jpg", "trip-10.jpg=x.jpg"}},
		"new name":          {[]string{"a.txt"}, args{"items": []string{"a.txt"}, "new_name": "b.md"}, []string{"b.md=a.txt"}},
		"a folder":          {[]string{"old/x.txt"}, args{"items": []string{"old"}, "new_name": "v1.2"}, []string{"v1.2/x.txt=old/x.txt"}},
		"a shift":           {[]string{"1.txt", "2.txt", "3.txt"}, args{"number": true, "start": 2, "digits": 1, "find": `\d`, "use_regex": true}, []string{"2.txt=1.txt", "3.txt=2.txt", "4.txt=3.txt"}},
		"folders and all":   {[]string{"A/A1/A2.txt"}, args{"case": "lower", "kind": "both"}, []string{"a/a1/a2.txt=A/A1/A2.txt"}},
		"dot files":         {[]string{".profile"}, args{"suffix": "-old", "hidden": "include"}, []string{".profile-old=.profile"}},
		"dots":              {[]string{"my.old.file.txt", "b.txt"}, args{"find": ".", "replace": " "}, []string{"b.txt", "my old file.txt=my.old.file.txt"}},
		"regex to the end":  {[]string{"IMG_7.jpg", "x.jpg"}, args{"find": `^IMG_(\d+)\.jpg$`, "replace": "trip-$1.jpeg", "use_regex": true}, []string{"trip-7.jpeg=IMG_7.jpg", "x.jpg"}},
		"number, as a type": {[]string{"b2.jpg", "a.png"}, args{"number": true, "new_name": "trip"}, []string{"trip-001.png=a.png", "trip-002.jpg=b2.jpg"}},
		"same folder":       {[]string{"odd/hard1.txt"}, args{"items": []string{"odd/hard1.txt"}, "new_name": "odd/hard9.txt"}, []string{"odd/hard9.txt=odd/hard1.txt"}},
		"odd, untouched":    {[]string{"esc\x1b[31m.txt", "New\nline.TXT", "A.txt"}, args{"case": "lower"}, []string{"a.txt=A.txt", "esc\x1b[31m.txt", "new\nline.txt=New\nline.TXT"}},
		"odd names":         {[]string{"new\nline.txt"}, args{"suffix": "-old"}, []string{"new\nline-old.txt=new\nline.txt"}},
		"nothing to do":     {[]string{"a.txt"}, args{"case": "lower"}, []string{"a.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := box(t, c.start...)
			for i, n := range c.start {
				age(t, dir, n, i)
			}
			if c.args["items"] == nil {
				c.args["path"] = []string{"."}
			}
			if name == "a shift" {
				// 2.txt is needed before it is given up: the order must be found.
				c.args["find"], c.args["replace"] = `^\d$`, ""
			}
			do(t, dir, "rename_files", c.args)
			require.Equal(t, c.want, tree(t, dir))
		})
	}
}

func TestRenameRefuses(t *testing.T) {
	dir := box(t, "a 1.txt", "a_1.txt", "x1.txt", "x2.txt", "deep/n.txt")
	refused(t, dir, "rename_files", args{"path": []string{"."}, "find": " ", "replace": "_"}, abi.CodeConflict, `"a_1.txt" is there already`)
	refused(t, dir, "rename_files", args{"path": []string{"."}, "pattern": []string{"x*"}, "find": `\d`, "use_regex": true}, abi.CodeConflict, `"x1.txt" and "x2.txt" would both be "x.txt"`)
	refused(t, dir, "rename_files", args{"path": []string{"."}, "new_name": "all.txt"}, abi.CodeBadRequest, "only one can be called")
	refused(t, dir, "rename_files", args{"items": []string{"x1.txt"}, "new_name": "../x.txt"}, abi.CodeBadRequest, "would lead into another folder")
	refused(t, dir, "rename_files", args{"items": []string{"x1.txt"}, "new_name": "deep/x1.txt"}, abi.CodeBadRequest, "would lead into another folder")
	refused(t, dir, "rename_files", args{"items": []string{"deep/n.txt"}, "new_name": "x.txt/m.txt"}, abi.CodeBadRequest, "would lead into another folder")
	refused(t, dir, "rename_files", args{"items": []string{"x1.txt"}, "remove_prefix": "x1"}, abi.CodeBadRequest, "nothing would be left")
	refused(t, dir, "rename_files", args{"items": []string{"x1.txt"}, "prefix": "a\nb"}, abi.CodeBadRequest, "cannot be shown")
	refused(t, dir, "rename_files", args{"items": []string{"x1.txt"}, "find": "(", "use_regex": true}, abi.CodeBadRequest, "no regular expression")
}

// Names given up by one file and taken by another, round in a circle: no file
// may be lost on the way.
func TestCircles(t *testing.T) {
	dir := box(t, "a", "b", "c", "d", "e")
	ctx, err := guest.Native{Dir: dir}.Context()
	require.NoError(t, err)
	out, err := runMoves(ctx, []move{{From: "a", To: "b"}, {From: "b", To: "c"}, {From: "c", To: "a"}, {From: "d", To: "e"}, {From: "e", To: "f"}}, 0, "renaming")
	require.NoError(t, err)
	require.Equal(t, []string{"a=c", "b=a", "c=b", "e=d", "f=e"}, tree(t, dir))
	require.Equal(t, "a", out.Moves[0].From, "the result tells the names of before, not those used on the way")
	require.Equal(t, "b", out.Moves[1].From)
}

func TestOrganize(t *testing.T) {
	start := []string{"in/a.jpg", "in/b.pdf", "in/c.PDF", "in/notes", "in/x.qqq", "in/images/old.jpg", "in/sub/d.mp3", ".hid", "in/p.png="}
	for name, c := range map[string]struct {
		args args
		want []string
	}{
		"by type": {args{}, []string{".hid", "in/documents/b.pdf=in/b.pdf", "in/documents/c.PDF=in/c.PDF", "in/images/a.jpg=in/a.jpg", "in/images/old.jpg", "in/images/p.png=", "in/other/x.qqq=in/x.qqq", "in/sub/d.mp3", "in/text/notes=in/notes"}},
		"by extension": {args{"by": "extension", "pattern": []string{"*.pdf", "notes"}},
			[]string{".hid", "in/a.jpg", "in/images/old.jpg", "in/no extension/notes=in/notes", "in/p.png=", "in/pdf/b.pdf=in/b.pdf", "in/pdf/c.PDF=in/c.PDF", "in/sub/d.mp3", "in/x.qqq"}},
		"by month, elsewhere": {args{"by": "month", "dst": "sorted", "pattern": []string{"b.*"}},
			[]string{".hid", "in/a.jpg", "in/c.PDF", "in/images/old.jpg", "in/notes", "in/p.png=", "in/sub/d.mp3", "in/x.qqq", "sorted/2026-10/b.pdf=in/b.pdf"}},
		"by size": {args{"by": "size", "pattern": []string{"a.jpg"}},
			[]string{".hid", "in/b.pdf", "in/c.PDF", "in/images/old.jpg", "in/notes", "in/p.png=", "in/sub/d.mp3", "in/under 1 MB/a.jpg=in/a.jpg", "in/x.qqq"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := box(t, start...)
			age(t, dir, "in/b.pdf", 40)
			c.args["path"] = []string{"in"}
			do(t, dir, "organize_files", c.args)
			require.Equal(t, c.want, tree(t, dir))
			do(t, dir, "organize_files", c.args)
			require.Equal(t, c.want, tree(t, dir), "again changes nothing")
		})
	}
	dir := box(t, "in/a.jpg", "in/images/a.jpg=other", "in/b.png", "in/images/b.png=x")
	refused(t, dir, "organize_files", args{"path": []string{"in"}}, abi.CodeConflict, `"in/images/a.jpg" is there already`, `"in/images/b.png" is there already`)
	refused(t, dir, "organize_files", args{"path": []string{"in"}, "kind": "folders"}, abi.CodeUnsupported)
}

func TestMakeFolder(t *testing.T) {
	dir := box(t, "a/", "file")
	results := do(t, dir, "make_folder", args{"paths": []string{"a", "b/c", "новая папка"}})
	require.Equal(t, []string{"a/", "b/c/", "file", "новая папка/"}, tree(t, dir))
	require.Equal(t, []string{"a is there already"}, results[0].Issues)
	require.Equal(t, []string{"made b/c/", "made новая папка/", "a is there already"}, words(t, dir, results, false))
	refused(t, dir, "make_folder", args{"paths": []string{"file"}}, abi.CodeConflict, "it is no folder")
}

func TestActionsInWords(t *testing.T) {
	dir := box(t, "in/a.pdf", "in/b.pdf", "in/c.txt", "in/d.png")
	move := func(a args) []string { return words(t, dir, do(t, dir, "move_files", a), false) }
	require.Equal(t, []string{"moved 2 items to out/"}, move(args{"src": []string{"in"}, "dst": "out", "pattern": []string{"*.pdf"}}))
	require.Equal(t, []string{"nothing to do: 2 are there already"}, move(args{"items": []string{"out/a.pdf", "out/b.pdf"}, "dst": "out"}))
	require.Equal(t, []string{"moved 1 item to out/; 1 is there already"}, move(args{"items": []string{"out/a.pdf", "in/d.png"}, "dst": "out"}))
	require.Equal(t, []string{"would have moved 3 items:", "        2  out/documents/", "        1  out/images/"},
		words(t, dir, func() []abi.CallResult {
			return do(t, dir, "organize_files", args{"path": []string{"out"}})
		}(), true))
	require.Equal(t, []string{"would have deleted 1 file, 8 B"}, words(t, dir, do(t, dir, "delete_files", args{"items": []string{"in/c.txt"}}), true))
	require.Equal(t, []string{"nothing matches"}, words(t, dir, do(t, dir, "delete_files", args{"path": []string{"in"}}), false))
	require.Equal(t, abi.Item{Kind: abi.ItemInfo, Message: "copied 1 item to the top folder"}, formatMoves("copied")(Moved{Count: 1, To: "."}, false)[0], "a path of . says nothing")
	require.Equal(t, []string{"deleted 1 folder with all in it"}, words(t, dir, do(t, dir, "delete_files", args{"items": []string{"in"}}), false))
}

// Many moves are one look at each folder and one rename each, and told as they
// go on.
func TestManyMoves(t *testing.T) {
	dir := t.TempDir()
	const files = 1000
	require.NoError(t, os.Mkdir(filepath.Join(dir, "in"), 0o755))
	for i := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "in", strconv.Itoa(i)+".jpg"), nil, 0o644))
	}
	var told []abi.Progress
	n := guest.Native{Dir: dir, Now: now, Progress: func(p abi.Progress) { told = append(told, p) }}
	results, err := n.Run(served, guest.Call{Tool: "move_files", Args: args{"src": []string{"in"}, "dst": "out", "kind": "files"}})
	require.NoError(t, err)
	require.Equal(t, files, last[Moved](t, results).Count)
	require.Equal(t, abi.Progress{Done: files, Total: files, Label: "moving"}, told[len(told)-1])
}
