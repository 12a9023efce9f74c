package embedded

import (
	"fmt"
	"path"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/lexicon"
)

// exceptions turns the marked words into patterns and names to leave out. What
// cannot be said so becomes a question: an exception that is guessed wrong makes
// a deletion delete what was to be kept.
func (a *attempt) exceptions() {
	for i := a.c.from; i < a.c.to; i++ {
		if !a.zone[i] {
			continue
		}
		end := i
		for end < a.c.to && a.zone[end] {
			end++
		}
		if cond := a.conditionBehind(end); cond > end {
			a.doubt(end, cond, "Does %q belong to what is left out by %q? Please say it apart: what is meant, and what is left out.", a.q.text(end, cond), a.q.text(i, end))
		}
		a.leaveOut(i, end)
		i = end - 1
	}
}

// conditionBehind is the end of a condition that follows an exception without a
// mark between them, or 0: "except files modified today" must not become files
// modified today.
func (a *attempt) conditionBehind(i int) int {
	for i < a.c.to && (a.q.filler(i) && a.conditionAt(i) == nil || a.q.words[i].role == lexicon.And && a.q.toks[i].Kind != lexicon.Punct) {
		i++
	}
	if i >= a.c.to {
		return 0
	}
	m := a.conditionAt(i)
	if m == nil {
		return 0
	}
	for _, f := range m.Filled {
		if s := a.tool.Args[f.Arg]; s != nil && (s.Type == abi.TypeDate || s.Type == abi.TypeSize || a.isRole(lexicon.RoleName, f.Arg) || a.isRole(lexicon.RoleExcept, f.Arg)) {
			return m.End
		}
	}
	return 0
}

// leaveOut reads one stretch of what is left out.
func (a *attempt) leaveOut(from, to int) {
	arg := a.arg(lexicon.RoleExcept)
	if a.q.g.Lexicon().Stories && arg == "" {
		if a.namesIn(from, to) {
			a.cannotLeaveOut(from, to)
		}
		return
	}
	what := min(from+max(a.q.words[from].n, 1), to)
	for i := what; i < to; i++ {
		if lexicon.BeginsClause(a.q.toks[i].Fold) && !a.q.fixed[i] && a.q.toks[i].Kind != lexicon.Quoted {
			a.doubt(what, to, "I cannot tell which files you mean by %q. Which names, types, folders or dates are to be left out?", a.q.text(from, to))
			a.mark(from, to)
			return
		}
	}
	found := false
	guess := true // unknown words may be parts of names
	for i := from; i < to && arg != ""; i++ {
		if r := a.q.words[i].role; r == lexicon.Except || r == lexicon.Without {
			guess = r == lexicon.Except
		} else if r == lexicon.Keep {
			guess = true
		}
		if a.used[i] || a.q.fixed[i] && a.q.toks[i].Kind != lexicon.Name || !guess && !a.certain(i) {
			continue
		}
		for _, item := range a.exception(&i) {
			a.set(arg, item)
			found = true
		}
	}
	if found {
		a.filters++
		for i := from; i < to; i++ {
			if a.leavesOut(a.q.words[i].role) || a.q.words[i].role == lexicon.Named {
				a.used[i] = true
			}
		}
		return
	}
	for i := from; i < to; i++ {
		if a.used[i] || a.meaningful(i) {
			return // spoken for, or asked about
		}
	}
	a.doubt(what, to, "What is to be left out by %q? Please name the files, types or folders.", a.q.text(from, to))
}

// namesIn reports whether a file is named in [from, to), or a folder that is there.
func (a *attempt) namesIn(from, to int) bool {
	for i := from; i < to; i++ {
		t := a.q.toks[i]
		if !a.used[i] && (t.Kind == lexicon.Name || t.Kind == lexicon.Quoted || t.Kind == lexicon.Word && len(t.Text) > 2 && !a.q.filler(i) && a.q.exists(t.Text)) {
			return true
		}
	}
	return false
}

