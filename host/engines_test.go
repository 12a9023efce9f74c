//go:build linux

package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/skill"
)

// buildFixture builds a program of fixtures/ for WASI.
func buildFixture(t *testing.T, name, file string, flags ...string) {
	t.Helper()
	cmd := exec.Command("go", append(append([]string{"build", "-buildvcs=false", "-ldflags=-s -w", "-o", file}, flags...), "./"+name)...)
	cmd.Dir = "../fixtures"
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOTOOLCHAIN=local")
	msg, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", msg)
}

// engineBundle packs the tiny engine into a folder, and returns the digest of
// its module.
func engineBundle(t *testing.T, dir string) string {
	t.Helper()
	source := t.TempDir()
	buildFixture(t, "engine", filepath.Join(source, "tiny.wasm"))
	require.NoError(t, os.WriteFile(filepath.Join(source, "LICENSE"), []byte("Do as you like.\n"), 0o600))
	manifest := "name: tiny\nversion: 1.0.0\nkind: engine\nlicence: CC0-1.0\nlimits: {memory_mb: 256, step_seconds: 30}\n"
	require.NoError(t, os.WriteFile(filepath.Join(source, "skill.yaml"), []byte(manifest), 0o600))
	e, err := skill.LoadEngine(source)
	require.NoError(t, err)
	packed, err := e.Pack(context.Background())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tiny.wasm"), packed, 0o600))
	b, err := skill.LoadEngine(filepath.Join(dir, "tiny.wasm"))
	require.NoError(t, err)
	return b.Bundle().Manifest.Module.SHA256
}

// A skill runs the engine that its contract names, by name and digest, and no
// other.
func TestEngines(t *testing.T) {
	dir, shelf := t.TempDir(), t.TempDir()
	buildFixture(t, "caller", filepath.Join(dir, "caller.wasm"), "-buildmode=c-shared")
	digest := engineBundle(t, shelf)
	contract, err := os.ReadFile("../fixtures/caller/skill.yaml")
	require.NoError(t, err)
	tools, err := os.ReadFile("../fixtures/caller/tools.yaml")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tools.yaml"), tools, 0o600))

	run := func(t *testing.T, shelves []string, names, asks string) (host.Result, map[string]string, error) {
		text := string(contract)
		if names != "" {
			text += fmt.Sprintf("engines: [{name: tiny, digest: %s}]\n", names)
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, "skill.yaml"), []byte(text), 0o600))
		h, err := host.New(t.Context(), host.Options{State: filepath.Join(t.TempDir(), "state"), Cache: cache, Skills: shelves})
		require.NoError(t, err)
		request, err := json.Marshal(abi.EngineRequest{Engine: asks, Runs: []abi.EngineRun{{Argv: []string{"tiny", "write", "made.txt", "by an engine"}}}})
		require.NoError(t, err)
		plan, err := json.Marshal(map[string]any{"plan": []abi.Call{{Tool: "run", Args: map[string]any{"request": string(request)}}}})
		require.NoError(t, err)
		sandbox := t.TempDir()
		r, err := h.Run(t.Context(), host.Request{Skill: dir, Plan: plan, Sandbox: sandbox}, nil, &events{})
		return r, tree(t, sandbox), err
	}

	r, made, err := run(t, []string{shelf}, digest, "tiny")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"./": "", "made.txt": "by an engine"}, made, "what only adds is committed")
	require.Len(t, r.Changes, 1)

	for name, c := range map[string]struct {
		shelves     []string
		names, asks string
		kind        fault.Kind
		want        string
	}{
		"it is not there":             {nil, digest, "tiny", fault.StepFailed, `"tiny" is not installed: it is a file of its own, tiny.wasm`},
		"it is another":               {[]string{shelf}, strings.Repeat("0", 64), "tiny", fault.CheckFailed, "another digest"},
		"the contract names none":     {[]string{shelf}, "", "tiny", fault.StepFailed, `does not name the engine "tiny"`},
		"the contract names another":  {[]string{shelf}, digest, "sh", fault.StepFailed, `does not name the engine "sh"`},
		"a name that would be a path": {[]string{shelf}, digest, "../tiny", fault.StepFailed, `does not name the engine`},
	} {
		t.Run(name, func(t *testing.T) {
			_, made, err := run(t, c.shelves, c.names, c.asks)
			require.Equal(t, c.kind, fault.Of(err), "%v", err)
			require.ErrorContains(t, err, c.want)
			require.Equal(t, map[string]string{"./": ""}, made)
		})
	}
}
