package embedded

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"stepbox.dev/abi"
	"stepbox.dev/host/lexicon"
)

// places assigns the names that stand behind "in", "from" and "to".
func (a *attempt) places() {
	for i := a.c.from; i < a.c.to; i++ {
		role := a.q.place[i]
		if role == "" || a.used[i] || a.zone[i] {
			continue
		}
		if a.q.g.Lexicon().Stories && role != lexicon.From && a.valuePlace(i) {
			continue
		}
		if a.q.g.Lexicon().Stories && a.q.toks[i].Kind == lexicon.Word && a.arg(lexicon.RolePlace) == "" && !a.q.exists(a.q.toks[i].Text) && a.namesFile() && (role != lexicon.To || a.before(i, lexicon.Named) < 0) {
			continue // "paste it into an email", "to abotu 25 MB": the file is named elsewhere
		}
		if a.q.g.Lexicon().Stories && a.q.isVague(i) && !a.q.exists(a.q.toks[i].Text) {
			continue // "to something smaller"
		}
		if a.q.g.Lexicon().Stories && role != lexicon.To && a.described(i) {
			continue // "from the silent clip": which one?
		}
		items, end := a.list(i)
		ok := true
		switch {
		case role == lexicon.To && a.valuePlace(i):
		case role == lexicon.To:
			ok = len(items) == 1 && a.destination(items[0])
		case a.produces():
			ok = len(items) == 1
			a.under = items[0]
		default:
			for _, it := range items {
				ok = a.input(it, a.isFile(it)) && ok
				if role == lexicon.In {
					a.inside = append(a.inside, inPlace{it, a.given})
				}
			}
		}
		if ok {
			a.mark(i, end)
			if named := a.before(i, lexicon.Named); named >= 0 {
				a.mark(named, i)
			}
		}
		i = end - 1
	}
}

// described reports whether the word at a place only describes a file: it names
// none that exists or was offered, and a word for files follows.
func (a *attempt) described(i int) bool {
	t := a.q.toks[i]
	if t.Kind != lexicon.Word || a.q.exists(t.Text) || i+1 >= a.c.to || strings.ContainsAny(t.Text, "_.") {
		return false
	}
	for _, f := range a.q.req.Files {
		if base := path.Base(f); strings.EqualFold(strings.TrimSuffix(base, path.Ext(base)), t.Text) {
			return false
		}
	}
	return a.q.toks[i+1].Kind == lexicon.Word && (a.q.filler(i+1) && a.q.words[i+1].n == 0 || a.q.words[i+1].role == lexicon.Files)
}

// produces reports whether what the tool's own names stand for is made, not
// read: a place is then the folder to make it in.
func (a *attempt) produces() bool {
	n := a.arg(lexicon.RoleThing)
	return n != "" && a.tool.Args[n].PathRole == abi.RoleOutput
}

// below puts what is made into the folder that was named: "folders A and B in
// C" are C/A and C/B.
func (a *attempt) below() {
	arg := a.arg(lexicon.RoleThing)
	if a.under == "" || arg == "" {
		return
	}
	if list, ok := a.args[arg].([]any); ok {
		for i, v := range list {
			if s, ok := v.(string); ok {
				list[i] = path.Join(a.under, s)
			}
		}
	}
}

// list reads names joined by "and": "in inbox and downloads".
func (a *attempt) list(i int) ([]string, int) {
	end := a.span(i)
	items := []string{a.name(i, end)}
	for {
		j := end
		if j < a.c.to && a.q.words[j].role == lexicon.Folder {
			j++
		}
		k := a.q.nextItem(j, a.c.to)
		if k < 0 || a.zone[k] || a.used[k] || a.q.place[i] != a.q.place[k] {
			return items, end
		}
		end = a.span(k)
		items = append(items, a.name(k, end))
		a.mark(j, end)
	}
}

// span is where the name that begins at token i ends. Words that follow belong
// to it when such a folder exists and they do not steer the request, or when
// nothing else knows them.
func (a *attempt) span(i int) int {
	t := a.q.toks[i]
	if t.Kind == lexicon.Name || t.Kind == lexicon.Quoted || t.Kind == lexicon.Number {
		return i + 1
	}
	for j := min(a.c.to, i+5); j > i+1; j-- {
		if a.q.exists(a.q.text(i, j)) && !slices.ContainsFunc(a.q.toks[i+1:j], a.q.g.Steers) {
			return j
		}
	}
	j := i + 1
	if t.Kind == lexicon.Han {
		for j < a.c.to && a.q.toks[j].Kind == lexicon.Han && a.q.place[j] != "" {
			j++
		}
		return j
	}
	if !startsUpper(t.Text) || a.q.lang == "de" { // German writes every noun so
		return j
	}
	for j < a.c.to && a.q.toks[j].Kind == lexicon.Word && startsUpper(a.q.toks[j].Text) && !a.used[j] && a.q.place[j] == a.q.place[i] {
		j++
	}
	return j
}

