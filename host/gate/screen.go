package gate

import (
	"fmt"
	"slices"

	"stepbox.dev/host/registry"
)

// Phrases are the unsafe phrases of a skill, ready to be looked for.
type Phrases struct {
	phrases []phrase
	kinds   map[string]bool // words that narrow
	verbs   map[string]bool // words that begin a clause
}

type phrase struct {
	text  string
	words []token
}

// NewPhrases prepares a skill's phrases.
func NewPhrases(phrases []string, r *registry.Registry) *Phrases {
	p := &Phrases{kinds: declaredKinds(r), verbs: clauseVerbs(phrases, r)}
	for _, text := range phrases {
		p.phrases = append(p.phrases, phrase{text, tokenize(text)})
	}
	return p
}

// Screen refuses a request that holds one of the phrases, as a whole sequence of
// words.
//
// A phrase of two or more words does not count when words outside it, in the
// same clause, narrow it: by a named file, a pattern, or a kind (an enum value
// that the contract declares, or an extension). "Delete all log files" is a
// request like any other; "delete all files" is not. What follows "except" or
// "including" narrows nothing, nor does a kind that is a place ("in archive") or
// an order ("by type"), nor a word for everything that an enum happens to have.
func (p *Phrases) Screen(utterance string) Decision {
	if len(p.phrases) == 0 {
		return proceed
	}
	said := tokenize(utterance)
	for _, unsafe := range p.phrases {
		words := unsafe.words
		for i := range said {
			if !startsWith(said[i:], words) {
				continue
			}
			if len(words) > 1 && narrowed(said, i, i+len(words), p.kinds, p.verbs) {
				continue
			}
			return Decision{
				Outcome: Reject,
				Reason:  fmt.Sprintf("the request says %q, which this skill never does", unsafe.text),
				Next:    "name the files it is about, or their kind",
			}
		}
	}
	return proceed
}

func startsWith(said, words []token) bool {
	if len(words) == 0 || len(said) < len(words) {
		return false
	}
	for i, w := range words {
		if said[i].file || said[i].text != w.text {
			return false
		}
	}
	return true
}

// narrowed looks for a narrowing word in the clause around said[from:to].
func narrowed(said []token, from, to int, kinds, verbs map[string]bool) bool {
	begin := from
	for begin > 0 && !clauseStarts(said, begin, verbs) {
		begin--
	}
	end := to
	for end < len(said) && !clauseStarts(said, end, verbs) {
		end++
	}
	for i := begin; i < end; i++ {
		switch {
		case i >= from && i < to:
		case widening[said[i].text]:
			return false // "except logs", "including a.pdf": what follows limits nothing
		case said[i].file:
			if narrows(said[i].text) {
				return true
			}
		case isKind(said[i].text, kinds) && !follows(said, i, places) && !follows(said, i, ordering):
			return true
		}
	}
	return false
}

// clauseStarts says that a new clause begins at token i.
func clauseStarts(said []token, i int, verbs map[string]bool) bool {
	switch {
	case said[i-1].ends, sequence[said[i].text]:
		return true
	case joining[said[i].text]:
		return i+1 < len(said) && verbs[said[i+1].text]
	case said[i-1].comma:
		return verbs[said[i].text]
	}
	return false
}

// follows says that the word at said[i] stands behind one of the prepositions:
// "in archive", "by the name".
func follows(said []token, i int, prepositions map[string]bool) bool {
	for i--; i >= 0 && articles[said[i].text]; i-- {
	}
	return i >= 0 && prepositions[said[i].text]
}

// isKind says that the word is a kind of file, in the singular or the plural.
func isKind(word string, kinds map[string]bool) bool {
	return kinds[word] || kinds[singular(word)] || extensions[word] || extensions[singular(word)]
}

// longestKind bounds, in bytes, what is read as a kind of files: a contract may
// list much longer texts by the thousand.
const longestKind = 100

// declaredKinds are the one-word enum values of the contract and their other
// spellings.
func declaredKinds(r *registry.Registry) map[string]bool {
	out, seen := map[string]bool{}, map[string]bool{}
	add := func(s string) {
		if len(s) > longestKind || seen[s] {
			return
		}
		seen[s] = true
		if words := tokenize(s); len(words) == 1 && !limitless(words[0].text) {
			out[words[0].text] = true
		}
	}
	for _, t := range r.Tools() {
		for _, a := range t.Args {
			for _, v := range a.Enum {
				add(v)
			}
			for v, to := range a.Synonyms {
				if len(to) > longestKind || !limitless(fold(to)) { // "everything" as a word for "both"
					add(v)
				}
			}
		}
	}
	return out
}

// limitless says that a word stands for files of any kind, or all of them.
func limitless(word string) bool {
	return batch[word] || things[word] || batch[singular(word)] || things[singular(word)]
}

// clauseVerbs are the words that begin a clause after "and": keywords of the
// contract's tools and first words of its unsafe phrases.
func clauseVerbs(phrases []string, r *registry.Registry) map[string]bool {
	out := map[string]bool{}
	for _, t := range r.Tools() {
		for _, k := range t.Keywords {
			if words := tokenize(k); len(words) == 1 && !extensions[words[0].text] {
				out[words[0].text] = true
			}
		}
	}
	for _, p := range phrases {
		if words := tokenize(p); len(words) > 0 {
			out[words[0].text] = true
		}
	}
	return out
}

// narrows says that a file token stands for less than everything: a name with
// an extension, or a pattern that is not made of wildcards alone.
func narrows(name string) bool {
	if !hasGlob(name) {
		return extension(name) != ""
	}
	return slices.ContainsFunc([]rune(name), func(r rune) bool { return isWord(r) })
}
