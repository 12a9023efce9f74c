package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/skill/bundle"
)

const emptyModule = "\x00asm\x01\x00\x00\x00"

// pack makes a bundle of a skill with the given tools, one a line: "name may".
func pack(t testing.TB, name, version string, extra string, tools ...string) []byte {
	t.Helper()
	var text strings.Builder
	for _, tool := range tools {
		name, may, _ := strings.Cut(tool, " ")
		declared := map[string]string{"read": "readonly: true", "create": "safety_category: safe", "write": "safety_category: destructive"}[may]
		fmt.Fprintf(&text, "%s:\n  description: does %s\n  keywords: [%s]\n  %s\n", name, name, name, declared)
	}
	wasm, err := bundle.Pack(bundle.KindSkill, name, version, []byte(emptyModule), map[string][]byte{
		"skill.yaml": []byte("name: " + name + "\nversion: " + version + "\n" + extra), "tools.yaml": []byte(text.String()),
	})
	require.NoError(t, err)
	return wasm
}

func packEngine(t testing.TB, version, licence string) []byte {
	t.Helper()
	wasm, err := bundle.Pack(bundle.KindEngine, "tool", version, []byte(emptyModule+"\x00\x02\x01"+version[:1]), map[string][]byte{
		"skill.yaml": []byte("name: tool\nversion: " + version + "\nkind: engine\nlicence: MIT\n"), "LICENSE": []byte(licence),
	})
	require.NoError(t, err)
	return wasm
}

func examine(t testing.TB, wasm []byte) *Candidate {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.wasm")
	require.NoError(t, os.WriteFile(path, wasm, 0o644))
	c, err := Examine(path)
	require.NoError(t, err)
	return c
}

func newStore(t testing.TB) *Store { return New(filepath.Join(t.TempDir(), "data")) }

// signer makes a key in a store of its own, as another person has.
func signer(t testing.TB, name string) *SigningKey {
	t.Helper()
	s := newStore(t)
	_, err := s.NewSigningKey(context.Background(), name)
	require.NoError(t, err)
	k, err := s.SigningKey(name)
	require.NoError(t, err)
	return k
}

func sign(t testing.TB, k *SigningKey, wasm []byte) []byte {
	t.Helper()
	out, err := k.Sign(wasm)
	require.NoError(t, err)
	return out
}

func install(t testing.TB, s *Store, wasm []byte, terms Terms) error {
	t.Helper()
	p, err := s.Propose(examine(t, wasm), terms)
	if err != nil {
		return err
	}
	return s.Install(context.Background(), p)
}

