package commit

import (
	"context"
	"strings"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/stage"
)

// protect marks the changes that need an answer of their own, and notes what
// else a person should know about one.
func (rd *reader) protect(ctx context.Context, list []Change) error {
	at := make(map[string]int) // item by path after the commit
	for i, it := range rd.c.items {
		if it.to != "" {
			at[it.to] = i
		}
	}
	twins, err := rd.twins()
	if err != nil {
		return err
	}
	for i := range list {
		ch := &list[i]
		item, arrives := at[ch.Path]
		arrives = arrives && ch.Kind != Delete
		if why := protectedName(ch.Path); why != "" {
			ch.Protected = why
		} else if why := protectedName(ch.From); why != "" {
			ch.Protected = why
		} else if repo, is := rd.inRepository(ch); is {
			ch.Protected, ch.Within = inRepository, repo
		} else if arrives && twins[ch.Path] != "" {
			ch.Protected = twins[ch.Path]
		}
		if arrives {
			if err := rd.judge(ctx, item, ch); err != nil {
				return err
			}
		}
	}
	return nil
}

// judge looks at what an object is that lies in the sandbox after the commit.
func (rd *reader) judge(ctx context.Context, i int, ch *Change) error {
	if over := rd.c.made[i].over; over > 0 {
		was := &rd.c.items[over-1].was
		if was.links > 1 {
			ch.note("the file has other names (hard links), which keep the old content")
		}
		if lost := was.mode &^ 0o777; lost != 0 {
			ch.note("it loses the mode bits " + special(lost))
		}
		if was.mode&0o111 != 0 {
			ch.protect("it is executable")
		}
	}
	switch {
	case ch.Entry == Link && rd.linkLeadsOut(i, ch):
		ch.protect("the link leads out of the sandbox")
	case ch.Entry == Folder && ch.Kind == Move:
		return rd.lookThrough(ctx, ch)
	}
	return nil
}

// protect keeps the reason that was found first.
func (ch *Change) protect(why string) {
	if ch.Protected == "" {
		ch.Protected = why
	}
}

func (ch *Change) note(what string) {
	if ch.Note != "" {
		ch.Note += "; "
	}
	ch.Note += what
}

// special names the bits of a mode that no new content inherits.
func special(mode uint32) string {
	var names []string
	for i, name := range []string{"sticky", "setgid", "setuid"} {
		if mode>>(9+i)&1 != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// twins finds new names that some file system takes for another one of their
// folder: after path → why. Two streams of one file are not one: where their
// names lie side by side, a colon is a letter.
func (rd *reader) twins() (map[string]string, error) {
	leaves := make(map[string]bool)
	for _, it := range rd.c.items {
		if !it.touch && it.from != "" {
			leaves[it.from] = true
		}
	}
	// For each folder that gets names, the names that were there: by what they
	// look like, and those with a stream by the file.
	type there struct{ names, streams map[string]string }
	before := make(map[*stage.Node]there)
	out := make(map[string]string)
	for _, n := range rd.tree.Nodes() {
		p := n.Parent
		if n.Dead || p == nil || !p.HasOrigin || n.InPlace() {
			continue
		}
		set, ok := before[p]
		if !ok {
			names, err := rd.names(p.Origin.Path)
			if err != nil {
				return nil, fault.New(fault.CheckFailed, "%q cannot be listed any more: %w", p.Origin.Path, err)
			}
			set = there{make(map[string]string, len(names)), map[string]string{}}
			for name := range names {
				if leaves[stage.Join(p.Origin.Path, name)] {
					continue
				}
				set.names[alike(name)] = name
				if file, cut := cutStream(alike(name)); cut {
					set.streams[file] = name
				}
			}
			before[p] = set
		}
		file, isStream := cutStream(alike(n.Name))
		if other, ok := set.names[alike(n.Name)]; ok && other != n.Name {
			out[n.Path()] = "its name looks the same as that of " + quoted(other) + " beside it"
		} else if other, ok := set.names[file]; ok && isStream {
			out[n.Path()] = "Windows takes its name for a part of " + quoted(other) + " beside it"
		} else if other, ok := set.streams[file]; ok && !isStream {
			out[n.Path()] = "Windows takes " + quoted(other) + " beside it for a part of it"
		}
	}
	return out, nil
}
