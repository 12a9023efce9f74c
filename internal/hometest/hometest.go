// Package hometest makes sandboxes for tests: a copy of the checked-in home of
// fixtures/home, and a folder of everything that git cannot hold. Only tests
// import it.
package hometest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Path is the absolute path of fixtures/home. Nothing may write below it.
func Path() string {
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		panic("hometest: the test binary has no caller information")
	}
	return filepath.Join(filepath.Dir(file), "..", "..", "fixtures", "home")
}

// Copy returns a fresh copy of fixtures/home, with modification times that are
// the same in every copy: each file one hour after the one before it by name,
// from 2026-01-01 12:00 UTC.
func Copy(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "home")
	from := os.DirFS(Path())
	require.NoError(t, os.CopyFS(dir, from))
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	require.NoError(t, filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at = at.Add(time.Hour)
		return os.Chtimes(p, at, at)
	}))
	return dir
}

// Large is the size of the sparse file that Odd makes, in bytes.
const Large = 5 << 30

// Odd is a folder of what a real disk may hold and git cannot.
type Odd struct {
	// Dir is the folder, to be used as a sandbox.
	Dir string
	// Outside is a folder beside it that links in Dir lead to. It holds
	// "secret.txt".
	Outside string
	// Names are the regular files of Dir with unusual names, by slash path.
	Names []string
}

// OddNames are file names that people, other systems and attackers make.
var OddNames = []string{
	"with space.txt", " leading space.txt", "trailing space .txt", "tab\there.txt",
	"отчёт за март.txt", "报告 三月.txt", "旅行📷🏖.txt", "e\u0301te\u0301.txt",
	"-rf", "--help.txt", "-", "new\nline.txt", "carriage\rreturn.txt", "\x1b[31mred.txt",
	"\u202etxt.exe", "quote'\"`.txt", "dollar $HOME.txt", "$variable", "percent%41.txt", `back\slash.txt`,
	"star*.txt", "question?.txt", "[brackets].txt", "{braces}.txt", "semi;colon.txt", "a&b|c.txt", "#hash.txt", "~tilde.txt",
	"UPPER.TXT", "upper.txt", "no-extension", "two.dots.tar.gz.txt", ".hidden", "...", "CON.txt", "name.with.trailing.dot.",
}

// NewOdd makes the folder: the odd names (with different content each), three
// duplicates, empty files and folders, a large sparse file, a nested archive,
// links inside and out, a broken link and a loop, and, where the system has
// them, a FIFO and names that are not UTF-8.
func NewOdd(t testing.TB) Odd {
	t.Helper()
	root := t.TempDir()
	o := Odd{Dir: filepath.Join(root, "odd"), Outside: filepath.Join(root, "outside")}
	for _, dir := range []string{"names", "duplicates/deep", "empty/folder", "links", "deep/1/2/3/4/5/6/7/8"} {
		require.NoError(t, os.MkdirAll(filepath.Join(o.Dir, filepath.FromSlash(dir)), 0o755))
	}
	require.NoError(t, os.MkdirAll(o.Outside, 0o755))
	write := func(name string, content []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(o.Dir, filepath.FromSlash(name)), content, 0o644))
	}
	for i, name := range append(append([]string{}, OddNames...), systemNames()...) {
		err := os.WriteFile(filepath.Join(o.Dir, "names", name), fmt.Appendf(nil, "odd %d\n", i), 0o644)
		if err != nil && runtime.GOOS != "linux" {
			continue // other systems forbid some names
		}
		require.NoError(t, err, "%q", name)
		o.Names = append(o.Names, "names/"+name)
	}
	for _, name := range []string{"duplicates/a.txt", "duplicates/b.txt", "duplicates/deep/c.txt"} {
		write(name, []byte("the same content\n"))
	}
	write("duplicates/same-size.txt", []byte("The same content\n"))
	write("empty/file.txt", nil)
	write("deep/1/2/3/4/5/6/7/8/bottom.txt", []byte("bottom\n"))
	write("nested.tar.gz", nested(t))
	write("large.bin", nil)
	require.NoError(t, os.Truncate(filepath.Join(o.Dir, "large.bin"), Large))
	require.NoError(t, os.WriteFile(filepath.Join(o.Outside, "secret.txt"), []byte("secret\n"), 0o644))
	links(t, o)
	if err := FIFO(filepath.Join(o.Dir, "fifo")); !errors.Is(err, errors.ErrUnsupported) {
		require.NoError(t, err)
	}
	return o
}

// nested is a tar.gz that holds a zip that holds a file.
func nested(t testing.TB) []byte {
	var inner bytes.Buffer
	z := zip.NewWriter(&inner)
	f, err := z.Create("inner/file.txt")
	require.NoError(t, err)
	_, err = f.Write([]byte("inside an archive inside an archive\n"))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	var outer bytes.Buffer
	g := gzip.NewWriter(&outer)
	w := tar.NewWriter(g)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: "inner.zip", Mode: 0o644, Size: int64(inner.Len())}))
	_, err = w.Write(inner.Bytes())
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, g.Close())
	return outer.Bytes()
}

// links makes links inside, out, broken and in a loop.
func links(t testing.TB, o Odd) {
	for name, target := range map[string]string{
		"inside":       "../duplicates/a.txt",
		"inside-dir":   "../duplicates",
		"out-relative": "../../outside/secret.txt",
		"out-absolute": filepath.Join(o.Outside, "secret.txt"),
		"out-dir":      "../../outside",
		"broken":       "nowhere",
		"loop-a":       "loop-b",
		"loop-b":       "loop-a",
	} {
		if err := os.Symlink(target, filepath.Join(o.Dir, "links", name)); err != nil {
			if runtime.GOOS == "windows" {
				return // needs a privilege there
			}
			require.NoError(t, err)
		}
	}
}
