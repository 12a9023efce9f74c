// Package retrieval ranks tools for a request with an inverted index. It reads
// contracts and knows no tool by name; what a request means is the planner's
// business.
package retrieval

import (
	"sync"

	"stepbox.dev/host/lexicon"
	"stepbox.dev/host/skill"
)

// Hit is one tool that matches.
type Hit struct {
	Skill string  `json:"skill"`
	Tool  string  `json:"tool"`
	Score float64 `json:"score"` // above 0; comparable within one answer
}

// Index ranks the public tools of some skills. It is immutable and safe for
// concurrent use.
type Index struct {
	tools []Hit           // names, Score 0
	words map[string]term // whole words
	stems map[string]term // beginnings of words
	grams map[string]term // characters of scripts without spaces
	pool  sync.Pool
}

// term is where a word occurs, the weightiest tools first.
type term struct {
	postings []posting
}

type posting struct {
	tool   int32
	weight float32
}

// maxPostings bounds the work for one word: tools beyond it hold the word with
// less weight than all of these, and a word so common tells little.
const maxPostings = 256

// maxGram is the longest run of characters that counts as one term.
const maxGram = 4

// stemLength is how many letters two words must share to be akin.
const stemLength = 5

// scratch is what one search needs; it is reused.
type scratch struct {
	tokens  []lexicon.Token
	scores  []float32
	touched []int32
}

// New builds the index.
func New(skills []*skill.Skill) *Index {
	b := newBuilder()
	for _, s := range skills {
		b.addSkill(s)
	}
	x := b.finish()
	n := len(x.tools)
	x.pool.New = func() any { return &scratch{scores: make([]float32, n)} }
	return x
}

// Search returns the k best tools, best first. Tools that score the same keep
// the order of their contracts.
func (x *Index) Search(utterance string, k int) []Hit {
	if k <= 0 {
		return nil
	}
	s := x.score(utterance)
	defer x.release(s)
	k = min(k, len(s.touched))
	best := make([]Hit, 0, k)
	ids := make([]int32, 0, 16)
	for _, t := range s.touched {
		if len(ids) == k && !before(s.scores, t, ids[k-1]) {
			continue
		}
		if len(ids) < k {
			ids = append(ids, t)
		} else {
			ids[k-1] = t
		}
		for i := len(ids) - 1; i > 0 && before(s.scores, ids[i], ids[i-1]); i-- {
			ids[i], ids[i-1] = ids[i-1], ids[i]
		}
	}
	for _, id := range ids {
		h := x.tools[id]
		h.Score = round(s.scores[id])
		best = append(best, h)
	}
	return best
}

// Skills ranks whole skills for the utterance: at most one hit a skill, its
// best tool.
func (x *Index) Skills(utterance string) []Hit {
	all := x.Search(utterance, len(x.tools))
	seen := map[string]bool{}
	var out []Hit
	for _, h := range all {
		if !seen[h.Skill] {
			seen[h.Skill] = true
			out = append(out, h)
		}
	}
	return out
}

func before(scores []float32, a, b int32) bool {
	if scores[a] != scores[b] {
		return scores[a] > scores[b]
	}
	return a < b
}

// round drops what float arithmetic leaves behind.
func round(f float32) float64 { return float64(int64(float64(f)*1e4+0.5)) / 1e4 }

func (x *Index) release(s *scratch) {
	for _, t := range s.touched {
		s.scores[t] = 0
	}
	s.touched = s.touched[:0]
	clear(s.tokens) // hold no request's text
	x.pool.Put(s)
}

func (x *Index) score(utterance string) *scratch {
	s := x.pool.Get().(*scratch)
	s.tokens = lexicon.AppendTokens(s.tokens[:0], utterance)
	for i := 0; i < len(s.tokens); i++ {
		t := &s.tokens[i]
		switch t.Kind {
		case lexicon.Word, lexicon.Number:
			x.word(s, t.Fold)
		case lexicon.Han:
			end := t.End
			for n := 1; n <= maxGram; n++ {
				x.add(s, x.grams[utterance[t.Start:end]], 1)
				if j := i + n; j < len(s.tokens) && s.tokens[j].Kind == lexicon.Han && s.tokens[j].Start == end {
					end = s.tokens[j].End
				} else {
					break
				}
			}
		}
	}
	return s
}

func (x *Index) word(s *scratch, w string) {
	t, ok := x.words[w]
	if !ok {
		t, ok = x.words[singular(w)]
	}
	x.add(s, t, 1)
	stem, long := stemOf(w)
	if !long {
		return
	}
	factor := float32(0.5)
	if ok {
		factor = 0.15 // the word itself has said most of it
	}
	x.add(s, x.stems[stem], factor)
}

func (x *Index) add(s *scratch, t term, factor float32) {
	for _, p := range t.postings {
		if s.scores[p.tool] == 0 {
			s.touched = append(s.touched, p.tool)
		}
		s.scores[p.tool] += p.weight * factor
	}
}

// singular cuts a Latin plural's s.
func singular(w string) string {
	if n := len(w); n > 3 && w[n-1] == 's' && w[n-2] != 's' {
		return w[:n-1]
	}
	return w
}

// stemOf returns the first letters of a word that is long enough to have a
// stem.
func stemOf(w string) (string, bool) {
	n := 0
	for i := range w {
		if n == stemLength {
			return w[:i], true
		}
		n++
	}
	return w, n == stemLength
}
