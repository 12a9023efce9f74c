//go:build linux

package guest_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host"
	"stepbox.dev/host/commit"
	"stepbox.dev/host/event"
	"stepbox.dev/internal/moduletest"
)

var cache string

func TestMain(m *testing.M) { moduletest.Main(m, &cache) }

// person says yes, and keeps what was asked and told.
type person struct {
	asked []abi.ConfirmRequest
	told  []event.Progress
}

func (*person) Clarify(context.Context, event.Decision) (string, error) { return "", nil }
func (*person) Proceed(context.Context, string) (bool, error)           { return true, nil }
func (*person) Approve(context.Context, *commit.Changes) (bool, []string, error) {
	return true, nil, nil
}
func (p *person) Confirm(_ context.Context, r abi.ConfirmRequest) (bool, error) {
	p.asked = append(p.asked, r)
	return true, nil
}
func (p *person) Handle(e event.Event) error {
	if e, ok := e.(event.Progress); ok {
		p.told = append(p.told, e)
	}
	return nil
}

func run(t *testing.T, dir, tool, name string, p *person) (host.Result, error) {
	t.Helper()
	h, err := host.New(t.Context(), host.Options{State: t.TempDir(), Cache: cache})
	require.NoError(t, err)
	text, err := json.Marshal(map[string]any{"plan": []abi.Call{{Tool: tool, Args: map[string]any{"name": name}}}})
	require.NoError(t, err)
	return h.Run(t.Context(), host.Request{Skill: "./testdata/probe", Plan: text, Sandbox: dir}, p, p)
}

// What the native tests of handlers take for granted holds in a module too:
// the view, the skill's own files, scratch, questions, progress, remarks.
func TestModule(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	p := &person{}
	r, err := run(t, dir, "probe", "new.txt", p)
	require.NoError(t, err)
	require.Equal(t, []string{"a remark"}, r.Results[0].Issues)
	var out map[string]any
	require.NoError(t, json.Unmarshal(r.Results[0].Result, &out))
	require.Equal(t, "from the skill", out["skill"])
	require.Equal(t, "scratch", out["scratch"])
	require.Equal(t, []any{"pipe"}, out["listed"], "neither the skill nor scratch is in the listing")
	require.Equal(t, true, out["fifo"], "a FIFO is not taken for a file")
	require.Equal(t, true, out["confirmed"])
	require.Equal(t, true, out["key_set"])
	require.Equal(t, []abi.ConfirmRequest{{Prompt: "go on?", Preview: "new.txt"}}, p.asked)
	require.Equal(t, "probing", p.told[0].Label)
	made, err := os.ReadFile(filepath.Join(dir, "new.txt"))
	require.NoError(t, err)
	require.Equal(t, "made", string(made))
}

func TestModuleErrors(t *testing.T) {
	for name, want := range map[string]string{
		"panic":   "the skill panicked: runtime error: index out of range",
		"missing": "open nowhere/at all.txt: no such file or directory",
		"taken":   "open new.txt: file exists",
		"wrong":   "it is wrong",
		"exit":    "",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			_, err := run(t, dir, "fail", name, &person{})
			require.Error(t, err)
			// The system of a module spells its errors with a capital.
			require.Contains(t, strings.ToLower(causes(err)), want)
			entries, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, entries, "a failed run changes nothing")
		})
	}
}

// The garbage collector of Go finishes its work in a module too, where nothing
// runs beside the handler: 1.2 GB of garbage go through 512 MB of memory.
func TestModuleCollectsGarbage(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), nil, 0o600))
	_, err := run(t, dir, "churn", "a", &person{})
	require.NoError(t, err)
}

// causes is the text of what an error wraps.
func causes(err error) string {
	var text string
	for err != nil {
		text += "\n" + err.Error()
		u, ok := err.(interface{ Unwrap() error })
		if !ok {
			break
		}
		err = u.Unwrap()
	}
	return text
}
