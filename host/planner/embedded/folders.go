package embedded

import (
	"path"
	"slices"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/lexicon"
	"stepbox.dev/host/plan"
)

// folderOrKind decides what a word that stands alone means when it is a kind of
// file and a folder that is there, "copy documents to backup": the folder, if it
// is written just so. What a tool changes is asked about, and so is what an
// article or another case leaves open.
func (a *attempt) folderOrKind() {
	folder, lex := a.arg(lexicon.RoleFolder), a.q.g.Lexicon()
	if folder == "" || len(a.heads) == 0 || a.q.req.Exists == nil || !slices.Equal(a.looked(), []string{"."}) {
		return
	}
	narrowed := a.filters
	if d, ok := a.q.req.Skill.Registry().Tool(lex.Default); ok {
		for _, m := range a.conditions { // "as tar.gz" says nothing about what is meant
			for arg := range m.Set {
				if d.Args[arg] == nil {
					narrowed--
				}
			}
		}
	}
	if len(list(a.args[a.arg(lexicon.RoleExcept)])) > 0 {
		narrowed-- // what is left out narrows down either
	}
	if narrowed != len(a.heads) || a.tool.Name == lex.Default || slices.Contains(lex.Finds, a.tool.Name) {
		return // "find documents" is about the kind
	}
	h := a.heads[0]
	text := a.q.text(h.tok, h.end)
	if h.pattern != "" || a.says(lexicon.All) || h.end < a.c.to && a.q.words[h.end].role == lexicon.Files {
		return
	}
	name := strings.ToLower(text)
	if slices.ContainsFunc(a.heads, func(h head) bool { return !a.q.folder(strings.ToLower(a.q.text(h.tok, h.end))) }) {
		return
	}
	if last := a.heads[len(a.heads)-1]; len(a.heads) > 1 {
		if a.tool.Destructive {
			a.doubt(h.tok, last.end, "Do you mean the folders in %q, or all files of those kinds?", a.q.text(h.tok, last.end))
		}
		return
	}
	bare := text == name && (h.tok == a.c.from || a.q.lang == "zh" || a.used[h.tok-1] || !a.q.filler(h.tok-1) && a.q.words[h.tok-1].n == 0)
	switch {
	case bare && !a.tool.Destructive:
		delete(a.args, h.arg)
		a.heads, a.filters = nil, a.filters-1
		a.give(folder, name)
	case folder != a.arg(lexicon.RolePlace): // who only looks at a kind was understood
		a.doubt(h.tok, h.end, "Do you mean the folder %q, or all files of that kind?", name)
		a.candidates = append(a.candidates, "the folder "+name, "all "+text)
	}
}

// folder reports whether a path is a folder of the sandbox.
func (q *reading) folder(p string) bool {
	if q.req.Exists == nil {
		return false
	}
	found, folder := q.req.Exists(p)
	return found && folder
}

// listed reports whether the word at token i is one of several names, whatever
// else it means: it is a folder that is there, as is the name that it is joined
// to. "Pack notes and archive into both.zip" archives nothing.
func (q *reading) listed(i int) bool {
	if q.toks[i].Kind != lexicon.Word || q.req.Exists == nil || !q.folder(q.toks[i].Text) {
		return false
	}
	isName := func(k int) bool {
		return k >= 0 && k < len(q.toks) && (q.toks[k].Kind == lexicon.Name || q.exists(q.toks[k].Text))
	}
	ends := func(k int) bool { // a verb may follow: 把inbox和documents打包
		return q.itemEnds(k) || (q.lang == "zh" || q.lang == "de") && q.isVerb(k)
	}
	and := func(k int) bool { return k >= 0 && k < len(q.toks) && q.words[k].role == lexicon.And }
	all := func(k int) bool { return k > 0 && q.words[k-1].role == lexicon.All } // "all pictures and music"
	return and(i-1) && isName(i-2) && ends(i+1) && !all(i-2) || and(i+1) && isName(i+2) && ends(i+3) && !all(i)
}

