package embedded

import (
	"path"
	"strings"

	"stepbox.dev/host/lexicon"
)

// unknown gives a meaning to words that no phrase knows: extensions, folders
// that exist or that most homes have, numbers as names, and parts of names.
func (a *attempt) unknown() {
	for i := a.c.from; i < a.c.to; i++ {
		letter := a.produces() && !a.used[i] && a.q.letter(i) // "folders a, b and c"
		if !a.meaningful(i) && !letter || a.zone[i] || a.q.words[i].n > 0 {
			continue
		}
		t := a.q.toks[i]
		if t.Kind == lexicon.Punct || t.Kind == lexicon.Name || t.Kind == lexicon.Quoted {
			continue
		}
		if a.produces() && a.nounPlace(i) && (i > a.verbAt || !a.q.isVerb(i)) && !(a.q.isVerb(i) && a.q.joinedOn(i) && !a.q.itemEnds(i+1)) {
			if end := a.span(i); a.give(a.arg(lexicon.RoleThing), a.name(i, end)) {
				a.mark(i, end)
				if named := a.before(i, lexicon.Named); named >= 0 {
					a.mark(named, i)
				}
				continue
			}
		}
		if t.Kind == lexicon.Number {
			continue
		}
		switch named := a.before(i, lexicon.Named); {
		case named >= 0 && a.pattern(i, i+1, namePattern(t.Text)):
			a.mark(named, i)
		case a.extension(i), a.existing(i), a.familiar(i):
		default:
			a.partOfName(i)
		}
	}
}

// extension takes "pdf", "pdfs" and "pdf invoices".
func (a *attempt) extension(i int) bool {
	if a.q.isVague(i) || a.q.listed(i) {
		return false // "old files" are not *.old
	}
	if ext, ok := strings.CutPrefix(a.q.toks[i].Fold, "non-"); ok && isExtension(ext) && a.arg(lexicon.RoleExcept) != "" {
		a.set(a.arg(lexicon.RoleExcept), "*."+ext)
		a.filters++
		a.used[i] = true
		return true
	}
	ext := extensionOf(a.q.toks[i])
	if ext == "" {
		if _, everyday := lexicon.IsExtension(a.q.toks[i].Fold); everyday && i+1 < a.c.to && a.q.words[i+1].role == lexicon.Files {
			ext = a.q.toks[i].Fold // "go files"
		}
	}
	if ext == "" || a.arg(lexicon.RoleName) == "" || a.q.g.Lexicon().Stories && !a.several(i) {
		return false
	}
	return a.pattern(i, i+1, "*."+ext)
}

// several reports whether more than one file is meant: "all", or a plural
// behind the extension. "The mov file" is one that was not named.
func (a *attempt) several(i int) bool {
	if i > a.c.from && lexicon.IsMeasure(a.q.toks[i-1].Fold) {
		return false // "two mp4 files" are not named either
	}
	for k := a.c.from; k < a.c.to; k++ {
		if a.q.words[k].role == lexicon.All || k > i && a.q.words[k].role == lexicon.Files && (plural(a.q.toks[k].Fold) || strings.HasPrefix(a.q.toks[k].Fold, "файлов")) {
			return true
		}
	}
	return false
}

func extensionOf(t lexicon.Token) string {
	if t.Kind != lexicon.Word {
		return ""
	}
	for _, w := range []string{t.Fold, strings.TrimSuffix(t.Fold, "s"), beforeFiles(t.Fold)} {
		if ok, everyday := lexicon.IsExtension(w); ok && !everyday {
			return w
		}
	}
	return ""
}

// beforeFiles is what stands before "files" in a word of both, "zip-Dateien",
// "zip-файлы".
func beforeFiles(w string) string {
	ext, files, both := strings.Cut(w, "-")
	if both && (strings.HasPrefix(files, "datei") || strings.HasPrefix(files, "файл") || files == "file" || files == "files" || files == "archivos" || files == "fichiers") {
		return ext
	}
	return w
}

func isExtension(w string) bool {
	ok, _ := lexicon.IsExtension(w)
	return ok
}

// existing takes words that name something in the sandbox.
func (a *attempt) existing(i int) bool {
	for _, f := range a.q.req.Files { // a file that was offered, without its extension
		if base := path.Base(f); strings.EqualFold(strings.TrimSuffix(base, path.Ext(base)), a.q.toks[i].Text) && a.give(a.arg(lexicon.RoleThing), f) {
			a.used[i] = true
			return true
		}
	}
	for j := min(a.c.to, i+5); j > i; j-- {
		text := a.q.text(i, j)
		if !a.q.exists(text) || !a.allMeaningful(i, j) {
			continue
		}
		if a.input(text, a.isFile(text)) {
			if !a.isFile(text) {
				a.bare = append(a.bare, text)
			}
			a.mark(i, j)
			return true
		}
	}
	return false
}

