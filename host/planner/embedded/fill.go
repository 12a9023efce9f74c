package embedded

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/lexicon"
	"stepbox.dev/host/registry"
)

// attempt is one clause read as a call of one tool.
type attempt struct {
	q          *reading
	tool       *registry.Tool
	c          clause
	used       []bool
	context    []bool // tells a story around the request
	soft       []int  // used by a verb or noun of so many words
	zone       []bool // behind "except"
	args       map[string]any
	heads      []head
	verb       float64 // evidence for the tool
	verbAt     int     // where it stands
	leads      bool    // the clause begins with the tool's verb
	noun       float64
	filters    int             // arguments that narrow down what is meant
	conditions []lexicon.Match // phrases that were applied
	guesses    int
	bare       []string // folders named without a preposition
	problems   []string
	unclear    []string // what the problems are about, as written
	kept, anew bool     // see planner.Answer
	yes        string   // what a yes to the one problem stands for
	unused     []string // what the call stands for nothing of, as written
	candidates []string
	lacks      []string // arguments that the problems ask for
	pronoun    lexicon.Role
	here       bool
	under      string    // the folder to make things in
	inside     []inPlace // names behind "in"
	given      string    // the argument that took the last name
	output     string    // variable that the call before must set
	step       int       // how many calls stand before
	score      float64
}

// head is a word that says what kind of things are meant.
type head struct {
	tok, end int
	arg      string // of a value
	value    string
	pattern  string // of a name
	plural   bool
}

func (q *reading) start(t *registry.Tool, c clause) *attempt {
	return &attempt{q: q, tool: t, c: c, used: make([]bool, len(q.toks)), soft: make([]int, len(q.toks)), context: make([]bool, len(q.toks)), zone: make([]bool, len(q.toks)), args: map[string]any{}}
}

func (q *reading) attempt(t *registry.Tool, c clause, prev *attempt) *attempt {
	a := q.start(t, c)
	if c.verb == t.Name {
		a.verb, a.verbAt = 1, c.from
	}
	a.fill(prev)
	return a
}

// fill reads the clause, what is surest first.
func (a *attempt) fill(prev *attempt) {
	a.findZone()
	a.phrases()
	a.places()
	a.folders()
	a.names()
	a.unknown()
	a.below()
	a.patternsInside()
	a.intoLast()
	a.exceptions()
	a.denied()
	a.mixed()
	a.inOrder()
	a.together()
	a.alternatives()
	a.wholeFolder()
	a.whole()
	a.hereAndPronouns(prev)
	a.thread(prev)
	a.fromDestination()
	a.argumentNames()
	a.findContext()
	left := a.leftovers()
	missing := a.required()
	a.score = a.verb + a.noun + 0.1*float64(len(a.heads)+a.filters) - 0.7*float64(left) - 0.35*float64(missing)
}

// phrases applies what the vocabulary says, weightiest first.
func (a *attempt) phrases() {
	for i := range a.q.matches {
		m := &a.q.matches[i]
		if m.Start < a.c.from || m.End > a.c.to || a.q.placeOf(m) != "" || len(m.Words) == 1 && len(m.Filled) == 0 && m.Meaning != lexicon.Function && !(a.tool.Destructive && m.Meaning == lexicon.Value) && a.q.listed(m.Start) {
			continue
		}
		switch m.Meaning {
		case lexicon.Verb:
			if m.Tool == a.tool.Name && len(m.Filled) == 0 && a.taken(m) && !a.inZone(m) {
				// Used for a value already, it still says what to do: "louder",
				// and all of it does: "turn … into" beside "into an mp4".
				if w := m.Weight; w > a.verb {
					a.verb, a.verbAt = w, m.Start
				}
				a.mark(m.Start, m.Start+1)
			}
			if m.Tool == a.tool.Name && !a.taken(m) && !a.partOfThing(m) && a.sets(m) {
				w := m.Weight * (1 + 0.5*float64(m.Literals()-1))
				if a.q.leads(m.Start, a.c.from) {
					w += 0.3 * m.Weight // most requests begin with what to do
					a.leads = a.leads || m.Weight >= 0.5
				}
				if w > a.verb {
					a.verb, a.verbAt = w, m.Start
				}
				a.take(m)
			}
		case lexicon.Noun:
			if m.Tool == a.tool.Name && !a.taken(m) && !a.partOfThing(m) {
				a.noun += m.Weight
				a.verb = max(a.verb, m.Weight/2)
				if m.Weight >= 0.15 && extensionOf(a.q.toks[m.Start]) == "" {
					a.take(m)
				}
			}
		case lexicon.Sets:
			if m.Then != a.tool.Name && (m.Tool == "" || m.Tool == a.tool.Name) && (m.Only == nil || slices.Contains(m.Only, a.tool.Name) || len(m.One) > 0 && a.singular(m)) && !a.taken(m) && !a.besideName(m) && a.sets(m) {
				if w := m.Weight * (1 + 0.5*float64(m.Literals()-1)); m.Tool != "" && w > a.verb {
					a.verb, a.verbAt = w, m.Start
				}
				if len(m.One) > 0 && a.singular(m) {
					maps.Copy(a.args, m.One)
				}
				a.filters += a.narrowing(m)
				a.take(m)
				a.conditions = append(a.conditions, *m)
			} else if m.Tool == a.tool.Name && m.Literals() == 0 && len(m.Filled) == 1 && a.args[m.Filled[0].Arg] == m.Filled[0].Value && a.verb < m.Weight/2 {
				a.verb, a.verbAt = m.Weight/2, m.Start // the value alone says what to do: "at 0.75x"
			}
		case lexicon.Value:
			a.value(m)
		case lexicon.Filler:
			if len(m.Words) > 1 && !a.taken(m) {
				a.take(m)
			}
		}
	}
}

