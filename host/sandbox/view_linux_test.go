package sandbox

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero/experimental/sys"

	"stepbox.dev/abi"
)

// rig is a sandbox with a stage.
type rig struct {
	t     testing.TB
	lower string
	stage string
	view  *View
	call  int
}

// newRig makes a sandbox with the files given, by path; a path with a slash at
// its end is a folder, content that starts with "-> " a link.
func newRig(t testing.TB, files map[string]string) *rig { return newRigIn(t, t.TempDir(), files) }

// newRigIn is newRig with both layers in a folder.
func newRigIn(t testing.TB, base string, files map[string]string) *rig {
	dir, err := os.MkdirTemp(base, "rig")
	require.NoError(t, err)
	r := &rig{t: t, lower: filepath.Join(dir, "lower"), stage: filepath.Join(dir, "stage")}
	require.NoError(t, os.Mkdir(r.lower, 0o755))
	require.NoError(t, os.Mkdir(r.stage, 0o700))
	for path, content := range files {
		full := filepath.Join(r.lower, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
		switch target, isLink := strings.CutPrefix(content, "-> "); {
		case strings.HasSuffix(path, "/"):
			require.NoError(t, os.MkdirAll(full, 0o755))
		case isLink:
			require.NoError(t, os.Symlink(target, full))
		default:
			require.NoError(t, os.WriteFile(full, []byte(content), 0o644))
		}
	}
	r.view = r.open(Quotas{})
	return r
}

// open opens one more view, as another process would.
func (r *rig) open(q Quotas) *View {
	lower, stage, tmp := r.folder(r.lower), r.folder(r.stage), r.folder(r.t.TempDir())
	v, err := Open(Options{
		Lower: lower, Stage: stage, Tmp: tmp, Quotas: q,
		Skill: map[string][]byte{"vocab.yaml": []byte("words"), "profiles/a.txt": []byte("A"), "../x": nil},
	})
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, v.Close()) })
	return v
}

func (r *rig) folder(path string) *os.File {
	f, err := os.Open(path)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { f.Close() })
	return f
}

// in begins the next call.
func (r *rig) in(mode abi.Mode) *CallFS {
	r.call++
	return r.view.Call(r.call, mode)
}

const (
	readOnly = sys.O_RDONLY
	write    = sys.O_WRONLY
	anew     = sys.O_WRONLY | sys.O_CREAT | sys.O_TRUNC
)

// put writes a file, made or replaced.
func put(f sys.FS, path, content string) sys.Errno {
	h, errno := f.OpenFile(path, anew, 0o600)
	if errno != 0 {
		return errno
	}
	defer h.Close()
	_, errno = h.Write([]byte(content))
	return errno
}

// get reads a file.
func get(f sys.FS, path string) (string, sys.Errno) {
	h, errno := f.OpenFile(path, readOnly, 0)
	if errno != 0 {
		return "", errno
	}
	defer h.Close()
	return readAll(h)
}

func readAll(h sys.File) (string, sys.Errno) {
	var all []byte
	buf := make([]byte, 512)
	for {
		n, errno := h.Read(buf)
		if all = append(all, buf[:n]...); errno != 0 || n == 0 {
			return string(all), errno
		}
	}
}

func mustPut(t testing.TB, f sys.FS, path, content string) {
	require.Zero(t, put(f, path, content), path)
}

func mustGet(t testing.TB, f sys.FS, path string) string {
	s, errno := get(f, path)
	require.Zero(t, errno, path)
	return s
}

// names lists a folder.
func names(t testing.TB, f sys.FS, path string) []string {
	h, errno := f.OpenFile(path, sys.O_DIRECTORY, 0)
	require.Zero(t, errno, path)
	defer h.Close()
	list := []string{}
	for {
		some, errno := h.Readdir(3)
		require.Zero(t, errno)
		for _, d := range some {
			name := d.Name
			if d.IsDir() {
				name += "/"
			}
			list = append(list, name)
		}
		if len(some) < 3 {
			return list
		}
	}
}

// tree renders all of a view, or of a plain folder: path → content.
func tree(t testing.TB, f sys.FS) map[string]string {
	all := map[string]string{}
	var visit func(dir string)
	visit = func(dir string) {
		h, errno := f.OpenFile(dir, sys.O_DIRECTORY, 0)
		require.Zero(t, errno, dir)
		defer h.Close()
		list, errno := h.Readdir(-1)
		require.Zero(t, errno)
		for _, d := range list {
			path := d.Name
			if dir != "." {
				path = dir + "/" + d.Name
			}
			st, errno := f.Lstat(path)
			require.Zero(t, errno, path)
			require.Equal(t, d.Type, st.Mode.Type(), path)
			switch {
			case d.IsDir():
				all[path+"/"] = ""
				visit(path)
			case d.Type == fs.ModeSymlink:
				target, errno := f.Readlink(path)
				if errno == sys.EPERM || strings.HasPrefix(filepath.Join(dir, target), "..") {
					target = "out"
				} else {
					require.Zero(t, errno, path)
				}
				all[path] = "-> " + target
			default:
				all[path] = mustGet(t, f, path)
				require.Equal(t, int64(len(all[path])), st.Size, path)
			}
		}
	}
	visit(".")
	return all
}

