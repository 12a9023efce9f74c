package host

import (
	"io/fs"
	"os"
	"path"
	"time"
)

// glanced is how long what was seen of a sandbox counts as seen. Planning looks
// at the same folders over and over; whatever is decided from it is checked
// again when it is done.
const glanced = time.Second

// glance is a root's file system that remembers what it saw. It serves one
// goroutine.
type glance struct {
	root  *os.Root
	since time.Time
	infos map[string]info
	lists map[string]list
}

type info struct {
	fs.FileInfo
	err error
}

type list struct {
	entries []fs.DirEntry
	err     error
}

// fresh forgets what was seen too long ago.
func (g *glance) fresh() {
	if now := time.Now(); now.Sub(g.since) > glanced || g.infos == nil {
		g.since, g.infos, g.lists = now, map[string]info{}, map[string]list{}
	}
}

// Open implements fs.FS.
func (g *glance) Open(name string) (fs.File, error) { return g.root.FS().Open(name) }

// Stat implements fs.StatFS.
func (g *glance) Stat(name string) (fs.FileInfo, error) {
	g.fresh()
	name = path.Clean(name)
	seen, ok := g.infos[name]
	if !ok {
		seen.FileInfo, seen.err = g.root.Stat(name)
		g.infos[name] = seen
	}
	return seen.FileInfo, seen.err
}

// ReadDir implements fs.ReadDirFS.
func (g *glance) ReadDir(name string) ([]fs.DirEntry, error) {
	g.fresh()
	seen, ok := g.lists[name]
	if !ok {
		seen.entries, seen.err = fs.ReadDir(g.root.FS(), name)
		g.lists[name] = seen
	}
	return seen.entries, seen.err
}