// partOfThing reports whether a single word of the trade describes what is meant
// instead: "delete the trash files", "find my passport scan".
func (a *attempt) partOfThing(m *lexicon.Match) bool {
	if m.Literals() != 1 || len(m.Filled) > 0 || a.q.g.Lexicon().Stories || a.q.leads(m.Start, a.c.from) {
		return false
	}
	t := a.q.toks[m.Start]
	if t.Kind != lexicon.Word || extensionOf(t) != "" {
		return false
	}
	if i := m.Start - 1; i >= a.c.from && a.q.toks[i].Kind == lexicon.Word && !a.q.filler(i) && a.q.words[i].n == 0 && !a.q.covered[i] && a.q.place[i] == "" && !a.q.touched(i) && extensionOf(a.q.toks[i]) == "" {
		return a.arg(lexicon.RoleName) != "" && (a.q.lang == "en" || a.q.lang == "de")
	}
	return m.End < a.c.to && a.q.words[m.End].role == lexicon.Files && slices.ContainsFunc(a.q.matches, func(v lexicon.Match) bool {
		return v.Meaning == lexicon.Verb && v.Tool == m.Tool && v.Start >= a.c.from && v.End <= m.Start && a.q.placeOf(&v) == ""
	})
}

// narrowing counts what a phrase says that narrows down what is meant: not where
// to look.
func (a *attempt) narrowing(m *lexicon.Match) int {
	n := len(m.Set)
	for _, f := range m.Filled {
		if !a.isRole(lexicon.RolePlace, f.Arg) {
			n++
		}
	}
	return n
}

// leads reports whether nothing but fillers stands between two tokens.
func (q *reading) leads(i, from int) bool {
	for j := from; j < i; j++ {
		if !q.filler(j) && q.toks[j].Kind != lexicon.Punct {
			return false
		}
	}
	return true
}

// besideName reports whether the match is the word "folder" beside a name.
func (a *attempt) besideName(m *lexicon.Match) bool {
	if len(m.Filled) == 0 && a.q.covered[m.Start] && a.q.toks[m.Start].Kind == lexicon.Word && m.End == m.Start+1 {
		return true // part of a preposition, "in den Ordner"
	}
	if len(m.Filled) > 0 || a.q.words[m.Start].role != lexicon.Folder {
		return false
	}
	if k := m.End; a.q.lang == "de" && k < a.c.to && a.q.nameable(k) && !a.q.explained(k) {
		return true // "den Ordner webseite"
	}
	if m.Start == a.c.from {
		return false
	}
	t := a.q.toks[m.Start-1]
	return t.Kind == lexicon.Name || t.Kind == lexicon.Quoted || a.q.lang == "zh" && t.Kind == lexicon.Word
}

func (a *attempt) inZone(m *lexicon.Match) bool {
	return slices.ContainsFunc(m.Words, func(w int) bool { return a.zone[w] })
}

