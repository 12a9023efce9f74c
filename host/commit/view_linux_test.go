package commit

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"stepbox.dev/abi"
	"stepbox.dev/host/stage"
)

// stager writes a stage as the view in the worker does, in the simplest way:
// what it wants to do is given by path.
type stager struct {
	t    testing.TB
	r    *Run
	log  *stage.Log
	call int
	mode abi.Mode
	rec  []stage.Effect
}

func newStager(t testing.TB, r *Run) *stager {
	dir, err := os.Open(r.StageDir())
	require.NoError(t, err)
	defer dir.Close()
	log, err := stage.OpenLog(dir)
	require.NoError(t, err)
	t.Cleanup(log.Close)
	return &stager{t: t, r: r, log: log, mode: abi.ModeWrite}
}

func (s *stager) flush() {
	s.t.Helper()
	require.NoError(s.t, s.log.Lock())
	defer s.log.Unlock()
	require.NoError(s.t, s.log.Append(stage.Record{Call: s.call, Mode: s.mode, Time: time.Now().UnixNano(), Effects: s.rec}))
	s.rec = nil
}

func (s *stager) seal() {
	s.rec = []stage.Effect{{Op: stage.OpSeal}}
	s.flush()
	s.call++
}

// node returns the node of a path in the view, made when only the sandbox has
// the path yet; nil when nothing is there.
func (s *stager) node(path string) *stage.Node {
	if path == "" {
		return s.log.Tree.Root()
	}
	dir, name := stage.Split(path)
	p := s.node(dir)
	if p == nil {
		return nil
	}
	if e := p.Entries[name]; e != nil {
		return e.Node
	}
	if !p.HasOrigin {
		return nil
	}
	return s.adopt(p, name)
}

func (s *stager) adopt(p *stage.Node, name string) *stage.Node {
	lower := stage.Join(p.Origin.Path, name)
	var st unix.Stat_t
	if unix.Lstat(filepath.Join(s.r.Sandbox, lower), &st) != nil {
		return nil
	}
	kind := stage.File
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		kind = stage.Folder
	case unix.S_IFLNK:
		kind = stage.Link
	}
	id := s.log.Tree.Last() + 1
	s.rec = append(s.rec,
		stage.Effect{Op: stage.OpNode, ID: id, Kind: kind, HasOrigin: true, Origin: stage.Origin{Path: lower, Dev: st.Dev, Ino: st.Ino}},
		stage.Effect{Op: stage.OpEntry, Parent: p.ID, Name: name, ID: id, Hides: true})
	s.flush()
	return s.log.Tree.Node(id)
}

// hides says whether an entry of the name must hide something of the sandbox.
func (s *stager) hides(p *stage.Node, name string) bool {
	if e := p.Entries[name]; e != nil {
		return e.Hides
	}
	if !p.HasOrigin {
		return false
	}
	_, err := os.Lstat(filepath.Join(s.r.Sandbox, stage.Join(p.Origin.Path, name)))
	return err == nil
}

func (s *stager) place(path string, id stage.ID) {
	dir, name := stage.Split(path)
	p := s.node(dir)
	require.NotNil(s.t, p, "no folder %q", dir)
	s.rec = append(s.rec, stage.Effect{Op: stage.OpEntry, Parent: p.ID, Name: name, ID: id, Hides: s.hides(p, name)})
}

func (s *stager) make(path string, kind stage.Kind, target string) stage.ID {
	dir, _ := stage.Split(path)
	require.NotNil(s.t, s.node(dir), "no folder %q", dir)
	old := s.node(path)
	id := s.log.Tree.Last() + 1
	s.rec = append(s.rec, stage.Effect{Op: stage.OpNode, ID: id, Kind: kind, Target: target})
	s.place(path, id)
	if old != nil {
		s.rec = append(s.rec, stage.Effect{Op: stage.OpDies, ID: old.ID})
	}
	return id
}

func (s *stager) blob(id stage.ID, content string) {
	blob := max(s.log.Tree.Last(), id) + 1
	fd, err := s.log.CreateBlob(blob)
	require.NoError(s.t, err)
	_, err = unix.Write(fd, []byte(content))
	require.NoError(s.t, err)
	require.NoError(s.t, unix.Close(fd))
	s.rec = append(s.rec, stage.Effect{Op: stage.OpContent, ID: id, Blob: blob})
}

// write changes the content of a file in place, or makes it.
func (s *stager) write(path, content string) {
	s.t.Helper()
	if n := s.node(path); n != nil {
		s.blob(n.ID, content)
	} else {
		s.blob(s.make(path, stage.File, ""), content)
	}
	s.flush()
}

// fresh puts a new file at a path, over whatever file is there.
func (s *stager) fresh(path, content string) {
	s.blob(s.make(path, stage.File, ""), content)
	s.flush()
}

func (s *stager) mkdir(path string) {
	s.make(path, stage.Folder, "")
	s.flush()
}

func (s *stager) link(target, path string) {
	s.make(path, stage.Link, target)
	s.flush()
}

func (s *stager) remove(path string) {
	s.t.Helper()
	n := s.node(path)
	require.NotNil(s.t, n, "nothing at %q", path)
	s.place(path, 0)
	s.rec = append(s.rec, stage.Effect{Op: stage.OpDies, ID: n.ID})
	s.flush()
}

func (s *stager) move(from, to string) {
	s.t.Helper()
	n := s.node(from)
	require.NotNil(s.t, n, "nothing at %q", from)
	old := s.node(to)
	s.place(from, 0)
	s.place(to, n.ID)
	if old != nil {
		s.rec = append(s.rec, stage.Effect{Op: stage.OpDies, ID: old.ID})
	}
	s.flush()
}

func (s *stager) times(path string, atime, mtime int64) {
	n := s.node(path)
	require.NotNil(s.t, n)
	s.rec = append(s.rec, stage.Effect{Op: stage.OpTimes, ID: n.ID, Atime: atime, Mtime: mtime})
	s.flush()
}
