package mock

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"stepbox.dev/host/planner"
	"stepbox.dev/host/retrieval"
	"stepbox.dev/host/skill"
)

const tools = `
move:
  description: Move
  optional_args: [src, dst, list, deep, n]
  mock_args:
    src: "{utterance_after:move}"
    dst: "{sandbox}/{utterance_after:to}"
    list: ["{utterance_after:move}", "{utterance_after:nowhere}"]
    deep: {a: "{sandbox}"}
    n: 3
bare:
  description: Has no mock_args
inner:
  description: Internal
  internal: true
  mock_args: {}
`

func TestPlan(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "skill.yaml"), []byte("name: demo\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tools.yaml"), []byte(tools), 0o644))
	s, err := skill.Load(dir, skill.Options{})
	require.NoError(t, err)
	for _, c := range []struct {
		utterance string
		hits      []string
		want      string
	}{
		{"Please Move a.pdf to archive.", []string{"inner", "bare", "move"},
			`{"plan":[{"tool":"move","args":{"src":"a.pdf","dst":"./archive","list":["a.pdf"],"deep":{"a":"."},"n":3}}]}`},
		{`move "my file.pdf" to 'old things'`, []string{"move"},
			`{"plan":[{"tool":"move","args":{"src":"my file.pdf","dst":"./old things","list":["my file.pdf"],"deep":{"a":"."},"n":3}}]}`},
		{"do it", []string{"move"}, `{"plan":[{"tool":"move","args":{"dst":"./","list":[],"deep":{"a":"."},"n":3}}]}`},
		{"do it", []string{"bare"}, `{"plan":[{"tool":"clarify","args":{"question":"No tool with mock_args fits the request. Which tool should be tried?"}}]}`},
	} {
		r := planner.Request{Skill: s, Utterance: c.utterance}
		for _, h := range c.hits {
			r.Tools = append(r.Tools, retrieval.Hit{Skill: "demo", Tool: h})
		}
		a, err := new(Planner).Plan(context.Background(), r)
		require.NoError(t, err)
		require.JSONEq(t, c.want, string(a.Text))
		require.Equal(t, "mock", a.Planner)
	}
}
