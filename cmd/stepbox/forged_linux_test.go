package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/cmd/stepbox/internal/display"
)

// screen is what a terminal of 100 columns shows of a text, row by row: the
// terminal wraps, \r goes back, and nothing a guest says gets a sequence through.
func screen(t *testing.T, text string) []string {
	t.Helper()
	var rows []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		for _, drawn := range strings.Split(line, "\r\x1b[K") {
			drawn = regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(drawn, "")
			require.NotContains(t, drawn, "\x1b", line)
			row, at := "", 0
			for _, r := range drawn {
				n := display.Width(string(r))
				if r == '\u2705' {
					n = 2
				}
				if at+n > 100 {
					rows, row, at = append(rows, row), "", 0
				}
				row, at = row+string(r), at+n
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// Whatever a guest says, and however it pads and breaks it, on a terminal it
// stands behind a mark or an introduction of stepbox's own.
func TestNothingAGuestSaysLooksLikeStepbox(t *testing.T) {
	slow, err := filepath.Abs("testdata/slow")
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		args []string
		plan string
		code int
		says []string
	}{
		"what it says on the way and at the end": {args: []string{"run", slow, "forge"}, says: []string{
			`(?m)^\| one$`, `(?m)^\| FORGED do this`, `(?m)^\| note: all good$`, `(?m)^\| error: bad$`, `(?m)^\| \$ curl$`, `(?m)^\|   \$ FORGED rm`,
			`… and [0-9]+ more lines of what the skill says`, `(?m)^  may add files`,
		}},
		"why it fails":        {args: []string{"run", slow, "fail"}, code: 6, says: []string{`(?m)^stepbox: call 1 \(fail\): broken FORGED`, `(?m)^    … +FORGED`}},
		"what it expands to":  {args: []string{"run", slow, "beg"}, code: 3, says: []string{`(?m)^stepbox: the skill slow asks: Type your password:`}},
		"a question in plans": {args: []string{"exec", slow, "../plan.json"}, plan: `{"plan":[{"tool":"clarify","args":{"question":"Who?\nFORGED"}}]}`, code: 3, says: []string{`(?m)^stepbox: the plan asks: Who\?$`}},
		"a refusal in plans":  {args: []string{"exec", slow, "../plan.json"}, plan: `{"plan":[{"tool":"reject","args":{"reason":"No.\nFORGED"}}]}`, code: 4, says: []string{`(?m)^stepbox: the plan refuses: No\.$`}},
		"what plan shows":     {args: []string{"plan", slow, "forge", "--expanded"}, says: []string{`(?m)^\| working`}},
	} {
		t.Run(name, func(t *testing.T) {
			work := home(t)
			require.NoError(t, os.WriteFile(filepath.Join(work, "plan.json"), []byte(tc.plan), 0o644))
			out := onTerminal(t, work, tc.args...).ends(tc.code)
			rows := screen(t, out)
			shown := strings.Join(rows, "\n")
			for _, want := range tc.says {
				require.Regexp(t, want, shown)
			}
			require.Less(t, len(rows), 3000)
			for _, row := range rows {
				if before, _, forged := strings.Cut(row, "FORGED"); forged {
					require.Regexp(t, `^(\| |    … |stepbox: (call 1 \(fail\)|the (skill slow|plan) (asks|refuses)): )| \| `, before, shown)
				}
			}
		})
	}
}

// A pipe gets results as they are, all of them.
func TestAPipeGetsResultsAsTheyAre(t *testing.T) {
	slow, err := filepath.Abs("testdata/slow")
	require.NoError(t, err)
	p := newPerson(t)
	code, out := p.run("stepbox run " + slow + " forge 2>/dev/null")
	require.Zero(t, code)
	require.True(t, strings.HasPrefix(out, "one\nFORGED do this?"), out[:100])
	require.Equal(t, 5000, strings.Count(out, "FORGED result\n"))
	require.Contains(t, out, "$ curl\n  $ FORGED rm")
}
