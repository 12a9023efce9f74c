package embedded

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"stepbox.dev/host/lexicon"
)

// whole finds what one call cannot say although each of its words was
// understood: it would do more than was meant.
func (a *attempt) whole() {
	if a.q.g.Lexicon().Stories {
		return
	}
	a.countOfFolders()
	a.eachFolder()
	a.twoDestinations()
	a.twoOrders()
	a.overlap()
	a.folderOrKind()
	a.namedAndKinds()
	a.inPlace()
	a.onlyOne()
}

// countOfFolders asks what new folders are to be called of which only the number
// was said: "make 3 folders".
func (a *attempt) countOfFolders() {
	for i := a.c.from; i+1 < a.c.to && a.produces(); i++ {
		n, err := strconv.Atoi(a.q.toks[i].Text)
		count := err == nil && n < 100 || err != nil && lexicon.IsMeasure(a.q.toks[i].Fold) && !a.q.filler(i)
		if count && a.q.words[i+1].role == lexicon.Folder && a.q.toks[i].Kind != lexicon.Quoted && a.q.place[i] == "" {
			a.doubt(i, i+1, "What are the %s folders to be called?", a.q.toks[i].Text)
			return
		}
	}
}

// eachFolder asks about "in each folder": a limit or an order counts once, over
// all of them.
func (a *attempt) eachFolder() {
	for i := a.c.from; i < a.c.to; i++ {
		every := a.q.words[i].role == lexicon.Each || a.q.words[i].role == lexicon.All && a.q.toks[i].Fold == "every"
		if !every || a.used[i] || a.zone[i] {
			continue
		}
		j := i + a.q.words[i].n
		for j < a.c.to && a.q.filler(j) && a.q.words[j].n == 0 {
			j++
		}
		if j < a.c.to && (a.q.words[j].role == lexicon.Folder || a.q.toks[j].Fold == "place" || a.q.toks[j].Fold == "month") && (a.tool.Destructive || a.args["limit"] != nil || a.produces()) {
			a.doubt(i, j+1, "I cannot do that for %q in one step. Which one do you mean?", a.q.text(i, j+1))
			return
		}
	}
}

// twoDestinations asks about a second place behind "to": nothing is looked for
// there.
func (a *attempt) twoDestinations() {
	dst := a.arg(lexicon.RoleDestination)
	first := -1
	if dst == "" && a.tool.Destructive {
		for i := a.c.from; i+1 < a.c.to; i++ {
			if a.q.words[i].role != lexicon.To || a.zone[i] || a.q.toks[i+1].Kind != lexicon.Name {
				continue
			}
			if first >= 0 { // "rename a to b, b to c"
				a.apart("There is more than one order in %q", a.q.text(a.c.from, a.c.to))
				return
			}
			first = i
		}
		return
	}
	for i := a.c.from; i < a.c.to; i++ {
		if a.q.place[i] != lexicon.To || a.zone[i] || i > a.c.from && a.q.place[i-1] == lexicon.To {
			continue
		}
		if first >= 0 && dst != "" && list(a.args[dst]) != nil {
			a.apart("There are two places to go to in %q", a.q.text(first, i+1))
			return
		}
		first = i
	}
}

// twoOrders asks about two things with a place or a condition of their own, "all
// in build and the tmp files in odd": in one call each would hold for both.
func (a *attempt) twoOrders() {
	for i := a.c.from; i < a.c.to; i++ {
		if a.q.words[i].role != lexicon.And || a.zone[i] || a.q.fixed[i] {
			continue
		}
		thing, placed := a.thingAfter(i)
		if thing < 0 {
			continue
		}
		before := a.condition(i, -1) >= 0 && a.narrows(a.condition(i, -1))
		for j := i - 1; j >= a.c.from && placed && !before; j-- {
			r := a.q.place[j]
			before = (r == lexicon.In || r == lexicon.From) && !a.zone[j]
		}
		if before {
			a.apart("What stands before and behind %q in %q is not the same for both", a.q.toks[i].Text, a.q.text(a.c.from, a.c.to))
			return
		}
	}
}

// namedAndKinds asks about things named themselves and others by kind or place,
// "contract.pdf and everything in archive": a filter holds for all.
func (a *attempt) namedAndKinds() {
	named := -1
	kinds := len(a.heads) > 0
	for i := a.c.from; i < a.c.to; i++ {
		t := a.q.toks[i]
		switch {
		case a.zone[i] || a.q.fixed[i] || a.q.place[i] != "":
		case t.Kind == lexicon.Name && !isGlob(t.Text) && slices.Contains(a.things(), trimPath(t.Text)), a.q.words[i].role == lexicon.Folder && a.used[i] && len(a.things()) > 0 && i+1 < a.c.to && slices.Contains(a.things(), a.q.toks[i+1].Text):
			named = i
		case a.q.words[i].role == lexicon.All && a.placeNamed():
			kinds = true
		}
	}
	if named < 0 || !kinds || !a.says(lexicon.And) || len(a.problems) > 0 {
		return
	}
	a.apart("%q names some things themselves and others by what they are", a.q.text(a.c.from, a.c.to))
}

