package openai_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/planner/chat"
	"stepbox.dev/host/planner/openai"
	"stepbox.dev/host/planner/plannertest"
)

func TestConforms(t *testing.T) {
	server := plannertest.Serve(t, plannertest.Reply{Text: plannertest.Plan("list_files", map[string]any{"path": []string{"inbox"}})})
	p, err := chat.New(openai.Protocol{}, chat.Options{URL: server.URL + "/v1", Model: "tiny"})
	require.NoError(t, err)
	plannertest.Conform(t, p)
}

// A server can hold a model to a schema only when it is where the protocol says.
func TestEncode(t *testing.T) {
	i := chat.Inference{Model: "m", Messages: []chat.Message{{Role: "user", Content: "x"}}, Schema: []byte(`{"type":"object"}`), MaxTokens: 7, Stream: true}
	b, err := openai.Protocol{}.Encode(i)
	require.NoError(t, err)
	require.JSONEq(t, `{"model":"m","messages":[{"role":"user","content":"x"}],"temperature":0,"max_tokens":7,"stream":true,
		"response_format":{"type":"json_schema","json_schema":{"name":"plan","schema":{"type":"object"}}}}`, string(b))
	i.Without, i.Schema = chat.Without{Temperature: true, MaxTokens: true}, nil
	b, err = openai.Protocol{}.Encode(i)
	require.NoError(t, err)
	require.JSONEq(t, `{"model":"m","messages":[{"role":"user","content":"x"}],"max_completion_tokens":7,"stream":true}`, string(b))
}
