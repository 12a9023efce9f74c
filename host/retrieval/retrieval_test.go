package retrieval

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/skill"
)

// made writes a skill with the given tools.yaml and loads it.
func made(t testing.TB, name, tools string) *skill.Skill {
	t.Helper()
	dir := t.TempDir()
	write := func(file, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
	}
	write("skill.yaml", "name: "+name+"\ndescription: Made for a test.\nversion: 0.1.0\n")
	write("tools.yaml", tools)
	write("prompt.yaml", "system_header: x\n")
	s, err := skill.Load(dir, skill.Options{})
	require.NoError(t, err)
	return s
}

const media = `
shrink_clip:
  description: "Make a clip smaller."
  keywords: [compress, shrink, 压缩, сжать]
  required_args: [input]
  readonly: true
turn_clip:
  description: "Turn a clip by an angle."
  keywords: [rotate, turn, 旋转, drehen]
  required_args: [input]
  readonly: true
hidden_step:
  description: "Compress, compress, compress."
  keywords: [compress]
  internal: true
  readonly: true
`

func TestSearch(t *testing.T) {
	x := New([]*skill.Skill{made(t, "media", media)})
	for name, c := range map[string]struct{ in, want string }{
		"keyword":                    {"please compress it", "shrink_clip"},
		"name":                       {"turn it", "turn_clip"},
		"stem":                       {"compression of it", "shrink_clip"},
		"case and accents":           {"ROTÄTE it", "turn_clip"},
		"chinese":                    {"请压缩这个", "shrink_clip"},
		"cyrillic stem":              {"сжатьте", "shrink_clip"},
		"file names are no words":    {"rotate.mp4 /turn/rotate.mov compress", "shrink_clip"},
		"quoted text is no word":     {`compress "turn turn rotate"`, "shrink_clip"},
		"nothing":                    {"banana", ""},
		"nothing at all":             {"", ""},
		"internal tools do not show": {"hidden step", ""},
	} {
		t.Run(name, func(t *testing.T) {
			hits := x.Search(c.in, 1)
			if c.want == "" {
				require.Empty(t, hits)
				return
			}
			require.NotEmpty(t, hits)
			require.Equal(t, c.want, hits[0].Tool)
			require.Positive(t, hits[0].Score)
		})
	}
	require.Empty(t, x.Search("compress", 0))
	require.Len(t, x.Search("clip", 8), 2)
}

func TestSkillsNamesEachOnce(t *testing.T) {
	other := made(t, "paper", "shrink_page:\n  description: \"Make a page smaller.\"\n  keywords: [page, shrink]\n  readonly: true\n  required_args: [input]\n")
	x := New([]*skill.Skill{made(t, "media", media), other})
	hits := x.Skills("shrink the page")
	require.Len(t, hits, 2)
	require.Equal(t, "paper", hits[0].Skill)
}

func TestOrderIsTheSameEveryTime(t *testing.T) {
	tools := many(300)
	want := New([]*skill.Skill{made(t, "many", tools)}).Search("copy blue thing number 7 fast", 50)
	for range 5 {
		require.Equal(t, want, New([]*skill.Skill{made(t, "many", tools)}).Search("copy blue thing number 7 fast", 50))
	}
}

// many writes n tools that share a vocabulary, as tools of real skills do.
func many(n int) string {
	verbs := []string{"copy", "move", "turn", "pack", "cut", "join", "list", "find", "mark", "hide"}
	things := []string{"clip", "page", "photo", "sheet", "song", "table", "letter", "folder", "record", "thing"}
	colors := []string{"blue", "green", "large", "small", "old", "new", "fast"}
	var b strings.Builder
	for i := range n {
		v, o, c := verbs[i%10], things[i/10%10], colors[i%7]
		fmt.Fprintf(&b, "%s_%s_%d:\n  description: \"%s a %s %s of kind %d.\"\n  keywords: [w%d, k%d]\n  required_args: [input]\n  readonly: true\n", v, o, i, v, c, o, i, i, i/3)
	}
	return b.String()
}

var queries = []string{
	"copy the blue clip number 12 fast", "please find my old letters in inbox", "w17 turn", "move every large photo from a/b.jpg to c", "list songs",
}

func benchmark(b *testing.B, n int) {
	var skills []*skill.Skill
	for rest := n; rest > 0; rest -= 1000 { // a skill may have no more
		skills = append(skills, made(b, fmt.Sprintf("many%d", rest), many(min(rest, 1000))))
	}
	x := New(skills)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		x.Search(queries[i%len(queries)], 5)
		i++
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "queries/s")
}

func BenchmarkSearch30Tools(b *testing.B)    { benchmark(b, 30) }
func BenchmarkSearch10000Tools(b *testing.B) { benchmark(b, 10000) }

// What a contract says without end leads nowhere, and its tools are still found by
// what they say themselves.
func TestWordsHaveAnEnd(t *testing.T) {
	var tools, said strings.Builder
	for i := range 500 {
		fmt.Fprintf(&tools, "tool%d:\n  description: Does it.\n  keywords: [own%d]\n  readonly: true\n", i, i)
	}
	for i := range 5000 {
		fmt.Fprintf(&said, "w%d ", i)
	}
	s := made(t, "talker", strings.Replace(tools.String(), "Does it.", said.String(), 1))
	b := newBuilder()
	b.left = maxWords
	for id := range int32(500) {
		b.text(id, said.String(), inSkill)
	}
	held := 0
	for _, tools := range b.weights[0] {
		held += len(tools)
	}
	require.Equal(t, maxWords, held, "of 2,500,000")
	require.Equal(t, "tool499", New([]*skill.Skill{s}).Search("own499", 1)[0].Tool)
}