func TestInstallUpdateRemove(t *testing.T) {
	s, ada := newStore(t), signer(t, "ada@example.org")
	first := sign(t, ada, pack(t, "demo", "1.0.0", "", "look read", "tidy write"))
	p, err := s.Propose(examine(t, first), Terms{})
	require.NoError(t, err)
	require.True(t, p.NewIdentity)
	require.NoDirExists(t, s.Dir(), "a proposal changes nothing")
	require.NoError(t, s.Install(context.Background(), p))

	e, ok, err := s.Find(bundle.KindSkill, "demo")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "ada@example.org", e.Signer.Name)
	require.Equal(t, []Tool{{"look", "read"}, {"tidy", "write"}}, e.Declares.Tools)
	b, err := s.Load(e)
	require.NoError(t, err)
	require.Equal(t, "1.0.0", b.Manifest.Version)
	ring, err := s.Ring()
	require.NoError(t, err)
	require.Len(t, ring.Trusted, 1)
	require.Equal(t, "skill demo", ring.Trusted[0].For)

	require.ErrorContains(t, install(t, s, first, Terms{}), "installed already")
	second := sign(t, ada, pack(t, "demo", "1.1.0", "limits: {memory_mb: 900}\n", "look write", "new create"))
	require.ErrorContains(t, install(t, s, second, Terms{}), "1.0.0 is installed")
	p, err = s.Propose(examine(t, second), Terms{Update: true})
	require.NoError(t, err)
	require.False(t, p.NewIdentity)
	require.Equal(t, []Difference{
		{"version", "demo", "1.0.0", "1.1.0"}, {"tool", "look", "read", "write"}, {"tool", "new", "", "create"},
		{"tool", "tidy", "write", ""}, {"limit", "memory", "the default", "900 MB"},
	}, p.Differences)
	require.NoError(t, s.Install(context.Background(), p))
	require.Error(t, s.Install(context.Background(), p), "what was agreed to once is done once")
	left, err := os.ReadDir(filepath.Join(s.Dir(), "bundles"))
	require.NoError(t, err)
	require.Len(t, left, 1, "the old bundle is gone")

	require.NoError(t, s.Remove(context.Background(), bundle.KindSkill, "demo"))
	require.Error(t, s.Remove(context.Background(), bundle.KindSkill, "demo"))
	left, err = os.ReadDir(filepath.Join(s.Dir(), "bundles"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// Whoever is not who they were, or is older than before, comes in by no flag.
func TestRefusals(t *testing.T) {
	ada, eve, fake := signer(t, "ada"), signer(t, "eve"), signer(t, "ada")
	demo := func(version string) []byte { return pack(t, "demo", version, "", "look read") }
	any := Terms{Unsigned: true, Update: true}
	broken := sign(t, ada, demo("2.0.0"))
	broken[len(broken)-20] ^= 1
	stolen, err := bundle.Read(sign(t, ada, demo("2.0.0")))
	require.NoError(t, err)
	moved, err := bundle.Sign(demo("3.0.0"), stolen.Signature)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		before []byte
		now    []byte
		terms  Terms
		want   string
		kind   fault.Kind
	}{
		"unsigned":                {nil, demo("1.0.0"), Terms{}, "nobody signed", fault.CheckFailed},
		"unsigned over signed":    {sign(t, ada, demo("1.0.0")), demo("2.0.0"), any, "nobody signed this", fault.CheckFailed},
		"broken signature":        {nil, broken, Terms{Unsigned: true}, "signature of \"demo\" is broken", fault.CheckFailed},
		"signature of another":    {nil, moved, Terms{Unsigned: true}, "made for something else", fault.CheckFailed},
		"another identity":        {sign(t, ada, demo("1.0.0")), sign(t, eve, demo("2.0.0")), any, "is signed by eve", fault.CheckFailed},
		"same name, other key":    {sign(t, ada, demo("1.0.0")), sign(t, fake, demo("2.0.0")), any, "the name of another key", fault.CheckFailed},
		"older":                   {sign(t, ada, demo("1.0.0")), sign(t, ada, demo("0.9.9")), any, "never goes back", fault.CheckFailed},
		"before the release":      {sign(t, ada, demo("1.0.0")), sign(t, ada, demo("1.0.0-rc.1")), any, "never goes back", fault.CheckFailed},
		"another of that version": {sign(t, ada, demo("1.0.0")), sign(t, ada, pack(t, "demo", "1.0.0", "", "look write")), any, "but is another one", fault.CheckFailed},
		"update of nothing":       {nil, sign(t, ada, demo("1.0.0")), Terms{Update: true}, "no skill \"demo\" is installed", fault.Usage},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			if c.before != nil {
				require.NoError(t, install(t, s, c.before, Terms{}))
			}
			was, err := s.Entries()
			require.NoError(t, err)
			wasm := c.now
			path := filepath.Join(t.TempDir(), "x.wasm")
			require.NoError(t, os.WriteFile(path, wasm, 0o644))
			candidate, err := Examine(path)
			require.NoError(t, err)
			_, err = s.Propose(candidate, c.terms)
			require.ErrorContains(t, err, c.want)
			require.Equal(t, c.kind, fault.Of(err))
			is, err := s.Entries()
			require.NoError(t, err)
			require.Equal(t, was, is)
		})
	}
}

