package commit

// A folder is a git repository by what lies in it, whatever its name: git takes
// any that holds HEAD, objects and refs for one, or HEAD and a file commondir
// that says where the others are. Then it runs what the folder's config and
// hooks say, for a mere look at its status. So every change in such a folder is
// protected, and so is what would make one.

const inRepository = "git takes its folder for a repository and runs commands from it"

// repositoryNames are what makes a repository. Two of them in one folder are
// enough, so that none comes to be piece by piece, in whatever order.
var repositoryNames = map[string]bool{"head": true, "objects": true, "refs": true, "commondir": true}

// inRepository finds a folder above a change that is a repository, after the
// commit or before it.
func (rd *reader) inRepository(ch *Change) (repo string, is bool) {
	if ch.Kind != Delete {
		repo, is = rd.repositoryAbove(ch.Path, rd.after)
	}
	if is || ch.Kind == Create {
		return repo, is
	}
	from := ch.Path
	if ch.Kind == Move {
		from = ch.From
	}
	return rd.repositoryAbove(from, func(path string) (place, bool) { return place{origin: path, has: true}, true })
}

// repositoryAbove looks from the top down, so that one answer covers all.
func (rd *reader) repositoryAbove(path string, find func(string) (place, bool)) (string, bool) {
	for i := 0; i < len(path); i++ {
		if i > 0 && path[i] != '/' {
			continue
		}
		folder := path[:i]
		if at, ok := find(folder); ok && rd.isRepository(at) {
			return folder, true
		}
	}
	return "", false
}

// isRepository looks at one folder. One that cannot be listed is taken for a
// repository: nobody can tell.
func (rd *reader) isRepository(p place) bool {
	is, known := rd.repos[p]
	if !known {
		found := make(map[string]bool)
		err := rd.namesIn(p, func(name string) { mark(found, name) })
		is = err != nil || len(found) > 1
		rd.repos[p] = is
	}
	return is
}

// mark notes a name that is one of a repository's.
func mark(found map[string]bool, name string) {
	if f := fold(name); repositoryNames[f] {
		found[f] = true
	}
}

// holdsRepository says of the names of a folder whether it is one.
func holdsRepository(names []string) bool {
	found := make(map[string]bool)
	for _, name := range names {
		mark(found, name)
	}
	return len(found) > 1
}
