package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/skill/bundle"
)

// A lock file, key ring or signing key that is not what it has to be says so,
// and nothing of it is used.
func TestDamagedStores(t *testing.T) {
	zeros := strings.Repeat("0", 64)
	entry := func(edit string) string {
		e := `{"kind":"skill","name":"x","version":"1.0.0","digest":"` + zeros + `","module":"` + zeros + `","file":"` + zeros +
			`","size":1,"source":"","installed":"2026-01-01T00:00:00Z","unsigned":true,"declares":{"tools":[],"engines":[],"limits":{},"wasm_features":[],"licence":""}}`
		from, to, _ := strings.Cut(edit, " => ")
		return strings.Replace(e, from, to, 1)
	}
	list := func(entries ...string) string { return `{"version":1,"bundles":[` + strings.Join(entries, ",") + `]}` }
	key := `{"name":"a","key":"ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","since":"2026-01-01T00:00:00Z"}`
	for name, c := range map[string]struct{ file, text, want string }{
		"lock: nothing":          {"lock.json", "", "damaged"},
		"lock: half":             {"lock.json", list(entry(""))[:90], "damaged"},
		"lock: more":             {"lock.json", list() + "{}", "behind its end"},
		"lock: unknown field":    {"lock.json", `{"version":1,"bundles":[],"x":1}`, "damaged"},
		"lock: newer":            {"lock.json", `{"version":2,"skills":{}}`, "a newer stepbox is needed"},
		"lock: no version":       {"lock.json", `{"bundles":[]}`[:1] + `"version":0,"bundles":[]}`, "no form"},
		"lock: path in a name":   {"lock.json", list(entry(`"x" => "../x"`)), "damaged"},
		"lock: path in a digest": {"lock.json", list(entry(`"file":"` + zeros + ` => "file":"../../../x`)), "damaged"},
		"lock: twice":            {"lock.json", list(entry(""), entry("")), "there twice"},
		"lock: unsigned, signed": {"lock.json", list(entry(`"unsigned":true => "unsigned":false`)), "neither signed nor unsigned"},
		"lock: an empty object":  {"lock.json", "{}", "no form"},
		"lock: null":             {"lock.json", "null", "no form"},
		"lock: no list":          {"lock.json", `{"version":1}`, "does not say what is installed"},
		"lock: a brace more":     {"lock.json", list() + "}", "behind its end"},
		"ring: an empty object":  {"keys.json", "{}", "no form"},
		"ring: no list":          {"keys.json", `{"version":1}`, "does not say who is trusted"},
		"ring: a brace more":     {"keys.json", `{"version":1,"trusted":[]}}`, "behind its end"},
		"lock: huge":             {"lock.json", strings.Repeat(" ", maxLock+1), "larger than 8 MiB"},
		"ring: deep":             {"keys.json", `{"version":1,"trusted":` + strings.Repeat("[", 100000), "damaged"},
		"lock: deep":             {"lock.json", strings.Repeat("[", 100000), "damaged"},
		"ring: half":             {"keys.json", `{"version":1,"trusted":[` + key, "damaged"},
		"ring: no key":           {"keys.json", `{"version":1,"trusted":[` + strings.Replace(key, "11qY", "!!!!", 1) + `]}`, "damaged"},
		"ring: twice":            {"keys.json", `{"version":1,"trusted":[` + key + `,` + key + `]}`, "there twice"},
		"ring: path":             {"keys.json", `{"version":1,"trusted":[` + strings.Replace(key, `"a"`, `"a/../b"`, 1) + `]}`, "damaged"},
		"ring: newer":            {"keys.json", `{"version":9}`, "needed"},
		"key: nothing":           {"signing/ada.pem", "", "damaged"},
		"key: another kind":      {"signing/ada.pem", "-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n", "no Ed25519 key"},
		"key: text":              {"signing/ada.pem", "hello", "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			_, err := s.NewSigningKey(context.Background(), "ada")
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(s.Dir(), c.file), []byte(c.text), 0o600))
			_, lerr := s.Entries()
			_, rerr := s.Ring()
			_, kerr := s.SigningKey("ada")
			err = errors.Join(lerr, rerr, kerr)
			require.ErrorContains(t, err, c.want)
			require.Equal(t, fault.CheckFailed, fault.Of(err))
			if strings.HasPrefix(name, "lock") || strings.HasPrefix(name, "ring") {
				require.Error(t, install(t, s, sign(t, signer(t, "eve"), pack(t, "demo", "1.0.0", "", "look read")), Terms{}))
				left, err := os.ReadDir(filepath.Join(s.Dir(), "bundles"))
				require.NoError(t, err)
				require.Empty(t, left, "nothing half installed")
			}
		})
	}
}