func TestUnsignedIsRememberedAndCanBecomeSigned(t *testing.T) {
	s, ada := newStore(t), signer(t, "ada")
	plain := pack(t, "demo", "1.0.0", "", "look read")
	require.NoError(t, install(t, s, plain, Terms{Unsigned: true}))
	e, _, err := s.Find(bundle.KindSkill, "demo")
	require.NoError(t, err)
	require.True(t, e.Unsigned)
	_, err = s.Load(e)
	require.NoError(t, err)
	require.NoError(t, install(t, s, sign(t, ada, plain), Terms{Update: true}))
	e, _, err = s.Find(bundle.KindSkill, "demo")
	require.NoError(t, err)
	require.False(t, e.Unsigned)
}

// An engine that a skill names by its digest outlives its successor.
func TestEnginesStayWhileNeeded(t *testing.T) {
	s := newStore(t)
	old := examine(t, packEngine(t, "1.0.0", "You may."))
	user := pack(t, "demo", "1.0.0", "engines: [{name: tool, digest: "+old.Bundle.Manifest.Module.SHA256+"}]\n", "look read")
	p, err := s.Propose(examine(t, user), Terms{Unsigned: true})
	require.NoError(t, err)
	require.Equal(t, []Engine{{"tool", old.Bundle.Manifest.Module.SHA256}}, p.Missing)
	require.NoError(t, s.Install(context.Background(), p))
	require.NoError(t, install(t, s, packEngine(t, "1.0.0", "You may."), Terms{Unsigned: true}))
	require.NoError(t, install(t, s, packEngine(t, "2.0.0", "You may."), Terms{Unsigned: true, Update: true}))
	all, err := s.Entries()
	require.NoError(t, err)
	require.Len(t, all, 3)
	require.Equal(t, "2.0.0", all[1].Version)
	for _, e := range all {
		_, err := s.Load(e)
		require.NoError(t, err)
	}
	require.ErrorContains(t, s.Remove(context.Background(), bundle.KindEngine, "tool"), "needed by demo")
	require.NoError(t, s.Remove(context.Background(), bundle.KindSkill, "demo"))
	require.NoError(t, install(t, s, packEngine(t, "3.0.0", "You may."), Terms{Unsigned: true, Update: true}))
	all, err = s.Entries()
	require.NoError(t, err)
	require.Len(t, all, 1, "nobody needs the older ones")
}

// Row 25 of the hostile cases: what changed on disk does not run.
func TestChangedOnDisk(t *testing.T) {
	s, ada := newStore(t), signer(t, "ada")
	one, two := sign(t, ada, pack(t, "demo", "1.0.0", "", "look read")), sign(t, ada, pack(t, "demo", "2.0.0", "", "look read"))
	require.NoError(t, install(t, s, one, Terms{}))
	e, _, err := s.Find(bundle.KindSkill, "demo")
	require.NoError(t, err)
	other := sign(t, signer(t, "eve"), pack(t, "demo", "1.0.0", "", "look read"))
	for name, change := range map[string]func(path string) error{
		"gone":             os.Remove,
		"cut":              func(p string) error { return os.Truncate(p, int64(len(one)-10)) },
		"empty":            func(p string) error { return os.Truncate(p, 0) },
		"another version":  func(p string) error { return os.WriteFile(p, two, 0o600) },
		"another signer":   func(p string) error { return os.WriteFile(p, other, 0o600) },
		"no signature":     func(p string) error { return os.WriteFile(p, pack(t, "demo", "1.0.0", "", "look read"), 0o600) },
		"world-writable":   func(p string) error { return os.Chmod(p, 0o666) },
		"a folder instead": func(p string) error { return os.Mkdir(p+"", 0o700) },
		"a link instead": func(p string) error {
			elsewhere := filepath.Join(t.TempDir(), "same.wasm")
			if err := os.WriteFile(elsewhere, one, 0o600); err != nil {
				return err
			}
			if err := os.Remove(p); err != nil {
				return err
			}
			return os.Symlink(elsewhere, p)
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.RemoveAll(s.Path(e)))
			if name != "a folder instead" {
				require.NoError(t, os.WriteFile(s.Path(e), one, 0o600))
				_, err := s.Load(e)
				require.NoError(t, err)
			}
			require.NoError(t, change(s.Path(e)))
			_, err := s.Load(e)
			require.ErrorContains(t, err, "is not what was installed")
			require.Equal(t, fault.CheckFailed, fault.Of(err))
		})
	}
	for i := range one { // any one bit that matters
		changed := []byte(string(one))
		changed[i] ^= 4
		require.NoError(t, os.RemoveAll(s.Path(e)))
		require.NoError(t, os.WriteFile(s.Path(e), changed, 0o600))
		if b, err := s.Load(e); err == nil {
			require.Equal(t, emptyModule, string(b.Module), "byte %d", i)
			require.Equal(t, e.Digest, examine(t, changed).Digest())
		}
	}
}

