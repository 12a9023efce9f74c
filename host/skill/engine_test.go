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

const engineManifest = "name: tool\nversion: 5.1.0\nkind: engine\nlicence: GPL-3.0-or-later\nwasm_features: [simd]\nlimits: {memory_mb: 300}\n"

func TestEngine(t *testing.T) {
	dir := folder(t, map[string]string{"skill.yaml": engineManifest, "tool.wasm": emptyModule, "LICENSE": "You may.\n"})
	e, err := LoadEngine(dir)
	require.NoError(t, err)
	packed, err := e.Pack(context.Background())
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "tool.wasm")
	require.NoError(t, os.WriteFile(file, packed, 0o644))
	b, err := LoadEngine(file)
	require.NoError(t, err)
	require.Equal(t, "tool 5.1.0 GPL-3.0-or-later You may.", b.Name()+" "+b.Version()+" "+b.Licence()+" "+b.LicenceText())
	require.Equal(t, []string{"simd"}, b.WasmFeatures())
	require.Equal(t, 300, b.Limits().MemoryMB)
	module, err := b.Module(context.Background())
	require.NoError(t, err)
	require.Equal(t, emptyModule, string(module))
	_, err = b.Pack(context.Background())
	require.ErrorContains(t, err, "a bundle already")
	_, err = Load(file, Options{})
	require.ErrorContains(t, err, "is an engine, not a skill")
	_, err = Load(dir, Options{})
	require.ErrorContains(t, err, "is an engine, not a skill")
}

// An engine without a licence is one that nobody may hand on.
func TestEnginesThatAreNone(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no licence text": {map[string]string{"skill.yaml": engineManifest}, "text of its licence"},
		"no licence name": {map[string]string{"skill.yaml": "name: tool\nkind: engine\n", "LICENSE": "x"}, "names its licence"},
		"a skill":         {map[string]string{"skill.yaml": "name: tool\nlicence: MIT\n", "LICENSE": "x"}, "not an engine"},
		"with tools":      {map[string]string{"skill.yaml": engineManifest + "tools: tools.yaml\n", "LICENSE": "x"}, "tools"},
	} {
		t.Run(name, func(t *testing.T) {
			c.files["tool.wasm"] = emptyModule
			_, err := LoadEngine(folder(t, c.files))
			require.ErrorContains(t, err, c.want)
			require.Equal(t, fault.Usage, fault.Of(err))
		})
	}
	packed, err := bundle.Pack(bundle.KindSkill, "tool", "1.0.0", []byte(emptyModule), nil)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "x.wasm")
	require.NoError(t, os.WriteFile(file, packed, 0o644))
	_, err = LoadEngine(file)
	require.ErrorContains(t, err, "is a skill, not an engine")
}
