package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero/experimental/sys"
	"golang.org/x/sys/unix"

	"stepbox.dev/abi"
	"stepbox.dev/host/stage"
)

// A finished operation of one process is visible to all, also to files and
// folders that were open before.
func TestProcessesSeeOneView(t *testing.T) {
	r := newRig(t, map[string]string{"d/f": "old", "e/g": "g"})
	a, b := r.view.Call(0, abi.ModeWrite), r.open(Quotas{}).Call(0, abi.ModeWrite)
	reader, errno := b.OpenFile("d/f", sys.O_RDONLY, 0)
	require.Zero(t, errno)
	dir, errno := b.OpenFile("d", sys.O_DIRECTORY, 0)
	require.Zero(t, errno)

	mustPut(t, a, "d/f", "new")
	require.Equal(t, "new", mustGet(t, b, "d/f"))
	s, errno := readAll(reader)
	require.Zero(t, errno)
	require.Equal(t, "new", s)
	require.Zero(t, a.Rename("d", "moved"))
	mustPut(t, a, "moved/x", "x")
	list, errno := dir.Readdir(-1)
	require.Zero(t, errno)
	require.Len(t, list, 2)
	require.Zero(t, b.Unlink("moved/x"))
	require.Equal(t, []string{"f"}, names(t, a, "moved"))
	require.Zero(t, b.Rename("e/g", "moved/f"))
	require.Equal(t, "g", mustGet(t, a, "moved/f"))
	_, errno = reader.Seek(0, 0)
	require.Zero(t, errno)
	s, errno = readAll(reader)
	require.Zero(t, errno)
	require.Equal(t, "new", s, "a replaced file lives on while it is open")
	require.Equal(t, tree(t, a), tree(t, b))
}

// Lines that parallel jobs append to one file must all arrive whole.
func TestParallelAppends(t *testing.T) {
	r := newRig(t, map[string]string{"log": ""})
	var wait sync.WaitGroup
	for job := range 4 {
		f := r.open(Quotas{}).Call(0, abi.ModeWrite)
		wait.Go(func() {
			h, errno := f.OpenFile("log", sys.O_WRONLY|sys.O_APPEND, 0o600)
			require.Zero(t, errno)
			defer h.Close()
			for i := range 100 {
				_, errno := fmt.Fprintf(writer{h}, "job %d line %d\n", job, i)
				require.NoError(t, errno)
			}
		})
	}
	wait.Wait()
	seen := map[string]bool{}
	for line := range strings.Lines(mustGet(t, r.view.Call(0, abi.ModeRead), "log")) {
		seen[line] = true
	}
	require.Len(t, seen, 400)
}

// What parallel jobs write counts against one quota, also when one of them ends.
func TestQuotaIsShared(t *testing.T) {
	r := newRig(t, nil)
	q := Quotas{Bytes: 100}
	first := r.open(q)
	a, b := first.Call(0, abi.ModeWrite), r.open(q).Call(0, abi.ModeWrite)
	mustPut(t, a, "a", strings.Repeat("x", 60))
	require.Equal(t, sys.EIO, put(b, "b", strings.Repeat("x", 60)))
	require.Equal(t, "a run may write at most 100 bytes", b.Denials()[0].Quota)
	require.NoError(t, a.End())
	require.NoError(t, first.Close())
	late := r.open(q).Call(0, abi.ModeWrite)
	require.Equal(t, sys.EIO, put(late, "b", strings.Repeat("x", 60)))
	require.Zero(t, b.Unlink("a"))
	mustPut(t, late, "b", strings.Repeat("x", 60))
}

type writer struct{ sys.File }

func (w writer) Write(b []byte) (int, error) {
	n, errno := w.File.Write(b)
	if errno != 0 {
		return n, errno
	}
	return n, nil
}

// Parallel jobs on one stage: each makes, moves and removes names of its own.
func TestHammer(t *testing.T) {
	r := newRig(t, map[string]string{"d/f": "f"})
	shared := r.view.Call(0, abi.ModeWrite)
	var wait sync.WaitGroup
	for job := range 4 {
		f := shared // two in this process, two as if in others
		if job > 1 {
			f = r.open(Quotas{}).Call(0, abi.ModeWrite)
		}
		wait.Go(func() {
			for i := range 40 {
				name := fmt.Sprintf("d/%d-%d", job, i)
				require.Zero(t, f.Mkdir(name, 0))
				mustPut(t, f, name+"/x", name)
				require.Zero(t, f.Rename(name+"/x", name+"/y"))
				require.Equal(t, name, mustGet(t, f, name+"/y"))
				require.Zero(t, f.Rename(name, name+"-moved"))
				if i%2 == 0 {
					require.Zero(t, f.Unlink(name+"-moved/y"))
					require.Zero(t, f.Rmdir(name+"-moved"))
				}
				_, errno := f.Stat("d/f")
				require.Zero(t, errno)
			}
		})
	}
	wait.Wait()
	require.Len(t, names(t, shared, "d"), 4*20+1)
	require.Equal(t, tree(t, shared), tree(t, r.open(Quotas{}).Call(1, abi.ModeRead)))
}