// cannotLeaveOut says that the tool takes all that is named.
func (a *attempt) cannotLeaveOut(from, to int) {
	a.problems = append(a.problems, fmt.Sprintf("No files can be left out here, as in %q. Please say it with the names of those that are meant.", a.q.text(from, to)))
	a.kept, a.anew = true, true
	a.mark(from, to)
}

// denied finds "not intro.mov", and "intro.mov not" in languages that say it so,
// where the tool has no argument for what is left out.
func (a *attempt) denied() {
	if !a.q.g.Lexicon().Stories || a.arg(lexicon.RoleExcept) != "" {
		return
	}
	named := func(i int) bool {
		return i >= a.c.from && i < a.c.to && (a.q.toks[i].Kind == lexicon.Name || a.q.toks[i].Kind == lexicon.Quoted)
	}
	for i := a.c.from; i < a.c.to; i++ {
		if r := a.q.words[i].role; a.zone[i] || a.q.fixed[i] || r != lexicon.Not && r != lexicon.Except {
			continue
		}
		next := i + a.q.words[i].n
		switch {
		case named(next):
			a.cannotLeaveOut(i, next+1)
		case named(i-1) && (next >= a.c.to || a.q.toks[next].Kind == lexicon.Punct):
			a.cannotLeaveOut(i-1, next)
		default:
			continue
		}
		return
	}
}

// certain reports whether token i is a name, an extension or a value.
func (a *attempt) certain(i int) bool {
	t := a.q.toks[i]
	_, end := a.valueAt(i)
	return t.Kind == lexicon.Name || t.Kind == lexicon.Quoted || extensionOf(t) != "" || end > 0 || t.Kind == lexicon.Word && a.folderAt(i+1) // "without the old folder"
}

// exception reads one item at token i and moves i to its last token.
func (a *attempt) exception(i *int) []string {
	t := a.q.toks[*i]
	named := *i > a.c.from && a.before(*i, lexicon.Named) >= 0
	if v, end := a.valueAt(*i); end > 0 && a.q.place[*i] == "" && !named {
		return a.exceptKind(i, v, end)
	}
	if a.q.words[*i].n > 0 || a.q.covered[*i] || a.q.filler(*i) {
		return nil
	}
	switch t.Kind {
	case lexicon.Name, lexicon.Quoted:
		a.used[*i] = true
		switch {
		case t.Kind == lexicon.Name && strings.HasPrefix(t.Text, ".") && isExtension(t.Fold[1:]):
			return []string{"*" + t.Fold}
		case named:
			return []string{namePattern(t.Text)}
		case isGlob(t.Text):
			return []string{t.Text}
		}
		return a.exceptName(*i, *i+1, trimPath(t.Text))
	case lexicon.Word, lexicon.Han:
		return a.exceptWord(i, named)
	}
	return nil
}

// exceptKind leaves out a kind of file.
func (a *attempt) exceptKind(i *int, v *lexicon.Match, end int) []string {
	globs := a.q.g.Lexicon().Globs[v.Arg][v.Value]
	if len(globs) == 0 {
		return nil
	}
	start := *i
	a.mark(start, end)
	*i = end - 1
	for _, h := range a.heads {
		if h.arg == v.Arg && h.value == v.Value { // "all images except screenshots"
			a.doubt(start, end, "%q would leave out everything else that was named. Which names are to be left out?", a.q.text(start, end))
			return nil
		}
	}
	text, folder := a.q.text(start, end), a.standsFolder(start, end)
	if folder && (a.folderAt(start-1) || a.folderAt(end)) { // "the documents folder"
		return []string{text}
	}
	if folder && (a.tool.Destructive || a.arg(lexicon.RoleFolder) != a.arg(lexicon.RolePlace)) { // who only looks at a kind was understood
		a.filters++ // to be, whichever it is
		a.doubt(start, end, "Is the folder %q to be left out, or every file of that kind?", text)
		a.candidates = append(a.candidates, "the folder "+text, "all "+text+" files")
		return nil
	}
	return globs
}