func startsUpper(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r)
}

func (a *attempt) name(i, j int) string {
	if j == i+1 {
		return a.q.toks[i].Text
	}
	return a.q.text(i, j)
}

// isFile reports whether a name is that of a file: what exists decides, else
// its extension.
func (a *attempt) isFile(p string) bool {
	if a.q.req.Exists != nil {
		if found, folder := a.q.req.Exists(p); found {
			return !folder
		}
	}
	ext := path.Ext(path.Base(p))
	return len(ext) > 1 && ext != path.Base(p) && !strings.HasSuffix(p, "/")
}

func isGlob(p string) bool { return strings.ContainsAny(p, "*?[") }

func trimPath(p string) string {
	if t := strings.TrimRight(p, "/"); t != "" {
		return t
	}
	return p
}

// input assigns a file or folder that is looked at or acted on.
func (a *attempt) input(p string, file bool) bool {
	if isGlob(p) {
		return a.glob(p)
	}
	arg := a.arg(lexicon.RolePlace)
	if file || arg == "" {
		if t := a.arg(lexicon.RoleThing); t != "" {
			arg = t
		}
	}
	return a.give(arg, p)
}

func (a *attempt) give(arg, p string) bool {
	if arg == "" || !a.free(arg) {
		return false
	}
	a.set(arg, trimPath(p))
	a.given = arg
	return true
}

// glob assigns a name pattern; the folders before the first wildcard are where
// to look.
func (a *attempt) glob(p string) bool {
	arg := a.arg(lexicon.RoleName)
	if arg == "" {
		return a.give(a.arg(lexicon.RoleThing), p)
	}
	if place := a.arg(lexicon.RolePlace); place != "" && a.severalFolders() {
		if !slices.Contains(list(a.args[place]), ".") && !a.give(place, ".") {
			return false
		}
	} else if place != "" && strings.Contains(p, "/") {
		cut := strings.LastIndexByte(p[:strings.IndexAny(p, "*?[")], '/')
		if cut > 0 && !a.give(place, p[:cut]) {
			return false // the pattern keeps its folder: it is no name anywhere below
		}
	}
	if !a.free(arg) {
		return false
	}
	a.set(arg, p)
	a.filters++
	return true
}

// folders assigns names beside the word "folder": the folder itself is meant.
func (a *attempt) folders() {
	for i := a.c.from; i < a.c.to; i++ {
		if a.q.words[i].role != lexicon.Folder || a.used[i] || a.zone[i] || a.q.covered[i] {
			continue
		}
		j := i + a.q.words[i].n
		if j < a.c.to && a.q.words[j].role == lexicon.Named {
			j += a.q.words[j].n
		}
		named := i > a.c.from && a.used[i-1] && a.soft[i-1] == 0 && a.q.words[i-1].n == 0 && !a.q.filler(i-1) // "the cache folder completely"
		if j < a.c.to && !named && a.q.nameable(j) && !a.used[j] && a.q.place[j] == "" && !a.q.isVerb(j) {
			items, end := a.list(j)
			if a.giveAll(a.arg(lexicon.RoleFolder), items) {
				a.mark(i, end)
				continue
			}
		}
		if k := i - 1; k >= a.c.from && a.q.nameable(k) && !a.used[k] && a.q.place[k] == "" && (!lexicon.IsMeasure(a.q.toks[k].Fold) || a.q.exists(a.q.toks[k].Text)) {
			for k > a.c.from && a.q.toks[k].Kind == lexicon.Han && a.q.nameable(k-1) && !a.used[k-1] && a.q.toks[k-1].Kind == lexicon.Han && !a.q.isVerb(k-1) {
				k--
			}
			if a.give(a.arg(lexicon.RoleFolder), a.name(k, i)) {
				a.mark(k, i+1)
			}
		}
	}
}

func (a *attempt) giveAll(arg string, items []string) bool {
	for _, it := range items {
		if !a.give(arg, it) {
			return false
		}
	}
	return true
}

func (a *attempt) mark(i, j int) {
	for ; i < j; i++ {
		a.used[i] = true
	}
}