func (a *attempt) allMeaningful(i, j int) bool {
	for ; i < j; i++ {
		if a.used[i] || a.zone[i] {
			return false
		}
	}
	return true
}

// familiar takes a bare word as a folder when most homes have one of that name
// and no other folder was named.
func (a *attempt) familiar(i int) bool {
	place := a.arg(lexicon.RolePlace)
	if place == "" || a.inputSet() || !a.nounPlace(i) {
		return false
	}
	end := i + 1
	if a.q.toks[i].Kind == lexicon.Han {
		for end = min(a.c.to, i+4); end > i && !lexicon.IsFolderName(spaced(a.q, i, end)); end-- {
		}
		if end == i {
			return false
		}
	} else if !lexicon.IsFolderName(a.q.toks[i].Fold) {
		return false
	}
	if end < a.c.to && a.q.words[end].role == lexicon.Files {
		return false // "backup files"
	}
	if !a.give(place, a.q.text(i, end)) {
		return false
	}
	a.bare = append(a.bare, a.q.text(i, end))
	a.guesses++
	a.mark(i, end)
	return true
}

func spaced(q *reading, i, j int) string {
	parts := make([]string, 0, j-i)
	for ; i < j; i++ {
		parts = append(parts, q.toks[i].Fold)
	}
	return strings.Join(parts, " ")
}

// partOfName takes a word that stands where the things meant are named, such as
// "invoices", as part of file names.
func (a *attempt) partOfName(i int) {
	if a.arg(lexicon.RoleName) == "" || !a.nounPlace(i) || a.q.g.Lexicon().Stories {
		return
	}
	end := i + 1
	if a.q.toks[i].Kind == lexicon.Han {
		for end < a.c.to && a.q.toks[end].Kind == lexicon.Han && a.meaningful(end) && a.q.words[end].n == 0 {
			end++
		}
		if end-i < 2 {
			return
		}
	} else {
		for end < a.c.to && a.q.toks[end].Kind == lexicon.Word && a.meaningful(end) && extensionOf(a.q.toks[end]) == "" && !a.q.isVerb(end) && a.q.words[end].n == 0 {
			end++
		}
		if end-i > 3 {
			return
		}
	}
	if a.q.isVerb(i) || a.startsSentence(i) || a.q.isVague(i) || lexicon.IsMeasure(a.q.toks[i].Fold) || a.q.hasMeaning(i) {
		return
	}
	for k := i; k < end; k++ {
		if lexicon.BeginsClause(a.q.toks[k].Fold) {
			return // "unless", "if"
		}
	}
	var glob strings.Builder
	glob.WriteByte('*')
	for k := i; k < end; k++ {
		glob.WriteString(stem(a.q.toks[k], k == end-1 && !strings.Contains(a.q.toks[k].Text, "_")))
		if a.q.toks[k].Kind != lexicon.Han || k == end-1 {
			glob.WriteByte('*')
		}
	}
	a.guesses++
	if one := a.q.toks[i].Text; end == i+1 && end < a.c.to && strings.Contains(one, "_") && a.q.foldersAt(end) {
		a.pattern(i, end, one) // "the node_modules folders": that very name
		return
	}
	// "invoice pdfs", "pdf invoices": both at once.
	if end < a.c.to && !a.used[end] {
		if ext := extensionOf(a.q.toks[end]); ext != "" {
			a.guessed(i, end, glob.String()+"."+ext)
			a.pattern(i, end+1, glob.String()+"."+ext)
			return
		}
	}
	if n := len(a.heads); n > 0 && a.heads[n-1].pattern != "" && !a.heads[n-1].plural && a.heads[n-1].end == i {
		h := a.heads[n-1]
		a.guessed(i, end, glob.String()+strings.TrimPrefix(h.pattern, "*"))
		a.replacePattern(h.pattern, glob.String()+strings.TrimPrefix(h.pattern, "*"))
		a.mark(i, end)
		return
	}
	a.guessed(i, end, glob.String())
	a.pattern(i, end, glob.String())
}

// guessed asks about a word that was taken for a part of names before it decides
// what is changed, when nothing in the sandbox is named so, and is less sure of
// words that look like adjectives: "scanned pdfs".
func (a *attempt) guessed(i, j int, glob string) {
	if !a.tool.Destructive {
		return
	}
	switch a.q.anyNamed(glob) {
	case absent:
		kept := a.kept
		a.doubt(i, j, "No file has %q in its name. What do you mean by it?", a.q.text(i, j))
		a.kept = kept // the rest says enough
		a.candidates = append(a.candidates, glob)
	case present:
		if w := a.q.toks[j-1].Fold; j < a.c.to && a.q.lang == "en" && (strings.HasSuffix(w, "ed") || strings.HasSuffix(w, "ing") || strings.HasSuffix(w, "able") || strings.HasSuffix(w, "ful")) {
			a.guesses += 2
		}
	}
}

