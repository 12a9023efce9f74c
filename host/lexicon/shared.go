package lexicon

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

//go:embed shared/*.yaml
var sharedFiles embed.FS

// Role is the job of a function word in a request.
type Role string

// The roles of function words.
const (
	In      Role = "in"      // before a place
	From    Role = "from"    // before a source
	To      Role = "to"      // before a destination
	After   Role = "behind"  // behind a place, as in Chinese
	With    Role = "with"    // before a tool or value
	Except  Role = "except"  // before what is left out
	Without Role = "without" // before what things lack
	And     Role = "and"     // joins items or clauses
	Then    Role = "then"    // joins clauses
	Not     Role = "not"     // turns a meaning round
	It      Role = "it"      // the one thing spoken of
	Them    Role = "them"    // the things spoken of
	Here    Role = "here"    // the working folder
	All     Role = "all"     // everything
	Folder  Role = "folder"  // "folder" beside a folder's name
	Files   Role = "files"   // "files" behind a type or word
	Named   Role = "named"   // before a name
	Or      Role = "or"      // joins alternatives
	Each    Role = "each"    // one by one
	Some    Role = "some"    // not all
	Keep    Role = "keep"    // before what is left out, when the rest is named too
	Rest    Role = "rest"    // all that is not kept
)

// sharedFile is one language of the host's vocabulary.
type sharedFile struct {
	Numbers  map[string]float64  `yaml:"numbers"`
	Units    map[string]string   `yaml:"units"`
	Months   []string            `yaml:"months"`   // twelve, alternatives with |
	Weekdays []string            `yaml:"weekdays"` // seven, Monday first
	Dates    map[string][]string `yaml:"dates"`
	Roles    map[Role][]string   `yaml:"roles"`
	Fillers  []string            `yaml:"fillers"`
	Light    []string            `yaml:"light"` // words that carry an order and say nothing of it: "take", "set"
	Vague    []string            `yaml:"vague"`
	Refuse   map[string][]string `yaml:"refuse"`
	Folders  []string            `yaml:"folders"`
	Clitics  []string            `yaml:"clitics"`   // pronouns written onto a verb
	Clauses  []string            `yaml:"clauses"`   // words that a sentence of its own begins with
	Both     []string            `yaml:"both"`      // words that two things hold at once
	LeaveOut []string            `yaml:"leave out"` // answers that take back what was not understood
}

// vocabulary is every language of the host's words.
type vocabulary struct {
	numbers    map[string]float64
	units      map[string]string // folded word → unit
	months     map[string]int
	weekdays   map[string]int
	dates      map[string]string // folded phrase → meaning
	dateWords  map[string]bool   // with which a named date may begin
	folders    map[string]bool
	extensions map[string]bool // false for those that are everyday words
	clitics    []string        // longest first
	clauses    map[string]bool
	both       map[string]bool
	light      map[string]bool
	leaveOut   map[string]bool        // folded phrases
	yes, no    map[string]bool        // folded phrases
	files      map[string]*sharedFile // by language
}

// shared is read once; it is part of the program, so a fault in it is a bug
// that the package's tests find.
var shared = sync.OnceValue(func() *vocabulary {
	v, err := readShared()
	if err != nil {
		panic(err)
	}
	return v
})