func TestReadsFallThrough(t *testing.T) {
	r := newRig(t, map[string]string{"a/b/c.txt": "see", "top": "t", "in": "-> a/b", "a/up": "-> ../top"})
	f := r.in(abi.ModeRead)
	require.Equal(t, []string{"a/", "in", "top"}, names(t, f, "/"))
	require.Equal(t, "see", mustGet(t, f, "/a/b/c.txt"))
	require.Equal(t, "see", mustGet(t, f, "in/c.txt"))
	require.Equal(t, "t", mustGet(t, f, "a/up"))
	require.Equal(t, "t", mustGet(t, f, "in/../../top/../a/up"[len("in/../../top/../"):]))
	st, errno := f.Lstat("in")
	require.Zero(t, errno)
	require.Equal(t, fs.ModeSymlink, st.Mode.Type())
	target, errno := f.Readlink("in")
	require.Zero(t, errno)
	require.Equal(t, "a/b", target)
	require.Empty(t, f.Denials())
}

func TestChangesLandOnTheStageOnly(t *testing.T) {
	files := map[string]string{"a/b/c.txt": "see", "a/d": "dee", "keep": "k"}
	r := newRig(t, files)
	f := r.in(abi.ModeWrite)
	mustPut(t, f, "new", "n")
	require.Zero(t, f.Mkdir("folder/", 0))
	mustPut(t, f, "folder/x", "x")
	require.Zero(t, f.Rename("a/b", "folder/moved"))
	require.Zero(t, f.Unlink("a/d"))
	mustPut(t, f, "keep", "changed")
	require.Zero(t, f.Symlink("../new", "folder/l"))
	want := map[string]string{
		"new": "n", "folder/": "", "folder/x": "x", "folder/moved/": "", "folder/moved/c.txt": "see",
		"a/": "", "keep": "changed", "folder/l": "-> ../new",
	}
	require.Equal(t, want, tree(t, f))
	require.Equal(t, "n", mustGet(t, f, "folder/l"))
	require.Empty(t, f.Denials())
	require.NoError(t, f.Seal())
	require.NoError(t, f.End())

	// Another process sees the same, and so does the next call.
	require.Equal(t, want, tree(t, r.open(Quotas{}).Call(9, abi.ModeRead)))
	require.Equal(t, want, tree(t, r.in(abi.ModeRead)))
	for path, content := range files {
		b, err := os.ReadFile(filepath.Join(r.lower, path))
		require.NoError(t, err)
		require.Equal(t, content, string(b))
	}
}

func TestSeekAppendTruncate(t *testing.T) {
	r := newRig(t, map[string]string{"f": "0123456789"})
	f := r.in(abi.ModeWrite)
	h, errno := f.OpenFile("f", sys.O_RDWR, 0)
	require.Zero(t, errno)
	old, errno := f.OpenFile("f", readOnly, 0)
	require.Zero(t, errno)
	pos, errno := h.Seek(-3, io.SeekEnd)
	require.Zero(t, errno)
	require.Equal(t, int64(7), pos)
	_, errno = h.Write([]byte("AB"))
	require.Zero(t, errno)
	require.Zero(t, h.SetAppend(true))
	_, errno = h.Pwrite([]byte("x"), 0)
	require.Zero(t, errno)
	_, errno = h.Write([]byte("end"))
	require.Zero(t, errno)
	got, errno := readAll(old)
	require.Zero(t, errno)
	require.Equal(t, "x123456AB9end", got, "an old descriptor sees a later copy-up")
	require.Zero(t, h.Truncate(3))
	require.Equal(t, "x12", mustGet(t, f, "f"))
	require.Zero(t, h.Truncate(5))
	require.Equal(t, "x12\x00\x00", mustGet(t, f, "f"))
	_, errno = h.Seek(-9, io.SeekStart)
	require.Equal(t, sys.EINVAL, errno)
	_, errno = old.Write([]byte("x"))
	require.Equal(t, sys.EBADF, errno)
	require.ErrorContains(t, f.Seal(), "open for writing")
	require.Zero(t, h.Close())
	require.Zero(t, old.Close())
	require.NoError(t, f.Seal())
}
