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
	target := rd.c.made[i].target
	return leadsOut(ch.Path, target) || rd.strays(parentOf(ch.Path), target)
}

// lookThrough looks at what comes along with a folder that moves. Links in it
// may lead out afterwards: only a folder that gets nearer to the top can make
// them do that. What other programs execute or trust does not change by that,
// and is noted.
func (rd *reader) lookThrough(ctx context.Context, ch *Change) error {
	nearer := strings.Count(ch.Path, "/") < strings.Count(ch.From, "/")
	noted := false
	note := func(path, why string) {
		if !noted {
			noted = true
			ch.note(fmt.Sprintf("%q comes along: %s", path, why))
		}
	}
	rd.box.hold()
	defer rd.box.release()
	for todo := []string{ch.From}; len(todo) > 0 && (nearer || !noted); {
		folder := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if err := ctx.Err(); err != nil {
			return err
		}
		names, err := rd.box.names(folder)
		if err != nil {
			if nearer {
				ch.protect(fmt.Sprintf("it holds %q, where stepbox cannot look for links that would lead out", folder))
				return nil
			}
			note(folder, "stepbox cannot look into it")
			continue
		}
		if folder != ch.From && holdsRepository(names) {
			note(folder, "it is a git repository")
		}
		at := rd.tree.ByOrigin(folder)
		for _, name := range names {
			path := stage.Join(folder, name)
			if at != nil && at.Entries[name] != nil {
				if n := at.Entries[name].Node; n == nil || !n.InPlace() {
					continue // it does not come along
				}
			}
			if why := protectedName(name); why != "" {
				note(path, why)
			}
			id, err := rd.box.stat(path)
			switch {
			case err != nil && nearer:
				ch.protect(fmt.Sprintf("it holds %q, which stepbox cannot look at", path))
				return nil
			case err != nil:
				note(path, "stepbox cannot look at it")
			case id.kind == isFolder:
				todo = append(todo, path)
			case id.kind == isLink && nearer:
				target, err := rd.box.readlink(path)
				if err != nil || movedOut(path, ch.Path+path[len(ch.From):], target) {
					ch.protect(fmt.Sprintf("the link %q in it would lead out of the sandbox", path))
					return nil
				}
			}
		}
	}
	return nil
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
