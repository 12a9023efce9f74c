package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero/experimental/sys"
	"golang.org/x/sys/unix"

	"stepbox.dev/abi"
)

// outside makes a folder beside the sandbox, with a secret in it.
func outside(t *testing.T, r *rig) string {
	dir := r.lower + "-outside"
	require.NoError(t, os.Mkdir(dir, 0o755))
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), []byte("secret"), 0o644))
	return dir
}

func untouched(t *testing.T, dir string) {
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, list, 1)
	b, err := os.ReadFile(filepath.Join(dir, "secret"))
	require.NoError(t, err)
	require.Equal(t, "secret", string(b))
}

// Rows 1 and 26 of the threat model: no link that leads out is made.
func TestLinksThatLeadOutAreNotMade(t *testing.T) {
	r := newRig(t, map[string]string{"a/b/": "", "in/deep/": ""})
	f := r.in(abi.ModeWrite)
	for link, target := range map[string]string{
		"x1": "../x", "x2": "/etc/passwd", "x3": "a/../../x", "x4": "..", "x5": "/", "a/x6": "../../x",
		"a/x7": "../a/../../x", "x8": "./../x", "x9": "a/b/../../../x",
	} {
		require.Equal(t, sys.EPERM, f.Symlink(target, link), target)
		_, errno := f.Lstat(link)
		require.Equal(t, sys.ENOENT, errno)
	}
	require.Len(t, f.Denials(), 9)
	for _, d := range f.Denials() {
		require.Equal(t, Denial{Op: "symlink", Path: d.Path}, d)
	}
	for link, target := range map[string]string{"y1": "a", "a/y2": "../a/b", "a/b/y3": "../../in", "y4": "nothing/here"} {
		require.Zero(t, f.Symlink(target, link), target)
	}
	// A chain that only leads out once a folder became a link.
	require.Zero(t, f.Symlink("../in", "a/b/l"), "inside where it is")
	require.Zero(t, f.Rename("a/b/l", "l"))
	for _, path := range []string{"l", "l/x", "l/deep"} {
		_, errno := f.Stat(path)
		require.Equal(t, sys.EPERM, errno, path)
		_, errno = f.OpenFile(path, sys.O_RDWR|sys.O_CREAT, 0o600)
		require.Equal(t, sys.EPERM, errno, path)
	}
}

// Rows 1 to 3: a link that leads out, whoever made it, is never followed, in
// whatever mode and by whatever operation.
func TestLinksThatLeadOutAreNeverFollowed(t *testing.T) {
	for mode := abi.ModeRead; mode <= abi.ModeWrite; mode++ {
		t.Run(mode.String(), func(t *testing.T) {
			r := newRig(t, map[string]string{"mine/f": "f", "chain": "-> chain2/secret", "up": "-> mine/../..", "loop": "-> loop"})
			out := outside(t, r)
			rel := "../" + filepath.Base(out)
			for link, target := range map[string]string{
				"abs": out, "rel": rel, "file": rel + "/secret", "chain2": "mine/out", "mine/out": "../" + rel, "here": r.lower,
			} {
				require.NoError(t, os.Symlink(target, filepath.Join(r.lower, link)))
			}
			f := r.in(mode)
			for _, dir := range []string{"abs", "rel", "chain2", "mine/out", "up/" + filepath.Base(out), "here"} {
				for _, path := range []string{dir, dir + "/", dir + "/secret", dir + "/new"} {
					_, errno := f.Stat(path)
					require.Equal(t, sys.EPERM, errno, path)
					_, errno = get(f, path)
					require.Equal(t, sys.EPERM, errno, path)
					require.NotZero(t, put(f, path, "x"), path)
					require.NotZero(t, f.Utimens(path, 0, 0), path)
					require.NotZero(t, f.Mkdir(path, 0), path)
				}
				require.Equal(t, sys.EPERM, f.Unlink(dir+"/secret"), dir)
				require.Equal(t, sys.EPERM, f.Rmdir(dir+"/secret"), dir)
				require.Equal(t, sys.EPERM, f.Rename(dir+"/secret", "stolen"), dir)
				require.Equal(t, sys.EPERM, f.Rename("mine/f", dir+"/f"), dir)
				require.NotZero(t, f.Link(dir+"/secret", "stolen"), dir)
				require.NotZero(t, f.Symlink("x", dir+"/l"), dir)
				_, errno := f.OpenFile(dir, sys.O_DIRECTORY, 0)
				require.Equal(t, sys.EPERM, errno, dir)
			}
			for _, link := range []string{"abs", "rel", "file", "mine/out", "chain"} {
				_, errno := f.Readlink(link)
				require.Equal(t, sys.EPERM, errno, link)
				st, errno := f.Lstat(link)
				require.Zero(t, errno)
				require.NotZero(t, st.Mode&os.ModeSymlink)
			}
			_, errno := f.Stat("loop")
			require.Equal(t, sys.ELOOP, errno)
			untouched(t, out)
		})
	}
}

