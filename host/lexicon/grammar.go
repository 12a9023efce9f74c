package lexicon

import (
	"maps"
	"slices"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/registry"
)

// Meaning is what a phrase stands for.
type Meaning uint8

// The meanings. When one stretch of text has several, earlier ones win.
const (
	Refuses  Meaning = iota // the skill or the host must not do it
	Asks                    // the skill does not do it
	Sets                    // fills arguments
	Verb                    // strong evidence for a tool
	Value                   // a value of an argument
	Noun                    // weak evidence for a tool
	Function                // a function word: see Role
	Filler                  // nothing
	Vague                   // says too little
)

// Phrase is one compiled phrase.
type Phrase struct {
	Meaning Meaning
	Tool    string         // Verb, Noun; Sets that vote
	Only    []string       // Sets: the tools it is for; nil for all that have the arguments
	Arg     string         // Value
	Value   string         // Value; the reason or question of Refuses and Asks
	Set     map[string]any // Sets
	One     map[string]any // Sets: also, when what follows is in the singular
	Then    string         // Sets: a tool to call on what comes out
	Role    Role           // Function
	Lang    string
	Weight  float64 // Verb and Noun: 1 is a lexicon's verb
	Skill   bool    // from the skill, not the host

	els     []element
	kinds   []string // of the slots among els
	words   int      // literal words
	content int      // those that are no fillers
	chars   int      // letters of the literal words
	slots   int
}

// Literals is how many words of the phrase are fixed.
func (p *Phrase) Literals() int { return p.words }

// Grammar is the compiled vocabulary of the host and one skill. It is immutable
// and safe for concurrent use.
type Grammar struct {
	lex      *Lexicon
	reg      *registry.Registry
	exact    map[string][]*Phrase // by first word
	prefix   map[string][]*Phrase // by first word's beginning
	floating []*slotGroup         // begin with a slot, by its kind
	phrases  []*Phrase
	values   map[string][]*Phrase // by argument
	said     map[[3]string]bool   // of them those of one word: argument, value, word
	fillers  map[string]languages
	small    map[string]bool // single function words: never a text or a name
	known    map[string]bool // every literal word, for spelling
	steers   map[string]bool // those that steer; true when they do alone
	longest  int             // letters of the longest prefix

	spellings map[byte][]string // the words of exact, by first byte

	room []Phrase // for the next phrases: one by one they take twice as long
}

// IsFiller reports whether the folded word carries no meaning in any language.
func (g *Grammar) IsFiller(w string) bool { return g.fillers[w] != 0 }

// IsFillerIn reports whether the folded word carries no meaning in a language,
// in English, or to the skill.
func (g *Grammar) IsFillerIn(w, lang string) bool {
	return g.fillers[w]&(maskOf("")|maskOf("en")|maskOf(lang)) != 0
}

// languages is a set of Languages, and of the skill's own words.
type languages uint16

// maskOf is the set of one language; "" is the skill.
func maskOf(lang string) languages { return 1 << (slices.Index(Languages, lang) + 1) }

// Knows reports whether the folded word stands in any phrase as it is.
func (g *Grammar) Knows(w string) bool { return g.known[w] }

// Lexicon is the skill's own part.
func (g *Grammar) Lexicon() *Lexicon { return g.lex }

// New compiles the host's vocabulary, the lexicon and what the registry itself
// says: names, keywords and values.
func New(lex *Lexicon, reg *registry.Registry) *Grammar {
	if lex == nil {
		lex = &Lexicon{}
	}
	g := &Grammar{
		lex: lex, reg: reg, exact: make(map[string][]*Phrase, len(lex.phrases)), prefix: map[string][]*Phrase{},
		values: map[string][]*Phrase{}, said: map[[3]string]bool{}, fillers: map[string]languages{}, small: map[string]bool{}, known: make(map[string]bool, len(lex.phrases)), steers: map[string]bool{},
	}
	g.addShared()
	g.addLexicon()
	g.addContract()
	g.finish()
	return g
}

// slotGroup is the phrases that begin with the same kind of slot.
type slotGroup struct {
	kind    string
	phrases []*Phrase
}

// finish settles what kind of value each slot takes, which all values of the
// contract decide.
func (g *Grammar) finish() {
	groups := map[string]*slotGroup{}
	for _, p := range g.phrases {
		p.kinds = make([]string, len(p.els))
		for i, e := range p.els {
			if e.slot != nil {
				p.kinds[i] = g.kindOf(e.slot, p.Tool)
			}
		}
		if len(p.els[0].words) > 0 {
			continue
		}
		group := groups[p.kinds[0]]
		if group == nil {
			group = &slotGroup{kind: p.kinds[0]}
			groups[group.kind] = group
			g.floating = append(g.floating, group)
		}
		group.phrases = append(group.phrases, p)
	}
	g.phrases, g.room = nil, nil
	g.spellings = map[byte][]string{}
	for w := range g.exact {
		g.spellings[w[0]] = append(g.spellings[w[0]], w)
	}
}

