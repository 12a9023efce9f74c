package chat_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/planner/chat"
	"stepbox.dev/host/planner/ollama"
	"stepbox.dev/host/planner/openai"
	"stepbox.dev/host/planner/plannertest"
)

// A stream that never ends, a byte at a time or with nothing in it, is cut off
// by its size and not by anybody's patience.
func TestEndlessStreams(t *testing.T) {
	s := plannertest.Skill(t)
	for what, raw := range map[string]string{
		"comments": strings.Repeat(": still here\n", 400_000),
		"thoughts": strings.Repeat(`data: {"choices":[{"delta":{"reasoning_content":"hm"}}]}`+"\n\n", 100_000),
		"text":     strings.Repeat(`data: {"choices":[{"delta":{"content":"`+strings.Repeat("x", 1000)+`"}}]}`+"\n\n", 2000),
	} {
		server := plannertest.Serve(t, plannertest.Reply{Raw: raw})
		p, err := chat.New(openai.Protocol{}, chat.Options{URL: server.URL + "/v1", Model: "tiny", Backoff: time.Millisecond})
		require.NoError(t, err)
		_, err = p.Plan(context.Background(), plannertest.Request(s, "list the files in inbox"))
		require.ErrorContains(t, err, "longer than any plan", what)
		require.Equal(t, fault.Usage, fault.Of(err))
		require.Len(t, server.Calls(), 1, "%s: an answer that is too long was asked for again", what)
	}
}

// Whatever a server sends, what comes out is a valid plan of tools that were
// shown, or an error.
func FuzzAnswer(f *testing.F) {
	for _, raw := range []string{
		"", "{}", "[]", "null", "data: [DONE]\n", `data: {"choices":[]}` + "\n", `{"choices":[{"message":{"content":"{\"plan\":[]}"}}]}`,
		`{"choices":[{"message":{"content":"{\"plan\":[{\"tool\":\"list_files\",\"args\":{\"path\":\"inbox\"}}]}"},"finish_reason":"stop"}]}`,
		`{"message":{"content":"{\"plan\":[{\"tool\":\"wipe\",\"args\":{}}]}"},"done":true}`, `{"error":{"message":["x"]}}`, `{"error":7}`,
	} {
		f.Add(raw, false)
		f.Add(raw, true)
	}
	s := plannertest.Skill(f)
	f.Fuzz(func(t *testing.T, raw string, stream bool) {
		if raw == "" { // the scripted server's own word for no body
			return
		}
		for base, protocol := range map[string]chat.Protocol{"/v1": openai.Protocol{}, "": ollama.Protocol{}} {
			server := plannertest.Serve(t, plannertest.Reply{Raw: raw})
			p, err := chat.New(protocol, chat.Options{URL: server.URL + base, Model: "tiny", Attempts: 1, NoStream: !stream})
			require.NoError(t, err)
			a, err := p.Plan(context.Background(), plannertest.Request(s, "list the files in inbox"))
			server.Close()
			if err != nil {
				continue
			}
			d, err := plan.Parse(a.Text)
			require.NoError(t, err)
			_, err = plan.Validate(plan.Normalize(d, s.Registry(), plan.Paths{}), s.Registry())
			require.NoError(t, err)
		}
	})
}
