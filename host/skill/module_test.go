package skill

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"stepbox.dev/host/fault"
)

func TestModuleOfAFile(t *testing.T) {
	dir := folder(t, map[string]string{"skill.yaml": minimal, "tools.yaml": tools, "one.wasm": emptyModule, "two.wasm": emptyModule + "\x01\x01\x00"})
	s, err := Load(filepath.Join(dir, "two.wasm"), Options{})
	require.NoError(t, err)
	data, err := s.Module(context.Background(), "", nil)
	require.NoError(t, err)
	require.Equal(t, emptyModule+"\x01\x01\x00", string(data))
	require.NotContains(t, s.Files(), "two.wasm")

	s, err = Load(dir, Options{})
	require.NoError(t, err, "a contract without a module can be planned with")
	require.False(t, s.Source())
	_, err = s.Module(context.Background(), "", nil)
	require.ErrorContains(t, err, "has a contract but no module")
	require.Equal(t, fault.CheckFailed, fault.Of(err))

	require.NoError(t, os.Remove(filepath.Join(dir, "two.wasm")))
	s, err = Load(dir, Options{})
	require.NoError(t, err)
	data, err = s.Module(context.Background(), "", nil)
	require.NoError(t, err)
	require.Equal(t, emptyModule, string(data), "the only module of the folder")
}

func TestModuleIsBuiltFromSource(t *testing.T) {
	files := map[string]string{
		"skill.yaml": minimal, "tools.yaml": tools, "go.mod": "module demo\n\ngo 1.24\n",
		"main.go": "package main\n\n//go:wasmexport answer\nfunc answer() int32 { return 42 }\n\nfunc main() {}\n",
	}
	s, err := Load(folder(t, files), Options{})
	require.NoError(t, err)
	cache, told := filepath.Join(t.TempDir(), "built"), 0
	first, err := s.Module(context.Background(), cache, func() { told++ })
	require.NoError(t, err)
	require.Equal(t, "\x00asm\x01\x00\x00\x00", string(first[:8]))
	second, err := s.Module(context.Background(), cache, nil)
	require.NoError(t, err)
	require.Equal(t, first, second)
	require.Equal(t, 1, told)
	entries, err := os.ReadDir(cache)
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing but the result stays in the cache")
	info, err := os.Stat(cache)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = s.Module(ctx, cache, nil)
	require.ErrorIs(t, err, context.Canceled)
}

func TestModuleThatDoesNotBuild(t *testing.T) {
	s, err := Load(folder(t, map[string]string{
		"skill.yaml": minimal, "tools.yaml": tools, "go.mod": "module demo\n\ngo 1.24\n",
		"main.go": "package main\n\nfunc main() { undefinedThing() }\n\nvar a int = \"\u202ered\"\n",
	}), Options{})
	require.NoError(t, err)
	_, err = s.Module(context.Background(), t.TempDir(), nil)
	require.Equal(t, fault.CheckFailed, fault.Of(err))
	require.ErrorContains(t, err, "main.go:3:15: undefined: undefinedThing")
	require.NotContains(t, err.Error(), "\u202e")
	require.NotContains(t, err.Error(), s.Dir())

	t.Setenv("PATH", t.TempDir())
	_, err = s.Module(context.Background(), t.TempDir(), nil)
	require.ErrorContains(t, err, "there is no Go on this machine")
}

// A compiler repeats what hostile source says, so its words are cleaned.
func TestReadable(t *testing.T) {
	out := readable([]byte("# pkg\n/src/a.go:1: \x1b[31mred\u202e\x07\r\n"+strings.Repeat("x\n", 100)+"\xff"), "/src")
	require.True(t, strings.HasPrefix(out, "  a.go:1: [31mred\n  x\n"), out)
	require.Equal(t, 21, len(strings.Split(out, "\n")))
	require.Less(t, len([]rune(readable([]byte(strings.Repeat("y", 10_000)), "/src"))), 310)
}