// names assigns file names, paths, globs and quoted text that stand alone.
func (a *attempt) names() {
	for i := a.c.from; i < a.c.to; i++ {
		t := a.q.toks[i]
		if a.used[i] || a.zone[i] || t.Kind != lexicon.Name && t.Kind != lexicon.Quoted {
			continue
		}
		named := a.before(i, lexicon.Named)
		switch {
		case a.produces() && a.give(a.arg(lexicon.RoleThing), t.Text):
			a.mark(i, i+1)
			if named >= 0 {
				a.mark(named, i)
			}
		case t.Kind == lexicon.Name && packed(t.Fold) && !a.q.exists(t.Text) && a.arg(lexicon.RoleName) != "":
			a.pattern(i, i+1, "*."+t.Fold) // "the tar.gz files"
		case t.Kind == lexicon.Name && !isGlob(t.Text) && i+1 < a.c.to && a.q.words[i+1].role == lexicon.Files && !strings.Contains(t.Text, "/") && !isExtension(strings.TrimPrefix(t.Fold, ".")) && a.arg(lexicon.RoleName) != "":
			a.pattern(i, i+1, t.Text) // "the thumbs.db files"
		case t.Kind == lexicon.Name && strings.HasPrefix(t.Text, ".") && isExtension(t.Fold[1:]) && !a.q.exists(t.Text):
			a.pattern(i, i+1, "*"+t.Fold)
		case named >= 0 && a.q.g.Lexicon().Stories && a.inputs() > 0 && !a.q.exists(t.Text) && a.free(a.arg(lexicon.RoleDestination)) && a.args[a.arg(lexicon.RoleDestination)] == nil:
			if a.destination(t.Text) { // "a gif called end.gif"
				a.mark(named, i+1)
			}
		case named >= 0 && a.arg(lexicon.RoleName) != "":
			if a.pattern(i, i+1, namePattern(t.Text)) {
				a.mark(named, i)
			}
		case a.before(i, lexicon.With) >= 0 && a.isFile(t.Text) && a.arg(lexicon.RoleDestination) != "" && a.args[a.arg(lexicon.RoleDestination)] == nil && (a.inputs() > 0 || len(a.heads) > 0 || a.says(lexicon.All) || a.says(lexicon.Them) || a.says(lexicon.It)):
			if a.destination(t.Text) { // "as all.pdf"
				a.used[i] = true
			}
		case isGlob(t.Text):
			if a.glob(t.Text) {
				a.used[i] = true
			}
		case t.Kind == lexicon.Name || a.isFile(t.Text) || a.q.exists(t.Text):
			file := a.isFile(t.Text)
			arg := a.arg(lexicon.RoleThing)
			if !file && a.arg(lexicon.RoleFolder) != "" {
				arg = a.arg(lexicon.RoleFolder)
			}
			if a.again(arg, t.Text, i) || a.give(arg, t.Text) {
				a.used[i] = true
			}
		case a.arg(lexicon.RoleText) != "" && a.free(a.arg(lexicon.RoleText)):
			a.set(a.arg(lexicon.RoleText), t.Text)
			a.used[i] = true
		default:
			a.pattern(i, i+1, namePattern(t.Text))
		}
	}
}

// again takes a name a second time where the lexicon says that this counts: "join
// a, b and a".
func (a *attempt) again(arg, p string, i int) bool {
	list, _ := a.args[arg].([]any)
	before := false // in the same list, not "with the size of a"
	for k := a.c.from; k < i; k++ {
		before = before || a.q.toks[k].Text == p && a.q.place[k] == ""
	}
	if !before || a.q.words[i-1].role != lexicon.And || !slices.Contains(list, literal(p)) || !slices.Contains(a.q.g.Lexicon().Repeats, a.tool.Name+"."+arg) {
		return false
	}
	a.args[arg] = append(list, literal(p))
	return true
}

// packed reports whether a name is but the double extension of a packed archive:
// "tar.gz". Other names of two extensions are files: "raw.mov".
func packed(name string) bool {
	ext, ok := strings.CutPrefix(name, "tar.")
	return ok && isExtension(ext)
}

// before returns where a function word of the role begins that ends right
// before token i, fillers aside, or -1.
func (a *attempt) before(i int, role lexicon.Role) int {
	for j := i - 1; j >= a.c.from; j-- {
		if a.q.words[j].role == role {
			return j
		}
		if !a.q.filler(j) && !a.q.covered[j] && a.q.words[j].role != lexicon.Files && a.q.words[j].role != lexicon.Folder {
			return -1
		}
	}
	return -1
}

// namePattern is the glob for a name that somebody said: as it is when it is a
// glob or has an extension, else anywhere in the name.
func namePattern(s string) string {
	if isGlob(s) || len(path.Ext(s)) > 1 {
		return s
	}
	return "*" + s + "*"
}

// pattern adds a name pattern for the tokens [i, j).
func (a *attempt) pattern(i, j int, glob string) bool {
	arg := a.arg(lexicon.RoleName)
	if arg == "" || !a.free(arg) {
		return false
	}
	a.set(arg, glob)
	a.heads = append(a.heads, head{tok: i, end: j, pattern: glob, plural: plural(a.q.toks[j-1].Fold)})
	a.filters++
	a.mark(i, j)
	return true
}
