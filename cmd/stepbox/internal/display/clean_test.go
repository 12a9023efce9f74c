package display

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestClean(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain":               {"inbox/report 2026.pdf", "inbox/report 2026.pdf"},
		"other scripts":       {"отчёт/报告.pdf", "отчёт/报告.pdf"},
		"escape sequence":     {"a\x1b[2Jb", `a\x1b[2Jb`},
		"new line":            {"a\nCommit? y", `a\nCommit? y`},
		"carriage return":     {"evil\rgood", `evil\rgood`},
		"tab":                 {"a\tb", `a\tb`},
		"delete":              {"a\x7f", `a\x7f`},
		"C1 control":          {"a\u009b2J", `a\u009b2J`},
		"right to left":       {"a\u202egpj.exe", `a\u202egpj.exe`},
		"isolate":             {"a\u2066b", `a\u2066b`},
		"line separator":      {"a\u2028b", `a\u2028b`},
		"zero width space":    {"a\u200bb", `a\u200bb`},
		"byte order mark":     {"\ufeffa", `\ufeffa`},
		"tag character":       {"a\U000e0041", `a\U000e0041`},
		"private use":         {"a\ue000", `a\ue000`},
		"invalid UTF-8":       {"a\xff\xfeb", `a\xff\xfeb`},
		"cut rune":            {"a\xe6\x8a", `a\xe6\x8a`},
		"replacement itself":  {"a\ufffdb", "a\ufffdb"},
		"emoji":               {"👩\u200d💻.txt", "👩\u200d💻.txt"},
		"joiner in a word":    {"pay\u200dpal", `pay\u200dpal`},
		"accents":             {"e\u0301a\u0308", "e\u0301a\u0308"},
		"a tower of accents":  {"e" + strings.Repeat("\u0301", 6), "e" + strings.Repeat("\u0301", 4) + `\u0301\u0301`},
		"no-break space":      {"10\u00a0000", "10\u00a0000"},
		"backslash stays one": {`a\b`, `a\b`},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, Clean(c.in))
		})
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"a", "a\nb", "\x1b]0;x\a", "\u202e", "\xff", "👩\u200d💻", "e\u0301\u0301\u0301\u0301\u0301"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c := Clean(s)
		require.True(t, utf8.ValidString(c))
		require.Equal(t, c, Clean(c), "idempotent")
		for _, r := range c {
			require.False(t, unicode.IsControl(r), "control %U", r)
			require.False(t, unicode.Is(unicode.Bidi_Control, r), "bidi %U", r)
		}
		require.NotContains(t, strings.Join(Lines(s), ""), "\n")
		require.LessOrEqual(t, utf8.RuneCountInString(Clip(s, 20)), max(20, 0))
	})
}

func TestLines(t *testing.T) {
	require.Equal(t, []string{"a    b", `\x1bc`}, Lines("a\tb\r\n\x1bc\n"))
	require.Equal(t, []string{""}, Lines(""))
}

func TestClipKeepsBothEnds(t *testing.T) {
	require.Equal(t, "inbo….pdf", Clip("inbox/a long name.pdf", 9))
	require.Equal(t, "short", Clip("short", 9))
}
