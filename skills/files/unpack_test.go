package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
)

func TestUnpackLeavesLinksOut(t *testing.T) {
	dir := box(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "l.zip"), zipped(t, "a.txt", link("evil"), "a\x1b[2Jb"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "m.tar.gz"), tarred(t,
		tar.Header{Name: "dir/", Typeflag: tar.TypeDir},
		tar.Header{Name: "dir/soft", Typeflag: tar.TypeSymlink, Linkname: "/etc"},
		tar.Header{Name: "dir/hard", Typeflag: tar.TypeLink, Linkname: "../../x"},
		tar.Header{Name: "dir/fifo", Typeflag: tar.TypeFifo},
		tar.Header{Name: "dir/b.txt", Typeflag: tar.TypeReg}), 0o644))
	results := do(t, dir, "extract_archive", args{"input": []string{"l.zip", "m.tar.gz"}, "dst": "out"})
	require.Equal(t, []string{"out/l/a.txt=x", "out/m/dir/b.txt="}, tree(t, dir)[2:])
	require.Len(t, results[1].Issues, 5, "each is told once")
}

func TestUnpackOverwritesNothing(t *testing.T) {
	dir := box(t, "out/a.txt=mine", "out/c/keep", "file")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.zip"), zipped(t, "a.txt", "b.txt", "c/d"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "y.zip"), zipped(t, "b.txt", "c/keep"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "n.gz"), gzipped(t, "one"), 0o644))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "sub"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sub/n.gz"), gzipped(t, "two"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.tgz"), tarred(t), 0o644))
	refused(t, dir, "extract_archive", args{"input": []string{"x.zip"}, "dst": "out"}, abi.CodeConflict, `"out/a.txt" is there already`)
	refused(t, dir, "extract_archive", args{"input": []string{"y.zip"}, "dst": "out"}, abi.CodeConflict, `"out/c/keep" is there already`)
	refused(t, dir, "extract_archive", args{"input": []string{"x.zip", "x.tgz", "n.gz"}, "path": []string{"sub"}, "dst": "new"}, abi.CodeConflict,
		`"x.zip" and "x.tgz" would both be unpacked into "new/x"`, `sub/n.gz and n.gz both hold "n"`)
	refused(t, dir, "extract_archive", args{"input": []string{"x.zip"}, "dst": "file"}, abi.CodeConflict)
	refused(t, dir, "extract_archive", args{"input": []string{"gone.zip"}}, abi.CodeNotFound, `there is no "gone.zip"`)
	refused(t, dir, "extract_archive", args{"input": []string{"out"}}, abi.CodeBadRequest, `"out" is no archive file`)
	refused(t, dir, "extract_archive", args{}, abi.CodeBadRequest, "name archives in input, or folders to look in")
	refused(t, dir, "extract_archive", args{"path": []string{"."}, "kind": "folders"}, abi.CodeUnsupported)
}

// Archives are found like any other files, and each gets a folder of its own.
func TestUnpackWhatIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		args args
		want []string
	}{
		"all in a folder": {args{"path": []string{"in"}},
			[]string{"in/a/f=x", "in/b/f=", "in/deep/c/f=x", "in/e="}},
		"by pattern":      {args{"path": []string{"in"}, "pattern": []string{"*.zip"}, "recursive": false}, []string{"in/a/f=x"}},
		"a pattern names": {args{"path": []string{"in"}, "pattern": []string{"*.cbz"}}, []string{"in/comic/f=x"}},
		"no document":     {args{"path": []string{"in"}, "pattern": []string{"d*"}}, nil},
		"older":           {args{"path": []string{"in"}, "modified_before": "2026-11-01"}, []string{"in/b/f="}},
		"all but":         {args{"path": []string{"in"}, "exclude": []string{"deep", "*.gz", "*.tgz"}, "dst": "out"}, []string{"out/a/f=x"}},
		"the newest":      {args{"path": []string{"in"}, "sort": "modified", "limit": 1}, []string{"in/a/f=x"}},
		"into one folder": {args{"path": []string{"in/deep"}, "items": []string{"in/a.zip"}, "dst": "out"}, []string{"out/a/f=x", "out/c/f=x"}},
		"one, by name":    {args{"items": []string{"in/a.zip"}, "dst": "out"}, []string{"out/f=x"}},
		"one, found":      {args{"path": []string{"in/deep"}, "dst": "out"}, []string{"out/c/f=x"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := box(t, "in/x.txt", "in/old.rar=Rar!", "in/deep/")
			for file, data := range map[string][]byte{
				"in/a.zip": zipped(t, "f"), "in/b.tgz": tarred(t, tar.Header{Name: "f", Typeflag: tar.TypeReg}), "in/deep/c.zip": zipped(t, "c/f"),
				"in/doc.docx": zipped(t, "word"), "in/e.gz": gzipped(t, ""), "in/comic.cbz": zipped(t, "f"),
			} {
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), data, 0o644))
				age(t, dir, file, 2)
			}
			age(t, dir, "in/b.tgz", 90)
			age(t, dir, "in/a.zip", 1)
			age(t, dir, "in/old.rar", 3)
			before := tree(t, dir)
			do(t, dir, "extract_archive", c.args)
			var made []string
			for _, n := range tree(t, dir) {
				if !slices.Contains(before, n) {
					made = append(made, n)
				}
			}
			require.Equal(t, c.want, made)
		})
	}
	dir := box(t, "in/old.rar=Rar!", "in/b.7z=7z")
	results := do(t, dir, "extract_archive", args{"path": []string{"in"}})
	require.Equal(t, []string{
		"nothing to unpack",
		`"in/b.7z" cannot be unpacked: it is no zip, tar, tar.gz or gz file; it is left out`,
		`"in/old.rar" cannot be unpacked: it is no zip, tar, tar.gz or gz file; it is left out`,
	}, words(t, dir, results, false))
	refused(t, dir, "extract_archive", args{"input": []string{"in/old.rar"}}, abi.CodeUnsupported, "cannot be unpacked")
}

func TestUnpackPlaces(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		data []byte
		want []string
	}{
		"a folder of its name":    {"in/x.zip", zipped(t, "a", "b/c"), []string{"in/x/a=x", "in/x/b/c=x"}},
		"not a folder twice":      {"site.zip", zipped(t, "site/", "site/a"), []string{"site/a=x"}},
		"backslashes are slashes": {"w.zip", zipped(t, `dir\a`, `dir\b`), []string{"w/dir/a=x", "w/dir/b=x"}},
		"a tar":                   {"t.tgz", tarred(t, tar.Header{Name: "./", Typeflag: tar.TypeDir}, tar.Header{Name: "./a", Typeflag: tar.TypeReg}), []string{"t/a="}},
		"one packed file":         {"in/note.txt.gz", gzipped(t, "hello"), []string{"in/note.txt=hello"}},
		"an empty packed file":    {"e.gz", gzipped(t, ""), []string{"e="}},
		"names of DOS":            {"d.zip", zipped(t, zip.FileHeader{Name: "\x81ber", NonUTF8: true}), []string{"d/über=x"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := box(t)
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, c.file)), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, c.file), c.data, 0o644))
			results := do(t, dir, "extract_archive", args{"input": []string{c.file}})
			require.NoError(t, os.Remove(filepath.Join(dir, c.file)))
			require.Equal(t, c.want, tree(t, dir))
			require.Equal(t, len(c.want), last[Made](t, results).Count)
			for _, p := range last[Made](t, results).Paths {
				_, err := os.Lstat(filepath.Join(dir, p))
				require.NoError(t, err, "what the result names is there")
			}
		})
	}
}

func gzipped(t *testing.T, text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}