// What a sealed call wrote stays on disk as it was, whatever a later call does
// with it: else nobody could keep the one without the other.
func TestSealedContentIsKept(t *testing.T) {
	r := newRig(t, map[string]string{"old": "old"})
	first := r.in(abi.ModeWrite)
	for _, name := range []string{"a", "b", "c", "d", "old"} {
		mustPut(t, first, name, "first "+name)
	}
	require.NoError(t, first.Seal())
	require.ErrorContains(t, sealedWrite(first), "operation not permitted")

	second := r.in(abi.ModeWrite)
	h, errno := second.OpenFile("a", sys.O_WRONLY|sys.O_APPEND, 0o600)
	require.Zero(t, errno)
	_, errno = h.Write([]byte("more"))
	require.Zero(t, errno)
	require.Zero(t, h.Close())
	require.Equal(t, "first amore", mustGet(t, second, "a"))
	require.Zero(t, second.Unlink("b"))
	mustPut(t, second, "c", "second")
	require.Zero(t, second.Rename("d", "e"))
	mustPut(t, second, "old", "second")
	require.NoError(t, second.End())

	log, err := os.ReadFile(filepath.Join(r.stage, "log"))
	require.NoError(t, err)
	kept, err := stage.Replay(log, stage.Options{Partial: true})
	require.NoError(t, err)
	require.Len(t, kept.Root().Entries, 5)
	for name, e := range kept.Root().Entries {
		b, err := os.ReadFile(filepath.Join(r.stage, "b", stage.BlobName(e.Node.Blob)))
		require.NoError(t, err)
		require.Equal(t, "first "+name, string(b))
	}
}

func sealedWrite(f *CallFS) error {
	if errno := put(f, "late", "x"); errno != 0 {
		return errno
	}
	return nil
}

// Open files survive rename and unlink, and go on being written.
func TestOpenFilesSurvive(t *testing.T) {
	for name, mine := range map[string]bool{"of the sandbox": false, "of the run": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, map[string]string{"d/f": "content"})
			f := r.in(abi.ModeWrite)
			path := "d/f"
			if mine {
				path = "d/new"
				mustPut(t, f, path, "content")
			}
			one, errno := f.OpenFile(path, sys.O_RDWR, 0)
			require.Zero(t, errno)
			two, errno := f.OpenFile(path, sys.O_RDWR, 0)
			require.Zero(t, errno)
			ino, _ := one.Ino()
			require.Zero(t, f.Rename("d", "e"))
			require.Zero(t, f.Rename("e/"+filepath.Base(path), "g"))
			_, errno = one.Write([]byte("C"))
			require.Zero(t, errno)
			require.Equal(t, "Content", mustGet(t, f, "g"))
			st, errno := f.Stat("g")
			require.Zero(t, errno)
			require.Equal(t, ino, st.Ino, "numbers stay through copy-up and rename")
			require.Zero(t, f.Unlink("g"))
			_, errno = one.Write([]byte("ON"))
			require.Zero(t, errno)
			s, errno := readAll(two)
			require.Zero(t, errno)
			require.Equal(t, "CONtent", s)
			require.Zero(t, two.Truncate(2))
			st, errno = one.Stat()
			require.Zero(t, errno)
			require.Equal(t, int64(2), st.Size)
			require.NotContains(t, names(t, f, "."), "g")
			require.NoError(t, f.End())
			blobs, err := os.ReadDir(filepath.Join(r.stage, "b"))
			require.NoError(t, err)
			require.Empty(t, blobs)
		})
	}
}

// Hard links look apart: a write through one name parts them.
func TestHardLinksLookApart(t *testing.T) {
	r := newRig(t, map[string]string{"a": "same"})
	require.NoError(t, os.Link(filepath.Join(r.lower, "a"), filepath.Join(r.lower, "b")))
	f := r.in(abi.ModeWrite)
	a, errno := f.Stat("a")
	require.Zero(t, errno)
	b, errno := f.Stat("b")
	require.Zero(t, errno)
	require.NotEqual(t, a.Ino, b.Ino)
	require.Equal(t, []uint64{1, 1}, []uint64{a.Nlink, b.Nlink})
	mustPut(t, f, "a", "apart")
	require.Equal(t, "same", mustGet(t, f, "b"))
}

