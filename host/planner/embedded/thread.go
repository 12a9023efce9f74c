package embedded

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/lexicon"
)

// hereAndPronouns takes "here", "it" and "them".
func (a *attempt) hereAndPronouns(prev *attempt) {
	for i := a.c.from; i < a.c.to; i++ {
		switch f := a.q.words[i]; f.role {
		case lexicon.Here:
			if dst := a.arg(lexicon.RoleDestination); !a.q.g.Lexicon().Stories && a.inputSet() && dst != "" && a.args[dst] == nil && a.q.place[i] != lexicon.In {
				a.set(dst, ".") // "unpack a.zip here"
			}
			a.here = a.here || !a.inputSet()
			a.mark(i, i+f.n)
		case lexicon.It, lexicon.Them:
			if dst := a.arg(lexicon.RoleDestination); i > a.c.from && a.q.words[i-1].role == lexicon.To && dst != "" && a.args[dst] == nil && prev != nil && prev.produces() && len(list(prev.args[prev.arg(lexicon.RoleThing)])) == 1 {
				a.set(dst, list(prev.args[prev.arg(lexicon.RoleThing)])[0]) // "make a folder old and move a.txt into it"
				a.mark(i-1, i+f.n)
				a.here = a.here || !a.inputSet() // what goes into it does not lie there yet
				continue
			}
			if !a.used[i] && !a.q.article(i) {
				a.pronoun = f.role
				a.mark(i, i+f.n)
			}
		}
	}
}

// article reports whether a small word that could be "it" or "them" leads up to a
// noun: French "garde les 30 premières secondes", Spanish "los primeros 30".
func (q *reading) article(i int) bool {
	if q.lang != "fr" && q.lang != "es" {
		return false
	}
	j := i + q.words[i].n
	return q.toks[i].Kind == lexicon.Word && j < len(q.toks) && (q.toks[j].Kind == lexicon.Number || q.toks[j].Kind == lexicon.Word && !q.itemEnds(j) && !q.isVerb(j))
}

// thread gives a call that names nothing itself what the call before was about:
// the field of its result that the lexicon names, the file it made, the place
// where it put things, or what it looked for.
func (a *attempt) thread(prev *attempt) {
	if prev == nil {
		return
	}
	a.step = prev.step + 1
	if place := a.arg(lexicon.RolePlace); a.c.verb != "" { // "all pdfs in inbox to a and all images to b": the folder counts for both
		if v, ok := prev.args[place]; ok && !a.inputSet() {
			a.put(place, v)
		}
		return
	}
	if a.inputSet() || a.here {
		return
	}
	if field := a.q.g.Lexicon().Results[prev.tool.Name]; field != "" && len(a.heads) == 0 {
		thing := a.arg(lexicon.RoleFolder) // where things stand themselves, not what is in them
		if thing == "" || thing == a.arg(lexicon.RolePlace) {
			thing = a.arg(lexicon.RoleThing)
		}
		if thing != "" && thing != a.arg(lexicon.RolePlace) {
			a.output = "$found"
			if prev.step > 0 {
				a.output += strconv.Itoa(prev.step + 1)
			}
			a.args[thing] = a.output + "." + field
			return
		}
	}
	dst := prev.arg(lexicon.RoleDestination)
	if a.pronoun != lexicon.Them && dst != "" && prev.args[dst] == nil {
		prev.nameProduct(dst)
		if prev.args[dst] == nil && a.pronoun == lexicon.It {
			a.problems = append(a.problems, fmt.Sprintf("What should the result of %q be called?", a.q.text(prev.c.from, prev.c.to)))
			return
		}
	}
	made, _ := prev.args[dst].(string)
	switch {
	case dst != "" && made != "" && prev.isFile(made) && a.pronoun != lexicon.Them:
		a.give(a.arg(lexicon.RoleThing), made)
	case dst != "" && made != "" && !prev.isFile(made):
		// What lies in that folder besides is not meant.
		a.problems = append(a.problems, fmt.Sprintf("Which files do you mean by the second part, %q? Please name them and their folder.", a.q.text(a.c.from, a.c.to)))
	default:
		if a.pronoun != "" || a.filters == 0 {
			a.inherit(prev) // "and list the pdfs" are others
		}
		for _, role := range []string{lexicon.RolePlace, lexicon.RoleThing, lexicon.RoleFolder} {
			from := prev.arg(role)
			v, ok := prev.args[from]
			if !ok || role != lexicon.RolePlace && from == prev.arg(lexicon.RolePlace) {
				continue // a folder looked in is not a thing to act on
			}
			if to := a.arg(role); to != "" && a.args[to] == nil {
				a.put(to, v)
			}
		}
	}
}

// nameProduct gives the file that a call makes a name beside its source, so that
// the next call can read it.
func (a *attempt) nameProduct(dst string) {
	if a.tool.Args[dst].Type == abi.TypeArray || a.arg(lexicon.RolePlace) != "" && a.arg(lexicon.RolePlace) != a.arg(lexicon.RoleThing) {
		return // what comes out of folders is no one file
	}
	source := ""
	switch v := a.args[a.arg(lexicon.RoleThing)].(type) {
	case string:
		source = v
	case []any:
		if len(v) > 0 {
			source, _ = v[0].(string)
		}
	}
	if source == "" || !a.isFile(source) || isGlob(source) || source[0] == '$' {
		return
	}
	ext := path.Ext(source)
	verb, _, _ := strings.Cut(a.tool.Name, "_")
	suffix := "_" + verb
	for _, n := range slices.Sorted(maps.Keys(a.args)) { // converting changes the extension
		if v, ok := a.args[n].(string); ok && a.tool.Args[n] != nil && len(a.tool.Args[n].Enum) > 0 && isExtension(v) {
			if "."+v != ext {
				suffix = ""
			}
			ext = "." + v
		}
	}
	for _, n := range a.tool.ArgOrder { // what the source cannot hold is made as the first kind there is
		s := a.tool.Args[n]
		if s == nil || len(s.Enum) == 0 || a.args[n] != nil || slices.Contains(s.Enum, strings.TrimPrefix(ext, ".")) || slices.ContainsFunc(s.Enum, func(v string) bool { return !isExtension(v) }) {
			continue
		}
		ext = "." + s.Enum[0]
		a.args[n] = s.Enum[0]
	}
	stem := strings.TrimSuffix(source, path.Ext(source)) + suffix
	name := stem + ext
	for i := 2; a.q.exists(name) && i < 100; i++ {
		name = stem + "_" + strconv.Itoa(i) + ext
	}
	a.args[dst] = name
}

// inherit copies the filter of the call before.
func (a *attempt) inherit(prev *attempt) {
	for _, arg := range slices.Sorted(maps.Keys(prev.args)) {
		s, p := a.tool.Args[arg], prev.tool.Args[arg]
		if s == nil || p == nil || p.PathRole == abi.RoleOutput || p.PathRole == abi.RoleInput && (prev.isRole(lexicon.RolePlace, arg) || prev.isRole(lexicon.RoleThing, arg) || prev.isRole(lexicon.RoleFolder, arg)) {
			continue
		}
		if _, set := a.args[arg]; !set {
			a.put(arg, prev.args[arg])
			a.filters++
		}
	}
}
