package main

import (
	"fmt"
	"path"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// namer gives outputs names that nothing has yet.
type namer struct {
	taken func(name string) bool
	given map[string]bool
}

func (n *namer) free(name string) bool { return !n.given[name] && !n.taken(name) }

// next is the name, or the first like it with a number that is free.
func (n *namer) next(base, ext string) string {
	name := base + "." + ext
	for i := 2; !n.free(name); i++ {
		name = fmt.Sprintf("%s_%d.%s", base, i, ext)
	}
	n.given[name] = true
	return name
}

// output names what a job makes.
func (n *namer) output(b builder, j job) (string, error) {
	if !b.Named {
		base := stem(j.in.Path)
		if b.folder != "" {
			base = path.Join(b.folder, path.Base(base))
		}
		if b.Output != "" { // the contract's, not a person's
			return n.next(stem(b.Output), j.kind.ext), nil
		}
		if changed := j.kind.ext != extension(j.in.Path); changed && (b.Mode == modeConvert || b.Mode == modeExtract) && n.free(base+"."+j.kind.ext) {
			return n.next(base, j.kind.ext), nil
		}
		return n.next(base+b.Suffix, j.kind.ext), nil
	}
	name := guest.Clean(b.Output)
	if path.Ext(name) == "" {
		name += "." + j.kind.ext
	}
	if !n.free(name) {
		return "", guest.Errorf(abi.CodeConflict, "%q is there already: nothing is overwritten; choose another name", name)
	}
	n.given[name] = true
	return name, nil
}
