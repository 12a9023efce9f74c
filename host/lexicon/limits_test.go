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
