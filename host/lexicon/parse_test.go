package lexicon

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestListsOfPhrases guards that what YAML takes for a number or a truth value
// is a word all the same, and that nothing else passes for one.
func TestListsOfPhrases(t *testing.T) {
	l, err := Parse([]byte("tools:\n  a:\n    en: &words [x, 720, yes]\n    de:\n    fr: *words\n"), "lexicon.yaml")
	require.NoError(t, err)
	words := []string{"x", "720", "yes"}
	require.Equal(t, map[string][]string{"en": words, "de": nil, "fr": words}, l.Tools[0].Say)
	for name, list := range map[string]string{"one word": "x", "nothing in a list": "[x, ~]", "a list in a list": "[x, [y]]", "a mapping": "{x: y}"} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte("tools:\n  a:\n    en: "+list+"\n"), "lexicon.yaml")
			require.ErrorContains(t, err, "lexicon.yaml:3: phrases must be a list of strings")
		})
	}
}
