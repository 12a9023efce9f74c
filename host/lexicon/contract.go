package lexicon

import (
	"maps"
	"slices"
	"strings"

	"stepbox.dev/host/registry"
)

// addContract takes names, keywords and values of the registry. For a tool with
// verbs in the lexicon its name and keywords are weak evidence only.
func (g *Grammar) addContract() {
	verbs := map[string]bool{}
	for _, e := range g.lex.Tools {
		verbs[e.Tool] = true
	}
	claims := map[string]int{}
	parts := map[string]int{}
	for _, t := range g.reg.Tools() {
		if Public(t) {
			for _, part := range strings.Split(t.Name, "_") {
				parts[part]++
			}
			for _, k := range t.Keywords {
				claims[Fold(k)]++
			}
		}
	}
	for _, t := range g.reg.Tools() {
		if !Public(t) {
			continue
		}
		for i, part := range strings.Split(t.Name, "_") {
			switch {
			case g.IsFiller(part) || len(part) < 3:
			case i == 0 && !verbs[t.Name]:
				g.add(part, Phrase{Meaning: Verb, Tool: t.Name, Weight: 0.9, Skill: true})
			default:
				g.add(part, Phrase{Meaning: Noun, Tool: t.Name, Weight: 0.3 / float64(parts[part]), Skill: true})
			}
		}
		for _, k := range t.Keywords {
			w := 0.7 / float64(claims[Fold(k)])
			if verbs[t.Name] || g.isValue(k) {
				g.add(k, Phrase{Meaning: Noun, Tool: t.Name, Weight: 0.3 * w, Skill: true})
			} else {
				g.add(k, Phrase{Meaning: Verb, Tool: t.Name, Weight: w, Skill: true})
			}
		}
		for _, name := range t.ArgOrder {
			a := t.Args[name]
			if a == nil {
				continue
			}
			for _, v := range a.Enum {
				g.addValue(strings.ReplaceAll(v, "_", " "), name, v)
			}
			for _, s := range slices.Sorted(maps.Keys(a.Synonyms)) {
				g.addValue(s, name, a.Synonyms[s])
			}
		}
	}
}

// Public reports whether a planner may use the tool for a request.
func Public(t *registry.Tool) bool { return !t.Internal && !t.Core }

func (g *Grammar) isValue(word string) bool {
	for _, t := range g.reg.Tools() {
		for _, a := range t.Args {
			for _, v := range a.Enum {
				if Fold(v) == Fold(word) {
					return true
				}
			}
		}
	}
	return false
}

// longestValue bounds, in bytes, the values that a request may name: a contract may
// list much longer texts by the thousand, which nobody says.
const longestValue = 100

// addValue adds a value once an argument name, however many tools have it.
func (g *Grammar) addValue(s, arg, value string) {
	if len(s) > longestValue || g.said[[3]string{arg, value, Fold(s)}] {
		return
	}
	g.add(s, Phrase{Meaning: Value, Arg: arg, Value: value, Skill: true})
}
