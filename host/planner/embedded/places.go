package embedded

import (
	"path"
	"slices"
	"strings"

	"stepbox.dev/host/lexicon"
)

// findPlaces marks the tokens that stand behind "in", "from" or "to": they are
// names, whatever else the word may mean.
func (q *reading) findPlaces() {
	q.place = make([]lexicon.Role, len(q.toks))
	for i, f := range q.words {
		switch f.role {
		case lexicon.In, lexicon.From, lexicon.To:
		case lexicon.After:
			q.placeBefore(i)
			continue
		default:
			continue
		}
		if q.fixed[i] {
			continue
		}
		j := i + f.n
		for j < len(q.toks) && (q.filler(j) && q.words[j].n == 0 && !q.title(j) && !q.letter(j) && !q.namesFolder(j) || q.words[j].role == lexicon.Folder || q.words[j].role == lexicon.Named) {
			j++
		}
		if j+2 < len(q.toks) && lexicon.IsMeasure(q.toks[j].Fold) && q.words[j+1].role == lexicon.Folder && q.words[j+2].role == lexicon.Named {
			q.words[j], j = function{lexicon.Folder, 1}, j+3 // "into one folder called unz"
		}
		if j >= len(q.toks) || q.fixed[j] && q.toks[j].Kind != lexicon.Name || !q.nameable(j) && !q.homeFolder(j) {
			continue
		}
		if q.saysNothing(i, j) {
			continue // "in den Dateinamen"
		}
		if f.role == lexicon.In && !q.exists(q.toks[j].Text) && q.within(i, j) {
			continue // "in folders by type"
		}
		if f.role != lexicon.To && q.filler(i) && q.isVerb(j) && !q.exists(q.toks[j].Text) {
			continue // "des doublons": an article
		}
		if f.role == lexicon.To && q.toks[j].Kind == lexicon.Word && q.isVerb(j) && !q.verbBefore(i) {
			continue // "to delete"
		}
		if f.role == lexicon.To && q.describes(j) {
			continue // "to square", "to flawless 4K"
		}
		if lexicon.IsMeasure(q.toks[j].Fold) && j+1 < len(q.toks) && q.words[j+1].role == lexicon.Files {
			continue // "into one file"
		}
		if f.role != lexicon.To && q.toks[j].Kind == lexicon.Word && lexicon.IsUnit(q.toks[j].Fold) && !q.exists(q.toks[j].Text) {
			continue // "plus d'un mois"
		}
		if q.toks[j].Fold == "去" || q.toks[j].Fold == "来" {
			continue // 移进去: whereto was said before
		}
		if f.role == lexicon.From && q.dotted(j) {
			continue // "wipe out .log and .tmp files"
		}
		if q.kindOfThing(j) && (q.placeFollows(j+1) || j+1 < len(q.toks) && q.words[j+1].role == lexicon.Files) {
			continue // "from the photos in camera", "to the pdf files"
		}
		q.place[j] = f.role
		for k := j + 1; k < len(q.toks) && q.toks[k].Kind == lexicon.Han && q.toks[j].Kind == lexicon.Han && q.words[k].n == 0 && !q.isVerb(k); k++ {
			q.place[k] = f.role
		}
		for k := j + 1; q.lang != "de" && k < len(q.toks) && startsUpper(q.toks[j].Text) && q.toks[k].Kind == lexicon.Word && startsUpper(q.toks[k].Text) && q.toks[j].Kind == lexicon.Word && !q.fixed[k]; k++ {
			q.place[k] = f.role // a name of several words
		}
		for k := q.nextItem(j+1, len(q.toks)); k > 0; k = q.nextItem(k+1, len(q.toks)) {
			if f.role == lexicon.To {
				break // there is one destination
			}
			q.place[k] = f.role
		}
	}
}

// saysNothing reports whether a phrase that the skill calls a filler reaches from
// token i to token j.
func (q *reading) saysNothing(i, j int) bool {
	return slices.ContainsFunc(q.matches, func(m lexicon.Match) bool {
		return m.Meaning == lexicon.Filler && m.Skill && m.Start == i && m.End == j+1 && m.Literals() > 1
	})
}

// describes reports whether token j begins a phrase that says how or that it
// cannot be, where requests name their files themselves.
func (q *reading) describes(j int) bool {
	if !q.g.Lexicon().Stories || q.toks[j].Kind != lexicon.Word || q.exists(q.toks[j].Text) {
		return false
	}
	return slices.ContainsFunc(q.matches, func(m lexicon.Match) bool {
		return m.Start == j && (m.Meaning == lexicon.Sets || m.Meaning == lexicon.Refuses || m.Meaning == lexicon.Asks)
	})
}

// homeFolder reports whether token j is a word for files that is a folder's name
// as well and stands as one, at the end: Spanish "en archivo".
func (q *reading) homeFolder(j int) bool {
	if q.words[j].role != lexicon.Files || !lexicon.IsFolderName(q.toks[j].Fold) {
		return false
	}
	end := j + q.words[j].n
	return end >= len(q.toks) || q.toks[end].Kind == lexicon.Punct || q.words[end].n > 0 && q.words[end].role != lexicon.Named
}

// namesFolder reports whether a word that says nothing elsewhere is the name of
// a folder that is there: "every mp4 in videos".
func (q *reading) namesFolder(j int) bool {
	return len(q.toks[j].Text) > 3 && q.toks[j].Kind == lexicon.Word && q.exists(q.toks[j].Text) && q.itemEnds(j+1)
}

