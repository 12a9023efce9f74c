package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	term.wait(`(?m)^install files [0-9.]+, signed by ada@example.org\? \[y/N\]`)
	term.types("n\n")
	term.ends(5)
	require.NoDirExists(t, filepath.Join(work, "data"))

	term = onTerminal(t, work, "install", file)
	term.wait(`(?m)^install files [0-9.]+, signed by ada@example.org\? \[y/N\]`)
	term.types("y\n")
	require.Contains(t, term.ends(0), "signed by ada@example.org")
	require.Contains(t, alone(t, work, work, "skills", "list"), "installed")
	require.Contains(t, alone(t, work, work, "keys", "list"), "pinned for the skill files")

	// What ada signs besides is looked at as well, whatever was agreed to before.
	ada := filepath.Dir(file)
	for name, text := range map[string]string{
		"skill.yaml": "name: other\n", "tools.yaml": "look:\n  description: Looks.\n  readonly: true\n", "other.wasm": "\x00asm\x01\x00\x00\x00",
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(ada, "other"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(ada, "other", name), []byte(text), 0o644))
	}
	alone(t, ada, ada, "skills", "pack", "other", "--sign", "ada@example.org")
	other := filepath.Join(ada, "other.wasm")
	term = onTerminal(t, work, "install", other, "--yes")
	term.wait(`who signed it is trusted only for the skill files`)
	term.wait(`install other 0\.0\.0, signed by ada@example\.org\? \[y/N\]`)
	term.types("n\n")
	term.ends(5)
	alone(t, work, work, "keys", "trust", regexp.MustCompile(`ed25519:\S+`).FindString(alone(t, work, work, "keys", "list")), "--name", "ada@example.org")
	require.Contains(t, alone(t, work, work, "install", other, "--yes"), "installed other")
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

// What lies beside the executable is taken for a part of stepbox, so nobody else
// may have put it there.
func TestShippedByOthers(t *testing.T) {
	s := prepare(t)
	exe, err := exec.LookPath("stepbox")
	require.NoError(t, err)
	work := home(t)
	place := func(name string) (program, skills string) {
		program, skills = filepath.Join(work, name, "stepbox"), filepath.Join(work, filepath.Dir(name), "wasm")
		for from, to := range map[string]string{exe: program, s.bundle: filepath.Join(skills, "files.wasm")} {
			require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
			data, err := os.ReadFile(from)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(to, data, 0o755))
		}
		return program, skills
	}
	list := func(program string) string {
		cmd := exec.Command(program, "skills", "list")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
		s.setenv(func(k, v string) { cmd.Env = append(cmd.Env, k+"="+v) }, work)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	program, skills := place("here/bin")
	require.Regexp(t, `files +0\.\S+ +shipped`, list(program))
	require.NoError(t, os.Chmod(skills, 0o777))
	require.Regexp(t, `files +shipped +broken: what lies beside stepbox .* can be changed by anybody`, list(program))
	require.NoError(t, os.Chmod(skills, 0o755))
	require.NoError(t, os.Chmod(filepath.Join(skills, "files.wasm"), 0o666))
	require.Contains(t, list(program), "can be changed by anybody")
	require.NoError(t, os.Chmod(filepath.Join(skills, "files.wasm"), 0o644))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(filepath.Join(skills, "files.wasm"), 65534, -1))
		require.Contains(t, list(program), "is owned by user 65534")
	}
	folder := filepath.Join(skills, "open")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	for name, text := range map[string]string{"skill.yaml": "name: open\n", "tools.yaml": "look:\n  description: Looks.\n  readonly: true\n", "open.wasm": "\x00asm\x01\x00\x00\x00"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
	}
	require.Regexp(t, `open +0\.\S+ +shipped`, list(program))
	require.NoError(t, os.Chmod(filepath.Join(folder, "tools.yaml"), 0o666))
	require.Regexp(t, `open +shipped +broken: .*tools.yaml.* can be changed by anybody`, list(program), "what lies in a folder too")
	program, _ = place("there/tools")
	require.Contains(t, list(program), "no skill is known", "only a folder called bin has its skills beside it")
}