// onlyOne finds files and folders that were named without their folder where one
// of that name is there: "unzip photos.zip" means downloads/photos.zip.
func (a *attempt) onlyOne() {
	for name, s := range a.tool.Args {
		if s.PathRole != abi.RoleInput || a.args[name] == nil {
			continue
		}
		switch v := a.args[name].(type) {
		case string:
			a.args[name] = a.q.only(v)
		case []any:
			for i, x := range v {
				if p, ok := x.(string); ok {
					v[i] = a.q.only(p)
				}
			}
		}
	}
}

// only is the path of the one file or folder of the sandbox with a name that
// stands for nothing itself, or the name.
func (q *reading) only(name string) string {
	if q.req.Names == nil || name == "" || strings.ContainsAny(name, "/*?[$") || q.exists(name) {
		return name
	}
	found := ""
	names, all := q.req.Names()
	for _, p := range names {
		if path.Base(p) != name {
			continue
		}
		if found != "" {
			return name
		}
		found = p
	}
	if found == "" || !all {
		return name
	}
	return plan.Literal(found)
}

// shareVerbs splits "move all pdfs to documents and all images to pictures",
// where the verb is said once: either half is an order with a place of its own.
func (q *reading) shareVerbs(clauses []clause) []clause {
	if q.g.Lexicon().Stories {
		return clauses
	}
	var out []clause
	for _, c := range clauses {
		for i := c.from; i < c.to; i++ {
			n, _ := q.separator(i)
			if n == 0 {
				continue
			}
			left, right := clause{from: c.from, to: i}, clause{from: i + n, to: c.to}
			if !q.leadsTo(left) || !q.leadsTo(right) || q.action(right.from, right.to) {
				i += n - 1
				continue
			}
			a, _ := q.best(left, nil)
			if a == nil || len(a.problems) > 0 || !slices.Contains(a.tool.Required, a.arg(lexicon.RoleDestination)) {
				break
			}
			right.verb = a.tool.Name
			if b, _ := q.best(right, nil); b == nil || len(b.problems) > 0 || b.inputs()+b.filters == 0 || b.filters == 0 && a.placeNamed() {
				break // "files from a to b and c to d": is c a folder of its own, or in a?
			}
			out = append(out, left)
			c = right
			i += n - 1
		}
		out = append(out, c)
	}
	return out
}

// leadsTo reports whether a clause says where something goes.
func (q *reading) leadsTo(c clause) bool { return slices.Contains(q.place[c.from:c.to], lexicon.To) }

// widen looks in all folders where none was named and the request tells files
// apart: "list the newest 5 files". What is said about depth or folders stays.
func (a *attempt) widen() {
	wide, ok := a.q.req.Skill.Registry().Tool(a.q.g.Lexicon().Wider[a.tool.Name])
	if !ok || len(a.problems) > 0 || a.here || a.args["depth"] != nil {
		return
	}
	place, apart := a.arg(lexicon.RolePlace), false
	if a.args[place] != nil && !slices.Equal(list(a.args[place]), []string{"."}) {
		return
	}
	for i := a.c.from; i < a.c.to; i++ {
		if t := a.q.toks[i]; t.Kind == lexicon.Name && (t.Text == "." || isGlob(t.Text)) {
			return // as typed for a shell
		}
	}
	for name := range a.args {
		s := wide.Args[name]
		if s == nil {
			return
		}
		if name == place {
			continue
		}
		if wide.Defaults[name] != a.tool.Defaults[name] {
			return
		}
		switch s.Type {
		case abi.TypeInteger, abi.TypeSize, abi.TypeDate:
			apart = true
		}
		apart = apart || name == "sort"
	}
	if apart {
		a.tool = wide
	}
}

// within reports whether one phrase of the skill, with no place of its own, holds
// both tokens.
func (q *reading) within(i, j int) bool {
	return slices.ContainsFunc(q.matches, func(m lexicon.Match) bool {
		return m.Skill && (m.Meaning == lexicon.Noun || m.Meaning == lexicon.Sets) && slices.Contains(m.Words, i) && slices.Contains(m.Words, j)
	})
}