// What others can write to decides nothing here.
func TestOpenStores(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("folders of a profile are guarded by access control lists there")
	}
	for name, c := range map[string]struct {
		path string
		mode os.FileMode
	}{
		"store": {".", 0o777}, "bundles": {"bundles", 0o770}, "lock": {"lock.json", 0o666}, "ring": {"keys.json", 0o620}, "key": {"signing/ada.pem", 0o604},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			_, err := s.NewSigningKey(context.Background(), "ada")
			require.NoError(t, err)
			require.NoError(t, os.Chmod(filepath.Join(s.Dir(), c.path), c.mode))
			_, lerr := s.Entries()
			_, rerr := s.Ring()
			_, kerr := s.SigningKey("ada")
			err = errors.Join(lerr, rerr, kerr)
			require.ErrorContains(t, err, "but its mode is")
			require.Equal(t, fault.Stopped, fault.Of(err))
		})
	}
	t.Run("read-only", func(t *testing.T) {
		if os.Geteuid() == 0 {
			t.Skip("root writes everywhere")
		}
		s := newStore(t)
		require.NoError(t, s.Trust(context.Background(), signer(t, "x").Key, "x"))
		require.NoError(t, os.Chmod(s.Dir(), 0o500))
		t.Cleanup(func() { _ = os.Chmod(s.Dir(), 0o700) })
		err := s.Forget(context.Background(), "x")
		require.ErrorContains(t, err, "cannot be")
		require.Equal(t, fault.Usage, fault.Of(err))
		ring, err := s.Ring()
		require.NoError(t, err)
		require.Len(t, ring.Trusted, 1)
	})
	t.Run("a link instead", func(t *testing.T) {
		for file, read := range map[string]func(*Store) error{
			"lock.json":       func(s *Store) error { _, err := s.Entries(); return err },
			"keys.json":       func(s *Store) error { _, err := s.Ring(); return err },
			"signing/ada.pem": func(s *Store) error { _, err := s.SigningKey("ada"); return err },
		} {
			s := newStore(t)
			_, err := s.NewSigningKey(context.Background(), "ada")
			require.NoError(t, err)
			path := filepath.Join(s.Dir(), file)
			require.NoError(t, os.Rename(path, path+".real"))
			require.NoError(t, os.Symlink(path+".real", path))
			err = read(s)
			require.ErrorContains(t, err, "cannot be read")
			require.Equal(t, fault.CheckFailed, fault.Of(err))
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.Mkdir(path, 0o700))
			require.ErrorContains(t, read(s), "no regular file")
		}
	})
	t.Run("another user's", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("only root gives files away")
		}
		for _, file := range []string{".", "bundles", "lock.json", "keys.json", "signing/ada.pem"} {
			s := newStore(t)
			_, err := s.NewSigningKey(context.Background(), "ada")
			require.NoError(t, err)
			require.NoError(t, os.Chown(filepath.Join(s.Dir(), file), 65534, -1))
			_, lerr := s.Entries()
			_, rerr := s.Ring()
			_, kerr := s.SigningKey("ada")
			err = errors.Join(lerr, rerr, kerr)
			require.ErrorContains(t, err, "user 65534 owns it")
			require.Equal(t, fault.Stopped, fault.Of(err))
		}
	})
	t.Run("a file instead", func(t *testing.T) {
		s := newStore(t)
		require.NoError(t, os.WriteFile(s.Dir(), nil, 0o600))
		_, err := s.Entries()
		require.Error(t, err)
		require.Error(t, s.Trust(context.Background(), signer(t, "x").Key, "x"))
	})
	t.Run("a FIFO instead", func(t *testing.T) {
		fifo(t, filepath.Join(t.TempDir(), "x.wasm"), func(path string) {
			_, err := Examine(path)
			require.ErrorContains(t, err, "no regular file")
		})
	})
}

// What lies deep in an override counts as much as what lies at its top.
func TestGuarded(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no mode bits")
	}
	for _, open := range []string{".", "skill.yaml", "profiles", "profiles/deep", "profiles/deep/x.json"} {
		dir := t.TempDir()
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "profiles/deep"), 0o755))
		for _, name := range []string{"skill.yaml", "profiles/deep/x.json"} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
		}
		require.NoError(t, Guarded(dir))
		require.NoError(t, os.Chmod(filepath.Join(dir, open), 0o777))
		require.ErrorContains(t, Guarded(dir), filepath.Base(filepath.Join(dir, open)))
	}
}

