package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
)

func TestPackAndUnpack(t *testing.T) {
	for _, format := range []string{"zip", "tar.gz"} {
		t.Run(format, func(t *testing.T) {
			dir := box(t, "site/index.html", "site/img/ü 图.png", "site/empty/", "site/-dash", "other.txt")
			age(t, dir, "site/index.html", 77)
			age(t, dir, "site/img", 88)
			results := do(t, dir, "make_archive", args{"items": []string{"site"}, "format": format})
			require.Equal(t, []string{"site." + format}, last[Made](t, results).Paths)
			require.Equal(t, []string{"packed 3 files, 44 B, into site." + format}, words(t, dir, results, false))

			do(t, dir, "extract_archive", args{"input": []string{"site." + format}, "dst": "out"})
			require.Equal(t, []string{"out/site/-dash=site/-dash", "out/site/empty/", "out/site/img/ü 图.png=site/img/ü 图.png", "out/site/index.html=site/index.html"}, tree(t, dir)[1:5])
			for name, days := range map[string]int{"out/site/index.html": 77, "out/site/img": 88} {
				info, err := os.Lstat(filepath.Join(dir, name))
				require.NoError(t, err)
				require.True(t, info.ModTime().Equal(now.AddDate(0, 0, -days)), name)
			}

			// The same files give the same bytes.
			first, err := os.ReadFile(filepath.Join(dir, "site."+format))
			require.NoError(t, err)
			do(t, dir, "make_archive", args{"items": []string{"site"}, "output": "again." + format})
			second, err := os.ReadFile(filepath.Join(dir, "again."+format))
			require.NoError(t, err)
			require.Equal(t, first, second)
		})
	}
}

func TestPackNames(t *testing.T) {
	for name, c := range map[string]struct {
		args          args
		output, names string
	}{
		"a folder looked in":     {args{"path": []string{"logs"}, "pattern": []string{"*.log"}, "output": "logs.zip"}, "logs.zip", "a.log old/b.log"},
		"named after the folder": {args{"path": []string{"logs"}}, "logs.zip", "a.log old/b.log x.txt"},
		"named after the file":   {args{"items": []string{"logs/x.txt"}}, "logs/x.zip", "x.txt"},
		"an extension is added":  {args{"items": []string{"logs"}, "output": "backup"}, "backup.zip", "logs/ logs/a.log logs/old/ logs/old/b.log logs/x.txt"},
		"into a new folder":      {args{"items": []string{"logs/a.log"}, "output": "new/a.zip"}, "new/a.zip", "a.log"},
		"all but":                {args{"items": []string{"logs"}, "exclude": []string{"old"}}, "logs.zip", "logs/a.log logs/x.txt"},
		"dots in the name":       {args{"items": []string{"logs"}, "output": "v1.2"}, "v1.2.zip", "logs/ logs/a.log logs/old/ logs/old/b.log logs/x.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := box(t, "logs/a.log", "logs/old/b.log", "logs/x.txt")
			made := last[Made](t, do(t, dir, "make_archive", c.args))
			require.Equal(t, []string{c.output}, made.Paths)
			r, err := zip.OpenReader(filepath.Join(dir, c.output))
			require.NoError(t, err)
			defer r.Close()
			var names []string
			for _, f := range r.File {
				names = append(names, f.Name)
			}
			require.Equal(t, c.names, strings.Join(names, " "))
		})
	}
}

// What is packed already is stored: packing it again costs time and gains nothing.
func TestPackStoresWhatIsDense(t *testing.T) {
	random := make([]byte, 100_000)
	_, err := rand.Read(random)
	require.NoError(t, err)
	dir := box(t, "a/random="+string(random), "a/text="+strings.Repeat("the same again ", 10_000))
	do(t, dir, "make_archive", args{"items": []string{"a"}})
	r, err := zip.OpenReader(filepath.Join(dir, "a.zip"))
	require.NoError(t, err)
	defer r.Close()
	require.Equal(t, zip.Store, r.File[1].Method)
	require.Equal(t, zip.Deflate, r.File[2].Method)
	do(t, dir, "extract_archive", args{"input": []string{"a.zip"}, "dst": "out"})
	data, err := os.ReadFile(filepath.Join(dir, "out/a/random"))
	require.NoError(t, err)
	require.Equal(t, random, data)
}

