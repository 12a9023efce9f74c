package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/dustin/go-humanize"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"stepbox.dev/host"
)

func TestMain(m *testing.M) {
	host.RunWorkerIfAsked()
	testscript.Main(m, map[string]func(){"stepbox": main})
}

func TestScripts(t *testing.T) {
	shared := prepare(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Getuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Setup: func(env *testscript.Env) error {
			shared.setenv(env.Setenv, env.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
			"runid": runID,
			"tree":  tree,
			"model": model,
			"fill":  fill,
			"tmpfs": tmpfs,
			"stops": stops,

			"emptymodule": emptyModule,
			"key":         key,
			"damage":      damage,
		},
	})
}

// exits CODE PROGRAM ARG… runs a program and demands its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// runID NAME sets the variable NAME to the newest run.
func runID(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(ts.Exec("stepbox", "runs", "list", "--json"))
	m := regexp.MustCompile(`"id": "([^"]+)"`).FindStringSubmatch(ts.ReadFile("stdout"))
	if m == nil {
		ts.Fatalf("no run is listed")
	}
	ts.Setenv(args[0], m[1])
}

// emptymodule FILE writes the smallest module there is.
func emptyModule(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte("\x00asm\x01\x00\x00\x00"), 0o644))
}

// key NAME sets the variable NAME to the key that stderr tells to trust.
func key(ts *testscript.TestScript, neg bool, args []string) {
	k := regexp.MustCompile(`ed25519:[\w-]{43}`).FindString(ts.ReadFile("stderr"))
	if k == "" {
		ts.Fatalf("stderr names no key")
	}
	ts.Setenv(args[0], k)
}

// damage DIR changes one byte in the middle of every file of a folder.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	files, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*"))
	ts.Check(err)
	for _, f := range files {
		b, err := os.ReadFile(f)
		ts.Check(err)
		b[len(b)/2] ^= 1
		ts.Check(os.WriteFile(f, b, 0o600))
	}
}

// tree DIR prints every name below a folder, with content, so that cmp can
// tell whether anything at all changed.
func tree(ts *testscript.TestScript, neg bool, args []string) {
	var b bytes.Buffer
	ts.Check(list(&b, ts.MkAbs(args[0])))
	_, err := ts.Stdout().Write(b.Bytes())
	ts.Check(err)
}

// fill FILE SIZE writes a file of so many bytes, for example 10K.
func fill(ts *testscript.TestScript, neg bool, args []string) {
	size, err := humanize.ParseBytes(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.Repeat([]byte("x"), int(size)), 0o644))
}

func list(w io.Writer, root string) error {
	return filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if !d.Type().IsRegular() {
			_, err = fmt.Fprintf(w, "%q\n", name)
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "%q %x\n", name, sha256.Sum256(b))
		return err
	})
}

// shared is what all scripts use: the skills beside the executable, as a built
// stepbox has them, and one cache, so that each module compiles once.
type shared struct{ cache, config, goEnv, bundle string }

var prepareOnce = sync.OnceValues(func() (shared, error) {
	exe, err := exec.LookPath("stepbox")
	if err != nil {
		return shared{}, err
	}
	base := filepath.Dir(filepath.Dir(exe)) // removed by testscript.Main
	s := shared{cache: filepath.Join(base, "cache"), bundle: filepath.Join(base, "wasm", "files.wasm")}
	if out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output(); err == nil {
		s.goEnv = string(out)
	}
	// The go command counts what it does in a file of its own, later.
	mode := filepath.Join(base, "config", "go", "telemetry", "mode")
	if err := os.MkdirAll(filepath.Dir(mode), 0o700); err != nil {
		return s, err
	}
	if err := os.WriteFile(mode, []byte("off"), 0o600); err != nil {
		return s, err
	}
	s.config = filepath.Join(base, "config")
	return s, shipSkill("files", filepath.Join(base, "wasm"),
		"XDG_CACHE_HOME="+s.cache, "XDG_STATE_HOME="+filepath.Join(base, "state"), "XDG_DATA_HOME="+filepath.Join(base, "data"))
})

func prepare(t *testing.T) shared {
	t.Helper()
	s, err := prepareOnce()
	require.NoError(t, err)
	return s
}

// shipSkill packs a skill of the repository as just build does.
func shipSkill(name, dir string, env ...string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	cmd := exec.Command("stepbox", "skills", "pack", filepath.Join("..", "..", "skills", name), "-o", filepath.Join(dir, name+".wasm"))
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pack skill %s: %w\n%s", name, err, out)
	}
	return nil
}

// setenv gives a script folders of its own, and the shared cache.
func (s shared) setenv(set func(key, value string), work string) {
	set("HOME", filepath.Join(work, "person"))
	set("XDG_STATE_HOME", filepath.Join(work, "state"))
	set("XDG_DATA_HOME", filepath.Join(work, "data"))
	set("BUNDLE", s.bundle)
	set("XDG_CACHE_HOME", s.cache)
	set("XDG_CONFIG_HOME", s.config)
	lines := strings.Split(s.goEnv, "\n")
	if len(lines) >= 2 {
		set("GOCACHE", lines[0])
		set("GOMODCACHE", lines[1])
	}
	repo, err := filepath.Abs(filepath.Join("..", ".."))
	if err == nil {
		set("REPO", repo)
	}
	set("GOPROXY", "off")
	set("TERM", "dumb")
	set("ESC", "\x1b")
}
