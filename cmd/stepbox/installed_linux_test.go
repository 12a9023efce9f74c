package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/skill/bundle"
	"stepbox.dev/host/store"
)

// installed is a store that stepbox finds, and a folder with bundles.
type installed struct {
	*testing.T
	store *store.Store
	dir   string
}

func newInstalled(t *testing.T) installed {
	dir := t.TempDir()
	t.Setenv("XDG_DATA_HOME", filepath.Join(dir, "data"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	return installed{t, store.New(filepath.Join(dir, "data", "stepbox")), dir}
}

// write makes a bundle, in the file of its name.
func (i installed) write(kind, name, version, extra string, by *store.SigningKey) string {
	i.Helper()
	module := "\x00asm\x01\x00\x00\x00\x00\x02\x01" + version[:1]
	files := map[string][]byte{"skill.yaml": []byte("name: " + name + "\nversion: " + version + "\n" + extra)}
	if kind == bundle.KindSkill {
		files["tools.yaml"] = []byte("look:\n  description: Looks.\n  readonly: true\n")
	} else {
		files["LICENSE"] = []byte("You may.")
	}
	wasm, err := bundle.Pack(kind, name, version, []byte(module), files)
	require.NoError(i, err)
	if by != nil {
		wasm, err = by.Sign(wasm)
		require.NoError(i, err)
	}
	path := filepath.Join(i.dir, name+".wasm")
	require.NoError(i, os.WriteFile(path, wasm, 0o644))
	return path
}

// install installs it as a person does who agrees.
func (i installed) install(path string, terms store.Terms) store.Entry {
	i.Helper()
	c, err := store.Examine(path)
	require.NoError(i, err)
	p, err := i.store.Propose(c, terms)
	require.NoError(i, err)
	require.NoError(i, i.store.Install(context.Background(), p))
	return p.New
}

func stepbox(args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = run(context.Background(), args, nil, &o, &e)
	return code, o.String(), e.String()
}

// A key that was pinned for one bundle says nothing about another, wherever who
// signed it is shown or decides.
func TestPinnedForAnother(t *testing.T) {
	i, other := newInstalled(t), store.New(filepath.Join(t.TempDir(), "data"))
	_, err := other.NewSigningKey(context.Background(), "mallory")
	require.NoError(t, err)
	mallory, err := other.SigningKey("mallory")
	require.NoError(t, err)
	one, two := i.write(bundle.KindSkill, "one", "1.0.0", "", mallory), i.write(bundle.KindSkill, "two", "1.0.0", "", mallory)
	i.install(one, store.Terms{})

	code, out, _ := stepbox("verify", one)
	require.Zero(t, code)
	require.Contains(t, out, "trusted since")
	code, out, errs := stepbox("verify", two)
	require.Equal(t, int(fault.CheckFailed), code)
	require.Contains(t, out, "trusted only for the skill one, not for this")
	require.Contains(t, errs, "who is trusted only for the skill one")
	for _, verb := range []string{"inspect", "show"} {
		code, out, _ = stepbox("skills", verb, two, "--json")
		require.Zero(t, code)
		require.Contains(t, out, `"signed": "elsewhere"`, verb)
		_, out, _ = stepbox("skills", verb, two)
		require.Contains(t, out, "trusted only for the skill one, not for this", verb)
	}
	code, _, errs = stepbox("install", two, "--yes")
	require.Equal(t, int(fault.NotApproved), code)
	require.Contains(t, errs, "run it on a terminal; or, to trust all that this key signs: stepbox keys trust", "what trusts least comes first")

	i.install(two, store.Terms{})
	code, out, _ = stepbox("verify", two)
	require.Zero(t, code, "somebody agreed to it")
	require.Contains(t, out, "trusted since")
}

// An engine that was updated in place, whose older version stays for a skill, is
// up to date.
func TestUpdatedInPlace(t *testing.T) {
	i, terms := newInstalled(t), store.Terms{Unsigned: true, Update: true}
	engine := "kind: engine\nlicence: MIT\n"
	first := i.install(i.write(bundle.KindEngine, "tool", "1.0.0", engine, nil), store.Terms{Unsigned: true})
	i.install(i.write(bundle.KindSkill, "user", "1.0.0", fmt.Sprintf("engines: [{name: tool, digest: %s}]\n", first.Module), nil), store.Terms{Unsigned: true})
	i.write(bundle.KindEngine, "tool", "2.0.0", engine, nil)
	paths, bad, err := sources(i.store, nil)
	require.NoError(t, err)
	require.Empty(t, bad)
	require.Equal(t, []string{first.Source}, paths)
	i.install(first.Source, terms)
	entries, err := i.store.Entries()
	require.NoError(t, err)
	require.Len(t, entries, 3, "the older one stays")
	for _, args := range [][]string{{"update"}, {"update", "tool"}, {"update", "user", "tool"}} {
		code, out, errs := stepbox(append(args, "--allow-unsigned", "--yes")...)
		require.Zero(t, code, errs)
		require.Contains(t, out, "as new as")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// What was done is done, also when it cannot be printed, and then that is said.
func TestDoneButNotPrinted(t *testing.T) {
	i := newInstalled(t)
	i.install(i.write(bundle.KindSkill, "one", "1.0.0", "", nil), store.Terms{Unsigned: true})
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"keys", "new", "ada"}, "the key ada was made and is trusted, as stepbox keys list says, but it cannot be printed"},
		{[]string{"remove", "one"}, "removed one, but it cannot be printed"},
	} {
		var errs bytes.Buffer
		require.Equal(t, int(fault.Internal), run(context.Background(), c.args, nil, full{}, &errs))
		require.Contains(t, errs.String(), c.want)
	}
	_, out, _ := stepbox("keys", "list")
	require.Contains(t, out, "ada  ed25519:")
}
