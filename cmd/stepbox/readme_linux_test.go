package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// blocks returns the fenced code blocks of a language in the README.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	b, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	var found []string
	for _, m := range regexp.MustCompile("(?s)```(\\w+)\n(.*?)```").FindAllStringSubmatch(string(b), -1) {
		if m[1] == language {
			found = append(found, m[2])
		}
	}
	require.NotEmpty(t, found)
	return found
}

// TestSessionInTheREADME types the commands of the session on a terminal and
// demands exactly what the README shows; a line … stands for lines left out. IDs
// differ, and so do sizes of what is packed, which depend on the clock.
func TestSessionInTheREADME(t *testing.T) {
	work := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(work, "home"), os.DirFS("../../fixtures/home")))
	onTerminal(t, work, "run", "files", "list files").ends(0) // the first run says that it compiles
	var last string                                           // ID of the newest run
	for _, block := range blocks(t, "console") {
		for _, part := range strings.Split(block, "$ stepbox ")[1:] {
			command, shown, _ := strings.Cut(part, "\n")
			command = anID.ReplaceAllString(command, last)
			t.Log(command)
			term := onTerminal(t, work, words(command)...)
			if strings.Contains(shown, "[y/N") {
				term.wait(`\[y/N[^]]*\] `)
				term.types("y\n")
			}
			said := strings.Join(screen(t, drawnOver.ReplaceAllString(term.ends(0), "")), "\n") + "\n"
			require.Regexp(t, expression(shown), said)
			if id := anID.FindString(said); id != "" {
				last = id
			}
		}
	}
}

// drawnOver is what progress wrote and took away again.
var drawnOver = regexp.MustCompile(`[^\n]*\r\x1b\[K`)

// expression matches a terminal on which a command of the session ran.
func expression(shown string) string {
	var b strings.Builder
	b.WriteString(`^`)
	for line := range strings.Lines(strings.TrimSpace(shown)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "…" {
			b.WriteString(`(.*\n)+?`)
			continue
		}
		want := regexp.QuoteMeta(line)
		want = anID.ReplaceAllString(want, `[0-9a-z-]+`)
		want = aSize.ReplaceAllString(want, ` +[0-9.]+ k?B`)
		want = aShare.ReplaceAllString(want, ` +[0-9]+%`)
		b.WriteString(want + `\n`)
	}
	return b.String() + `$`
}

// aSize and aShare are a size and a share in a quoted expression.
var (
	aSize  = regexp.MustCompile(` +[0-9]+(\\\.[0-9]+)? k?B`)
	aShare = regexp.MustCompile(` +[0-9]+%`)
)

// words splits a command line that quotes with " only.
func words(s string) []string {
	var out []string
	for i, part := range strings.Split(s, `"`) {
		if i%2 == 1 {
			out = append(out, part)
		} else {
			out = append(out, strings.Fields(part)...)
		}
	}
	return out
}

// TestCommandsInTheREADME runs the other commands, in a copy of what is in git.
func TestCommandsInTheREADME(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a copy of the repository")
	}
	work := t.TempDir()
	repo := filepath.Join(work, "repo")
	for _, dir := range []string{"abi", "cmd", "guest-sdk", "host", "skills", "fixtures", "internal"} {
		require.NoError(t, os.CopyFS(filepath.Join(repo, dir), os.DirFS(filepath.Join("../..", dir))))
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		b, err := os.ReadFile(filepath.Join("../..", file))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(repo, file), b, 0o644))
	}
	env := []string{"PATH=" + os.Getenv("PATH")}
	prepare(t).setenv(func(k, v string) { env = append(env, k+"="+v) }, work)
	for _, block := range blocks(t, "sh") {
		if strings.TrimSpace(block) == "go test ./..." { // this is it
			continue
		}
		cmd := exec.Command("sh", "-euc", block)
		cmd.Dir, cmd.Env = repo, env
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", block, out)
	}
}
