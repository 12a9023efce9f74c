package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// anID stands for the ID of a run in examples.
var anID = regexp.MustCompile(`\b\d{8}-\d{6}-\w{4,}\b`)

// person is a shell of somebody who has stepbox and a folder.
type person struct {
	t    *testing.T
	work string
	env  []string
}

func newPerson(t *testing.T) *person {
	t.Helper()
	p := &person{t: t, work: t.TempDir(), env: []string{"PATH=" + os.Getenv("PATH")}}
	prepare(t).setenv(func(k, v string) { p.env = append(p.env, k+"="+v) }, p.work)
	require.NoError(t, os.CopyFS(filepath.Join(p.work, "home"), os.DirFS("../../fixtures/home")))
	require.NoError(t, os.Symlink(prepare(t).bundle, filepath.Join(p.work, "home", "files.wasm")))
	return p
}

// run runs a line of shell in the folder and returns its exit code and output.
func (p *person) run(line string) (int, string) {
	p.t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir, cmd.Env = filepath.Join(p.work, "home"), p.env
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		require.NoError(p.t, err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// staged makes a run that waits for approval, or a committed one, and returns
// its ID.
func (p *person) staged(commit bool) string {
	p.t.Helper()
	line := `stepbox run files "delete the tmp files in build"`
	if commit {
		line += " --yes"
	}
	_, out := p.run(line)
	id := anID.FindString(out)
	require.NotEmpty(p.t, id, out)
	return id
}

// TestExamplesWorkAsTyped runs the example of every help text.
func TestExamplesWorkAsTyped(t *testing.T) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			walk(c)
		}
		if cmd.Hidden {
			return
		}
		t.Run(strings.ReplaceAll(cmd.CommandPath(), " ", "_"), func(t *testing.T) {
			require.NotEmpty(t, cmd.Example)
			require.NotEmpty(t, cmd.Annotations["exits"])
			p := newPerson(t)
			line := strings.TrimSpace(cmd.Example)
			if anID.MatchString(line) {
				line = anID.ReplaceAllString(line, p.staged(cmd.Name() == "undo"))
			}
			code, out := p.run(line)
			require.Zero(t, code, "%s\n%s", line, out)
		})
	}
	walk(newRoot(newApp(nil, io.Discard, io.Discard)))
}

func TestDistance(t *testing.T) {
	require.Equal(t, 0, distance("sandbox", "sandbox"))
	require.Equal(t, 1, distance("sandbx", "sandbox"))
	require.Equal(t, 3, distance("", "yes"))
	require.Equal(t, 2, distance("jsno", "json"))
}

func TestDays(t *testing.T) {
	d, err := days("30d")
	require.NoError(t, err)
	require.Equal(t, 720.0, d.Hours())
	d, err = days("90m")
	require.NoError(t, err)
	require.Equal(t, 1.5, d.Hours())
	for _, bad := range []string{"d", "soon", "3dd", ""} {
		_, err = days(bad)
		require.Error(t, err, bad)
	}
}