// A listing is a snapshot: entries that come and go while it is read neither
// repeat nor go missing. Rewinding shows what is there now.
func TestListingWhileEntriesChange(t *testing.T) {
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("d/%02d", i)] = "x"
	}
	r := newRig(t, files)
	f := r.in(abi.ModeWrite)
	h, errno := f.OpenFile("d", sys.O_DIRECTORY, 0)
	require.Zero(t, errno)
	seen := map[string]int{}
	for i := 0; ; i++ {
		list, errno := h.Readdir(7)
		require.Zero(t, errno)
		for _, d := range list {
			seen[d.Name]++
			require.Zero(t, f.Unlink("d/"+d.Name))
			mustPut(t, f, fmt.Sprint("d/new-", d.Name), "y")
		}
		if len(list) < 7 {
			break
		}
	}
	require.Len(t, seen, 50)
	_, errno = h.Seek(0, 0)
	require.Zero(t, errno)
	list, errno := h.Readdir(-1)
	require.Zero(t, errno)
	require.Len(t, list, 50)
	for _, d := range list {
		require.True(t, strings.HasPrefix(d.Name, "new-"))
	}
}

// Times are records: setting them copies nothing, and a later write has a time
// of its own.
func TestTimes(t *testing.T) {
	r := newRig(t, map[string]string{"f": "f", "d/g": "g", "l": "-> f"})
	f := r.in(abi.ModeWrite)
	require.Zero(t, f.Utimens("l", 5e9, 7e9))
	require.Zero(t, f.Utimens("d", sys.UTIME_OMIT, 9e9))
	blobs, err := os.ReadDir(filepath.Join(r.stage, "b"))
	require.NoError(t, err)
	require.Empty(t, blobs)
	st, errno := f.Stat("f")
	require.Zero(t, errno)
	require.Equal(t, []int64{5e9, 7e9}, []int64{st.Atim, st.Mtim})
	st, errno = f.Stat("d")
	require.Zero(t, errno)
	require.Equal(t, int64(9e9), st.Mtim)
	// As wazero does it without following a link, also on a folder.
	for path, want := range map[string]int64{"l": 3e9, "d": 4e9} {
		h, errno := f.OpenFile(path, sys.O_WRONLY, 0)
		require.Zero(t, errno)
		require.Zero(t, h.Utimens(sys.UTIME_OMIT, want))
		require.Zero(t, h.Close())
		st, errno := f.Lstat(path)
		require.Zero(t, errno)
		require.Equal(t, want, st.Mtim)
	}
	h, errno := f.OpenFile("f", sys.O_RDWR, 0)
	require.Zero(t, errno)
	_, errno = h.Write([]byte("x"))
	require.Zero(t, errno)
	st, errno = h.Stat()
	require.Zero(t, errno)
	require.Greater(t, st.Mtim, int64(1e18))
	require.Equal(t, int64(5e9), st.Atim)
}

// A full disk is an error at the write, said so, and what was staged stays
// readable.
func TestFullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting a small tmpfs needs root")
	}
	r := newRig(t, map[string]string{"f": "f"})
	small := t.TempDir()
	if err := unix.Mount("tmpfs", small, "tmpfs", 0, "size=256k,nr_inodes=20"); err != nil {
		t.Skip("mounting a tmpfs: ", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(small, unix.MNT_DETACH)) })
	r.stage = small
	f := r.open(Quotas{}).Call(0, abi.ModeWrite)
	mustPut(t, f, "kept", "kept")
	require.Equal(t, sys.EIO, put(f, "big", strings.Repeat("x", 1<<20)))
	require.True(t, f.DiskFull())
	require.Zero(t, f.Unlink("big"))
	made := 0
	for ; made < 100 && f.Mkdir(fmt.Sprint("d", made), 0) == 0; made++ {
	}
	require.Equal(t, 100, made, "folders need no inode")
	for i := range 40 {
		if put(f, fmt.Sprint("n", i), "x") != 0 {
			break
		}
	}
	require.NotZero(t, put(f, "one more", "x"))
	require.Equal(t, "kept", mustGet(t, f, "kept"))
	require.Equal(t, tree(t, f), tree(t, r.open(Quotas{}).Call(1, abi.ModeRead)))
}
