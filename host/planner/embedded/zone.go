package embedded

import "stepbox.dev/host/lexicon"

// findZone marks what stands behind "except", up to the next place or mark, and
// behind "keep" where the rest is named too.
func (a *attempt) findZone() {
	for i := a.c.from; i < a.c.to; i++ {
		f := a.q.words[i]
		if !a.leavesOut(f.role) || a.q.fixed[i] || a.zone[i] {
			continue
		}
		if a.q.lang == "zh" && i > a.c.from && a.zone[i-1] { // 除了…以外 begins, 以外 ends
			for k := i; k < i+f.n; k++ {
				a.zone[k] = true
			}
			continue
		}
		end := a.zoneEnd(i + f.n)
		if a.q.lang == "zh" && end == i+f.n { // "index.tmp除外": it stands behind what is left out
			for k := i - 1; k >= a.c.from && a.q.toks[k].Kind != lexicon.Punct && !a.q.isVerb(k) && !a.q.covered[k]; k-- {
				a.zone[k] = true
			}
			a.zone[i] = true
			continue
		}
		for k := i; k < end; k++ {
			a.zone[k] = true
		}
		i = end - 1
	}
}

// leavesOut reports whether a function word begins what is left out.
func (a *attempt) leavesOut(r lexicon.Role) bool {
	return r == lexicon.Except || r == lexicon.Without || r == lexicon.Keep
}

// says reports whether the clause holds a function word of the role.
func (a *attempt) says(r lexicon.Role) bool {
	for i := a.c.from; i < a.c.to; i++ {
		if a.q.words[i].role == r {
			return true
		}
	}
	return false
}

func (a *attempt) zoneEnd(i int) int {
	items := 0
	for j := i; j < a.c.to; j++ {
		t, f := a.q.toks[j], a.q.words[j]
		switch {
		case f.role == lexicon.To, f.role == lexicon.Except, f.role == lexicon.Then, f.role == lexicon.Rest:
			return j
		case items > 0 && f.role == lexicon.And && !a.itemAfter(j) && !a.allAfter(j):
			return j
		case (f.role == lexicon.In || f.role == lexicon.From) && a.allBefore(j, i):
			if !a.q.fixed[j] {
				items++ // "contract.pdf and anything in archive"
			}
		case (f.role == lexicon.In || f.role == lexicon.From) && items > 0 && (!a.q.filler(j) || a.plainly(j-1) && a.q.place[j+1] != ""):
			return j
		case items > 0 && (f.role == lexicon.With || a.q.fixed[j]):
			return j
		case t.Kind == lexicon.Punct && items > 0 && !a.itemAfter(j):
			return j
		case items > 0 && a.q.isVerb(j) && (a.q.lang == "de" || a.q.lang == "zh"):
			return j
		case f.n == 0 && !a.q.covered[j] && !a.q.filler(j) && t.Kind != lexicon.Punct:
			items++
		}
	}
	return a.c.to
}

// plainly reports whether token i is a name, an extension or a value: "of" behind
// it leads to a place and belongs to no name.
func (a *attempt) plainly(i int) bool {
	return a.q.toks[i].Kind == lexicon.Name || a.q.kindOfThing(i)
}

// itemAfter reports whether the list of exceptions goes on behind the mark.
func (a *attempt) itemAfter(j int) bool {
	for j++; j < a.c.to && (a.q.filler(j) || a.q.words[j].role == lexicon.And); j++ {
	}
	if j < a.c.to && a.q.words[j].role == lexicon.Folder && !a.q.covered[j] { // "except pdfs and the folder old"
		return j+1 < a.c.to && a.q.nameable(j+1)
	}
	return j < a.c.to && a.q.words[j].n == 0 && (!a.q.isVerb(j) || a.q.exists(a.q.toks[j].Text) && a.q.itemEnds(j+1))
}

// allAfter reports whether "everything in …" follows the joining word.
func (a *attempt) allAfter(j int) bool {
	for j += max(a.q.words[j].n, 1); j < a.c.to && a.q.filler(j) && a.q.words[j].n == 0; j++ {
	}
	if j >= a.c.to || !a.wholly(j) {
		return false
	}
	for j += a.q.words[j].n; j < a.c.to && (a.q.filler(j) && a.q.words[j].n == 0 || a.wholly(j)); j++ {
	}
	return j < a.c.to && (a.q.words[j].role == lexicon.In || a.q.words[j].role == lexicon.From || a.q.words[j].role == lexicon.Named)
}

// allBefore reports whether "everything", "those" or "files" stands alone before
// token j, behind a joining word or at the beginning of the zone.
func (a *attempt) allBefore(j, from int) bool {
	found := false
	for j--; j >= from; j-- {
		switch {
		case a.wholly(j):
			found = true
		case a.q.filler(j) && a.q.words[j].n == 0, a.q.covered[j]:
		default:
			r := a.q.words[j].role
			return found && (r == lexicon.And || r == lexicon.Or)
		}
	}
	return found
}

// wholly reports whether a word stands for whatever lies at a place.
func (a *attempt) wholly(j int) bool {
	switch a.q.words[j].role {
	case lexicon.All, lexicon.Them, lexicon.Files:
		return true
	}
	return false
}
