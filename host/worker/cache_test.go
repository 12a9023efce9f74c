package worker_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/worker"
)

// entry finds the one entry of a cache.
func entry(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*", "sum"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	return filepath.Dir(found[0])
}

func TestCacheCompilesOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	n := 0
	for range 3 {
		c, err := worker.OpenCache(dir)
		require.NoError(t, err)
		m, err := c.Module(t.Context(), good(), func() { n++ })
		require.NoError(t, err)
		require.Len(t, m.Digest, 64)
		w, err := worker.Start(t.Context(), worker.Options{Module: m})
		require.NoError(t, err)
		works(t, w)
		require.NoError(t, w.Close())
	}
	require.Equal(t, 1, n)
	entry(t, dir)
}

// What is in the cache is native code: whatever is not exactly what was
// compiled is compiled again, and never run.
func TestPoisonedCache(t *testing.T) {
	code := func(t *testing.T, e string) string {
		files, err := filepath.Glob(filepath.Join(e, "wazero-*", "*"))
		require.NoError(t, err)
		require.Len(t, files, 2)
		return files[0]
	}
	flip := func(t *testing.T, path string) {
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		b[len(b)/2] ^= 1
		require.NoError(t, os.WriteFile(path, b, 0o600))
	}
	for name, poison := range map[string]func(t *testing.T, dir, e string){
		"a flipped bit of code": func(t *testing.T, _, e string) { flip(t, code(t, e)) },
		"a flipped bit of data": func(t *testing.T, _, e string) { flip(t, filepath.Join(e, "module.wasm")) },
		"truncated code":        func(t *testing.T, _, e string) { require.NoError(t, os.Truncate(code(t, e), 100)) },
		"missing code":          func(t *testing.T, _, e string) { require.NoError(t, os.Remove(code(t, e))) },
		"an additional file": func(t *testing.T, _, e string) {
			require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(code(t, e)), "x"), nil, 0o600))
		},
		"a file beside": func(t *testing.T, _, e string) {
			require.NoError(t, os.WriteFile(filepath.Join(e, "x"), nil, 0o600))
		},
		"a link in place of code": func(t *testing.T, _, e string) {
			f := code(t, e)
			require.NoError(t, os.Rename(f, f+".moved"))
			require.NoError(t, os.Rename(f+".moved", filepath.Join(filepath.Dir(e), "elsewhere")))
			require.NoError(t, os.Symlink(filepath.Join(filepath.Dir(e), "elsewhere"), f))
		},
		"a damaged sum":   func(t *testing.T, _, e string) { flip(t, filepath.Join(e, "sum")) },
		"an empty sum":    func(t *testing.T, _, e string) { require.NoError(t, os.Truncate(filepath.Join(e, "sum"), 0)) },
		"a missing sum":   func(t *testing.T, _, e string) { require.NoError(t, os.Remove(filepath.Join(e, "sum"))) },
		"another key":     func(t *testing.T, dir, _ string) { flip(t, filepath.Join(dir, "key")) },
		"a truncated key": func(t *testing.T, dir, _ string) { require.NoError(t, os.Truncate(filepath.Join(dir, "key"), 5)) },
		"a whole entry under another name": func(t *testing.T, dir, e string) {
			other := newPlug()
			other.fn("other", ok)
			c, err := worker.OpenCache(dir)
			require.NoError(t, err)
			_, err = c.Module(t.Context(), other.bytes(), nil)
			require.NoError(t, err)
			found, err := filepath.Glob(filepath.Join(dir, "*", "sum"))
			require.NoError(t, err)
			require.NoError(t, os.RemoveAll(e))
			for _, f := range found {
				if d := filepath.Dir(f); d != e {
					require.NoError(t, os.Rename(d, e))
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cache")
			c, err := worker.OpenCache(dir)
			require.NoError(t, err)
			_, err = c.Module(t.Context(), good(), nil)
			require.NoError(t, err)
			poison(t, dir, entry(t, dir))

			c, err = worker.OpenCache(dir)
			require.NoError(t, err)
			compiled := 0
			use(t, c, &compiled)
			require.Equal(t, 1, compiled)
			use(t, c, &compiled)
			require.Equal(t, 1, compiled, "the new entry is whole")
		})
	}
}

// use has a worker run the good module with the code of a cache, and counts
// compilations.
func use(t *testing.T, c *worker.Cache, compiled *int) *worker.Module {
	t.Helper()
	m, err := c.Module(t.Context(), good(), func() { *compiled++ })
	require.NoError(t, err)
	w, err := worker.Start(t.Context(), worker.Options{Module: m})
	require.NoError(t, err)
	works(t, w)
	require.NoError(t, w.Close())
	return m
}