// title reports whether a small word begins a name of several words: one that
// exists, or capitalized words, "My Pictures".
func (q *reading) title(j int) bool {
	for end := j + 2; q.req.Exists != nil && end <= len(q.toks) && end <= j+5; end++ {
		if q.exists(q.text(j, end)) && !slices.ContainsFunc(q.toks[j+1:end], q.g.Steers) {
			return true
		}
	}
	return q.lang != "de" && j > 0 && j+1 < len(q.toks) && startsUpper(q.toks[j].Text) && startsUpper(q.toks[j+1].Text)
}

// letter reports whether an article is a name after all: one of a list, "a, b
// and c", or a folder that is there, and no noun follows.
func (q *reading) letter(j int) bool {
	t := q.toks[j]
	if len(t.Text) != 1 || t.Kind != lexicon.Word {
		return false
	}
	if j+1 < len(q.toks) && q.words[j+1].role == lexicon.And && q.toks[j+1].Kind == lexicon.Punct {
		return true
	}
	if !q.exists(t.Text) {
		return false
	}
	return q.itemEnds(j + 1)
}

// itemEnds reports whether what stands at token j can follow a name.
func (q *reading) itemEnds(j int) bool {
	if j >= len(q.toks) || q.toks[j].Kind == lexicon.Punct {
		return true
	}
	switch q.words[j].role {
	case lexicon.In, lexicon.From, lexicon.To, lexicon.And, lexicon.Or, lexicon.Then, lexicon.Except:
		return true
	}
	return false
}

// nextItem is the token of the next item of a list of names that goes on at
// token j, or -1.
func (q *reading) nextItem(j, to int) int {
	if j >= to || q.words[j].role != lexicon.And && q.words[j].role != lexicon.Or {
		return -1
	}
	k := j + q.words[j].n
	for k < to && (q.filler(k) && !q.title(k) || q.words[k].role == lexicon.And || q.words[k].role == lexicon.Or || q.words[k].role == lexicon.In || q.words[k].role == lexicon.From) {
		k++
	}
	if k >= to || !q.nameable(k) || q.fixed[k] {
		return -1
	}
	if q.isVerb(k) && q.toks[k].Kind != lexicon.Name && (!q.exists(q.toks[k].Text) || !q.itemEnds(k+1)) {
		return -1 // "in inbox and archive" ends with a folder, "in inbox and archive them" does not
	}
	switch t := q.toks[k]; t.Kind {
	case lexicon.Name, lexicon.Quoted, lexicon.Number:
		return k
	default:
		end := k+1 >= to
		follows := !end && (q.words[k+1].n > 0 && q.words[k+1].role != lexicon.Files || q.toks[k+1].Kind == lexicon.Punct)
		if end || follows || !q.kindOfThing(k) && q.fixed[k+1] {
			return k
		}
	}
	return -1
}

// kindOfThing reports whether token j is a value or an extension.
func (q *reading) kindOfThing(j int) bool {
	if extensionOf(q.toks[j]) != "" || q.dotted(j) {
		return true
	}
	for i := range q.matches {
		if m := &q.matches[i]; m.Start == j && m.Meaning == lexicon.Value {
			return true
		}
	}
	return false
}

// dotted reports whether token j is an extension with its dot.
func (q *reading) dotted(j int) bool {
	t := q.toks[j]
	return t.Kind == lexicon.Name && strings.HasPrefix(t.Fold, ".") && isExtension(t.Fold[1:]) && !q.exists(t.Text)
}

// placeFollows reports whether one of the next tokens begins a place.
func (q *reading) placeFollows(j int) bool {
	for k := j; k < len(q.toks) && k < j+3; k++ {
		switch r := q.words[k].role; {
		case r == lexicon.And || r == lexicon.Or:
			return false // "in pictures and in downloads"
		case (r == lexicon.In || r == lexicon.From) && !q.fixed[k]:
			// "the logs from logs in old.zip" names what is made
			next := k + q.words[k].n
			return next >= len(q.toks) || q.toks[next].Kind != lexicon.Name || path.Ext(q.toks[next].Text) == ""
		}
	}
	return false
}

// placeBefore marks a name that stands before a word such as 里.
func (q *reading) placeBefore(i int) {
	j := i - 1
	for j >= 0 && (q.words[j].role == lexicon.Folder || q.covered[j]) {
		j--
	}
	if j < 0 || !q.nameable(j) || q.fixed[j] {
		return
	}
	if q.toks[j].Kind != lexicon.Han {
		if q.place[j] == "" {
			q.place[j] = lexicon.In
		}
		return
	}
	for ; j >= 0 && q.toks[j].Kind == lexicon.Han && q.words[j].n == 0 && !q.covered[j] && !q.fixed[j] && !q.filler(j) && q.place[j] == ""; j-- {
		q.place[j] = lexicon.In
	}
}

// nameable reports whether a token can be, or begin, a name.
func (q *reading) nameable(j int) bool {
	t := q.toks[j]
	switch t.Kind {
	case lexicon.Name, lexicon.Quoted:
		return true
	case lexicon.Word, lexicon.Han:
		switch q.words[j].role {
		case "", lexicon.Then, lexicon.All, lexicon.With:
		default:
			return false
		}
		return q.words[j].n == 0 && !q.covered[j] && (!q.filler(j) || q.title(j) || q.letter(j) || q.namesFolder(j))
	case lexicon.Number: // a folder called 2025
		return q.words[j].n == 0 && !q.g.Lexicon().Stories
	}
	return false
}
