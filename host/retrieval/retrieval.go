// Package retrieval ranks tools for a request with an inverted index. It reads
// contracts and knows no tool by name.
package retrieval

import "stepbox.dev/host/skill"

// Hit is one tool that matches.
type Hit struct {
	Skill string  `json:"skill"`
	Tool  string  `json:"tool"`
	Score float64 `json:"score"`
}

// Index ranks the public tools of some skills. It is immutable and safe for
// concurrent use.
type Index struct{}

// New builds the index.
func New(skills []*skill.Skill) *Index { panic("to be built") }

// Search returns the k best tools, best first, in a deterministic order.
func (x *Index) Search(utterance string, k int) []Hit { panic("to be built") }

// Skills ranks whole skills for the utterance: at most one hit a skill, its
// best tool.
func (x *Index) Skills(utterance string) []Hit { panic("to be built") }
