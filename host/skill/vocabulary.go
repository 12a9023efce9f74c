package skill

import (
	"sync"

	"stepbox.dev/host/lexicon"
)

// vocabulary is a lexicon, parsed when somebody first asks for it: many verbs
// never do.
type vocabulary struct {
	once   sync.Once
	parsed *lexicon.Lexicon
	err    error
}

// Vocabulary is lexicon.yaml, parsed once for all who read it; an empty one when
// there is none.
func (s *Skill) Vocabulary() (*lexicon.Lexicon, error) {
	v := &s.vocabulary
	v.once.Do(func() { v.parsed, v.err = lexicon.Parse(s.lexicon, lexiconFile) })
	return v.parsed, v.err
}
