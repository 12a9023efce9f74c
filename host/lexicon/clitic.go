package lexicon

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Split takes pronouns off the verbs they are written onto, "muéstralos" and
// "montre-moi": the verb becomes a token of its own.
func (g *Grammar) Split(toks []Token) []Token {
	for i := 0; i < len(toks); i++ {
		t := toks[i]
		if t.Kind != Word || g.known[t.Fold] {
			continue
		}
		for _, c := range shared().clitics {
			stem, ok := strings.CutSuffix(t.Fold, c)
			if !ok || !g.carries(stem, c) || utf8.RuneCountInString(t.Text) != utf8.RuneCountInString(t.Fold) {
				continue
			}
			cut := t.Start + len(string([]rune(t.Text)[:utf8.RuneCountInString(stem)]))
			verb, pronoun := t, t
			verb.Text, verb.Fold, verb.End = t.Text[:cut-t.Start], stem, cut
			pronoun.Text, pronoun.Fold, pronoun.Start = strings.TrimLeft(t.Text[cut-t.Start:], "-"), strings.TrimLeft(c, "-"), cut
			toks = slices.Replace(slices.Clip(toks), i, i+1, verb, pronoun)
			break
		}
	}
	return toks
}

// carries reports whether a word can bear the clitic: a verb, and before a
// hyphen any small word.
func (g *Grammar) carries(w, clitic string) bool {
	if w == "" {
		return false
	}
	return clitic[0] == '-' && g.known[w] || slices.ContainsFunc(g.exact[w], func(p *Phrase) bool { return p.Meaning == Verb && len(p.els) == 1 })
}

// Leads measures the phrase at the beginning of tokens without spaces that can
// lead up to a name: a small word, or one that says what to do. order says that
// it is the latter; joined allows it, and words that join.
func (g *Grammar) Leads(toks []Token, joined bool) (n int, order bool) {
	if len(toks) == 0 {
		return 0, false
	}
	for _, p := range g.exact[toks[0].Fold] {
		k := p.opening(toks)
		if k <= n {
			continue
		}
		switch p.Meaning {
		case Function:
			switch p.Role {
			case And, Then, From, To, In, With:
				if !joined {
					continue
				}
			case All, It, Them, Each:
			default:
				continue
			}
			if k == p.words && len(p.els) == k {
				n, order = k, false
			}
		case Filler:
			if !p.Skill && len(p.els) == k {
				n, order = k, false
			}
		case Verb, Sets, Asks, Refuses:
			if joined && k > 1 && (len(p.els) == k || p.els[k].gap) {
				n, order = k, true
			}
		}
	}
	return n, order
}

// opening counts the words that a phrase begins with, when the tokens begin so.
func (p *Phrase) opening(toks []Token) int {
	n := 0
	for ; n < len(p.els) && len(p.els[n].words) > 0; n++ {
		if n >= len(toks) || !matches(p.els[n].words, toks[n], false) {
			return 0
		}
	}
	return n
}
