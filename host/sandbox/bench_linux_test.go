package sandbox

import (
	"fmt"
	"os"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/experimental/sysfs"

	"stepbox.dev/abi"
)

// The benchmarks run each operation on wazero's own mount of a folder and on the
// view of a like one, side by side, on 1,000 small files at depth 3.

const benchFiles = 1000

func benchName(i int) string { return fmt.Sprintf("a/b/c%d/f%03d", i/100%10, i%100) }

func benchSides(b *testing.B) map[string]func() sys.FS {
	fresh := func() *rig {
		files := map[string]string{}
		for i := range benchFiles {
			files[benchName(i)] = "0123456789abcdef"
		}
		return newRig(b, files)
	}
	return map[string]func() sys.FS{
		"stock": func() sys.FS { return sysfs.DirFS(fresh().lower) },
		"view":  func() sys.FS { return fresh().in(abi.ModeWrite) },
	}
}

func bench(b *testing.B, prepare func(fs sys.FS), op func(fs sys.FS, i int) sys.Errno) {
	sides := benchSides(b)
	for _, name := range []string{"stock", "view"} {
		b.Run(name, func(b *testing.B) {
			fs := sides[name]()
			if prepare != nil {
				prepare(fs)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if errno := op(fs, i); errno != 0 {
					b.Fatal(i, errno)
				}
				i++
			}
		})
	}
}

func BenchmarkStat(b *testing.B) {
	bench(b, nil, func(fs sys.FS, i int) sys.Errno {
		_, errno := fs.Stat(benchName(i % benchFiles))
		return errno
	})
}

func BenchmarkRead(b *testing.B) {
	buf := make([]byte, 64)
	bench(b, nil, func(fs sys.FS, i int) sys.Errno {
		h, errno := fs.OpenFile(benchName(i%benchFiles), sys.O_RDONLY, 0)
		if errno != 0 {
			return errno
		}
		if _, errno = h.Read(buf); errno != 0 {
			return errno
		}
		return h.Close()
	})
}

func BenchmarkList(b *testing.B) {
	bench(b, nil, func(fs sys.FS, i int) sys.Errno {
		h, errno := fs.OpenFile(fmt.Sprintf("a/b/c%d", i%10), sys.O_DIRECTORY, 0)
		if errno != 0 {
			return errno
		}
		if list, errno := h.Readdir(-1); errno != 0 || len(list) != 100 {
			return errno
		}
		return h.Close()
	})
}

func BenchmarkCreateAndWrite(b *testing.B) {
	text := []byte("0123456789abcdef")
	bench(b, nil, func(fs sys.FS, i int) sys.Errno {
		h, errno := fs.OpenFile(fmt.Sprintf("a/b/c%d/n%d", i%10, i), anew, 0o600)
		if errno != 0 {
			return errno
		}
		if _, errno = h.Write(text); errno != 0 {
			return errno
		}
		return h.Close()
	})
}

func BenchmarkRename(b *testing.B) {
	bench(b, nil, func(fs sys.FS, i int) sys.Errno {
		from, to := benchName(i%benchFiles), benchName(i%benchFiles)
		if round := i / benchFiles; round > 0 {
			from += fmt.Sprint("-", round)
		}
		return fs.Rename(from, to+fmt.Sprint("-", i/benchFiles+1))
	})
}

func BenchmarkRemove(b *testing.B) {
	bench(b, nil, func(fs sys.FS, i int) sys.Errno {
		if i >= benchFiles { // the first thousand are the sandbox's own
			if errno := put(fs, benchName(i%benchFiles), ""); errno != 0 {
				return errno
			}
		}
		return fs.Unlink(benchName(i % benchFiles))
	})
}

func BenchmarkTenThousandRenames(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		files := map[string]string{}
		for i := range 10_000 {
			files[fmt.Sprintf("in/%d/f%d", i%10, i)] = ""
		}
		f := newRig(b, files).in(abi.ModeWrite)
		b.StartTimer()
		if errno := f.Mkdir("out", 0); errno != 0 {
			b.Fatal(errno)
		}
		for i := range 10_000 {
			if errno := f.Rename(fmt.Sprintf("in/%d/f%d", i%10, i), fmt.Sprintf("out/f%d", i)); errno != 0 {
				b.Fatal(errno)
			}
		}
	}
}

// STEPBOX_BIG sets the size in MB of the large file.
func bigSize() int64 {
	size := int64(64)
	if s := os.Getenv("STEPBOX_BIG"); s != "" {
		fmt.Sscan(s, &size)
	}
	return size << 20
}

func BenchmarkBigWrite(b *testing.B) {
	buf := make([]byte, 64<<10)
	b.SetBytes(bigSize())
	bench(b, nil, func(fs sys.FS, _ int) sys.Errno {
		h, errno := fs.OpenFile("big", anew, 0o600)
		if errno != 0 {
			return errno
		}
		for range bigSize() / int64(len(buf)) {
			if _, errno := h.Write(buf); errno != 0 {
				return errno
			}
		}
		return h.Close()
	})
}

func BenchmarkBigRead(b *testing.B) {
	buf := make([]byte, 64<<10)
	prepare := func(fs sys.FS) {
		h, errno := fs.OpenFile("big", anew, 0o600)
		if errno != 0 {
			b.Fatal(errno)
		}
		if errno := h.Truncate(bigSize()); errno != 0 {
			b.Fatal(errno)
		}
		h.Close()
	}
	bench(b, prepare, func(fs sys.FS, _ int) sys.Errno {
		h, errno := fs.OpenFile("big", sys.O_RDONLY, 0)
		if errno != 0 {
			return errno
		}
		for {
			n, errno := h.Read(buf)
			if errno != 0 {
				return errno
			}
			if n == 0 {
				return h.Close()
			}
		}
	})
}
