package skill

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/skill/bundle"
)

const emptyModule = "\x00asm\x01\x00\x00\x00"

func TestBundle(t *testing.T) {
	dir := folder(t, map[string]string{
		"skill.yaml": minimal + "version: 2.0.1\nmodule: x.wasm\n", "tools.yaml": tools, "profiles/p.yaml": "a: 1\n", "x.wasm": emptyModule, "main.go": "package main",
	})
	s, err := Load(dir, Options{})
	require.NoError(t, err)
	packed, err := s.Pack([]byte(emptyModule))
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "anything.wasm")
	require.NoError(t, os.WriteFile(file, packed, 0o644))
	b, err := Load(file, Options{})
	require.NoError(t, err, "a bundle needs nothing beside it")
	require.Equal(t, s.Digest(), b.Digest(), "the same contract")
	require.Equal(t, s.Files(), b.Files())
	require.False(t, b.Source())
	require.Equal(t, filepath.Dir(file), b.Dir())
	require.Equal(t, "2.0.1", b.Bundle().Manifest.Version)
	module, err := b.Module(context.Background(), "", nil)
	require.NoError(t, err)
	require.Equal(t, emptyModule, string(module))

	out := filepath.Join(t.TempDir(), "out")
	require.NoError(t, b.Unpack(out))
	u, err := Load(out, Options{})
	require.NoError(t, err)
	require.Equal(t, b.Digest(), u.Digest())
	module, err = u.Module(context.Background(), "", nil)
	require.NoError(t, err)
	require.Equal(t, emptyModule, string(module))
	require.ErrorContains(t, b.Unpack(out), "is there already")
	require.ErrorContains(t, u.Unpack(out+"2"), "is a folder already")

	over := folder(t, map[string]string{"skill.yaml": "disabled_tools: [b]\n"})
	b, err = Load(file, Options{Overrides: []string{over}})
	require.NoError(t, err)
	_, ok := b.Registry().Tool("b")
	require.False(t, ok)
	_, err = b.Pack([]byte(emptyModule))
	require.ErrorContains(t, err, "loaded with overrides")
}

func TestBundlesThatLie(t *testing.T) {
	files := func(manifest string) map[string][]byte {
		return map[string][]byte{"skill.yaml": []byte(manifest), "tools.yaml": []byte(tools)}
	}
	for name, c := range map[string]struct {
		kind, version string
		files         map[string][]byte
		cut           int
		want          string
		fault         fault.Kind
	}{
		"another name":    {bundle.KindSkill, "1.0.0", files("name: other\nversion: 1.0.0\n"), 0, "calls itself demo 1.0.0, but its contract says other 1.0.0", fault.CheckFailed},
		"another version": {bundle.KindSkill, "9.0.0", files("name: demo\nversion: 1.0.0\n"), 0, "calls itself demo 9.0.0", fault.CheckFailed},
		"an engine":       {bundle.KindEngine, "1.0.0", files(minimal), 0, "is an engine, not a skill", fault.Usage},
		"no contract":     {bundle.KindSkill, "1.0.0", map[string][]byte{"x": nil}, 0, "no skill.yaml", fault.Usage},
		"source":          {bundle.KindSkill, "0.0.0", map[string][]byte{"skill.yaml": []byte(minimal), "tools.yaml": []byte(tools), "main.go": nil}, 0, `holds "main.go", which is no file of a skill`, fault.CheckFailed},
		"a faulty one":    {bundle.KindSkill, "0.0.0", files("name: demo\nstatus: odd\n"), 0, "x.wasm/skill.yaml:2: status", fault.Usage},
		"cut short":       {bundle.KindSkill, "0.0.0", files(minimal), 3, "cut short", fault.CheckFailed},
	} {
		t.Run(name, func(t *testing.T) {
			packed, err := bundle.Pack(c.kind, "demo", c.version, []byte(emptyModule), c.files)
			require.NoError(t, err)
			file := filepath.Join(t.TempDir(), "x.wasm")
			require.NoError(t, os.WriteFile(file, packed[:len(packed)-c.cut], 0o644))
			_, err = Load(file, Options{})
			require.ErrorContains(t, err, c.want)
			require.Equal(t, c.fault, fault.Of(err))
		})
	}
}
