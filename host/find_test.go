package host_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/skill"
	"stepbox.dev/host/skill/bundle"
)

const leastModule = "\x00asm\x01\x00\x00\x00"

// The digest says which engine is meant: what is called like it and is broken, or
// is another one, is passed over.
func TestEngineBehindABrokenOne(t *testing.T) {
	shelf := func(wasm []byte) string {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "eng.wasm"), wasm, 0o600))
		return dir
	}
	pack := func(module string) ([]byte, string) {
		wasm, err := bundle.Pack(bundle.KindEngine, "eng", "1.0.0", []byte(module), map[string][]byte{
			"skill.yaml": []byte("name: eng\nversion: 1.0.0\nkind: engine\nlicence: MIT\n"), "LICENSE": []byte("You may."),
		})
		require.NoError(t, err)
		sum := sha256.Sum256([]byte(module))
		return wasm, hex.EncodeToString(sum[:])
	}
	sound, digest := pack(leastModule)
	other, _ := pack(leastModule + "\x00\x02\x01x")
	cut := shelf(sound[:len(sound)-5])
	find := func(shelves ...string) (*skill.EngineBundle, error) {
		h, err := host.New(t.Context(), host.Options{State: filepath.Join(t.TempDir(), "state"), Cache: cache, Data: filepath.Join(t.TempDir(), "data"), Skills: shelves})
		require.NoError(t, err)
		return h.Engine(t.Context(), "eng", digest)
	}
	e, err := find(cut, shelf(other), shelf(sound))
	require.NoError(t, err)
	require.Equal(t, "eng", e.Name())
	_, err = find(cut)
	require.ErrorContains(t, err, "cut short", "and told of when none fits")
	_, err = find(shelf(other))
	require.ErrorContains(t, err, "another digest")
	_, err = find()
	require.ErrorContains(t, err, "not installed")
	require.Contains(t, fault.Next(err), "eng.wasm")
}

// What is no name of a skill cannot be named, listed or completed.
func TestFoldersThatAreNoNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"good", "--yes", "Evil", "a b", "$(id)", "con"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name, "skill.yaml"), []byte("name: good\n"), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name, "tools.yaml"), []byte("look:\n  description: x\n  readonly: true\n"), 0o600))
	}
	h, err := host.New(t.Context(), host.Options{State: filepath.Join(t.TempDir(), "state"), Cache: cache, Data: filepath.Join(t.TempDir(), "data"), Skills: []string{dir}})
	require.NoError(t, err)
	found, err := h.Skills(t.Context())
	require.NoError(t, err)
	var names []string
	for _, f := range found {
		if f.From == "--skills" {
			names = append(names, f.Name)
		}
	}
	require.Equal(t, []string{"good"}, names)
}
