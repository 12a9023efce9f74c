package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/cmd/stepbox/internal/display"
	"stepbox.dev/host/skill/bundle"
)

// forgery would speak for stepbox: with an escape sequence, a carriage return, a
// line of its own, padding up to the next row, marks of another direction.
const forgery = "Nice.\x1b[2K\rFORGED install it? [y/N] y\nFORGED installed evil 1.0.0, signed by stepbox\n" +
	"| FORGED\n\u202eFORGED\u2066\n" + "a"

// stranger packs a skill whose every text is a forgery, and long.
func stranger(t *testing.T, dir, version, licence string) string {
	t.Helper()
	long := forgery + strings.Repeat(" ", 3000) + "FORGED " + strings.Repeat("x", 400<<10)
	words, short := quoteYAML(t, long), quoteYAML(t, forgery+strings.Repeat(" ", 300)+"FORGED")
	text := strings.NewReplacer("VERSION", version, "LICENCE", quoteYAML(t, licence+"\u202e"+strings.Repeat(" ", 100)+"FORGED"), "LONG", words, "SHORT", short, "\t", "  ")
	files := map[string][]byte{
		"skill.yaml": []byte(text.Replace(`name: evil
version: VERSION
description: LONG
licence: LICENCE
display: {title: SHORT, tagline: LONG, category: SHORT}
`)),
		"tools.yaml": []byte(text.Replace(`stepbox:
	description: LONG
	keywords: [look, SHORT]
	readonly: true
	required_args: [error]
	optional_args: [note]
	defaults: {note: SHORT}
	arg_schemas:
		error: {type: enum, enum: [SHORT, b], help: LONG}
		note: {type: string, help: SHORT}
`)),
		"prompt.yaml": []byte(text.Replace(`examples:
	- request: LONG
		output: {plan: [{tool: stepbox, args: {error: b}}]}
`)),
	}
	wasm, err := bundle.Pack(bundle.KindSkill, "evil", version, []byte("\x00asm\x01\x00\x00\x00"), files)
	require.NoError(t, err)
	path := filepath.Join(dir, "evil.wasm")
	require.NoError(t, os.WriteFile(path, wasm, 0o644))
	return path
}

// What a stranger's contract says stands behind a mark or behind words of
// stepbox's own, wherever it is shown, and does not scroll the rest away.
func TestNothingAContractSaysLooksLikeStepbox(t *testing.T) {
	work := home(t)
	file := stranger(t, work, "1.0.0", "mine")
	check := func(t *testing.T, out string) {
		t.Helper()
		rows := screen(t, out)
		require.Less(t, len(rows), 200)
		require.NotContains(t, out, "\u202e")
		require.Contains(t, out, "FORGED", "or this tests nothing")
		for _, row := range rows {
			if before, _, forged := strings.Cut(row, "FORGED"); forged {
				require.Regexp(t, `^(\| |    … |evil +1\.0|stepbox +read|  (error|note|licence) |licence |Which error: |  [0-9]+\) )`, before, row)
			}
		}
	}
	for _, c := range []struct {
		name string
		args []string
		code int
	}{
		{"inspect", []string{"skills", "inspect", file}, 0},
		{"show", []string{"skills", "show", file}, 0},
		{"tools", []string{"skills", "tools", file}, 0},
		{"list", []string{"skills", "list", "--skills", work}, 0},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, onTerminal(t, work, c.args...).ends(c.code)) })
	}
	t.Run("try", func(t *testing.T) {
		term := onTerminal(t, work, "try", file, "look")
		term.wait(`no network`)
		require.NoError(t, term.pty.Close())
		<-term.done
		check(t, term.text.String())
	})
	t.Run("install and update", func(t *testing.T) {
		term := onTerminal(t, work, "install", file, "--allow-unsigned")
		term.wait(`(?m)^install evil [0-9.]+, UNSIGNED\? \[y/N\]`)
		term.types("y\n")
		check(t, term.ends(0))
		stranger(t, work, "1.0.1", "yours")
		term = onTerminal(t, work, "update", "evil", "--allow-unsigned")
		term.wait(`(?m)^install evil [0-9.]+, UNSIGNED\? \[y/N\]`)
		term.types("n\n")
		check(t, term.ends(5))
	})
	t.Run("programs get all of it", func(t *testing.T) {
		var shown struct{ Description string }
		require.NoError(t, json.Unmarshal([]byte(alone(t, work, work, "skills", "inspect", file, "--json")), &shown))
		require.True(t, strings.HasPrefix(shown.Description, forgery))
		require.Greater(t, len(shown.Description), 400<<10)
	})
}

// A shell that completes a word shows what strangers wrote, and runs none of it.
func TestCompletionRunsNothing(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here to complete words in")
	}
	work := home(t)
	skills := filepath.Join(work, "more")
	tagline := "$(touch taken) `touch taken` ; touch taken #\n\x1b[2J\u202e\tevil"
	for _, name := range []string{"evil", "evil$(touch taken)", "evil;touch taken"} {
		dir := filepath.Join(skills, name)
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "skill.yaml"), []byte("name: evil\ndisplay: {tagline: "+quoteYAML(t, tagline)+"}\n"), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "tools.yaml"), []byte("look:\n  description: x\n  readonly: true\n"), 0o644))
	}
	script := alone(t, work, work, "completion", "bash")
	require.NoError(t, os.WriteFile(filepath.Join(work, "completion"), []byte(script), 0o644))
	for _, kind := range []string{"9", "63", "37"} { // once, listed, one after the other
		for _, typed := range []string{"", "evil", "fi"} {
			cmd := exec.Command(bash, "--norc", "-c", `
_get_comp_words_by_ref() { cur=${COMP_WORDS[COMP_CWORD]}; prev=${COMP_WORDS[COMP_CWORD-1]}; words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; }
__ltrim_colon_completions() { :; }
compopt() { :; }
. ./completion
COMP_WORDS=(stepbox --skills more run "$1"); COMP_CWORD=4 COMP_TYPE=$2 COMP_LINE="stepbox --skills more run $1" COMP_POINT=${#COMP_LINE}
__start_stepbox
printf '%s\n' "${COMPREPLY[@]}"`, "bash", typed, kind)
			cmd.Dir = work
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "COLUMNS=80"}
			prepare(t).setenv(func(k, v string) { cmd.Env = append(cmd.Env, k+"="+v) }, work)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, string(out))
			if typed == "fi" {
				require.Equal(t, "files\n", string(out))
			} else {
				require.Contains(t, string(out), "evil")
			}
			require.NotContains(t, string(out), "\x1b")
			require.NotContains(t, string(out), "\u202e")
			require.NotContains(t, string(out), "evil$", "what is no name of a skill is not offered")
			require.NotContains(t, string(out), "evil;")
		}
	}
	require.NoFileExists(t, filepath.Join(work, "taken"))
	require.Equal(t, display.Clean(tagline), strings.TrimPrefix(strings.Split(alone(t, work, work, "--skills", "more", "__complete", "run", "evil"), "\n")[0], "evil\t"))
}

func quoteYAML(t *testing.T, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	require.NoError(t, err)
	return string(b)
}