// The lock file is what the next update is compared with: verify says when it
// does not say what the bundle says.
func TestVerifyTheLockFile(t *testing.T) {
	s, ada := newStore(t), signer(t, "ada")
	require.NoError(t, install(t, s, sign(t, ada, pack(t, "demo", "1.0.0", "", "tidy write")), Terms{}))
	path := filepath.Join(s.Dir(), "lock.json")
	was, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, lie := range [][2]string{{`"may": "write"`, `"may": "none"`}, {`"size": `, `"size": 1`}, {"no such text", ""}} {
		text := strings.Replace(string(was), lie[0], lie[1], 1)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		e, ok, err := s.Find(bundle.KindSkill, "demo")
		require.NoError(t, err)
		require.True(t, ok)
		if text == string(was) {
			require.NoError(t, s.Verify(e))
			continue
		}
		require.ErrorContains(t, s.Verify(e), "says other things")
	}
}

// updatesForEver is the child of TestKilledAtAnyPoint.
const updatesForEver = "STEPBOX_TEST_UPDATES_IN"

// A process that dies at any point of an update leaves the old or the new,
// whole; the next change clears up after it.
func TestKilledAtAnyPoint(t *testing.T) {
	if dir := os.Getenv(updatesForEver); dir != "" {
		s, ada := New(dir), signer(t, "ada")
		for i := 1; ; i++ {
			if err := install(t, s, sign(t, ada, pack(t, "demo", fmt.Sprintf("1.0.%d", i), "", "look read")), Terms{Update: i > 1}); err != nil {
				fmt.Println("failed", err)
				return
			}
			fmt.Println("installed", i)
		}
	}
	for round := range 20 {
		s := newStore(t)
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledAtAnyPoint$")
		cmd.Env = append(os.Environ(), updatesForEver+"="+s.Dir())
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for range 3 {
			require.True(t, lines.Scan())
			require.Contains(t, lines.Text(), "installed", "the child has to work for this to test anything")
		}
		time.Sleep(time.Duration(round) * 300 * time.Microsecond) // each round dies at another point
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait() // it was killed

		e, ok, err := s.Find(bundle.KindSkill, "demo")
		require.NoError(t, err)
		require.True(t, ok)
		b, err := s.Load(e)
		require.NoError(t, err)
		require.Equal(t, e.Version, b.Manifest.Version)
		require.NoError(t, install(t, s, sign(t, signer(t, "eve"), pack(t, "other", "1.0.0", "", "look read")), Terms{}))
		left, err := os.ReadDir(filepath.Join(s.Dir(), "bundles"))
		require.NoError(t, err)
		require.Len(t, left, 2)
		top, err := filepath.Glob(filepath.Join(s.Dir(), newPrefix+"*"))
		require.NoError(t, err)
		require.Empty(t, top)
	}
}

// FuzzVerify: no text of a signature section is taken for a signature but one
// that was made with a key for this very manifest and name.
func FuzzVerify(f *testing.F) {
	k := signer(f, "ada")
	wasm := sign(f, k, pack(f, "demo", "1.0.0", "", "look read"))
	good, err := bundle.Read(wasm)
	require.NoError(f, err)
	f.Add(good.Signature)
	f.Add([]byte(`{"key":"","signature":"","signer":""}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		b := *good
		b.Signature = text
		who, err := Verify(&b)
		if err == nil && who != nil && who.Key == k.Key {
			require.Equal(t, "ada", who.Name)
		}
	})
}

// A skill whose words cannot be read is refused before it is installed, not at
// every request afterwards.
func TestLexiconIsLookedAt(t *testing.T) {
	wasm, err := bundle.Pack(bundle.KindSkill, "demo", "1.0.0", []byte(emptyModule), map[string][]byte{
		"skill.yaml": []byte("name: demo\nversion: 1.0.0\n"), "tools.yaml": []byte("look:\n  description: x\n  readonly: true\n"),
		"lexicon.yaml": []byte("- no mapping\n"),
	})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "x.wasm")
	require.NoError(t, os.WriteFile(path, wasm, 0o644))
	_, err = Examine(path)
	require.ErrorContains(t, err, "lexicon.yaml")
	require.Equal(t, fault.Usage, fault.Of(err))
}
