package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// alone runs stepbox as somebody with folders of their own.
func alone(t *testing.T, work, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("stepbox", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	prepare(t).setenv(func(k, v string) { cmd.Env = append(cmd.Env, k+"="+v) }, work)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

// signedFiles is the skill files, signed by somebody else.
func signedFiles(t *testing.T) string {
	t.Helper()
	ada := t.TempDir()
	alone(t, ada, ada, "keys", "new", "ada@example.org")
	alone(t, ada, ada, "skills", "unpack", prepare(t).bundle, "files")
	alone(t, ada, ada, "skills", "pack", "files", "-o", "files.wasm", "--sign", "ada@example.org")
	return filepath.Join(ada, "files.wasm")
}

// Who signed a bundle is shown before it is trusted, even with --yes.
func TestInstallOnATerminal(t *testing.T) {
	work, file := home(t), signedFiles(t)
	term := onTerminal(t, work, "install", file, "--yes")
	term.wait(`made by +ada@example.org, as it says +ed25519:`)
	term.wait(`may change, move and delete files`)
	term.wait(`trusting this key`)
	term.wait(`install it\? \[y/N\]`)
	term.types("n\n")
	term.ends(5)
	require.NoDirExists(t, filepath.Join(work, "data"))

	term = onTerminal(t, work, "install", file)
	term.wait(`install it\? \[y/N\]`)
	term.types("y\n")
	require.Contains(t, term.ends(0), "signed by ada@example.org")
	require.Contains(t, alone(t, work, work, "skills", "list"), "installed")
	require.Contains(t, alone(t, work, work, "keys", "list"), "pinned for the skill files")
}

// A stranger's bundle says what it can do, then what it would change, and
// leaves nothing behind when that is not wanted, not even what only adds files.
func TestTryOnATerminal(t *testing.T) {
	work, file := home(t), signedFiles(t)
	made := filepath.Join(work, "home/logs.zip")
	for _, answer := range []string{"n", "y"} {
		term := onTerminal(t, work, "try", file, "zip every log file in logs into logs.zip")
		term.wait(`made by +ada@example.org, as it says`)
		term.wait(`no network`)
		term.wait(`create +logs.zip`)
		term.wait(`do this\? \[y/N`)
		require.NoFileExists(t, made)
		term.types(answer + "\n")
		if answer == "n" {
			require.Contains(t, term.ends(5), "discarded; nothing was changed")
			require.NoFileExists(t, made)
			require.Contains(t, alone(t, work, work, "runs", "list"), "discarded")
			continue
		}
		term.ends(0)
		require.FileExists(t, made)
	}
	require.NoDirExists(t, filepath.Join(work, "data"), "nothing was installed")
	require.NotContains(t, alone(t, work, work, "runs", "list"), "waiting")
}