// hasMeaning reports whether the skill's own vocabulary knows the word, if not
// for this tool: then it is no part of a name.
func (q *reading) hasMeaning(i int) bool {
	for k := range q.matches {
		m := &q.matches[k]
		if m.Skill && (m.Meaning == lexicon.Sets || m.Meaning == lexicon.Value) && len(m.Filled) == 0 && m.Start <= i && i < m.End {
			return true
		}
	}
	return false
}

// isVague reports whether a word says too little to be part of a name.
func (q *reading) isVague(i int) bool {
	for k := range q.matches {
		if m := &q.matches[k]; m.Start == i && m.Meaning == lexicon.Vague {
			return true
		}
	}
	return false
}

func (a *attempt) replacePattern(old, glob string) {
	list, _ := a.args[a.arg(lexicon.RoleName)].([]any)
	for i, v := range list {
		if v == old {
			list[i] = glob
		}
	}
}

// nounPlace reports whether token i can name what is meant: it stands first, or
// behind the action, a joining word or an adjective, but not behind the thing
// itself.
func (a *attempt) nounPlace(i int) bool {
	for j := i - 1; j >= a.c.from; j-- {
		if a.q.filler(j) && !a.used[j] {
			continue
		}
		switch a.q.words[j].role {
		case lexicon.And, lexicon.Or, lexicon.All, lexicon.Some, lexicon.Named, lexicon.Each:
			return true
		case lexicon.Files, lexicon.With:
			return false
		case lexicon.Folder:
			return a.produces()
		}
		for _, h := range a.heads {
			if h.tok <= j && j < h.end {
				return !h.plural
			}
		}
		if m := a.conditionAt(j); m != nil {
			if m.Start < j && a.holdsFiles(m) {
				return false // "the files only bob"
			}
			if m.Start > a.c.from {
				j = m.Start
				continue
			}
		}
		if a.q.place[j] != "" {
			return false
		}
		return a.used[j] || a.q.words[j].n > 0
	}
	return true
}

// conditionAt is the applied phrase that token j belongs to, if it says
// something about things and is no order.
func (a *attempt) conditionAt(j int) *lexicon.Match {
	for k := range a.conditions {
		if m := &a.conditions[k]; m.Tool == "" && m.Start <= j && j < m.End {
			return m
		}
	}
	return nil
}

// holdsFiles reports whether a phrase takes the word "files" too.
func (a *attempt) holdsFiles(m *lexicon.Match) bool {
	for _, w := range m.Words {
		if r := a.q.words[w].role; r == lexicon.Files || r == lexicon.Folder {
			return true
		}
	}
	return false
}

// startsSentence reports whether token i stands first although a verb follows:
// in languages where the action comes first, such a word is not understood.
func (a *attempt) startsSentence(i int) bool {
	if a.q.lang == "de" || a.q.lang == "zh" || a.q.lang == "ru" || a.q.lang == "bg" {
		return false
	}
	for j := a.c.from; j < i; j++ {
		if !a.q.filler(j) || a.used[j] { // "do I have a contract"
			return false
		}
	}
	if !a.q.action(a.c.from, a.c.to) { // "transmogrify the pdfs"
		return i+1 < a.c.to && a.q.filler(i+1) && !a.used[i+1]
	}
	return true
}

// stem cuts the ending of a plural.
func stem(t lexicon.Token, last bool) string {
	w := strings.ToLower(t.Text)
	if w != t.Text && strings.ToUpper(t.Text) == t.Text && len(w) > 1 {
		return t.Text // README
	}
	if !last || t.Kind != lexicon.Word {
		return w
	}
	switch {
	case strings.HasSuffix(w, "ies") && len(w) > 5:
		return w[:len(w)-3]
	case strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && len(w) > 3:
		return w[:len(w)-1]
	case strings.HasSuffix(w, "ungen"), strings.HasSuffix(w, "eien"):
		return w[:len(w)-2]
	}
	r := []rune(w)
	if n := len(r); n > 4 && strings.ContainsRune("аиыуяюе", r[n-1]) {
		for len(r) > 4 && strings.ContainsRune("аиыуяюет", r[len(r)-1]) && len(r) > n-3 {
			r = r[:len(r)-1]
		}
		return string(r)
	}
	return w
}
