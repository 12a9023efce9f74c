package commit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/stage"
)

// blobOf is the file that holds what is staged at a path.
func blobOf(r *Run, s *stager, path string) string {
	return filepath.Join(r.StageDir(), "b", stage.BlobName(s.node(path).Blob))
}

// overwrite puts other bytes of the same length into a file and hides it as
// well as a program of the same user can.
func overwrite(t *testing.T, path, content string) {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, info.Size(), int64(len(content)))
	tick() // the clock of files is coarse
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(content)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
}

// TestDigestCoversContent guards that nothing is committed but the content that
// was approved, whether the run is read again or not.
func TestDigestCoversContent(t *testing.T) {
	for _, tc := range []struct{ name, path string }{{"of a new file", "n"}, {"of one that is replaced", "a"}} {
		t.Run(tc.name, func(t *testing.T) {
			r, s := begin(t, "a")
			s.write(tc.path, "approved")
			shown, err := Read(context.Background(), r, writeOnce)
			require.NoError(t, err)
			again, err := Read(context.Background(), r, writeOnce)
			require.NoError(t, err)
			require.Equal(t, shown.Digest(), again.Digest())
			before := contents(tree(t, r.Sandbox))

			overwrite(t, blobOf(r, s, tc.path), "EVILEVIL")
			_, err = Apply(context.Background(), shown, yes{}, nil)
			require.Equal(t, fault.CheckFailed, fault.Of(err), "%v", err)
			require.ErrorContains(t, err, "has other content on the stage by now")
			require.Equal(t, before, contents(tree(t, r.Sandbox)))

			again, err = Read(context.Background(), r, writeOnce)
			require.NoError(t, err)
			require.NotEqual(t, shown.Digest(), again.Digest())
		})
	}
	t.Run("of a link", func(t *testing.T) {
		digests := make(map[string]bool)
		for _, target := range []string{"a", "b"} {
			r, s := begin(t, "a", "b")
			s.link(target, "l")
			c, err := Read(context.Background(), r, writeOnce)
			require.NoError(t, err)
			c.run = &Run{Sandbox: "/box"} // all else is the same
			digests[digestOf(c.run, writeOnce, c).String()] = true
		}
		require.Len(t, digests, 2)
	})
}

// TestSumsOfHoles guards that a sum depends on what a reader sees, and not on
// how a file system keeps it, and that no block can take another's place.
func TestSumsOfHoles(t *testing.T) {
	const size = 5*blockBytes + 123
	dir := t.TempDir()
	sum := func(write func(f *os.File)) [sha256.Size]byte {
		f, err := os.CreateTemp(dir, "")
		require.NoError(t, err)
		defer f.Close()
		require.NoError(t, f.Truncate(size))
		write(f)
		info, err := f.Stat()
		require.NoError(t, err)
		sum, _, err := sumOf(context.Background(), f, info.Size())
		require.NoError(t, err)
		return sum
	}
	at := func(f *os.File, off int64, b []byte) {
		_, err := f.WriteAt(b, off)
		require.NoError(t, err)
	}
	hole := sum(func(*os.File) {})
	require.Equal(t, hole, sum(func(f *os.File) { at(f, 0, make([]byte, size)) }))
	known := map[[sha256.Size]byte]string{hole: "a hole"}
	for name, write := range map[string]func(f *os.File){
		"in the first block":  func(f *os.File) { at(f, 7, []byte("x")) },
		"in the second block": func(f *os.File) { at(f, blockBytes+7, []byte("x")) },
		"in the last block":   func(f *os.File) { at(f, size-1, []byte("x")) },
		"shorter":             func(f *os.File) { require.NoError(t, f.Truncate(size-1)) },
		"longer":              func(f *os.File) { require.NoError(t, f.Truncate(size+1)) },
	} {
		got := sum(write)
		require.Empty(t, known[got], name)
		known[got] = name
		require.Equal(t, got, sum(func(f *os.File) { at(f, 0, make([]byte, size)); write(f) }), name)
	}
	f, err := os.CreateTemp(dir, "")
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, f.Truncate(maxBytes)) // 64 GiB of nothing take no time
	_, _, err = sumOf(context.Background(), f, maxBytes)
	require.NoError(t, err)
}

// TestHolesComeBack guards that the copy of a sparse file takes as little room as
// the file, though a guest wrote zeros.
func TestHolesComeBack(t *testing.T) {
	r, s := begin(t)
	probe, err := os.Create(filepath.Join(r.Dir, "probe"))
	require.NoError(t, err)
	defer probe.Close()
	if unix.Fallocate(int(probe.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, blockBytes) == unix.EOPNOTSUPP {
		t.Skip("this file system makes no holes")
	}
	content := make([]byte, 8<<20+5)
	copy(content[3<<20:], "in the middle")
	s.write("disk.img", string(content))
	mtime := time.Now().Add(-time.Hour).Truncate(time.Second)
	require.NoError(t, os.Chtimes(blobOf(r, s, "disk.img"), mtime, mtime))
	c := apply(t, r)
	require.Equal(t, int64(len(content)), c.List()[0].Size)
	path := filepath.Join(r.Sandbox, "disk.img")
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(content, got))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, mtime, info.ModTime())
	require.LessOrEqual(t, blocks(info), int64(2*blockBytes))
	require.Empty(t, undo(t, r).Refused)
	list, err := List(r.state())
	require.NoError(t, err)
	for _, kept := range list {
		require.Less(t, kept.Size(), int64(1<<20), "what an undo took away is kept, and small")
	}
}

// BenchmarkReadContent is what it costs that a digest covers content, beside
// the SHA-256 of the same bytes in memory.
func BenchmarkReadContent(b *testing.B) {
	for name, n := range map[string]struct{ files, size int }{"10000x4kB": {10_000, 4 << 10}, "1x256MB": {1, 256 << 20}} {
		b.Run(name, func(b *testing.B) {
			r, s := begin(b)
			content := make([]byte, n.size)
			_, _ = rand.NewChaCha8([32]byte{}).Read(content)
			for i := range n.files {
				s.write("f"+string(rune('a'+i/1000))+marker(i), string(content))
			}
			b.Run("read", func(b *testing.B) {
				b.SetBytes(int64(n.files * n.size))
				for b.Loop() {
					_, err := Read(context.Background(), r, writeOnce)
					require.NoError(b, err)
				}
			})
			b.Run("sha256", func(b *testing.B) {
				b.SetBytes(int64(n.files * n.size))
				for b.Loop() {
					for range n.files {
						sha256.Sum256(content)
					}
				}
			})
		})
	}
}