// Row 4: what cannot be written does not become writable under another name.
func TestNoOtherNameMakesWritable(t *testing.T) {
	r := newRig(t, map[string]string{"old": "old"})
	f := r.in(abi.ModeCreate)
	require.Equal(t, sys.EPERM, f.Rename("old", "mine"))
	require.Zero(t, f.Link("old", "copy"))
	mustPut(t, f, "copy", "changed")
	require.Equal(t, "old", mustGet(t, f, "old"))
	require.Equal(t, sys.EPERM, f.Link("@skill/vocab.yaml", "stolen"))
	require.Equal(t, sys.EPERM, f.Rename("@skill/vocab.yaml", "stolen"))
	require.Equal(t, sys.EPERM, f.Rename("copy", "@skill/vocab.yaml"))
}

// Row 6: odd names get a clean errno.
func TestOddNames(t *testing.T) {
	r := newRig(t, map[string]string{"d/f": "f"})
	f := r.in(abi.ModeWrite)
	for name, want := range map[string]sys.Errno{
		"..": sys.EPERM, "../x": sys.EPERM, "../../etc/passwd": sys.EPERM,
		"a\x00b": sys.EINVAL, "\xff\xfe": sys.EINVAL, "d/f/x": sys.ENOTDIR, "d/f/": sys.ENOTDIR,
		strings.Repeat("n", 256): sys.ENAMETOOLONG, strings.Repeat("n", 5000): sys.ENAMETOOLONG,
		strings.Repeat("n/", 1<<17): sys.ENAMETOOLONG,
	} {
		_, errno := f.Stat(name)
		require.Equal(t, want, errno, "%.20q", name)
		require.NotZero(t, put(f, name, "x"), "%.20q", name)
		require.NotZero(t, f.Mkdir(name, 0), "%.20q", name)
		require.NotZero(t, f.Rename("d", name), "%.20q", name)
		require.NotZero(t, f.Rename(name, "e"), "%.20q", name)
		require.NotZero(t, f.Unlink(name), "%.20q", name)
		require.NotZero(t, f.Rmdir(name), "%.20q", name)
	}
	for _, name := range []string{"", ".", "/", "./."} {
		_, errno := f.Stat(name)
		require.Zero(t, errno, "%q is the root", name)
		require.NotZero(t, f.Unlink(name), "%q", name)
		require.NotZero(t, f.Rmdir(name), "%q", name)
		require.NotZero(t, f.Rename(name, "x"), "%q", name)
		require.NotZero(t, f.Rename("d", name), "%q", name)
		require.Equal(t, sys.EEXIST, f.Mkdir(name, 0), "%q", name)
	}
	for _, name := range []string{"new\nline", "-rf", "дом", "家", "🙂", " ", "a\\b", strings.Repeat("n", 255)} {
		mustPut(t, f, name, "x")
		require.Equal(t, "x", mustGet(t, f, name))
	}
}

// Row 7: what is neither file nor folder is refused at once, and not touched.
func TestSpecialFilesAreRefused(t *testing.T) {
	r := newRig(t, map[string]string{"f": "f"})
	require.NoError(t, unix.Mkfifo(filepath.Join(r.lower, "fifo"), 0o644))
	s, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	defer unix.Close(s)
	wd, err := os.Getwd()
	require.NoError(t, err)
	require.NoError(t, os.Chdir(r.lower)) // the address has little room
	require.NoError(t, unix.Bind(s, &unix.SockaddrUnix{Name: "socket"}))
	require.NoError(t, os.Chdir(wd))
	special := []string{"fifo", "socket"}
	if unix.Mknod(filepath.Join(r.lower, "device"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))) == nil {
		special = append(special, "device")
	}
	f := r.in(abi.ModeWrite)
	began := time.Now()
	for _, name := range special {
		for _, flag := range []sys.Oflag{sys.O_RDONLY, sys.O_RDWR, sys.O_WRONLY, sys.O_RDWR | sys.O_CREAT | sys.O_TRUNC} {
			_, errno := f.OpenFile(name, flag, 0o600)
			require.Equal(t, sys.EPERM, errno, name)
		}
		_, errno := f.OpenFile(name, sys.O_DIRECTORY, 0)
		require.NotZero(t, errno)
		require.NotZero(t, f.Link(name, "n"))
		require.NotZero(t, f.Rename(name, "n"))
		require.NotZero(t, f.Utimens(name, 0, 0))
		_, errno = f.Stat(name)
		require.Zero(t, errno)
	}
	require.Less(t, time.Since(began), 5*time.Second)
	require.Contains(t, names(t, f, "."), "fifo")
}

