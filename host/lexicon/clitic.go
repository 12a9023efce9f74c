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