// Of any number that install at once, exactly one wins, and what is there
// afterwards is whole.
func TestManyAtOnce(t *testing.T) {
	s, ada := newStore(t), signer(t, "ada")
	same := sign(t, ada, pack(t, "same", "1.0.0", "", "look read"))
	var wg sync.WaitGroup
	won := make(chan int, 20)
	for i := range 10 {
		own := sign(t, ada, pack(t, fmt.Sprintf("own%d", i), "1.0.0", "", "look read"))
		wg.Go(func() {
			if install(t, New(s.Dir()), same, Terms{}) == nil {
				won <- i
			}
		})
		wg.Go(func() { // each races for pinning ada, too
			for {
				err := install(t, New(s.Dir()), own, Terms{})
				if err == nil {
					return
				}
				if !strings.Contains(err.Error(), "meanwhile") {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	require.Len(t, won, 1)
	all, err := s.Entries()
	require.NoError(t, err)
	require.Len(t, all, 11)
	for _, e := range all {
		_, err := s.Load(e)
		require.NoError(t, err)
	}
	ring, err := s.Ring()
	require.NoError(t, err)
	require.Len(t, ring.Trusted, 1)
}

func TestVersions(t *testing.T) {
	order := []string{"0.9.9", "1.0.0-1", "1.0.0-2", "1.0.0-10", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0"}
	for i, a := range order {
		for j, b := range order {
			require.Equal(t, sgn(i-j), sgn(compareVersions(a, b)), "%s and %s", a, b)
		}
	}
}

func sgn(n int) int { return max(-1, min(1, n)) }

func BenchmarkLoad20MB(b *testing.B) {
	s, ada := newStore(b), signer(b, "ada")
	big := []byte(emptyModule)
	size := 20 << 20
	big = append(big, 0, byte(size)|0x80, byte(size>>7)|0x80, byte(size>>14)|0x80, byte(size>>21), 1, 'x')
	big = append(big, make([]byte, size-2)...)
	wasm, err := bundle.Pack(bundle.KindSkill, "demo", "1.0.0", big, map[string][]byte{
		"skill.yaml": []byte("name: demo\nversion: 1.0.0\n"), "tools.yaml": []byte("look:\n  description: looks\n  readonly: true\n"),
	})
	require.NoError(b, err)
	require.NoError(b, install(b, s, sign(b, ada, wasm), Terms{}))
	e, _, err := s.Find(bundle.KindSkill, "demo")
	require.NoError(b, err)
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if _, err := os.ReadFile(s.Path(e)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("load", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Load(e); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("inspect", func(b *testing.B) {
		path := filepath.Join(b.TempDir(), "x.wasm")
		require.NoError(b, os.WriteFile(path, wasm, 0o600))
		for b.Loop() {
			if _, err := Examine(path); err != nil {
				b.Fatal(err)
			}
		}
	})
}
