package retrieval

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"stepbox.dev/host/lexicon"
	"stepbox.dev/host/registry"
	"stepbox.dev/host/skill"
)

// The weights of where a word stands.
const (
	inName        = 2.0
	inKeywords    = 1.6
	inVerbs       = 1.8
	inNouns       = 0.8
	inPhrases     = 0.5
	inValues      = 0.5
	inArguments   = 0.4
	inDescription = 0.5
	inExamples    = 0.3
	inSkill       = 0.2
)

type builder struct {
	index   *Index
	weights [3]map[string][]weighed    // words, stems, grams
	tokens  map[string][]lexicon.Token // of texts that several tools share
	room    []lexicon.Token            // to read a text into
	left    int                        // words of the skill that are still read
}

// maxWords is how many words of a skill lead to its tools. A stranger's contract
// can say one text for each of a thousand tools; what it says beyond that leads
// nowhere.
const maxWords = 300_000

// weighed is a tool that holds a word, and the weight of its best place there.
type weighed struct {
	tool   int32
	weight float64
}

func newBuilder() *builder {
	b := &builder{index: &Index{}, tokens: map[string][]lexicon.Token{}}
	for i := range b.weights {
		b.weights[i] = map[string][]weighed{}
	}
	return b
}

func (b *builder) addSkill(s *skill.Skill) {
	lex, err := s.Vocabulary()
	if err != nil { // a skill with a broken lexicon is still found by its contract
		lex = &lexicon.Lexicon{}
	}
	b.left = maxWords
	ids, takes := map[string]int32{}, map[string][]int32{} // tools by name, and by argument
	for _, t := range s.Registry().Tools() {
		if !lexicon.Public(t) {
			continue
		}
		id := int32(len(b.index.tools))
		ids[t.Name] = id
		b.index.tools = append(b.index.tools, Hit{Skill: s.Name(), Tool: t.Name})
		for arg := range t.Args {
			takes[arg] = append(takes[arg], id)
		}
		b.addTool(id, t)
	}
	b.entries(ids, lex.Tools, inVerbs)
	b.entries(ids, lex.Nouns, inNouns)
	b.entries(ids, lex.Phrases, inPhrases)
	for _, e := range lex.Values {
		for _, id := range takes[e.Arg] {
			b.says(id, e.Say, inValues)
		}
	}
	for _, ex := range s.Prompt().Examples {
		for _, c := range ex.Plan {
			if id, ok := ids[c.Tool]; ok {
				b.text(id, ex.Request, inExamples)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Values(ids)) { // last: it tells skills apart, not tools
		b.text(id, s.Description(), inSkill)
	}
}

func (b *builder) addTool(id int32, t *registry.Tool) {
	b.text(id, strings.ReplaceAll(t.Name, "_", " "), inName)
	for _, k := range t.Keywords {
		b.text(id, k, inKeywords)
	}
	b.text(id, t.Description, inDescription)
	for name, a := range t.Args {
		b.text(id, strings.ReplaceAll(name, "_", " "), inArguments)
		for _, v := range a.Enum {
			b.text(id, strings.ReplaceAll(v, "_", " "), inValues)
		}
		for v := range a.Synonyms {
			b.text(id, v, inValues)
		}
	}
}

func (b *builder) entries(ids map[string]int32, entries []lexicon.Entry, weight float64) {
	for _, e := range entries {
		if id, ok := ids[e.Tool]; ok {
			b.says(id, e.Say, weight)
		}
	}
}

func (b *builder) says(id int32, say map[string][]string, weight float64) {
	for _, phrases := range say {
		for _, p := range phrases {
			if b.left <= 0 {
				return
			}
			p = markup.Replace(dropSlots(p))
			words := 0
			for range strings.FieldsSeq(p) {
				words++
			}
			b.text(id, p, weight/math.Sqrt(float64(words)))
		}
	}
}

// markup is what makes a text of a phrase.
var markup = strings.NewReplacer("|", " ", "?", "", "!", "", "...", " ")

// dropSlots removes {…} from a phrase.
func dropSlots(p string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(p, '{')
		j := strings.IndexByte(p, '}')
		if i < 0 || j < i {
			return b.String() + p
		}
		b.WriteString(p[:i] + " ")
		p = p[j+1:]
	}
}

// text adds the words of a text. A word counts once a field, and its best field
// most: repeating a word buys nothing.
func (b *builder) text(id int32, text string, weight float64) {
	if b.left <= 0 {
		return
	}
	toks, known := b.tokens[text]
	if !known {
		b.room = lexicon.AppendTokens(b.room[:0], strings.ReplaceAll(text, "*", ""))
		toks = slices.Clone(b.room)
		b.tokens[text] = toks
	}
	toks = toks[:max(0, min(len(toks), b.left))]
	b.left -= len(toks)
	for i, t := range toks {
		switch t.Kind {
		case lexicon.Han:
			run := ""
			for n := 1; n <= maxGram && i+n <= len(toks) && toks[i+n-1].Kind == lexicon.Han; n++ {
				run += toks[i+n-1].Text
				b.put(2, run, id, weight*[]float64{0, 0.15, 0.8, 1, 1.2}[n])
			}
		case lexicon.Word, lexicon.Number:
			one := singular(t.Fold)
			b.put(0, one, id, weight)
			if one != t.Fold {
				b.put(0, t.Fold, id, weight)
			}
			if stem, long := stemOf(t.Fold); long {
				b.put(1, stem, id, weight)
			}
		}
	}
}

// put notes a word of a tool. The tools of a word stay in order.
func (b *builder) put(which int, w string, id int32, weight float64) {
	tools := b.weights[which][w]
	at, found := slices.BinarySearchFunc(tools, id, func(t weighed, id int32) int { return cmp.Compare(t.tool, id) })
	if found {
		tools[at].weight = max(tools[at].weight, weight)
		return
	}
	b.weights[which][w] = slices.Insert(tools, at, weighed{id, weight})
}

// finish weighs each word by how few tools hold it.
func (b *builder) finish() *Index {
	n := float64(len(b.index.tools))
	build := func(ws map[string][]weighed) map[string]term {
		total := 0
		for _, tools := range ws {
			total += len(tools)
		}
		all := make([]posting, 0, total)
		out := make(map[string]term, len(ws))
		for w, tools := range ws {
			idf := math.Log(1 + n/float64(len(tools)))
			from := len(all)
			for _, t := range tools {
				all = append(all, posting{t.tool, float32(t.weight * idf)})
			}
			postings := all[from:]
			slices.SortFunc(postings, func(a, c posting) int {
				return cmp.Or(cmp.Compare(c.weight, a.weight), cmp.Compare(a.tool, c.tool))
			})
			if len(postings) > maxPostings { // the others make room for the next word
				postings, all = postings[:maxPostings], all[:from+maxPostings]
			}
			out[w] = term{postings: postings[:len(postings):len(postings)]}
		}
		return out
	}
	b.index.words, b.index.stems, b.index.grams = build(b.weights[0]), build(b.weights[1]), build(b.weights[2])
	return b.index
}
