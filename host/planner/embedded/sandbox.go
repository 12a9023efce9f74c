package embedded

import (
	"path"
	"strings"
)

// lookup is what the sandbox says about a name.
type lookup int8

const (
	unseen lookup = iota // there is no sandbox, or too much in it
	absent
	present
)

// there looks for a name anywhere below a place: a file, a folder, or the end of
// a path.
func (q *reading) there(place, name string) lookup {
	place, name = strings.ToLower(path.Clean(place))+"/", strings.ToLower(path.Clean(name))
	return q.look(func(p string) bool {
		return (place == "./" || strings.HasPrefix(p, place)) && (p == name || strings.HasSuffix(p, "/"+name))
	})
}

// anyNamed looks for a name that fits a pattern, case aside.
func (q *reading) anyNamed(glob string) lookup {
	glob = strings.ToLower(glob)
	return q.look(func(p string) bool {
		ok, err := path.Match(glob, path.Base(p))
		return ok && err == nil
	})
}

func (q *reading) look(fits func(path string) bool) lookup {
	if q.req.Names == nil {
		return unseen
	}
	if q.paths == nil {
		names, all := q.req.Names()
		q.paths, q.allPaths = make([]string, len(names)), all
		for i, n := range names {
			q.paths[i] = strings.ToLower(n)
		}
	}
	for _, p := range q.paths {
		if fits(p) {
			return present
		}
	}
	if !q.allPaths {
		return unseen
	}
	return absent
}
