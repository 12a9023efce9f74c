package commit

import (
	"context"
	"fmt"
	"strings"

	"stepbox.dev/host/stage"
)

// linkLeadsOut reports whether a link that is made or moved points out of the
// sandbox from where it will lie.
func (rd *reader) linkLeadsOut(i int, ch *Change) bool {
	switch ch.Kind {
	case Touch:
		return false
	case Move:
		target, err := rd.box.readlink(ch.From)
		return err != nil || movedOut(ch.From, ch.Path, target)
	}
	return leadsOut(ch.Path, rd.c.made[i].target)
}

// folderLeadsOut says why a folder that moves needs an answer: a link in it
// that would lead out. Only one that gets nearer to the top can make links do
// that, so no other is looked through.
func (rd *reader) folderLeadsOut(ctx context.Context, ch *Change) (string, error) {
	if strings.Count(ch.Path, "/") >= strings.Count(ch.From, "/") {
		return "", nil
	}
	rd.box.hold()
	defer rd.box.release()
	for todo := []string{ch.From}; len(todo) > 0; {
		folder := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if err := ctx.Err(); err != nil {
			return "", err
		}
		names, err := rd.box.names(folder)
		if err != nil {
			return fmt.Sprintf("it holds %q, where stepbox cannot look for links that would lead out", folder), nil
		}
		at := rd.tree.ByOrigin(folder)
		for _, name := range names {
			path := stage.Join(folder, name)
			if at != nil && at.Entries[name] != nil {
				if n := at.Entries[name].Node; n == nil || !n.InPlace() {
					continue // it does not come along
				}
			}
			id, err := rd.box.stat(path)
			if err != nil {
				return fmt.Sprintf("it holds %q, which stepbox cannot look at", path), nil
			}
			switch id.kind {
			case isFolder:
				todo = append(todo, path)
			case isLink:
				target, err := rd.box.readlink(path)
				if err != nil || movedOut(path, ch.Path+path[len(ch.From):], target) {
					return fmt.Sprintf("the link %q in it would lead out of the sandbox", path), nil
				}
			}
		}
	}
	return "", nil
}

// movedOut reports whether a link that moves leads out afterwards, unless it
// leads to the same place as before.
func movedOut(from, to, target string) bool {
	if target != "" && target[0] == '/' {
		return false
	}
	stays := parentOf(from) == parentOf(to) || strings.Count(from, "/") == strings.Count(to, "/") && climbsFirst(target)
	return !stays && leadsOut(to, target)
}

// leadsOut judges a link's text: absolute, more ".." than folders above it, or
// ".." after a name, which may be a link itself and then climbs from elsewhere.
func leadsOut(path, target string) bool {
	if target == "" || target[0] == '/' || !climbsFirst(target) {
		return true
	}
	depth := strings.Count(path, "/")
	for part := range strings.SplitSeq(target, "/") {
		if part == ".." {
			depth--
		}
	}
	return depth < 0
}

// climbsFirst reports whether every ".." stands before the first name.
func climbsFirst(target string) bool {
	named := false
	for part := range strings.SplitSeq(target, "/") {
		switch part {
		case "", ".":
		case "..":
			if named {
				return false
			}
		default:
			named = true
		}
	}
	return true
}
