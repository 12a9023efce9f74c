package commit

import "sort"

// item is one object that a commit moves: into the sandbox, out of it, or
// within it. A list of items is all that a commit does; undo is the same list
// with from and to exchanged.
type item struct {
	kind kindOf
	// from and to are its paths in the sandbox before and after; "" when it is
	// not in the sandbox then.
	from, to string
	// home is where it lies in the data folder while it is not in the sandbox.
	home string
	// fetch is where it lies in the data folder of the run that is undone.
	fetch string
	// touch says that the object stays where it is (or moves with its folder)
	// and only gets times.
	touch bool
	// times, when set, are set on it at the end; old are those it had.
	times    bool
	new, old stamps
	// was is what the object was when it was looked at before the commit.
	was identity
	// undoes is 1 + the index of the item of the undone run, else 0.
	undoes int
}

// stamps are access and modification time, nanoseconds.
type stamps struct{ atime, mtime int64 }

// change pairs up items as a person sees them.
func changesOf(items []item) []Change {
	gone := make(map[string]int) // by path, of what is deleted
	for i, it := range items {
		if it.to == "" {
			gone[it.from] = i
		}
	}
	var list []Change
	replaced := make(map[int]bool)
	for _, it := range items {
		if it.to == "" {
			continue
		}
		c := Change{Entry: it.kind.entry(), Path: it.to, Size: it.was.size}
		switch {
		case it.touch:
			c.Kind = Touch
		case it.from != "":
			c.Kind, c.From = Move, it.from
		default:
			c.Kind = Create
			if j, ok := gone[it.to]; ok && it.kind == isFile && items[j].kind == isFile {
				c.Kind = Replace
				replaced[j] = true
			}
		}
		if it.kind == isFolder {
			c.Size = 0
		}
		list = append(list, c)
	}
	for i, it := range items {
		if it.to == "" && !replaced[i] {
			c := Change{Kind: Delete, Entry: it.kind.entry(), Path: it.from, Size: it.was.size}
			if it.kind == isFolder {
				c.Size = 0
			}
			list = append(list, c)
		}
	}
	sort.SliceStable(list, func(a, b int) bool {
		if list[a].Path != list[b].Path {
			return list[a].Path < list[b].Path
		}
		return list[a].Kind < list[b].Kind
	})
	return list
}