// Row 12: open files are capped, and closing gives room again.
func TestOpenFilesAreCapped(t *testing.T) {
	r := newRig(t, map[string]string{"f": "f", "d/": ""})
	f := r.open(Quotas{OpenFiles: 10}).Call(0, abi.ModeWrite)
	var open []sys.File
	for i := range 40 {
		h, errno := f.OpenFile([]string{"f", "d", "@tmp", ".", "@skill", "@skill/vocab.yaml"}[i%6], sys.O_RDONLY, 0)
		if errno == 0 {
			open = append(open, h)
		}
	}
	require.LessOrEqual(t, len(open), 11)
	require.Contains(t, f.Denials()[0].Quota, "at most 10 files")
	require.Len(t, f.Denials(), min(40-len(open), maxDenials))
	for _, h := range open {
		require.Zero(t, h.Close())
	}
	require.Equal(t, "f", mustGet(t, f, "f"))
}

// Row 13: each quota stops what it is for, and names itself.
func TestQuotas(t *testing.T) {
	r := newRig(t, map[string]string{"old": "0123456789"})
	q := Quotas{Bytes: 100, FileBytes: 50, Files: 5, Depth: 3, NameBytes: 20}
	f := r.open(q).Call(0, abi.ModeWrite)
	refused := func(errno sys.Errno, what string) {
		t.Helper()
		require.Equal(t, sys.EIO, errno)
		require.Contains(t, f.Denials()[len(f.Denials())-1].Quota, what)
	}
	h, errno := f.OpenFile("sparse", anew, 0o600)
	require.Zero(t, errno)
	refused(h.Truncate(8<<40), "a file may have at most 50 bytes")
	_, errno = h.Pwrite([]byte("x"), 8<<40)
	refused(errno, "a file may have at most 50 bytes")
	_, errno = h.Pwrite([]byte("x"), 1<<63-1)
	require.Equal(t, sys.EINVAL, errno)
	require.Zero(t, h.Truncate(50))
	require.Zero(t, h.Close())
	refused(put(f, "second", strings.Repeat("x", 51)), "a file may have")
	mustPut(t, f, "second", strings.Repeat("x", 45))
	refused(put(f, "third", strings.Repeat("x", 6)), "a run may write at most 100 bytes")
	h, errno = f.OpenFile("old", sys.O_RDWR, 0)
	require.Zero(t, errno)
	_, errno = h.Write([]byte("x")) // copying it up would go beyond
	refused(errno, "a run may write at most 100 bytes")
	require.Zero(t, h.Close())
	require.Equal(t, "0123456789", mustGet(t, f, "old"))
	require.Zero(t, f.Unlink("sparse"))
	mustPut(t, f, "third", strings.Repeat("x", 6))

	refused(f.Mkdir(strings.Repeat("n", 21), 0), "a name may have at most 20 bytes")
	require.Zero(t, f.Mkdir("a", 0))
	require.Zero(t, f.Mkdir("a/b", 0))
	require.Zero(t, f.Mkdir("a/b/c", 0))
	refused(f.Mkdir("a/b/c/d", 0), "a run may make at most 5 files")
	require.Zero(t, f.Unlink("third"))
	refused(f.Mkdir("a/b/c/d", 0), "folders may be at most 3 deep")
	mustPut(t, f, "a/b/c/d", "x")
	require.Zero(t, f.Unlink("a/b/c/d"))
	require.Zero(t, f.Mkdir("e", 0))
	refused(f.Rename("a", "e/a"), "folders may be at most 3 deep")
	require.Zero(t, f.Rename("a/b", "e/b"))
}

