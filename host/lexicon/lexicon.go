// Package lexicon holds the words of requests: a tokenizer that keeps file
// names whole, typed values (numbers, sizes, times, dates), the host's shared
// vocabulary by language, a skill's own lexicon.yaml, and one matcher over all
// of them. It knows no skill and decides nothing about a request: retrieval and
// the embedded planner do.
package lexicon

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/registry/yamldoc"
)

// Languages are the languages a lexicon may use, as BCP 47 primary tags.
var Languages = []string{"en", "de", "es", "fr", "bg", "ru", "zh"}

// Lexicon is a skill's lexicon.yaml, parsed. The zero value is an empty one.
type Lexicon struct {
	// Tools are the verbs of each tool: strong evidence for it.
	Tools []Entry
	// Nouns are what a tool is about: weak evidence for it.
	Nouns []Entry
	// Values are further words for values of arguments.
	Values []Entry
	// Phrases fill arguments.
	Phrases []Entry
	// Ask are things the skill does not do: they become a question.
	Ask []Entry
	// Refuse are things the skill must not do.
	Refuse []Entry
	// Fillers mean nothing to this skill.
	Fillers []Entry
	// Roles name the arguments that take what the host finds by itself, best
	// first: "arg", or "tool.arg" for one tool alone.
	Roles map[string][]string
	// Globs are name patterns for values: argument, value, patterns. They serve
	// where a value cannot be said any other way ("everything except photos").
	Globs map[string]map[string][]string
	// Default is the tool of a request without a verb; "" when there is none.
	Default string
	// Quiet are arguments whose values count only inside phrases, because they
	// are everyday words.
	Quiet []string
	// Rough are words that a phrase takes for something near, "created" for
	// "changed": a plan that changes files is less sure by them.
	Rough []string
	// Stories says that requests name their files themselves and may tell a
	// story around it: words that were not understood then cost confidence
	// instead of a question, numbers and negations apart.
	Stories bool
	// Finds are tools that a noun alone stands for: "delete the duplicates" is a
	// call that finds and one that acts on what was found.
	Finds []string
	// Wider names, for a tool that looks in one folder, the one that looks below
	// too: it is meant when no folder is named, "list the newest 5 files".
	Wider map[string]string
	// Repeats are arguments, as tool.arg, in which a name that is said twice counts
	// twice: "join a, b and a".
	Repeats []string
	// Results is the field of a tool's result that "them" stands for.
	Results map[string]string

	phrases map[string][][]element // every phrase, parsed
}

// Entry is one meaning and how people say it.
type Entry struct {
	Tool  string         // voted for; "" for none
	Arg   string         // of Values
	Value string         // of Values; the reason or question of Refuse and Ask
	Set   map[string]any // constants that a phrase sets
	// Then is a tool that a phrase asks for besides, on what comes out: "convert
	// a.mov without sound".
	Then string
	// One are constants that a phrase sets too when one thing is meant, "largest
	// photo". Only counts for several then.
	One  map[string]any
	Only []string // the tools that a phrase is for, without voting for them
	Say  map[string][]string
	Line int // in the file
}

// The roles an argument can have.
const (
	RolePlace       = "place"       // a folder to look in
	RoleThing       = "thing"       // a file or folder meant itself
	RoleFolder      = "folder"      // a folder meant itself
	RoleDestination = "destination" // where results go
	RoleName        = "name"        // patterns on names
	RoleExcept      = "except"      // what is left out
	RoleText        = "text"        // free text, quoted in the request
)

var roleNames = []string{RolePlace, RoleThing, RoleFolder, RoleDestination, RoleName, RoleExcept, RoleText}

// Parse reads a lexicon.yaml. file is its name in errors, which list every
// fault with its line.
func Parse(data []byte, file string) (*Lexicon, error) {
	go shared() // read meanwhile: who parses a lexicon needs it next
	l := &Lexicon{phrases: map[string][][]element{}}
	doc, err := yamldoc.Parse(file, data)
	if err != nil {
		return nil, fault.New(fault.Usage, "%w", err)
	}
	if doc == nil {
		return l, nil
	}
	p := parser{file: file, lex: l}
	p.document(doc)
	if len(p.faults) > 0 {
		return nil, fault.New(fault.Usage, "%s", strings.Join(p.faults, "\n"))
	}
	return l, nil
}

// maxPhrases is how many phrases and entries a lexicon may have, each as often as
// an alias repeats it: all are held against a request.
const maxPhrases = 20_000

type parser struct {
	file   string
	lex    *Lexicon
	read   int // phrases and entries
	faults []string
}

// more reports whether a lexicon may have so many more phrases and entries.
func (p *parser) more(at *yaml.Node, n int) bool {
	before := p.read
	if p.read += n; p.read > maxPhrases && before <= maxPhrases {
		p.fault(at, "more than %d phrases and entries", maxPhrases)
	}
	return p.read <= maxPhrases
}

func (p *parser) fault(n *yaml.Node, format string, args ...any) {
	p.faults = append(p.faults, fmt.Sprintf("%s:%d: %s", p.file, n.Line, fmt.Sprintf(format, args...)))
}

// decode reads what is no phrase; must says what it has to be.
func (p *parser) decode(v *yaml.Node, into any, must string) {
	if p.more(v, 1+len(v.Content)) && v.Decode(into) != nil {
		p.fault(v, "%s", must)
	}
}

