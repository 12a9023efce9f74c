package sandbox

import (
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/experimental/sysfs"

	"stepbox.dev/abi"
	"stepbox.dev/host/stage"
)

// side is one of the two file systems that a sequence runs on.
type side struct {
	fs    sys.FS
	files map[int]sys.File
}

// TestSameAsPlainFolder guards the merge of the two layers: it runs random sequences of operations through the view
// and on a copy of the sandbox, in two calls with a seal between, and compares
// every answer and the whole tree. What is below must not change. STEPBOX_SEEDS
// sets how many sequences it tries.
func TestSameAsPlainFolder(t *testing.T) {
	seeds := 25
	if n, err := strconv.Atoi(os.Getenv("STEPBOX_SEEDS")); err == nil {
		seeds = n
	}
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { sameAsPlainFolder(t, t.TempDir(), seed) })
	}
}

func sameAsPlainFolder(t *testing.T, base string, seed uint64) {
	files := map[string]string{
		"a/b/c": "abc", "a/b/d": "d", "a/e": "eee", "f": "f", "g/": "", "h/i/j/k": "k", "l": "-> a/e", "h/m": "-> ../a/b",
	}
	rnd := rand.New(rand.NewPCG(seed, 7))
	r := newRigIn(t, base, files)
	plain := newRigIn(t, base, files).lower
	before := tree(t, sysfs.DirFS(r.lower))
	for range 3 {
		call := r.in(abi.ModeWrite)
		view := side{call, map[int]sys.File{}}
		stock := side{sysfs.DirFS(plain), map[int]sys.File{}}
		for range 60 {
			op := randomOp(rnd)
			want, got := op.on(&stock), op.on(&view)
			if strings.HasSuffix(got, sys.EPERM.Error()) && strings.HasSuffix(want, sys.ENOENT.Error()) {
				continue // a link that a rename made lead out
			}
			require.Equal(t, want, got, "%+v", op)
		}
		for _, s := range []side{view, stock} {
			for _, h := range s.files {
				h.Close()
			}
		}
		require.Equal(t, tree(t, stock.fs), tree(t, call))
		for _, d := range call.Denials() { // links that lead out
			require.Equal(t, "symlink", d.Op)
		}
		require.NoError(t, call.Seal())
		require.NoError(t, call.End())
	}
	require.Equal(t, before, tree(t, sysfs.DirFS(r.lower)))
	require.Equal(t, tree(t, sysfs.DirFS(plain)), tree(t, r.open(Quotas{}).Call(99, abi.ModeRead)))
	log, err := os.ReadFile(filepath.Join(r.stage, "log"))
	require.NoError(t, err)
	_, err = stage.Replay(log, stage.Options{}) // what the host will do
	require.NoError(t, err)
}

type operation struct {
	name     string
	path, to string
	n        int
	off      int64
	text     string
}

func randomOp(rnd *rand.Rand) operation {
	path := func() string {
		elems := make([]string, 1+rnd.IntN(3))
		for i := range elems {
			elems[i] = string("abcdefghilm"[rnd.IntN(11)])
		}
		return strings.Join(elems, "/")
	}
	names := []string{
		"put", "put", "mkdir", "rename", "rename", "rename", "unlink", "rmdir", "symlink", "list", "stat", "lstat",
		"open", "open", "read", "write", "write", "append", "pwrite", "truncate", "size", "utimens", "readlink",
	}
	return operation{
		name: names[rnd.IntN(len(names))], path: path(), to: path(), n: rnd.IntN(4), off: rnd.Int64N(6),
		text: strings.Repeat(string(rune('A'+rnd.IntN(26))), rnd.IntN(9)),
	}
}

