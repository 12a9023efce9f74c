package display

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFold(t *testing.T) {
	for name, tc := range map[string]struct{ in, out string }{
		"fits":               {"0123456789012345678\n", "0123456789012345678\n"},
		"just fits":          {"01234567890123456789\n", "01234567890123456789\n"},
		"a host's line":      {"  move    a → b/0123456789012345\n", "  move    a → b/0123\n    … 456789012345\n"},
		"a guest's line":     {"| 012345678901234567do this?\n", "| 012345678901234567\n| do this?\n"},
		"a path":             {"  /home/me/.state/runs/1/preview/clip.mp4\nis it?\n", "  /home/me/.state/runs/1/preview/clip.mp4\nis it?\n"},
		"a path with a gap":  {"  /home/me/runs/1/a b\n", "  /home/me/runs/1/a \n    … b\n"},
		"a padded path":      {"  /home/me     stepbox: done\n", "  /home/me     \n    … stepbox: done\n"},
		"a path, not alone":  {"a /home/me/.state/runs\n", "a /home/me/.state/ru\n    … ns\n"},
		"a blank of braille": {"  /home/me/x\u2800\u2800\u2800\u2800\u2800\n", "  /home/me/x\u2800\u2800\u2800\u2800\n    … \u2800\n"},
		"words":              {"| do you mean the other one?\n", "| do you mean the \n| other one?\n"},
		"padded words":       {"| a" + strings.Repeat(" ", 16) + "do this?\n", "| a" + strings.Repeat(" ", 16) + "\n| do this?\n"},
		"in colour":          {"\x1b[2m| 012345678901234567do\x1b[0m\n", "\x1b[2m| 012345678901234567\n| do\x1b[0m\n"},
		"wide characters":    {"| " + strings.Repeat("\u2705", 9) + "do\n", "| " + strings.Repeat("\u2705", 9) + "\n| do\n"},
		"many times":         {"| " + strings.Repeat("x", 40), "| " + strings.Repeat("x", 18) + "\n| " + strings.Repeat("x", 18) + "\n| xxxx"},
		"each for itself":    {"| a\nstepbox: 01234567890123\n", "| a\nstepbox: \n    … 01234567890123\n"},
		"drawn over":         {"0123456789\r\x1b[K0123456789012345678\n", "0123456789\r\x1b[K0123456789012345678\n"},
		"bytes not in UTF8":  {"\xff\n", "\xff\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			n, err := NewFolding(&b, func() int { return 20 }).Write([]byte(tc.in))
			require.NoError(t, err)
			require.Equal(t, len(tc.in), n)
			require.Equal(t, tc.out, b.String())
		})
	}
	var b strings.Builder
	long := strings.Repeat("x", 100)
	_, err := NewFolding(&b, func() int { return 0 }).Write([]byte(long))
	require.NoError(t, err)
	require.Equal(t, long, b.String(), "no terminal")
}

func TestAllowance(t *testing.T) {
	a := allowance{lines: 3, bytes: 10}
	require.Equal(t, []string{"ab"}, a.take([]string{"ab"}))
	require.Equal(t, []string{"cd"}, a.take([]string{"cd", "1234567", "x"}), "bytes are gone")
	require.Equal(t, []string{"x"}, a.take([]string{"x", "y"}), "lines are gone")
	require.Equal(t, allowance{bytes: 5, hidden: 3}, a)
}