// A skill gets no more than the host's ceilings, whatever its limits say.
func TestQuotasHaveCeilings(t *testing.T) {
	require.Equal(t, DefaultQuotas, Quotas{}.orDefaults())
	require.Equal(t, DefaultQuotas, Quotas{Bytes: 1 << 60, FileBytes: 1 << 60, Files: 1 << 40, Depth: 1 << 20, OpenFiles: 1 << 20, NameBytes: 1 << 20}.orDefaults())
	require.Equal(t, Quotas{1, 2, 3, 4, 5, 6}, Quotas{1, 2, 3, 4, 5, 6}.orDefaults())
}

// Row 5: a person, or another process, swaps a folder for a link that leads out
// while the view walks it. Nothing outside is read or changed.
func TestSwappedFolders(t *testing.T) {
	r := newRig(t, map[string]string{"d/e/secret": "inside", "d/e/f": "f"})
	out := outside(t, r)
	f := r.in(abi.ModeWrite)
	stop := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		d, away, link := filepath.Join(r.lower, "d"), filepath.Join(r.lower, "away"), filepath.Join(r.lower, "link")
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Symlink(out, link)
			_ = os.Rename(d, away)
			_ = os.Rename(link, d)
			_ = os.Remove(d)
			_ = os.Rename(away, d)
			e := filepath.Join(d, "e")
			_ = os.Rename(e, away)
			_ = os.Symlink(out, e)
			_ = os.Remove(e)
			_ = os.Rename(away, e)
		}
	})
	for began := time.Now(); time.Since(began) < 700*time.Millisecond; {
		for _, path := range []string{"d/e/secret", "d/secret"} {
			if s, errno := get(f, path); errno == 0 {
				require.Equal(t, "inside", s)
			}
		}
		if h, errno := f.OpenFile("d", sys.O_DIRECTORY, 0); errno == 0 {
			list, _ := h.Readdir(-1)
			for _, d := range list {
				require.NotEqual(t, "secret", d.Name)
			}
			h.Close()
		}
		_ = put(f, "d/e/new", "x")
		_ = f.Rename("d/e/f", "d/e/g")
		_ = f.Rename("d/e/g", "d/e/f")
	}
	close(stop)
	wait.Wait()
	untouched(t, out)
}

// Row 20: a declared read or create changes nothing that was there, on disk
// too, whatever the guest tries.
func TestLowerIsNeverWritten(t *testing.T) {
	files := map[string]string{"a/b": "b", "c": "c", "e/": ""}
	r := newRig(t, files)
	snapshot := func() map[string]string {
		all := map[string]string{}
		require.NoError(t, filepath.WalkDir(r.lower, func(path string, _ os.DirEntry, err error) error {
			var st unix.Stat_t
			if err == nil {
				err = unix.Lstat(path, &st)
			}
			b, _ := os.ReadFile(path)
			st.Atim = unix.Timespec{} // ReadFile above
			all[path] = string(b) + time.Unix(st.Mtim.Unix()).String() + time.Unix(st.Ctim.Unix()).String()
			return err
		}))
		return all
	}
	before := snapshot()
	for mode := abi.ModeRead; mode <= abi.ModeWrite; mode++ {
		f := r.in(mode)
		_ = put(f, "c", "x")
		_ = put(f, "a/b", "x")
		_ = f.Unlink("a/b")
		_ = f.Rmdir("e")
		_ = f.Rename("c", "d")
		_ = f.Rename("a", "z")
		_ = f.Utimens("z", 1, 1)
		_ = f.Chmod("z", 0o777)
		require.NoError(t, f.End())
		require.Equal(t, before, snapshot())
	}
}

// Reading leaves no trace below, not even access times where the system allows.
func TestReadingKeepsAccessTimes(t *testing.T) {
	r := newRig(t, map[string]string{"d/f": "content"})
	past := time.Now().Add(-1000 * time.Hour)
	for _, path := range []string{"d/f", "d"} {
		require.NoError(t, os.Chtimes(filepath.Join(r.lower, path), past, past))
	}
	f := r.in(abi.ModeRead)
	require.Equal(t, "content", mustGet(t, f, "d/f"))
	require.Equal(t, []string{"f"}, names(t, f, "d"))
	for _, path := range []string{"d/f", "d"} {
		var st unix.Stat_t
		require.NoError(t, unix.Stat(filepath.Join(r.lower, path), &st))
		require.Equal(t, past.UnixNano(), st.Atim.Nano(), path)
	}
}