// pairs walks a mapping in order, aliases resolved.
func (p *parser) pairs(n *yaml.Node, what string, f func(key string, k, v *yaml.Node)) {
	n = resolve(n)
	if n.Kind != yaml.MappingNode {
		p.fault(n, "%s must be a mapping", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if seen[k.Value] {
			p.fault(k, "the key %q is there twice", k.Value)
			return
		}
		seen[k.Value] = true
		f(k.Value, k, resolve(n.Content[i+1]))
	}
}

func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func (p *parser) document(n *yaml.Node) {
	p.pairs(n, "a lexicon", func(key string, k, v *yaml.Node) {
		switch key {
		case "tools":
			p.pairs(v, "tools", func(tool string, k, v *yaml.Node) {
				p.lex.Tools = append(p.lex.Tools, Entry{Tool: tool, Say: p.say(v), Line: k.Line})
			})
		case "nouns":
			p.pairs(v, "nouns", func(tool string, k, v *yaml.Node) {
				p.lex.Nouns = append(p.lex.Nouns, Entry{Tool: tool, Say: p.say(v), Line: k.Line})
			})
		case "values":
			p.pairs(v, "values", func(arg string, _, v *yaml.Node) {
				p.pairs(v, "values of "+arg, func(value string, k, v *yaml.Node) {
					p.lex.Values = append(p.lex.Values, Entry{Arg: arg, Value: value, Say: p.say(v), Line: k.Line})
				})
			})
		case "phrases":
			p.lex.Phrases = p.entries(v, key)
		case "ask":
			p.lex.Ask = p.entries(v, key)
		case "refuse":
			p.lex.Refuse = p.entries(v, key)
		case "fillers":
			p.lex.Fillers = []Entry{{Say: p.say(v), Line: k.Line}}
		case "roles":
			p.lex.Roles = p.roles(v)
		case "globs":
			p.decode(v, &p.lex.Globs, "globs must be argument: {value: [pattern]}")
		case "rough":
			p.decode(v, &p.lex.Rough, "rough must be a list of words")
			for i, w := range p.lex.Rough {
				p.lex.Rough[i] = Fold(w)
			}
		case "quiet":
			p.decode(v, &p.lex.Quiet, "quiet must be a list of arguments")
		case "stories":
			p.decode(v, &p.lex.Stories, "stories must be true or false")
		case "default":
			p.lex.Default = v.Value
		case "repeats":
			p.decode(v, &p.lex.Repeats, "repeats must be a list of tool.argument")
		case "finds":
			p.decode(v, &p.lex.Finds, "finds must be a list of tools")
		case "wider":
			if err := v.Decode(&p.lex.Wider); err != nil {
				p.fault(v, "wider must be tool: tool")
			}
		case "results":
			p.decode(v, &p.lex.Results, "results must be tool: field")
		default:
			p.fault(k, "unknown key %q: use tools, nouns, values, phrases, ask, refuse, fillers, roles, globs, quiet, rough, stories, default, finds, repeats, wider or results", key)
		}
	})
}

func (p *parser) roles(n *yaml.Node) map[string][]string {
	out := map[string][]string{}
	p.pairs(n, "roles", func(role string, k, v *yaml.Node) {
		known := false
		for _, r := range roleNames {
			known = known || r == role
		}
		if !known {
			p.fault(k, "unknown role %q: use one of %s", role, strings.Join(roleNames, ", "))
			return
		}
		var args []string
		p.decode(v, &args, fmt.Sprintf("role %q must be a list of arguments", role))
		out[role] = args
	})
	return out
}

// entries reads a list of phrases: languages, and tool, set, reason or question.
func (p *parser) entries(n *yaml.Node, what string) []Entry {
	if n.Kind != yaml.SequenceNode {
		p.fault(n, "%s must be a list", what)
		return nil
	}
	var out []Entry
	for _, item := range n.Content {
		if !p.more(item, 1) {
			return nil
		}
		item = resolve(item)
		e := Entry{Line: item.Line, Say: map[string][]string{}}
		p.pairs(item, "an entry of "+what, func(key string, k, v *yaml.Node) {
			switch key {
			case "tool":
				e.Tool = v.Value
			case "only":
				p.decode(v, &e.Only, "only must be a list of tools")
			case "set":
				p.decode(v, &e.Set, "set must be argument: value")
			case "then":
				e.Then = v.Value
			case "one":
				p.decode(v, &e.One, "one must be argument: value")
			case "reason", "question":
				e.Value = v.Value
			default:
				p.sayIn(e.Say, key, k, v)
			}
		})
		if len(e.Say) == 0 {
			p.fault(item, "an entry of %s says nothing: give phrases by language", what)
			continue
		}
		out = append(out, e)
	}
	return out
}

// say reads phrases by language; a bare list counts for every language.
func (p *parser) say(n *yaml.Node) map[string][]string {
	out := map[string][]string{}
	if n.Kind == yaml.SequenceNode {
		p.sayIn(out, "", n, n)
		return out
	}
	p.pairs(n, "phrases", func(lang string, k, v *yaml.Node) { p.sayIn(out, lang, k, v) })
	return out
}

func (p *parser) sayIn(out map[string][]string, lang string, k, v *yaml.Node) {
	known := lang == ""
	for _, l := range Languages {
		known = known || l == lang
	}
	if !known {
		p.fault(k, "unknown key or language %q: languages are %s", lang, strings.Join(Languages, ", "))
		return
	}
	if v.Kind != yaml.SequenceNode && v.Tag != "!!null" {
		p.fault(v, "phrases must be a list of strings")
		return
	}
	if !p.more(v, len(v.Content)) {
		return
	}
	list := make([]string, len(v.Content))
	for i, n := range v.Content {
		if n = resolve(n); n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
			p.fault(n, "phrases must be a list of strings")
			return
		}
		list[i] = n.Value
	}
	for _, s := range list {
		if _, done := p.lex.phrases[s]; done {
			continue
		}
		els, err := parsePhrase(s)
		if err != nil {
			p.fault(v, "phrase %q: %v", s, err)
		}
		p.lex.phrases[s] = els
	}
	out[lang] = append(out[lang], list...)
}