func TestPackRefuses(t *testing.T) {
	dir := box(t, "a/x", "b/x", "taken.zip")
	refused(t, dir, "make_archive", args{"path": []string{"a", "b"}, "output": "c.zip"}, abi.CodeConflict, `"a/x" and "b/x" would both be "x"`)
	refused(t, dir, "make_archive", args{"items": []string{"a"}, "output": "taken.zip"}, abi.CodeConflict, "is not overwritten")
	refused(t, dir, "make_archive", args{"items": []string{"a"}, "output": "a.rar"}, abi.CodeUnsupported, "name a .zip or .tar.gz file")
	refused(t, dir, "make_archive", args{"items": []string{"a"}, "output": "a.zip", "format": "tar.gz"}, abi.CodeBadRequest, "is the name of a zip archive")
	refused(t, dir, "make_archive", args{"path": []string{"a"}, "pattern": []string{"*.log"}}, abi.CodeNotFound, "nothing to pack")
}

// zipped makes a zip archive; each entry may be given by a header.
func zipped(t *testing.T, entries ...any) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h, ok := e.(zip.FileHeader)
		if !ok {
			h = zip.FileHeader{Name: e.(string), Method: zip.Deflate}
		}
		f, err := w.CreateHeader(&h)
		require.NoError(t, err)
		if !strings.HasSuffix(h.Name, "/") {
			_, err = f.Write([]byte("x"))
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func tarred(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	gz, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	require.NoError(t, err)
	w := tar.NewWriter(gz)
	for _, h := range headers {
		h.Mode = 0o644
		require.NoError(t, w.WriteHeader(&h))
		_, err := io.CopyN(w, zeros{}, h.Size)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, gz.Close())
	return b.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func link(name string) zip.FileHeader {
	h := zip.FileHeader{Name: name}
	h.SetMode(os.ModeSymlink | 0o777)
	return h
}

// Whatever an archive says, nothing is written outside the folder, nothing is
// overwritten, and no link is made.
func TestHostileArchives(t *testing.T) {
	encrypted := zipped(t, "secret")
	for i := range encrypted { // set the flag in both headers
		if i+8 < len(encrypted) && string(encrypted[i:i+4]) == "PK\x03\x04" {
			encrypted[i+6] |= 1
		}
		if i+10 < len(encrypted) && string(encrypted[i:i+4]) == "PK\x01\x02" {
			encrypted[i+8] |= 1
		}
	}
	long := strings.Repeat("n", 300)
	for name, c := range map[string]struct {
		data []byte
		code abi.Code
		want string
	}{
		"zip slip":             {zipped(t, "ok", "../evil"), abi.CodeBadInput, "leads out of the folder"},
		"zip slip, deep":       {zipped(t, "a/../../evil"), abi.CodeBadInput, "leads out of the folder"},
		"backslash slip":       {zipped(t, `..\evil`), abi.CodeBadInput, "leads out of the folder"},
		"absolute":             {zipped(t, "/etc/evil"), abi.CodeBadInput, "leads out of the folder"},
		"absolute, backslash":  {zipped(t, `\evil`), abi.CodeBadInput, "leads out of the folder"},
		"drive":                {zipped(t, `C:\evil`), abi.CodeBadInput, "leads out of the folder"},
		"tar slip":             {tarred(t, tar.Header{Name: "../evil", Typeflag: tar.TypeReg}), abi.CodeBadInput, "leads out of the folder"},
		"tar absolute":         {tarred(t, tar.Header{Name: "/evil", Typeflag: tar.TypeReg}), abi.CodeBadInput, "leads out of the folder"},
		"NUL":                  {zipped(t, "a\x00b"), abi.CodeBadInput, "is no name"},
		"long name":            {zipped(t, long), abi.CodeBadInput, "too long"},
		"deep":                 {zipped(t, strings.Repeat("d/", 100)+"x"), abi.CodeBadInput, "too deep"},
		"twice":                {zipped(t, "a", "a"), abi.CodeConflict, `holds "a" twice`},
		"twice, cleaned":       {zipped(t, "a/b", "./a//b"), abi.CodeConflict, `holds "a/b" twice`},
		"case twins":           {zipped(t, "Readme", "README"), abi.CodeConflict, "differ only in case"},
		"file and folder":      {zipped(t, "a", "a/b"), abi.CodeConflict, "would be a file and a folder"},
		"folder and file":      {zipped(t, "a/b", "a"), abi.CodeConflict, `holds "a" twice`},
		"encrypted":            {encrypted, abi.CodeUnsupported, "is encrypted"},
		"no archive":           {[]byte("hello"), abi.CodeUnsupported, "no zip, tar, tar.gz or gz file"},
		"empty":                {nil, abi.CodeUnsupported, "no zip, tar, tar.gz or gz file"},
		"cut zip":              {zipped(t, "a", "b")[:60], abi.CodeBadInput, "is damaged"},
		"cut tar.gz":           {tarred(t, tar.Header{Name: "a", Typeflag: tar.TypeReg, Size: 5000})[:40], abi.CodeBadInput, "is damaged"},
		"zip bomb":             {bombZip(t), abi.CodeBadInput, "would unpack to more than"},
		"tar bomb":             {tarred(t, tar.Header{Name: "a", Typeflag: tar.TypeReg, Size: 300 << 20}), abi.CodeBadInput, "would unpack to more than"},
		"gz bomb":              {bombGzip(t), abi.CodeBadInput, "would unpack to more than"},
		"a lie about its size": {lyingZip(t), abi.CodeBadInput, ""},
	} {
		t.Run(name, func(t *testing.T) {
			outer := t.TempDir()
			dir := filepath.Join(outer, "box")
			require.NoError(t, os.Mkdir(dir, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "x.zip"), c.data, 0o644))
			_, err := call(t, dir, "extract_archive", args{"input": []string{"x.zip"}, "dst": "out"})
			var e *abi.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.code, e.Code, e.Message)
			require.Contains(t, e.Message, c.want)
			entries, err := os.ReadDir(outer)
			require.NoError(t, err)
			require.Len(t, entries, 1, "nothing beside the folder")
			if c.want != "" {
				require.NoDirExists(t, filepath.Join(dir, "out"), "refused before anything is written")
			}
		})
	}
}

