package embedded

import (
	"path"
	"slices"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/lexicon"
	"stepbox.dev/host/plan"
)

// namesFile reports whether the clause names a file that no phrase has taken.
func (a *attempt) namesFile() bool {
	for i := a.c.from; i < a.c.to; i++ {
		if a.q.toks[i].Kind == lexicon.Name && !a.used[i] {
			return true
		}
	}
	return false
}

// valuePlace takes the value of an argument that has one value: "convert it to
// markdown".
func (a *attempt) valuePlace(i int) bool {
	if slices.Contains(a.tool.Required, a.arg(lexicon.RoleDestination)) {
		return false // "move them to photos" names a folder
	}
	for k := range a.q.matches {
		m := &a.q.matches[k]
		if m.Meaning != lexicon.Value || m.Start != i || a.zone[i] {
			continue
		}
		s := a.tool.Args[m.Arg]
		if s == nil || s.Type == abi.TypeArray || len(s.Enum) > 0 && !slices.Contains(s.Enum, m.Value) || !a.free(m.Arg) || slices.Contains(a.q.g.Lexicon().Quiet, m.Arg) {
			continue
		}
		a.set(m.Arg, m.Value)
		a.take(m)
		return true
	}
	return false
}

// fromDestination makes what stood behind "to" the thing that is acted on, where
// nothing else was named: "add page numbers to report.pdf".
func (a *attempt) fromDestination() {
	dst, thing := a.arg(lexicon.RoleDestination), a.arg(lexicon.RoleThing)
	v, ok := a.args[dst].(string)
	if !ok || thing == "" || a.args[thing] != nil || !slices.Contains(a.tool.Required, thing) || slices.Contains(a.tool.Required, dst) {
		return
	}
	delete(a.args, dst)
	a.set(thing, v)
}

// intoLast makes the last place the destination where the tool needs one and
// was told none, "put the invoices in archive", and where what is acted on was
// named besides: "unzip fonts.zip in fonts". Many languages say "in" for both.
func (a *attempt) intoLast() {
	dst := a.arg(lexicon.RoleDestination)
	last := len(a.inside) - 1
	if dst == "" || last < 0 || a.args[dst] != nil {
		return
	}
	in := a.inside[last]
	if a.mentions(in.text) > 1 {
		return // "join a and b, with the size of b"
	}
	needed := slices.Contains(a.tool.Required, dst)
	thing := a.arg(lexicon.RoleThing)
	apart := thing != a.arg(lexicon.RoleFolder) && thing != a.arg(lexicon.RolePlace) && a.args[thing] != nil // "unzip a.zip in b"
	if a.isFile(in.text) && a.filters > 0 && !a.q.exists(in.text) {
		needed = true // "zip the logs in logs.zip"
	}
	other := a.inputs() > 1 && (a.isFile(in.text) || a.arg(lexicon.RolePlace) == "" || apart)
	if !needed && !other {
		return
	}
	list, _ := a.args[in.arg].([]any)
	if len(list) > 0 {
		list = slices.DeleteFunc(list, func(v any) bool { return v == plan.Literal(trimPath(in.text)) })
	}
	if len(list) == 0 {
		delete(a.args, in.arg)
	} else {
		a.args[in.arg] = list
	}
	a.set(dst, trimPath(in.text))
}

// mentions counts how often the clause names a file.
func (a *attempt) mentions(name string) int {
	n := 0
	for i := a.c.from; i < a.c.to; i++ {
		if a.q.toks[i].Text == name {
			n++
		}
	}
	return n
}

// patternsInside puts patterns into the folder that was named, for a tool that
// takes both in one list: "every mp4 in clips" is clips/*.mp4.
func (a *attempt) patternsInside() {
	arg := a.arg(lexicon.RoleName)
	if a.arg(lexicon.RolePlace) != "" || len(a.inside) != 1 || a.inside[0].arg != arg || a.isFile(a.inside[0].text) {
		return
	}
	folder := trimPath(a.inside[0].text)
	var globs []any
	for _, p := range list(a.args[arg]) {
		switch {
		case p == folder:
		case isGlob(p) && !strings.Contains(p, "/"):
			globs = append(globs, path.Join(folder, p))
		default:
			return
		}
	}
	if len(globs) > 0 {
		delete(a.args, arg)
		a.set(arg, globs)
	}
}

// inputs counts the files and folders that are looked at or acted on.
func (a *attempt) inputs() int {
	n := 0
	seen := map[string]bool{}
	for _, role := range []string{lexicon.RolePlace, lexicon.RoleThing, lexicon.RoleFolder} {
		arg := a.arg(role)
		if arg == "" || seen[arg] {
			continue
		}
		seen[arg] = true
		switch v := a.args[arg].(type) {
		case []any:
			n += len(v)
		case string:
			n++
		}
	}
	return n
}

// inPlace is a name that stood behind "in".
type inPlace struct{ text, arg string }

func (a *attempt) destination(p string) bool {
	dst := a.arg(lexicon.RoleDestination)
	if dst == "" {
		return a.input(p, a.isFile(p))
	}
	if !a.free(dst) || a.tool.Args[dst].Type != abi.TypeArray && a.args[dst] != nil {
		return false
	}
	if a.q.g.Lexicon().Stories { // "into out/": what is made goes there
		a.set(dst, p)
	} else {
		a.set(dst, trimPath(p))
	}
	return true
}

// severalFolders reports whether patterns of the clause lie in different folders,
// "logs/*.log and inbox/*.pdf": each keeps its own, looked at from here.
func (a *attempt) severalFolders() bool {
	first, known := "", false
	for i := a.c.from; i < a.c.to; i++ {
		t := a.q.toks[i]
		if t.Kind != lexicon.Name && t.Kind != lexicon.Quoted || !isGlob(t.Text) || a.zone[i] {
			continue
		}
		if dir := path.Dir(t.Text); known && dir != first {
			return true
		} else {
			first, known = dir, true
		}
	}
	return false
}
