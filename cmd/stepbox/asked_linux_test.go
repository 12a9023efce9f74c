package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A question of the skill's own comes before anything runs, so it can be answered
// like the planner's, and its words stay marked as the skill's.
func TestASkillsQuestionIsAnswered(t *testing.T) {
	slow, err := filepath.Abs("testdata/slow")
	require.NoError(t, err)
	work := home(t)
	term := onTerminal(t, work, "run", slow, "turn")
	term.wait(`the skill slow asks:\s+\| How often\?\s+\| FORGED`)
	term.wait(`answer \(empty to give up\)`)
	term.types("banana\n")
	term.wait(`times cannot be "banana": it is a whole number of at most 9`)
	term.wait(`answer \(empty to give up\)`)
	term.types("twice\n")
	out := term.ends(0)
	require.NotContains(t, out, "/plan/0")
	for _, row := range screen(t, out) {
		if before, _, forged := strings.Cut(row, "FORGED"); forged {
			require.True(t, strings.HasPrefix(before, "| "), row)
		}
	}

	code, said := newPerson(t).run("stepbox run " + slow + " turn </dev/null")
	require.Equal(t, 3, code, "nobody is there: %s", said)
}

// What is said at a question and is no word of a request never becomes one: not a
// folder of that name, and not the opposite of what was asked.
func TestAnswersThatAreNoWords(t *testing.T) {
	work := home(t)
	at := func(name string) string { return filepath.Join(work, "home", name) }

	term := onTerminal(t, work, "run", "files", "copy the letter")
	term.wait(`answer \(empty to give up\)`)
	term.types("yes\n")
	term.wait(`That does not answer it`)
	term.wait(`answer \(empty to give up\)`)
	term.types("backup\n")
	term.ends(0)
	require.FileExists(t, at("backup/letter.txt"))
	require.NoDirExists(t, at("yes"))

	for request, answers := range map[string][]string{
		"do not delete build/a.tmp":                          {"ok", "yes"},
		"delete the tmp files in build but not those I need": {"leave it out", "ok"},
		"lösche build/a.tmp nicht":                           {"ja", "weglassen"},
	} {
		term := onTerminal(t, work, "run", "files", request)
		for _, a := range answers {
			term.wait(`answer \(empty to give up\)`)
			term.types(a + "\n")
		}
		require.Contains(t, term.ends(3), "nothing is done", request)
		require.FileExists(t, at("build/a.tmp"))
		require.FileExists(t, at("build/b.tmp"))
	}
}

// A plan that is asked about is said in words, and a yes is one in any language.
func TestAPlanIsAskedAboutInWords(t *testing.T) {
	work := home(t)
	require.NoError(t, os.WriteFile(filepath.Join(work, "home/build/c.tmp"), []byte("a"), 0o644))
	term := onTerminal(t, work, "run", "files", "изтрий дубликатите в build")
	term.wait(`the duplicates\s+(… )?from\s+(… )?"find\s+(… )?duplicates"\?`)
	term.wait(`answer \(empty to give up\)`)
	term.types("да\n")
	term.wait(`do this\? \[y/N`)
	term.types("не\n")
	require.NotContains(t, term.ends(5), "$found")
}
