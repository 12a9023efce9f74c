package yamldoc

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A document made to exhaust its reader ends as an error, soon.
func TestBombs(t *testing.T) {
	laughs := "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 12; i++ {
		laughs += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9))
	}
	merges := "m0: &m0 {k: 1}\n"
	for i := 1; i < 200; i++ {
		merges += fmt.Sprintf("m%d: &m%d {<<: *m%d, k%d: [*m%d, *m%d]}\n", i, i, i-1, i, i-1, i-1)
	}
	for name, text := range map[string]string{
		"billion laughs": laughs, "nested merges": merges,
		"deep lists": strings.Repeat("[", 100_000), "deep closed lists": strings.Repeat("[", 900) + strings.Repeat("]", 900),
		"deep mappings":  strings.Repeat("{a: ", 500) + strings.Repeat("}", 500),
		"deep by indent": deepIndent(400), "long line of dashes": strings.Repeat("- ", 50_000),
		"many anchors": strings.Repeat("&a ", 10_000) + "x", "too large": strings.Repeat("#\n", MaxBytes),
		"many keys in flow": "{" + strings.Repeat("a, ", 300_000) + "}", "questions": strings.Repeat("? ", 50_000),
		"itself": "a: &a {b: *a}", "not UTF-8": "a: \xff", "brackets in text": `"` + strings.Repeat("[", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			_, err := Read("f.yaml", []byte(text))
			require.ErrorContains(t, err, "f.yaml")
			require.Less(t, time.Since(began), 5*time.Second)
		})
	}
}

func deepIndent(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%sa:\n", strings.Repeat(" ", i))
	}
	return b.String()
}

func TestValue(t *testing.T) {
	root, err := Read("f.yaml", []byte(`
text: yes
date: 2026-01-31
whole: 1_000
hex: 0x1f
octal: 0o17
plus: +3
float: .50
big: 18446744073709551615
flag: True
none: ~
list: [1, {a: b}]
"quoted": "1"
`))
	require.NoError(t, err)
	require.Equal(t, `map[big:18446744073709551615 date:2026-01-31 flag:true float:0.5 hex:31 list:[1 map[a:b]] none:<nil> octal:15 plus:3 quoted:1 text:yes whole:1000]`,
		fmt.Sprint(root.Value()))
}

func TestMerge(t *testing.T) {
	read := func(text string) *Node {
		n, err := Read("f.yaml", []byte(text))
		require.NoError(t, err)
		return n
	}
	base := read("a: {x: 1, y: [1, 2], z: {deep: old, kept: 1}}\nb: gone\nc: text\n")
	over := read("a: {y: [3], z: {deep: new}, w: null}\nb: null\nc: {now: a mapping}\nd: added\n")
	require.Equal(t, "map[a:map[x:1 y:[3] z:map[deep:new kept:1]] c:map[now:a mapping] d:added]", fmt.Sprint(Merge(base, over).Value()))
	require.Equal(t, "map[a:map[x:1 y:[1 2] z:map[deep:old kept:1]] b:gone c:text]", fmt.Sprint(base.Value()), "the base was changed")
	require.Equal(t, base, Merge(base, nil))
	require.Equal(t, over, Merge(nil, over))
}

// FuzzRead: no panic, and an error names the file.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"a: &a [*a]", "<<: {a: 1}", "? {a: b}\n: c", "- - - a", "a: |\n b\n", "%YAML 1.2\n---\na", "\"\\x\"", "!!map {}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := Read("f.yaml", []byte(text))
		if err != nil {
			require.Contains(t, err.Error(), "f.yaml")
			return
		}
		n.Value()
	})
}
