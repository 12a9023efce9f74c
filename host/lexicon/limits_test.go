package lexicon

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/registry"
)

// A lexicon of a few hundred bytes must not keep a host busy for ever: gaps that
// multiply are no phrase, and whatever is left is bounded for each request.
func TestMatchingEnds(t *testing.T) {
	for _, s := range []string{"look ... ... zzzz", "a ... b ... c ... d", strings.Repeat("word ", 30) + "end"} {
		_, err := parsePhrase(s)
		require.Error(t, err, s)
	}
	var b strings.Builder
	b.WriteString("phrases:\n  - en: [")
	for i := range 19_000 {
		fmt.Fprintf(&b, "look|at|the|old ... in|my|new ... zz%d, ", i)
	}
	b.WriteString("look]\n")
	lex, err := Parse([]byte(b.String()), "lexicon.yaml")
	require.NoError(t, err)
	reg, err := registry.Parse([]byte("look:\n  description: Look.\n"), registry.Options{File: "tools.yaml"})
	require.NoError(t, err)
	text := strings.Repeat("look at the old in my new ", 150)
	start := time.Now()
	require.Empty(t, New(lex, reg).Find(Tokenize(text), now), "what is not looked through to its end counts for nothing")
	require.Less(t, time.Since(start), 20*time.Second)
}

// A list that is written once and repeated by aliases counts as often as it is
// repeated: it is held against requests as often.
func TestRepeatedPhrasesEnd(t *testing.T) {
	words := make([]string, 1000)
	for i := range words {
		words[i] = fmt.Sprintf("w%d", i)
	}
	list := "[" + strings.Join(words, ", ") + "]"
	for name, text := range map[string]string{
		"lists":   "phrases:\n  - {en: &l " + list + "}\n" + strings.Repeat("  - {en: *l}\n", 20_000),
		"entries": "phrases:\n  - &e {set: {x: 1}, en: [look]}\n" + strings.Repeat("  - *e\n", 100_000),
		"sets":    "phrases:\n  - {set: &m {" + strings.Join(words, ": 1, ") + ": 1}, en: [look]}\n" + strings.Repeat("  - {set: *m, en: [look]}\n", 10_000),
		"keys":    strings.Repeat("quiet: [a]\n", 2),
		"size":    "fillers: {en: [" + strings.Repeat("a,", 1<<20) + "]}\n",
		"depth":   "fillers: " + strings.Repeat("[", 100_000),
		"text":    "fillers: {en: [\xff]}",
		"two":     "quiet: [a]\n---\nquiet: [b]\n",
	} {
		_, err := Parse([]byte(text), "lexicon.yaml")
		require.Error(t, err, name)
		require.Less(t, len(err.Error()), 1000, name)
	}
	_, err := Parse([]byte("tools: &t {look: {en: "+list+"}}\nnouns: *t\n"), "lexicon.yaml")
	require.NoError(t, err)
}
