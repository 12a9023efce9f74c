package stage

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func openLog(t testing.TB, dir string) *Log {
	f, err := os.Open(dir)
	require.NoError(t, err)
	defer f.Close()
	l, err := OpenLog(f)
	require.NoError(t, err)
	t.Cleanup(l.Close)
	return l
}

func makeFolder(l *Log, name string) error {
	if err := l.Lock(); err != nil {
		return err
	}
	defer l.Unlock()
	id := l.Tree.Last() + 1
	return l.Append(record(Effect{Op: OpNode, ID: id, Kind: Folder}, entry(Root, name, id, false)))
}

// Two processes number their nodes alike unless each takes in the other's
// records before it writes.
func TestWritersSeeEachOther(t *testing.T) {
	dir := t.TempDir()
	var wait sync.WaitGroup
	for w := range 4 {
		l := openLog(t, dir)
		wait.Go(func() {
			for i := range 50 {
				require.NoError(t, makeFolder(l, fmt.Sprint(w, "-", i)))
			}
		})
	}
	wait.Wait()
	l := openLog(t, dir)
	require.Len(t, l.Tree.Root().Entries, 200)
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	require.NoError(t, err)
	tree, err := Replay(log, Options{})
	require.NoError(t, err)
	require.Equal(t, 200, tree.Made())
}

func TestRefreshTakesInWhatOthersWrote(t *testing.T) {
	dir := t.TempDir()
	a, b := openLog(t, dir), openLog(t, dir)
	require.NoError(t, makeFolder(a, "x"))
	require.Nil(t, b.Tree.Root().Entries["x"])
	gen := b.Gen
	require.NoError(t, b.Refresh())
	require.NotNil(t, b.Tree.Root().Entries["x"])
	require.Greater(t, b.Gen, gen)
}

// A record that fails must leave neither half a record nor a tree that is ahead
// of the log.
func TestFailedAppendGoesBack(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, dir)
	require.NoError(t, makeFolder(l, "x"))
	before, err := os.ReadFile(filepath.Join(dir, "log"))
	require.NoError(t, err)

	require.NoError(t, l.Lock())
	require.Error(t, l.Append(record(Effect{Op: OpNode, ID: 9, Kind: Folder}, entry(Root, "y", 9, false), entry(Root, "z", 9, false))))
	l.Unlock()
	after, err := os.ReadFile(filepath.Join(dir, "log"))
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.Nil(t, l.Tree.Root().Entries["y"])
	require.NoError(t, makeFolder(l, "y"))
}

// A log must not outgrow what its reader accepts.
func TestFullStage(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, dir)
	l.limit = 100
	for i := 0; ; i++ {
		if err := makeFolder(l, fmt.Sprint(i)); err != nil {
			require.ErrorIs(t, err, ErrFull)
			require.Greater(t, i, 1)
			break
		}
	}
	st, err := os.Stat(filepath.Join(dir, "log"))
	require.NoError(t, err)
	require.LessOrEqual(t, st.Size(), int64(100))
	l.limit = 200
	require.NoError(t, makeFolder(l, "x"))
}

// What a killed writer left behind the last whole record is cut off by the next
// one, and nothing before it is lost.
func TestTornTailIsCutOff(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, dir)
	require.NoError(t, makeFolder(l, "x"))
	l.Close()
	f, err := os.OpenFile(filepath.Join(dir, "log"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString("\x40\x00\x00")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	l = openLog(t, dir)
	require.NotNil(t, l.Tree.Root().Entries["x"])
	require.NoError(t, makeFolder(l, "y"))
	require.Len(t, openLog(t, dir).Tree.Root().Entries, 2)
}

func TestForeignLogsAreRefused(t *testing.T) {
	for name, prepare := range map[string]func(dir string) error{
		"other content": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "log"), []byte("something else"), 0o600)
		},
		"log is a link": func(dir string) error { return os.Symlink("/dev/null", filepath.Join(dir, "log")) },
		"b is a link":   func(dir string) error { return os.Symlink("/tmp", filepath.Join(dir, "b")) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, prepare(dir))
			f, err := os.Open(dir)
			require.NoError(t, err)
			defer f.Close()
			_, err = OpenLog(f)
			require.Error(t, err)
		})
	}
}

func TestBlobs(t *testing.T) {
	l := openLog(t, t.TempDir())
	for range 2 { // the second stands for the try after a failed record
		fd, err := l.CreateBlob(7)
		require.NoError(t, err)
		var st unix.Stat_t
		require.NoError(t, unix.Fstat(fd, &st))
		require.Zero(t, st.Size)
		_, err = unix.Write(fd, []byte("x"))
		require.NoError(t, err)
		require.NoError(t, unix.Close(fd))
	}
	require.NoError(t, l.RemoveBlob(7))
	_, err := l.OpenBlob(7)
	require.ErrorIs(t, err, unix.ENOENT)
}
