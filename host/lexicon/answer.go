package lexicon

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Reply is what an answer says by itself, whatever was asked.
type Reply int

// The replies. They say something about a question and nothing about files: none
// of them is ever a word of a request.
const (
	Words    Reply = iota // anything else
	Yes                   // yes to what was asked
	No                    // no to it, or that nothing shall be done
	LeaveOut              // what was not understood is taken back
)

// ReplyOf reads an answer in any of the languages. In quotes it is a text.
func ReplyOf(answer string) Reply {
	if slices.ContainsFunc(Tokenize(answer), func(t Token) bool { return t.Kind == Quoted }) {
		return Words
	}
	key := strings.TrimRight(phraseKey(answer), " .!,。！，")
	switch v := shared(); {
	case v.yes[key]:
		return Yes
	case v.no[key]:
		return No
	case v.leaveOut[key]:
		return LeaveOut
	}
	return Words
}

// readAnswers reads how people say yes and no.
func (v *vocabulary) readAnswers() error {
	data, err := sharedFiles.ReadFile("shared/answers.yaml")
	if err != nil {
		return err
	}
	var says struct {
		Yes []string `yaml:"yes"`
		No  []string `yaml:"no"`
	}
	if err := yaml.Unmarshal(data, &says); err != nil {
		return fmt.Errorf("shared/answers.yaml: %w", err)
	}
	for _, s := range says.Yes {
		v.yes[phraseKey(s)] = true
	}
	for _, s := range says.No {
		v.no[phraseKey(s)] = true
	}
	return nil
}