func (g *Grammar) addShared() {
	for _, lang := range Languages {
		f := shared().files[lang]
		for _, r := range slices.Sorted(maps.Keys(f.Roles)) {
			for _, s := range f.Roles[r] {
				g.add(s, Phrase{Meaning: Function, Role: r, Lang: lang})
				switch r {
				case In, From, To, With, And, Or, Then:
					g.small[Fold(s)] = true
				}
			}
		}
		for _, s := range f.Fillers {
			g.addFiller(s, lang, false)
		}
		for _, s := range f.Vague {
			g.add(s, Phrase{Meaning: Vague, Lang: lang})
		}
		for _, r := range slices.Sorted(maps.Keys(f.Refuse)) {
			for _, s := range f.Refuse[r] {
				g.add(s, Phrase{Meaning: Refuses, Value: r, Lang: lang})
			}
		}
	}
}

func (g *Grammar) addFiller(s, lang string, skill bool) {
	if toks := Tokenize(s); len(toks) == 1 {
		if skill {
			lang = ""
		}
		g.fillers[toks[0].Fold] |= maskOf(lang)
	}
	g.add(s, Phrase{Meaning: Filler, Lang: lang, Skill: skill})
}

func (g *Grammar) addLexicon() {
	each := func(entries []Entry, f func(Entry) Phrase) {
		for _, e := range entries {
			p := f(e)
			p.Skill = true
			for _, lang := range slices.Sorted(maps.Keys(e.Say)) {
				p.Lang = lang
				for _, s := range e.Say[lang] {
					g.add(s, p)
				}
			}
		}
	}
	l := g.lex
	each(l.Tools, func(e Entry) Phrase { return Phrase{Meaning: Verb, Tool: e.Tool, Weight: 1} })
	each(l.Nouns, func(e Entry) Phrase { return Phrase{Meaning: Noun, Tool: e.Tool, Weight: 0.4} })
	each(l.Values, func(e Entry) Phrase { return Phrase{Meaning: Value, Arg: e.Arg, Value: e.Value} })
	each(l.Phrases, func(e Entry) Phrase {
		return Phrase{Meaning: Sets, Tool: e.Tool, Only: e.Only, Set: e.Set, One: e.One, Then: e.Then, Weight: 1}
	})
	each(l.Ask, func(e Entry) Phrase { return Phrase{Meaning: Asks, Value: e.Value} })
	each(l.Refuse, func(e Entry) Phrase { return Phrase{Meaning: Refuses, Value: e.Value} })
	for _, e := range l.Fillers {
		for _, lang := range slices.Sorted(maps.Keys(e.Say)) {
			for _, s := range e.Say[lang] {
				g.addFiller(s, lang, true)
			}
		}
	}
}

// add compiles a phrase. Phrases that do not parse were reported by Parse, or
// are no phrases at all ("{x}" as a keyword): they are left out.
func (g *Grammar) add(s string, p Phrase) {
	lists, known := g.lex.phrases[s]
	if !known {
		var err error
		if lists, err = parsePhrase(s); err != nil {
			return
		}
	}
	for _, els := range lists {
		if len(g.room) == 0 {
			g.room = make([]Phrase, 64)
		}
		c := &g.room[0]
		g.room = g.room[1:]
		*c = p
		c.els = els
		for _, e := range els {
			if e.slot != nil {
				c.slots++
			}
			if len(e.words) > 0 {
				c.words++
				if len(els) == 1 || !g.IsFiller(e.words[0]) {
					c.content++
				}
				c.chars += len(e.words[0])
			}
			for _, w := range e.words {
				if !strings.HasSuffix(w, "*") {
					w = strings.TrimSuffix(w, "!")
					g.known[w] = true
					if c.steers() {
						g.steers[w] = g.steers[w] || len(els) == 1
					}
				}
			}
		}
		g.index(c)
		if c.Meaning == Value {
			g.values[c.Arg] = append(g.values[c.Arg], c)
			if len(els) == 1 && len(els[0].words) == 1 {
				g.said[[3]string{c.Arg, c.Value, els[0].words[0]}] = true
			}
		}
	}
}

func (g *Grammar) index(p *Phrase) {
	if p.slots > 0 {
		g.phrases = append(g.phrases, p)
	}
	first := p.els[0]
	for _, w := range first.words {
		w = strings.TrimSuffix(w, "!")
		if stem, ok := strings.CutSuffix(w, "*"); ok {
			g.prefix[stem] = append(g.prefix[stem], p)
			g.longest = max(g.longest, len(stem))
		} else {
			g.exact[w] = append(g.exact[w], p)
		}
	}
}

// kindOf is the kind of value a slot takes.
func (g *Grammar) kindOf(s *slot, tool string) string {
	if s.kind != "" {
		return s.kind
	}
	a := g.argOf(s.arg, tool)
	if a == nil {
		return slotText
	}
	if len(a.Enum) > 0 || len(g.values[s.arg]) > 0 && a.Type != abi.TypeInteger && a.Type != abi.TypeNumber {
		return "enum"
	}
	if a.PathRole != abi.RoleNone {
		return slotPath
	}
	switch t := a.Type; t {
	case abi.TypeSize, abi.TypeDate, abi.TypeNumber, abi.TypeInteger, abi.TypeDuration:
		return string(t)
	}
	return slotText
}

func (g *Grammar) argOf(arg, tool string) *registry.Arg {
	if tool != "" {
		if t, ok := g.reg.Tool(tool); ok {
			return t.Args[arg]
		}
	}
	for _, t := range g.reg.Tools() {
		if a := t.Args[arg]; a != nil && a.Declared {
			return a
		}
	}
	return nil
}
