package commit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero/experimental/sys"

	"stepbox.dev/abi"
	"stepbox.dev/host/sandbox"
)

// TestViewThenCommitIsAPlainFolder runs a random sequence of file operations
// on a plain folder and, through the view a guest has, on a stage of the same
// tree: the commit must give the same tree, and undo the first one back.
func TestViewThenCommitIsAPlainFolder(t *testing.T) {
	t.Parallel()
	rounds := 150
	if v := os.Getenv("STEPBOX_TEST_SEQUENCES"); v != "" {
		var err error
		rounds, err = strconv.Atoi(v)
		require.NoError(t, err)
	}
	changes := 0
	for seed := range rounds {
		changes += sequence(t, uint64(seed+1))
	}
	require.Greater(t, changes, rounds, "the sequences change too little to prove anything")
}

var sequenceHas = []string{"a", "b", "c", "d/a", "d/b", "d/e/a", "d/e/f/a", "g/a", "h/"}

func sequence(t *testing.T, seed uint64) int {
	base := memory(t)
	r, _ := beginIn(t, base, sequenceHas...)
	defer r.Close()
	plain := filepath.Join(base, "plain")
	require.NoError(t, os.Mkdir(plain, 0o755))
	makeTree(t, plain, sequenceHas...)
	before := tree(t, r.Sandbox)

	view, call := openView(t, r)
	rnd := rand.New(rand.NewPCG(seed, 1))
	var did []string
	for range 40 {
		o := randomOp(rnd)
		did = append(did, o.String())
		want, got := o.onPlain(plain), o.onView(call)
		require.Equal(t, want == nil, got == nil, "seed %d: plain %v, view %v after\n%s", seed, want, got, strings.Join(did, "\n"))
	}
	require.NoError(t, call.End())
	require.NoError(t, call.Seal())
	require.NoError(t, view.Close())

	c, err := Read(context.Background(), r, writeOnce)
	require.NoError(t, err, "seed %d\n%s", seed, strings.Join(did, "\n"))
	_, err = Apply(context.Background(), c, yes{}, nil)
	require.NoError(t, err, "seed %d\n%s", seed, strings.Join(did, "\n"))
	require.Equal(t, contents(tree(t, plain)), contents(tree(t, r.Sandbox)), "seed %d\n%s", seed, strings.Join(did, "\n"))
	if c.Empty() {
		return 0
	}
	u := undo(t, r)
	require.Empty(t, u.Refused, "seed %d", seed)
	require.Equal(t, before, tree(t, r.Sandbox), "seed %d\n%s", seed, strings.Join(did, "\n"))
	return len(c.List())
}

func openView(t *testing.T, r *Run) (*sandbox.View, *sandbox.CallFS) {
	lower, err := os.Open(r.Sandbox)
	require.NoError(t, err)
	t.Cleanup(func() { _ = lower.Close() })
	stage, err := os.Open(r.StageDir())
	require.NoError(t, err)
	t.Cleanup(func() { _ = stage.Close() })
	view, err := sandbox.Open(sandbox.Options{Lower: lower, Stage: stage})
	require.NoError(t, err)
	return view, view.Call(0, abi.ModeWrite)
}

type operation struct {
	kind     string
	path, to string
	text     string
}

func (o operation) String() string {
	return fmt.Sprintf("%s %s %s %s", o.kind, o.path, o.to, o.text)
}

func randomOp(rnd *rand.Rand) operation {
	name := func() string {
		p := ""
		for range 1 + rnd.IntN(3) {
			p = path.Join(p, string("abcdefgh"[rnd.IntN(8)]))
		}
		return p
	}
	kinds := []string{"write", "write", "append", "mkdir", "rename", "rename", "rename", "unlink", "unlink", "rmdir", "symlink", "utimes"}
	return operation{kinds[rnd.IntN(len(kinds))], name(), name(), strconv.Itoa(rnd.IntN(1000))}
}

const sometime = 1_500_000_000_123_456_789

func (o operation) onPlain(root string) error {
	p, to := filepath.Join(root, o.path), filepath.Join(root, o.to)
	switch o.kind {
	case "write":
		return os.WriteFile(p, []byte(o.text), 0o666)
	case "append":
		f, err := os.OpenFile(p, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.WriteString(o.text)
		return err
	case "mkdir":
		return os.Mkdir(p, 0o777)
	case "rename":
		return syscall.Rename(p, to) // os.Rename refuses an empty folder as target
	case "unlink":
		if info, err := os.Lstat(p); err == nil && info.IsDir() {
			return os.ErrInvalid
		}
		return os.Remove(p)
	case "rmdir":
		if info, err := os.Lstat(p); err == nil && !info.IsDir() {
			return os.ErrInvalid
		}
		return os.Remove(p)
	case "symlink":
		// To a name that is nowhere, so that no operation follows it.
		return os.Symlink("zz", p)
	case "utimes":
		if info, err := os.Lstat(p); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return os.ErrInvalid
		}
		return os.Chtimes(p, time.Unix(0, sometime), time.Unix(0, sometime))
	}
	panic(o.kind)
}

func (o operation) onView(f *sandbox.CallFS) error {
	errno := sys.Errno(0)
	switch o.kind {
	case "write":
		return writeView(f, o.path, sys.O_WRONLY|sys.O_CREAT|sys.O_TRUNC, o.text)
	case "append":
		return writeView(f, o.path, sys.O_WRONLY|sys.O_APPEND, o.text)
	case "mkdir":
		errno = f.Mkdir(o.path, 0o777)
	case "rename":
		errno = f.Rename(o.path, o.to)
	case "unlink":
		errno = f.Unlink(o.path)
	case "rmdir":
		errno = f.Rmdir(o.path)
	case "symlink":
		errno = f.Symlink("zz", o.path)
	case "utimes":
		if st, e := f.Lstat(o.path); e == 0 && st.Mode&os.ModeSymlink != 0 {
			return os.ErrInvalid
		}
		errno = f.Utimens(o.path, sometime, sometime)
	}
	if errno != 0 {
		return errno
	}
	return nil
}

func writeView(f *sandbox.CallFS, path string, flag sys.Oflag, text string) error {
	file, errno := f.OpenFile(path, flag, 0o666)
	if errno != 0 {
		return errno
	}
	_, errno = file.Write([]byte(text))
	if e := file.Close(); errno == 0 {
		errno = e
	}
	if errno != 0 {
		return errno
	}
	return nil
}