// bombZip announces more than it could honestly hold.
func bombZip(t *testing.T) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) { return flate.NewWriter(to, flate.BestSpeed) })
	f, err := w.Create("bomb")
	require.NoError(t, err)
	_, err = io.CopyN(f, zeros{}, 300<<20)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func bombGzip(t *testing.T) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	require.NoError(t, err)
	_, err = io.CopyN(w, zeros{}, 300<<20)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// lyingZip unpacks to more than it announces.
func lyingZip(t *testing.T) []byte {
	t.Helper()
	var packed bytes.Buffer
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	packed.WriteString(strings.Repeat("y", 1000))
	f, err := w.CreateRaw(&zip.FileHeader{Name: "liar", Method: zip.Store, CompressedSize64: 1000, UncompressedSize64: 10})
	require.NoError(t, err)
	_, err = f.Write(packed.Bytes())
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func TestCodePageIsWhole(t *testing.T) {
	require.Len(t, []rune(codePage437), 128)
}

// A name in an archive is a stranger's: whatever it is, the path made from it
// lies below the folder and is clean.
func FuzzMemberName(f *testing.F) {
	for _, s := range []string{"a/b", "../a", `..\a`, "/a", "C:/a", "a//b/", "./", "a\x00b", "..", "a/..", "\u202e", strconv.Itoa(1)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got, err := memberName("x.zip", name)
		if err != nil || got == "" {
			return
		}
		require.True(t, filepath.IsLocal(got), got)
		require.Equal(t, filepath.Clean(got), got)
		require.NotContains(t, got, `\`)
		again, err := memberName("x.zip", got)
		require.NoError(t, err)
		require.Equal(t, got, again)
	})
}