// TestCodeForAnotherUse guards that the code of one module with the features of
// one manifest does not stand for the same module with others.
func TestCodeForAnotherUse(t *testing.T) {
	engine := []byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x05\x03\x01\x00\x01" +
		"\x07\x13\x02\x06memory\x02\x00\x06_start\x00\x00\x0a\x04\x01\x02\x00\x0b")
	dir := filepath.Join(t.TempDir(), "cache")
	c, err := worker.OpenCache(dir)
	require.NoError(t, err)
	compiled := 0
	get := func(features ...string) {
		_, err := c.Engine(t.Context(), engine, features, func() { compiled++ })
		require.NoError(t, err)
	}
	get()
	plain := entry(t, dir)
	kept := filepath.Join(t.TempDir(), "kept")
	require.NoError(t, os.Rename(plain, kept))
	get("simd")
	simd := entry(t, dir)
	require.NotEqual(t, plain, simd)
	require.Equal(t, 2, compiled)
	require.NoError(t, os.RemoveAll(simd))
	require.NoError(t, os.Rename(kept, simd))
	get("simd")
	require.Equal(t, 3, compiled, "it is not what was compiled for this")
}

// TestExpectedCodeIsVerifiedLikeAny guards that what was verified ahead serves
// the one use it was for, and that damage found then is damage.
func TestExpectedCodeIsVerifiedLikeAny(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	c, err := worker.OpenCache(dir)
	require.NoError(t, err)
	compiled := 0
	damage := func() {
		path := filepath.Join(entry(t, dir), "module.wasm")
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		b[len(b)/2] ^= 1
		require.NoError(t, os.WriteFile(path, b, 0o600))
	}
	digest := use(t, c, &compiled).Digest
	require.Equal(t, 1, compiled)
	c.Expect(digest)
	use(t, c, &compiled)
	require.Equal(t, 1, compiled, "it is whole")
	damage()
	c.Expect(digest)
	use(t, c, &compiled)
	require.Equal(t, 2, compiled, "it is not")
	c.Expect(digest)
	use(t, c, &compiled)
	damage()
	use(t, c, &compiled)
	require.Equal(t, 3, compiled, "it was, a use ago")
	c.Expect("0000") // nobody knows it
}

func TestCacheMustBePrivate(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"others write": 0o777, "group reads": 0o750} {
		t.Run(name, func(t *testing.T) {
			d := filepath.Join(dir, name)
			require.NoError(t, os.Mkdir(d, 0o700))
			require.NoError(t, os.Chmod(d, mode))
			_, err := worker.OpenCache(d)
			require.Equal(t, fault.Stopped, fault.Of(err), "%v", err)
		})
	}
	t.Run("a link", func(t *testing.T) {
		require.NoError(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
		require.NoError(t, os.Symlink("real", filepath.Join(dir, "link")))
		_, err := worker.OpenCache(filepath.Join(dir, "link"))
		require.Equal(t, fault.Stopped, fault.Of(err), "%v", err)
	})
	t.Run("another owner", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("only root can give a folder away")
		}
		d := filepath.Join(dir, "foreign")
		require.NoError(t, os.Mkdir(d, 0o700))
		require.NoError(t, os.Chown(d, 12345, 12345))
		_, err := worker.OpenCache(d)
		require.Equal(t, fault.Stopped, fault.Of(err), "%v", err)
	})
	t.Run("a file", func(t *testing.T) {
		f := filepath.Join(dir, "file")
		require.NoError(t, os.WriteFile(f, nil, 0o600))
		_, err := worker.OpenCache(f)
		require.Error(t, err)
	})
}

// A cache does not grow for ever, and a crash in the middle of a compile leaves
// nothing for long.
func TestCacheIsSwept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	require.NoError(t, os.Mkdir(dir, 0o700))
	old := time.Now().Add(-48 * time.Hour)
	add := func(name string, at time.Time) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.Mkdir(path, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(path, "sum"), nil, 0o600))
		require.NoError(t, os.Chtimes(path, at, at))
	}
	add("new-crashed", old)
	add("new-busy", time.Now())
	for i := range 50 {
		add(fmt.Sprintf("%032d", i), old.Add(time.Duration(i)*time.Minute))
	}
	_, err := worker.OpenCache(dir)
	require.NoError(t, err)
	require.NoDirExists(t, filepath.Join(dir, "new-crashed"))
	require.DirExists(t, filepath.Join(dir, "new-busy"))
	require.NoDirExists(t, filepath.Join(dir, fmt.Sprintf("%032d", 9)))
	require.DirExists(t, filepath.Join(dir, fmt.Sprintf("%032d", 10)))
}