// taken reports whether any token of the match is spoken for.
func (a *attempt) taken(m *lexicon.Match) bool {
	// A verb's words may also lead to a value: "save pages 1-2", "make it square".
	fresh := len(m.Filled) > 0 || m.Meaning == lexicon.Sets && m.Tool != "" && len(m.Set) > 0
	within := m.Literals() > 1 && len(m.Filled) == 0 // inside a longer phrase: "combien de place" is not "combien de"
	for _, w := range m.Words {
		if a.zone[w] || a.used[w] && a.soft[w] == 0 {
			return true
		}
		within = within && a.soft[w] > m.Literals()
		fresh = fresh || !a.used[w]
	}
	if !fresh || within {
		return true
	}
	for _, s := range m.Filled {
		for k := s.Start; k < s.End; k++ {
			if a.used[k] && a.soft[k] == 0 || a.zone[k] {
				return true
			}
		}
	}
	return false
}

func (a *attempt) take(m *lexicon.Match) {
	for _, w := range m.Words {
		a.used[w] = true
		a.soft[w] = 0
		if m.Meaning == lexicon.Verb || m.Meaning == lexicon.Noun {
			a.soft[w] = m.Literals()
		}
	}
	for _, s := range m.Filled {
		for k := s.Start; k < s.End; k++ {
			a.used[k] = true
			a.soft[k] = 0
		}
	}
}

// sets applies a phrase if the tool has all its arguments and none is set to
// something else.
func (a *attempt) sets(m *lexicon.Match) bool {
	var later *registry.Tool
	if m.Then != "" {
		later, _ = a.q.req.Skill.Registry().Tool(m.Then)
	}
	for _, f := range m.Filled {
		if later != nil && later.Args[f.Arg] != nil {
			continue // an argument of the call that comes behind
		}
		if !a.free(f.Arg) {
			return false
		}
		if v, ok := f.Value.(string); ok && a.tool.Args[f.Arg].PathRole == abi.RoleInput && a.isRole(lexicon.RoleThing, f.Arg) && a.arg(lexicon.RoleName) != "" && a.arg(lexicon.RoleName) != f.Arg && (isGlob(v) || strings.HasPrefix(v, ".") && isExtension(strings.ToLower(v[1:])) && !a.q.exists(v)) {
			return false // "rename *.jpg to …": a pattern names no file
		}
		if f.Path && a.tool.Args[f.Arg].PathRole == abi.RoleInput && a.isRole(lexicon.RolePlace, f.Arg) && a.placeNamed() {
			return false // "organize invoices in inbox": the folder is inbox
		}
	}
	for arg, v := range m.Set {
		if !a.free(arg) && !reflect.DeepEqual(a.args[arg], v) { // "directly in logs, no subfolders" says one thing twice
			return false
		}
	}
	for arg := range m.One {
		if a.tool.Args[arg] == nil {
			return false
		}
	}
	if m.Then != "" && a.arg(lexicon.RoleDestination) == "" {
		return false
	}
	for _, f := range m.Filled {
		if later == nil || later.Args[f.Arg] == nil {
			a.set(f.Arg, f.Value)
		}
	}
	for arg, v := range m.Set {
		a.set(arg, v)
	}
	return true
}

// placeNamed reports whether the clause names a folder to look in.
func (a *attempt) placeNamed() bool {
	for i := a.c.from; i < a.c.to; i++ {
		if r := a.q.place[i]; (r == lexicon.In || r == lexicon.From) && !a.zone[i] {
			return true
		}
	}
	return false
}

// arg is the tool's argument for a role: what the lexicon says, else what the
// schema shows.
func (a *attempt) arg(role string) string {
	for _, r := range a.q.g.Lexicon().Roles[role] {
		tool, arg, both := strings.Cut(r, ".")
		if !both {
			arg = tool
		} else if tool != a.tool.Name {
			continue
		}
		if a.tool.Args[arg] != nil {
			return arg
		}
	}
	if _, said := a.q.g.Lexicon().Roles[role]; said {
		return ""
	}
	switch role {
	case lexicon.RolePlace, lexicon.RoleThing, lexicon.RoleFolder:
		return a.byPath(abi.RoleInput)
	case lexicon.RoleDestination:
		return a.byPath(abi.RoleOutput)
	}
	return ""
}

func (a *attempt) byPath(role abi.PathRole) string {
	for _, n := range a.tool.ArgOrder {
		if s := a.tool.Args[n]; s != nil && s.PathRole == role {
			return n
		}
	}
	return ""
}

func (a *attempt) isRole(role, arg string) bool { return a.arg(role) == arg && arg != "" }