func readShared() (*vocabulary, error) {
	v := &vocabulary{
		numbers: map[string]float64{}, units: map[string]string{}, months: map[string]int{}, weekdays: map[string]int{},
		dates: map[string]string{}, dateWords: map[string]bool{"last": true}, folders: map[string]bool{}, extensions: map[string]bool{}, clauses: map[string]bool{}, both: map[string]bool{}, light: map[string]bool{}, leaveOut: map[string]bool{}, yes: map[string]bool{}, no: map[string]bool{}, files: map[string]*sharedFile{},
	}
	for _, lang := range Languages {
		data, err := sharedFiles.ReadFile("shared/" + lang + ".yaml")
		if err != nil {
			return nil, err
		}
		f := &sharedFile{}
		dec := yaml.NewDecoder(strings.NewReader(string(data)))
		dec.KnownFields(true)
		if err := dec.Decode(f); err != nil {
			return nil, fmt.Errorf("shared/%s.yaml: %w", lang, err)
		}
		v.add(f)
		v.files[lang] = f
	}
	slices.SortStableFunc(v.clitics, func(a, b string) int { return len(b) - len(a) })
	if err := v.readAnswers(); err != nil {
		return nil, err
	}
	data, err := sharedFiles.ReadFile("shared/extensions.yaml")
	if err != nil {
		return nil, err
	}
	var ext struct{ Words, Everyday []string }
	if err := yaml.Unmarshal(data, &ext); err != nil {
		return nil, fmt.Errorf("shared/extensions.yaml: %w", err)
	}
	for _, e := range ext.Words {
		v.extensions[e] = true
	}
	for _, e := range ext.Everyday {
		v.extensions[e] = false
	}
	return v, nil
}

func (v *vocabulary) add(f *sharedFile) {
	for w, n := range f.Numbers {
		v.numbers[Fold(w)] = n
	}
	for w, u := range f.Units {
		v.units[Fold(w)] = u
	}
	for i, alts := range f.Months {
		for _, w := range strings.Split(alts, "|") {
			v.months[Fold(w)] = i + 1
		}
	}
	for i, alts := range f.Weekdays {
		for _, w := range strings.Split(alts, "|") {
			v.weekdays[Fold(w)] = i
			v.dateWords[Fold(w)] = true
		}
	}
	for meaning, says := range f.Dates {
		for _, s := range says {
			key := phraseKey(s)
			v.dates[key] = meaning
			first, _, _ := strings.Cut(key, " ")
			v.dateWords[first] = true
		}
	}
	for _, c := range f.Clitics {
		v.clitics = append(v.clitics, Fold(c))
	}
	for _, w := range f.Clauses {
		v.clauses[Fold(w)] = true
	}
	for _, w := range f.LeaveOut {
		v.leaveOut[phraseKey(w)] = true
	}
	for _, w := range f.Light {
		v.light[Fold(w)] = true
	}
	for _, w := range f.Both {
		v.both[Fold(w)] = true
	}
	for _, w := range f.Folders {
		v.folders[phraseKey(w)] = true
	}
}

// phraseKey joins the tokens of a fixed phrase.
func phraseKey(s string) string {
	var b strings.Builder
	for i, t := range Tokenize(s) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t.Fold)
	}
	return b.String()
}

// IsMeasure reports whether the folded word is a number, a unit or a time: never
// a name by itself.
func IsMeasure(w string) bool {
	v := shared()
	_, number := v.numbers[w]
	_, day := v.weekdays[w]
	return number || v.units[w] != "" || v.months[w] > 0 || v.dates[w] != "" || day
}

// IsUnit reports whether the folded word is a unit, as "months" and "MB".
func IsUnit(w string) bool { return shared().units[w] != "" }

// IsExtension reports whether the folded word is a common file extension;
// everyday says that it is an ordinary word as well.
func IsExtension(w string) (ok, everyday bool) {
	plain, ok := shared().extensions[w]
	return ok, ok && !plain
}

// BeginsClause reports whether the folded word begins a sentence of its own, such
// as "if" and "what": it is no part of a name, and what follows is told, not
// named.
func BeginsClause(w string) bool { return shared().clauses[w] }

// SaysBoth reports whether the folded word says that two things hold at once.
func SaysBoth(w string) bool { return shared().both[w] }

// IsLight reports whether the folded word only carries an order, as "take" in
// "take a picture of it": a plan that stands for the rest leaves nothing out.
func IsLight(w string) bool { return shared().light[w] }

// IsFolderName reports whether the folded word is a folder that most homes
// have.
func IsFolderName(w string) bool { return shared().folders[w] }
