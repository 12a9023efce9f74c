package commit

import (
	"sort"
	"strconv"
	"strings"
)

// opKind is what one operation of a commit does. All but opTimes are a rename
// of one known object.
type opKind byte

const (
	opFetch    opKind = 'f' // from the undone run's data folder to its home
	opDetach   opKind = 'd' // from its place in the sandbox to its home
	opAttach   opKind = 'a' // from its home to its place in the sandbox
	opDirect   opKind = 'm' // from its old place to its new one
	opExchange opKind = 'x' // trade places with what is replaced
	opTimes    opKind = 't' // set its times
)

// op is one operation on item i; with opExchange, other is what it replaces.
type op struct {
	kind     opKind
	i, other int
}

// order turns items into operations that need no search for cycles: everything
// that moves or goes is detached first, deepest first, so that its old path is
// still true; then everything is attached top-down, so that its new path is
// true already. A file that replaces another at the same place is exchanged
// with it, so that the name is never absent. A move that nothing else depends
// on is one direct rename. It sets the items' homes.
func order(items []item) []op {
	leaves := make(map[string]int, len(items))  // from → item that moves or goes
	arrives := make(map[string]int, len(items)) // to → item that moves or comes
	outDirs := make(map[string]bool)            // folders whose old path ends
	inDirs := make(map[string]bool)             // folders whose new path begins
	for i, it := range items {
		if it.touch {
			continue
		}
		if it.from != "" {
			leaves[it.from] = i
			if it.kind == isFolder {
				outDirs[it.from] = true
			}
		}
		if it.to != "" {
			arrives[it.to] = i
			if it.kind == isFolder {
				inDirs[it.to] = true
			}
		}
	}

	var ops []op
	exchanged := make(map[int]int) // replacing item → replaced item
	skip := make(map[int]bool)     // items that need no detach
	for i := range items {
		it := &items[i]
		if it.home == "" {
			it.home = slot(i)
		}
		if it.fetch != "" {
			ops = append(ops, op{kind: opFetch, i: i})
		}
	}
	for i := range items {
		it := &items[i]
		if it.touch || it.to == "" || it.kind == isFolder {
			continue
		}
		if j, ok := leaves[it.to]; ok && i != j && items[j].to == "" && items[j].kind != isFolder &&
			!below(outDirs, it.to) && !below(inDirs, it.to) {
			exchanged[i] = j
			skip[j] = true
			items[j].home = it.home
		}
	}
	// A direct move takes the place of the attach, or of the detach when its old
	// folder goes too and its new one stays where it is.
	late, early := make(map[int]bool), make(map[int]bool)
	for i, it := range items {
		if it.touch || it.from == "" || it.to == "" {
			continue
		}
		_, taken := leaves[it.to]
		_, reused := arrives[it.from]
		switch {
		case taken || reused:
		case !below(outDirs, it.from):
			late[i], skip[i] = true, true
		case !below(outDirs, it.to) && !below(inDirs, it.to):
			early[i] = true
		}
	}

	var out, in []int
	for i, it := range items {
		if it.touch {
			continue
		}
		if it.from != "" && !skip[i] {
			out = append(out, i)
		}
		if it.to != "" && !early[i] {
			in = append(in, i)
		}
	}
	sort.Slice(out, func(a, b int) bool { return deeper(items[out[a]].from, items[out[b]].from) })
	sort.Slice(in, func(a, b int) bool { return deeper(items[in[b]].to, items[in[a]].to) })
	for _, i := range out {
		kind := opDetach
		if early[i] {
			kind = opDirect
		}
		ops = append(ops, op{kind: kind, i: i})
	}
	for _, i := range in {
		switch j, ok := exchanged[i]; {
		case ok:
			ops = append(ops, op{kind: opExchange, i: i, other: j})
		case late[i]:
			ops = append(ops, op{kind: opDirect, i: i})
		default:
			ops = append(ops, op{kind: opAttach, i: i})
		}
	}
	for i, it := range items {
		if it.times {
			ops = append(ops, op{kind: opTimes, i: i})
		}
	}
	return ops
}

// slot is the home of item i when it has no other.
func slot(i int) string { return "undo/" + strconv.Itoa(i) }

// below reports whether a folder above path is in the set.
func below(set map[string]bool, path string) bool {
	for i := strings.LastIndexByte(path, '/'); i > 0; i = strings.LastIndexByte(path[:i], '/') {
		if set[path[:i]] {
			return true
		}
	}
	return false
}

// deeper orders paths deepest first, then by name, backwards.
func deeper(a, b string) bool {
	da, db := strings.Count(a, "/"), strings.Count(b, "/")
	if da != db {
		return da > db
	}
	return a > b
}

// parentOf returns the folder of a path, "" for the root.
func parentOf(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return ""
}

// paths translates paths between the trees before and after a commit.
type paths map[string]string

// pathsOf makes the translation from before to after, or the other way.
func pathsOf(items []item, forward bool) paths {
	p := make(paths)
	for i := range items {
		it := &items[i]
		here, there := it.to, it.from
		if forward {
			here, there = there, here
		}
		if !it.touch && here != "" {
			p[here] = there
		}
	}
	return p
}

// translate returns where a path is on the other side; ok is false when it is
// not there.
func (p paths) translate(path string) (other string, ok bool) {
	for end := len(path); end > 0; end = strings.LastIndexByte(path[:end], '/') {
		if there, found := p[path[:end]]; found {
			return there + path[end:], there != ""
		}
	}
	return path, true
}
