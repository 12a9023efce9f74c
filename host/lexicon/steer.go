package lexicon

// Steers reports whether a word may decide what a request does: it orders, sets a
// condition, or says how one thing relates to another. What only names things
// does not.
func (g *Grammar) Steers(t Token) bool {
	if BeginsClause(t.Fold) {
		return true
	}
	if alone, ok := g.steers[t.Fold]; ok && (alone || !g.IsFiller(t.Fold)) {
		return true
	}
	for n := 3; n <= len(t.Fold) && n <= g.longest; n++ {
		for _, p := range g.prefix[t.Fold[:n]] {
			if p.steers() {
				return true
			}
		}
	}
	return false
}

// steers reports whether the words of a phrase do.
func (p *Phrase) steers() bool {
	switch p.Meaning {
	case Verb, Sets, Asks, Refuses:
		return true
	case Function:
		return p.Role != Files && p.Role != Folder
	}
	return false
}

// TurnsRound reports whether a stretch of a script without spaces holds a phrase
// that leaves out or turns round. Others may be part of a name there.
func (g *Grammar) TurnsRound(toks []Token) bool {
	for i := range toks {
		for _, p := range g.exact[toks[i].Fold] {
			if p.Meaning != Function || len(p.els) != p.words || p.opening(toks[i:]) != p.words {
				continue
			}
			switch p.Role {
			case Except, Without, Not, Keep, Rest:
				return true
			}
		}
	}
	return false
}