// folderAt reports whether token k is the word "folder".
func (a *attempt) folderAt(k int) bool {
	return a.c.from <= k && k < a.c.to && a.q.words[k].role == lexicon.Folder
}

// standsFolder reports whether the words name a folder in one of the places that
// were named, and no word for files follows.
func (a *attempt) standsFolder(i, j int) bool {
	if a.q.req.Exists == nil || j < a.c.to && a.q.words[j].role == lexicon.Files || i > a.c.from && a.q.words[i-1].role == lexicon.All {
		return false
	}
	for _, place := range a.looked() {
		if found, folder := a.q.req.Exists(path.Join(place, a.q.text(i, j))); found && folder {
			return true
		}
	}
	return false
}

// looked are the folders that are looked in.
func (a *attempt) looked() []string {
	if p := list(a.args[a.arg(lexicon.RolePlace)]); len(p) > 0 {
		return p
	}
	return []string{"."}
}

// exceptWord leaves out what a plain word names: an extension, or a folder.
func (a *attempt) exceptWord(i *int, named bool) []string {
	t := a.q.toks[*i]
	if ext := extensionOf(t); ext != "" && !named && a.q.place[*i] == "" {
		a.used[*i] = true
		return []string{"*." + ext}
	}
	if !named && !a.folderAt(*i-1) && !a.folderAt(*i+1) && a.q.place[*i] == "" && (lexicon.IsMeasure(t.Fold) || a.q.isVague(*i) || a.q.hasMeaning(*i) && !a.q.exists(t.Text)) {
		return nil
	}
	start := *i
	end := a.span(start)
	if t.Kind == lexicon.Han {
		for end < a.c.to && a.zone[end] && a.q.toks[end].Kind == lexicon.Han && a.meaningful(end) && a.q.words[end].n == 0 {
			end++
		}
	}
	text := a.name(start, end)
	beside := a.folderAt(start-1) || a.folderAt(end)
	folder := a.q.place[start] != "" || a.q.exists(text) || beside || lexicon.IsFolderName(t.Fold)
	a.mark(start, end)
	*i = end - 1
	glob := "*" + stem(a.q.toks[end-1], true) + "*"
	switch {
	case named:
		return []string{namePattern(text)}
	case folder || strings.Contains(text, "_"):
		return a.exceptName(start, end, text)
	case a.tool.Destructive:
		a.filters++
		a.doubt(start, end, "Are files with %q in their names to be left out?", strings.Trim(glob, "*"))
		a.candidates, a.yes = append(a.candidates, glob), glob
		return nil
	}
	a.guesses++
	return []string{glob}
}

// exceptName leaves out a file or folder by its name. One that is not where the
// tool looks would leave nothing out.
func (a *attempt) exceptName(i, j int, name string) []string {
	if a.tool.Destructive || a.q.place[i] != "" {
		for _, place := range a.looked() {
			if a.q.there(place, name) != absent {
				return []string{name}
			}
		}
		a.doubt(i, j, "There is no %q in %s, so nothing would be left out. What do you mean?", name, quoteList(a.looked()))
		return nil
	}
	return []string{name}
}

// doubt asks about the tokens [i, j). Without them the call would be another
// one.
func (a *attempt) doubt(i, j int, format string, args ...any) {
	a.kept = true
	a.problems = append(a.problems, fmt.Sprintf(format, args...))
	a.unclear = append(a.unclear, a.q.text(i, j))
}

// valueAt is the longest value phrase of one of the tool's arguments at token i.
func (a *attempt) valueAt(i int) (*lexicon.Match, int) {
	for k := range a.q.matches {
		m := &a.q.matches[k]
		if m.Meaning == lexicon.Value && m.Start == i && a.tool.Args[m.Arg] != nil && a.q.g.Lexicon().Globs[m.Arg] != nil {
			return m, m.End
		}
	}
	return nil, 0
}
