package ollama_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/planner/chat"
	"stepbox.dev/host/planner/ollama"
	"stepbox.dev/host/planner/plannertest"
)

func TestConforms(t *testing.T) {
	server := plannertest.Serve(t, plannertest.Reply{Text: plannertest.Plan("list_files", map[string]any{"path": []string{"inbox"}})})
	p, err := chat.New(ollama.Protocol{}, chat.Options{URL: server.URL, Model: "tiny"})
	require.NoError(t, err)
	plannertest.Conform(t, p)
}

func TestEncode(t *testing.T) {
	b, err := ollama.Protocol{}.Encode(chat.Inference{
		Model: "m", Messages: []chat.Message{{Role: "user", Content: "x"}}, Schema: []byte(`{"type":"object"}`), MaxTokens: 7, ContextTokens: 100,
	})
	require.NoError(t, err)
	require.JSONEq(t, `{"model":"m","messages":[{"role":"user","content":"x"}],"stream":false,"format":{"type":"object"},
		"options":{"temperature":0,"num_ctx":100,"num_predict":7}}`, string(b))
}