// things are the files and folders that are acted on themselves.
func (a *attempt) things() []string {
	return append(list(a.args[a.arg(lexicon.RoleThing)]), list(a.args[a.arg(lexicon.RoleFolder)])...)
}

// thingAfter finds a kind, a name or "files" right behind the joining word at
// token i, and whether a place follows it.
func (a *attempt) thingAfter(i int) (thing int, placed bool) {
	j := i + a.q.words[i].n
	for j < a.c.to && a.q.filler(j) && a.q.words[j].n == 0 {
		j++
	}
	thing = -1
	for _, h := range a.heads {
		if h.tok == j {
			thing = j
		}
	}
	if thing < 0 && j < a.c.to && a.q.place[j] == "" && (a.q.words[j].role == lexicon.All || a.q.words[j].role == lexicon.Files) {
		thing = j
	}
	for k := j + 1; k < a.c.to && thing >= 0; k++ {
		if r := a.q.place[k]; (r == lexicon.In || r == lexicon.From) && !a.zone[k] {
			return thing, true
		}
	}
	return thing, false
}

// narrows reports whether a condition says which files are meant, not only how
// they are listed.
func (a *attempt) narrows(k int) bool {
	m := &a.conditions[k]
	for _, f := range m.Filled {
		if s := a.tool.Args[f.Arg]; s != nil && !a.isRole(lexicon.RolePlace, f.Arg) && !a.isRole(lexicon.RoleName, f.Arg) {
			return true
		}
	}
	return false
}

// overlap asks about "both in a and b" and "also in b": a call looks in either.
func (a *attempt) overlap() {
	places, first := 0, a.c.to
	for i := a.c.from; i < a.c.to; i++ {
		if r := a.q.place[i]; (r == lexicon.In || r == lexicon.From) && !a.zone[i] {
			places++
			first = min(first, i)
		}
	}
	for i := a.c.from; i < a.c.to; i++ {
		if a.zone[i] || a.q.fixed[i] || a.q.toks[i].Kind == lexicon.Quoted {
			continue
		}
		both := lexicon.SaysBoth(a.q.toks[i].Fold)
		if a.q.words[i].role == lexicon.And && i > first { // "as well as in", "that are in a and in b"
			j := i + a.q.words[i].n
			again := j < a.c.to && a.q.words[j].role == lexicon.In
			both = again && (a.q.words[i].n > 1 || a.tool.Destructive && a.relative(first))
		}
		if both && (places > 1 || a.mixedNames()) {
			a.doubt(a.c.from, a.c.to, "I can look in one place or the other, for one name or the other, but not for what is both, as in %q. Which do you mean?", a.q.text(a.c.from, a.c.to))
			return
		}
	}
}

// relative reports whether "that are" stands before the place at token i.
func (a *attempt) relative(i int) bool {
	for i--; i > a.c.from && (a.q.words[i].role == lexicon.In || a.q.filler(i)); i-- {
		if a.q.filler(i-1) && a.q.filler(i) && a.q.words[i].n == 0 {
			return true
		}
	}
	return false
}

// mixedNames reports whether the patterns say both how names end and what they
// hold.
func (a *attempt) mixedNames() bool {
	names := list(a.args[a.arg(lexicon.RoleName)])
	return slices.ContainsFunc(names, isSuffix) && slices.ContainsFunc(names, func(p string) bool { return !isSuffix(p) })
}

// inPlace makes one path of a file or folder and the one place that it was said
// to lie in: "todo.txt in inbox" is inbox/todo.txt.
func (a *attempt) inPlace() {
	place := a.arg(lexicon.RolePlace)
	narrowed := slices.ContainsFunc(a.conditions, func(m lexicon.Match) bool { return m.Tool == "" && a.narrowing(&m) > 0 })
	if place == "" || narrowed || len(a.heads) > 0 || len(list(a.args[a.arg(lexicon.RoleName)])) > 0 {
		return
	}
	for _, role := range []string{lexicon.RoleThing, lexicon.RoleFolder} {
		arg := a.arg(role)
		names, in := list(a.args[arg]), list(a.args[place])
		if arg == place { // files and folders to look in stand in one list
			in, names = nil, nil
			for _, p := range list(a.args[place]) {
				if a.isFile(p) {
					names = append(names, p)
				} else {
					in = append(in, p)
				}
			}
		}
		if arg == "" || len(in) != 1 || in[0] == "." || len(names) == 0 || slices.ContainsFunc(names, func(n string) bool {
			return strings.Contains(n, "/") || strings.HasPrefix(n, "$") || a.q.exists(n) && !a.q.exists(path.Join(in[0], n))
		}) {
			continue
		}
		delete(a.args, place)
		delete(a.args, arg)
		for _, n := range names {
			a.put(arg, path.Join(in[0], n))
		}
		return
	}
}