// on runs the operation and says what a guest would see of it.
func (o operation) on(s *side) string {
	h := s.files[o.n]
	var errno sys.Errno
	answer := ""
	switch o.name {
	case "put":
		errno = put(s.fs, o.path, o.text)
	case "mkdir":
		errno = s.fs.Mkdir(o.path, 0o755)
		if errno == sys.ENOENT || errno == sys.ENOTDIR { // stock calls both ENOENT
			errno = sys.ENOENT
		}
	case "rename":
		if o.path == o.to { // stock does not look whether it exists
			return ""
		}
		errno = s.fs.Rename(o.path, o.to)
	case "unlink":
		errno = s.fs.Unlink(o.path)
	case "rmdir":
		errno = s.fs.Rmdir(o.path)
	case "symlink":
		target := o.to
		if leadsOut(filepath.Dir(o.path), target) {
			return "leads out"
		}
		errno = s.fs.Symlink(target, o.path)
	case "readlink":
		answer, errno = s.fs.Readlink(o.path)
	case "list":
		var d sys.File
		if d, errno = s.fs.OpenFile(o.path, sys.O_DIRECTORY, 0); errno == 0 {
			list, e := d.Readdir(-1)
			names := map[string]fs.FileMode{}
			for _, ent := range list {
				names[ent.Name] = ent.Type
			}
			answer, errno = fmt.Sprint(names), e
			d.Close()
		}
	case "stat", "lstat":
		look := s.fs.Stat
		if o.name == "lstat" {
			look = s.fs.Lstat
		}
		st, e := look(o.path)
		errno = e
		if answer = st.Mode.Type().String(); !st.Mode.IsDir() {
			answer = fmt.Sprint(answer, st.Size)
		}
	case "utimens":
		errno = s.fs.Utimens(o.path, sys.UTIME_OMIT, o.off*1e9)
		if st, e := s.fs.Stat(o.path); errno == 0 && e == 0 {
			answer = fmt.Sprint(st.Mtim)
		}
	case "open":
		if h != nil {
			h.Close()
			delete(s.files, o.n)
		}
		flags := []sys.Oflag{sys.O_RDONLY, sys.O_RDWR, sys.O_RDWR | sys.O_CREAT, sys.O_RDWR | sys.O_TRUNC, sys.O_RDWR | sys.O_CREAT | sys.O_EXCL}
		var f sys.File
		if f, errno = s.fs.OpenFile(o.path, flags[o.off%5], 0o644); errno == 0 {
			if dir, _ := f.IsDir(); dir {
				f.Close()
			} else {
				s.files[o.n] = f
			}
		}
	default:
		if h == nil {
			return "closed"
		}
		answer, errno = o.onFile(h)
	}
	return fmt.Sprint(answer, " ", errno.Error())
}

func (o operation) onFile(h sys.File) (string, sys.Errno) {
	switch o.name {
	case "read":
		if _, errno := h.Seek(o.off, io.SeekStart); errno != 0 {
			return "", errno
		}
		return readAll(h)
	case "write":
		n, errno := h.Write([]byte(o.text))
		return fmt.Sprint(n), errno
	case "append":
		if _, errno := h.Seek(0, io.SeekEnd); errno != 0 {
			return "", errno
		}
		n, errno := h.Write([]byte(o.text))
		return fmt.Sprint(n), errno
	case "pwrite":
		if o.text == "" { // wazero never passes an empty buffer here
			return "", 0
		}
		n, errno := h.Pwrite([]byte(o.text), o.off)
		return fmt.Sprint(n), errno
	case "truncate":
		return "", h.Truncate(o.off)
	}
	st, errno := h.Stat()
	return fmt.Sprint(st.Size), errno
}

// A plain folder must be left alone even when it cannot be read.
func TestUnreadableFilesAnswerCleanly(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	r := newRig(t, map[string]string{"secret": "x"})
	require.NoError(t, os.Chmod(filepath.Join(r.lower, "secret"), 0))
	_, errno := get(r.in(abi.ModeRead), "secret")
	require.Equal(t, sys.EACCES, errno)
}
