package commit

import (
	"strings"

	"stepbox.dev/host/stage"
)

// place is what a path of the sandbox leads to after the commit: something
// staged, something that was there before, or both, for a folder in which
// something changes.
type place struct {
	node *stage.Node // nil: nothing of it is staged
	// origin is its path before the commit, when there is one.
	origin string
	has    bool
}

// top is the sandbox itself.
func (rd *reader) top() place { return place{node: rd.tree.Root(), has: true} }

// enter returns what a name in a folder leads to after the commit. What is not
// staged was not looked at: it may not exist.
func (p place) enter(name string) (place, bool) {
	if p.node != nil {
		if e := p.node.Entries[name]; e != nil {
			if e.Node == nil {
				return place{}, false
			}
			return place{e.Node, e.Node.Origin.Path, e.Node.HasOrigin}, true
		}
	}
	if !p.has {
		return place{}, false
	}
	return place{origin: stage.Join(p.origin, name), has: true}, true
}

// after follows a path of names alone.
func (rd *reader) after(path string) (place, bool) {
	at, ok := rd.top(), true
	for name := range strings.SplitSeq(path, "/") {
		if path == "" || !ok {
			break
		}
		at, ok = at.enter(name)
	}
	return at, ok
}

// namesIn calls see for every name that a folder holds after the commit.
func (rd *reader) namesIn(p place, see func(name string)) error {
	if p.has {
		names, err := rd.names(p.origin)
		if err != nil && !isMissing(err) {
			return err
		}
		for name := range names {
			if p.node == nil || p.node.Entries[name] == nil {
				see(name)
			}
		}
	}
	if p.node != nil {
		for name, e := range p.node.Entries {
			if e.Node != nil {
				see(name)
			}
		}
	}
	return nil
}

// link returns the text of what lies at a place, if that is a link.
func (rd *reader) link(p place) (target string, is bool, err error) {
	if !p.has {
		return p.node.Target, p.node.Kind == stage.Link, nil
	}
	id, err := rd.box.stat(p.origin)
	if isMissing(err) {
		return "", false, nil
	}
	if err != nil || id.kind != isLink {
		return "", false, err
	}
	target, err = rd.box.readlink(p.origin)
	return target, true, err
}

// maxLinks is how many links one path may lead through, as in the kernel.
const maxLinks = 40

// strays reports whether a path leads out of the sandbox after the commit, by
// itself or through links on the way. folder is where it starts. A way that
// cannot be followed is taken for one that does.
func (rd *reader) strays(folder, path string) bool {
	way := []place{rd.top()}
	todo := strings.Split(folder+"/"+path, "/")
	for links := 0; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			if len(way) == 1 {
				return true
			}
			way = way[:len(way)-1]
			continue
		}
		at, ok := way[len(way)-1].enter(name)
		if !ok {
			return false // it leads nowhere
		}
		target, is, err := rd.link(at)
		if err != nil {
			return true
		}
		if !is {
			way = append(way, at)
			continue
		}
		if links++; links > maxLinks || strings.HasPrefix(target, "/") {
			return true
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return false
}
