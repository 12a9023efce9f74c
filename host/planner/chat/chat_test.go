package chat_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/planner"
	"stepbox.dev/host/planner/chat"
	"stepbox.dev/host/planner/ollama"
	"stepbox.dev/host/planner/openai"
	"stepbox.dev/host/planner/plannertest"
)

const key = "sk-very-secret-0123456789"

// both runs a test over each protocol, streamed and not.
func both(t *testing.T, f func(t *testing.T, start func(o chat.Options, replies ...plannertest.Reply) (*chat.Planner, *plannertest.Server))) {
	for _, p := range []struct {
		name string
		chat.Protocol
		base string
	}{{"openai", openai.Protocol{}, "/v1"}, {"ollama", ollama.Protocol{}, ""}} {
		for _, whole := range []bool{false, true} {
			name := p.name + " streamed"
			if whole {
				name = p.name + " whole"
			}
			t.Run(name, func(t *testing.T) {
				f(t, func(o chat.Options, replies ...plannertest.Reply) (*chat.Planner, *plannertest.Server) {
					server := plannertest.Serve(t, replies...)
					o.URL, o.Model, o.Backoff, o.NoStream = server.URL+p.base, "tiny", time.Millisecond, whole
					c, err := chat.New(p.Protocol, o)
					require.NoError(t, err)
					return c, server
				})
			})
		}
	}
}

func good() string { return plannertest.Plan("list_files", map[string]any{"path": []string{"inbox"}}) }

const wanted = `{"plan":[{"tool":"list_files","args":{"path":["inbox"]}}]}`

// What a model or a server does wrong ends in the plan, after one repair or a
// few attempts, or in an error that says why; never in another plan.
func TestAnswers(t *testing.T) {
	good, unknown := good(), plannertest.Plan("format_disk", nil)
	cases := []struct {
		name    string
		replies []plannertest.Reply
		calls   int
		fails   string // part of the error; "" when the plan comes out
		kind    fault.Kind
	}{
		{name: "a plan", replies: []plannertest.Reply{{Text: good}}, calls: 1},
		{name: "an answer in one piece", replies: []plannertest.Reply{{Text: good, Whole: true}}, calls: 1},
		{name: "thinking apart", replies: []plannertest.Reply{{Thinking: "hm, " + unknown, Text: good}}, calls: 1},
		{name: "thinking in the text", replies: []plannertest.Reply{{Text: "<think>maybe " + unknown + "</think>\n" + good}}, calls: 1},
		{name: "a fence and prose", replies: []plannertest.Reply{{Text: "Sure!\n```json\n" + good + "\n```\nDone."}}, calls: 1},
		{name: "prose, then a plan", replies: []plannertest.Reply{{Text: "I would list the inbox."}, {Text: good}}, calls: 2},
		{name: "prose twice", replies: []plannertest.Reply{{Text: "I would list the inbox."}}, calls: 2, fails: "no plan in the text", kind: fault.Usage},
		{name: "nothing", replies: []plannertest.Reply{{Text: ""}}, calls: 2, fails: "is empty", kind: fault.Usage},
		{name: "broken JSON, then a plan", replies: []plannertest.Reply{{Text: good[:len(good)-3]}, {Text: good}}, calls: 2},
		{name: "an unknown tool, then a plan", replies: []plannertest.Reply{{Text: unknown}, {Text: good}}, calls: 2},
		{name: "an unknown tool twice", replies: []plannertest.Reply{{Text: unknown}}, calls: 2, fails: `unknown tool "format_disk"`, kind: fault.Usage},
		{name: "an internal tool", replies: []plannertest.Reply{{Text: plannertest.Plan("wipe", nil)}}, calls: 2, fails: "is internal", kind: fault.Usage},
		{name: "a value out of bounds, then a plan", replies: []plannertest.Reply{{Text: plannertest.Plan("list_files", map[string]any{"path": "inbox", "limit": 500})}, {Text: good}}, calls: 2},
		{name: "two different plans", replies: []plannertest.Reply{{Text: good + "\nor\n" + unknown}, {Text: good}}, calls: 2},
		{name: "busy, then a plan", replies: []plannertest.Reply{{Status: 429, Error: "slow down"}, {Status: 503, Error: "loading"}, {Text: good}}, calls: 3},
		{name: "always busy", replies: []plannertest.Reply{{Status: 429, Error: "slow down"}}, calls: 3, fails: "429: slow down", kind: fault.Internal},
		{name: "busy for an hour", replies: []plannertest.Reply{{Status: 429, Error: "slow down", Header: map[string]string{"Retry-After": "3600"}}}, calls: 1, fails: "slow down", kind: fault.Internal},
		{name: "a bug", replies: []plannertest.Reply{{Status: 500, Error: "oops"}}, calls: 3, fails: "500: oops", kind: fault.Internal},
		{name: "an error without words", replies: []plannertest.Reply{{Status: 502, Raw: " "}, {Text: good}}, calls: 2},
		{name: "no such model", replies: []plannertest.Reply{{Status: 404, Error: "model not found"}}, calls: 1, fails: "model not found", kind: fault.Usage},
		{name: "a bad request", replies: []plannertest.Reply{{Status: 400, Error: "no"}}, calls: 1, fails: "400: no", kind: fault.Usage},
		{name: "no schema here", replies: []plannertest.Reply{{Status: 400, Error: "response_format / format is not supported"}, {Text: good}}, calls: 2},
		{name: "elsewhere", replies: []plannertest.Reply{{Status: 307, Raw: "x", Header: map[string]string{"Location": "http://127.0.0.1:1/"}}}, calls: 1, fails: "send requests elsewhere", kind: fault.Usage},
		{name: "an answer that is cut at the limit", replies: []plannertest.Reply{{Text: good[:9], Finish: "length"}}, calls: 1, fails: "cut off at", kind: fault.Usage},
		{name: "no JSON at all", replies: []plannertest.Reply{{Raw: "<html>", Header: map[string]string{"Content-Type": "text/html"}}}, calls: 3, fails: "answer of", kind: fault.Internal},
		{name: "an error inside of 200", replies: []plannertest.Reply{{Raw: `{"error":"out of memory"}`, Header: map[string]string{"Content-Type": "application/json"}}, {Text: good}}, calls: 2},
		{name: "a line without end", replies: []plannertest.Reply{{Raw: "data: " + strings.Repeat("x", 5<<20)}}, calls: 1, fails: "longer than any plan", kind: fault.Usage},
	}
	both(t, func(t *testing.T, start func(chat.Options, ...plannertest.Reply) (*chat.Planner, *plannertest.Server)) {
		s := plannertest.Skill(t)
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				p, server := start(chat.Options{Key: key, KeyName: "THE_KEY"}, c.replies...)
				a, err := p.Plan(context.Background(), plannertest.Request(s, "list the files in inbox"))
				if c.fails == "" {
					require.NoError(t, err)
					require.JSONEq(t, wanted, string(a.Text))
					require.Equal(t, "tiny", a.Model)
				} else {
					require.ErrorContains(t, err, c.fails)
					require.Equal(t, c.kind, fault.Of(err))
					require.NotEmpty(t, fault.Next(err))
					require.NotContains(t, err.Error()+fault.Next(err), key)
				}
				require.Len(t, server.Calls(), c.calls)
			})
		}
	})
}

// A stream that ends or stops early is no answer.
func TestBrokenStreams(t *testing.T) {
	s := plannertest.Skill(t)
	for name, protocol := range map[string]chat.Protocol{"/v1": openai.Protocol{}, "": ollama.Protocol{}} {
		server := plannertest.Serve(t, plannertest.Reply{Text: good(), CutAt: 4}, plannertest.Reply{Text: good()})
		p, err := chat.New(protocol, chat.Options{URL: server.URL + name, Model: "tiny", Backoff: time.Millisecond})
		require.NoError(t, err)
		a, err := p.Plan(context.Background(), plannertest.Request(s, "list the files in inbox"))
		require.NoError(t, err)
		require.JSONEq(t, wanted, string(a.Text))
		require.Len(t, server.Calls(), 2)

		server = plannertest.Serve(t, plannertest.Reply{Text: good(), CutAt: 4})
		p, err = chat.New(protocol, chat.Options{URL: server.URL + name, Model: "tiny", Backoff: time.Millisecond})
		require.NoError(t, err)
		_, err = p.Plan(context.Background(), plannertest.Request(s, "list the files in inbox"))
		require.ErrorContains(t, err, "broke off")

		for what, reply := range map[string]plannertest.Reply{"silent": {Hang: true}, "stops": {Text: good(), HangAfter: 3}} {
			server = plannertest.Serve(t, reply)
			p, err = chat.New(protocol, chat.Options{URL: server.URL + name, Model: "tiny", Timeout: 50 * time.Millisecond})
			require.NoError(t, err)
			_, err = p.Plan(context.Background(), plannertest.Request(s, "list the files in inbox"))
			require.Equal(t, fault.Timeout, fault.Of(err), what)
			require.ErrorContains(t, err, "did not answer in time")
		}
	}
}

// Somebody who gives up waits no longer, whatever the server does.
func TestCancelled(t *testing.T) {
	s := plannertest.Skill(t)
	server := plannertest.Serve(t, plannertest.Reply{Text: good(), HangAfter: 4})
	p, err := chat.New(ollama.Protocol{}, chat.Options{URL: server.URL, Model: "tiny"})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	r := plannertest.Request(s, "list the files in inbox")
	r.Asking = func(a planner.Asking) {
		if a.Bytes > 0 {
			cancel()
		}
	}
	_, err = p.Plan(ctx, r)
	require.ErrorIs(t, err, context.Canceled)

	// Also while it waits for the next attempt.
	server = plannertest.Serve(t, plannertest.Reply{Status: 503, Error: "loading"})
	p, err = chat.New(ollama.Protocol{}, chat.Options{URL: server.URL, Model: "tiny", Backoff: time.Hour})
	require.NoError(t, err)
	ctx, cancel = context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	_, err = p.Plan(ctx, plannertest.Request(s, "list the files in inbox"))
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// What a server asks for is waited for, in both forms of the header.
func TestRetryAfter(t *testing.T) {
	s := plannertest.Skill(t)
	server := plannertest.Serve(t, plannertest.Reply{Status: 429, Error: "slow down", Header: map[string]string{"Retry-After": "1"}}, plannertest.Reply{Text: good()})
	p, err := chat.New(openai.Protocol{}, chat.Options{URL: server.URL + "/v1", Model: "tiny", Backoff: time.Millisecond})
	require.NoError(t, err)
	began := time.Now()
	_, err = p.Plan(context.Background(), plannertest.Request(s, "list the files in inbox"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, time.Since(began), time.Second)
}

// The model is shown what was wrong, and each inference begins with the same
// text, so that a server's cache serves the second.
func TestRepairSaysWhatWasWrong(t *testing.T) {
	both(t, func(t *testing.T, start func(chat.Options, ...plannertest.Reply) (*chat.Planner, *plannertest.Server)) {
		p, server := start(chat.Options{}, plannertest.Reply{Text: plannertest.Plan("list_files", map[string]any{"kind": "sockets"})}, plannertest.Reply{Text: good()})
		_, err := p.Plan(context.Background(), plannertest.Request(plannertest.Skill(t), "list the files in inbox"))
		require.NoError(t, err)
		calls := server.Calls()
		first, second := calls[0].Said(), calls[1].Said()
		require.True(t, strings.HasPrefix(second, first))
		require.Contains(t, second, `"kind" must be one of files, folders, not "sockets"`)
		require.Contains(t, second, `missing required args: "path"`)
		require.NotContains(t, first, "wipe", "an internal tool was shown")
	})
}

// The key goes to the server and nowhere else.
func TestKey(t *testing.T) {
	both(t, func(t *testing.T, start func(chat.Options, ...plannertest.Reply) (*chat.Planner, *plannertest.Server)) {
		p, server := start(chat.Options{Key: key, KeyName: "THE_KEY"}, plannertest.Reply{Status: 401, Error: "Incorrect API key provided: " + key})
		_, err := p.Plan(context.Background(), plannertest.Request(plannertest.Skill(t), "list the files in inbox"))
		require.Equal(t, "Bearer "+key, server.Calls()[0].Header.Get("Authorization"))
		require.NotContains(t, server.Calls()[0].Raw, key)
		require.Equal(t, fault.Usage, fault.Of(err))
		require.NotContains(t, err.Error(), "sk-")
		require.Contains(t, fault.Next(err), "THE_KEY")

		p, _ = start(chat.Options{Key: key, KeyName: "THE_KEY"}, plannertest.Reply{Status: 400, Error: "bad header: Bearer " + key})
		_, err = p.Plan(context.Background(), plannertest.Request(plannertest.Skill(t), "list the files in inbox"))
		require.ErrorContains(t, err, "bad header: Bearer (key)")
	})
}

func TestNew(t *testing.T) {
	for url, fails := range map[string]string{
		"http://127.0.0.1:8080/v1":      "",
		"http://localhost:8080/v1":      "",
		"https://models.example/v1":     "",
		"http://models.example/v1":      "unencrypted",
		"http://me:pass@127.0.0.1/v1":   "more than an address",
		"https://models.example/?key=x": "more than an address",
		"file:///etc/passwd":            "must be a web address",
		"127.0.0.1:8080":                "must be a web address",
		"::":                            "must be a web address",
	} {
		_, err := chat.New(openai.Protocol{}, chat.Options{URL: url, Model: "m", Key: key, KeyName: "THE_KEY"})
		if fails == "" {
			require.NoError(t, err, url)
			continue
		}
		require.ErrorContains(t, err, fails, url)
		require.NotContains(t, err.Error(), key)
		require.NotContains(t, err.Error(), "pass")
	}
	_, err := chat.New(openai.Protocol{}, chat.Options{URL: "http://127.0.0.1:1"})
	require.ErrorContains(t, err, "no model is named")
	_, err = chat.New(openai.Protocol{}, chat.Options{Model: "m", Key: "a\nb", KeyName: "THE_KEY"})
	require.ErrorContains(t, err, "THE_KEY holds a character")
}

// Nobody there is said at once, without waiting for an attempt that cannot
// succeed.
func TestNobodyThere(t *testing.T) {
	server := plannertest.Serve(t)
	server.Close()
	p, err := chat.New(ollama.Protocol{}, chat.Options{URL: server.URL, Model: "tiny", Backoff: time.Hour})
	require.NoError(t, err)
	_, err = p.Plan(context.Background(), plannertest.Request(plannertest.Skill(t), "list the files in inbox"))
	require.ErrorContains(t, err, "cannot be reached")
	require.Equal(t, fault.Usage, fault.Of(err))
}

// A request that cannot fit is not sent.
func TestTooLong(t *testing.T) {
	p, err := chat.New(ollama.Protocol{}, chat.Options{URL: "http://127.0.0.1:1", Model: "tiny", ContextTokens: 2000})
	require.NoError(t, err)
	_, err = p.Plan(context.Background(), plannertest.Request(plannertest.Skill(t), strings.Repeat("list ", 2000)))
	require.ErrorContains(t, err, "too long for the model")
}

// Progress is told: at the start, and as the answer grows.
func TestAsking(t *testing.T) {
	both(t, func(t *testing.T, start func(chat.Options, ...plannertest.Reply) (*chat.Planner, *plannertest.Server)) {
		p, _ := start(chat.Options{}, plannertest.Reply{Thinking: strings.Repeat("hm ", 100), Text: good()})
		var seen []planner.Asking
		r := plannertest.Request(plannertest.Skill(t), "list the files in inbox")
		r.Asking = func(a planner.Asking) { seen = append(seen, a) }
		_, err := p.Plan(context.Background(), r)
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(seen), 2)
		require.Equal(t, "tiny", seen[0].Model)
		require.Zero(t, seen[0].Bytes)
		require.Greater(t, seen[len(seen)-1].Bytes, 200)
	})
}

func TestCheck(t *testing.T) {
	both(t, func(t *testing.T, start func(chat.Options, ...plannertest.Reply) (*chat.Planner, *plannertest.Server)) {
		for _, c := range []struct {
			reply  plannertest.Reply
			schema string
			fails  string
		}{
			{plannertest.Reply{Text: `{"stepbox": "ready"}`}, "honoured", ""},
			{plannertest.Reply{Text: "Hello there!"}, "ignored", ""},
			{plannertest.Reply{Text: "Hello there and", Finish: "length"}, "ignored", ""},
			{plannertest.Reply{Status: 401, Error: "no"}, "unknown", "refuses the key"},
		} {
			p, _ := start(chat.Options{}, c.reply)
			h := p.Check(context.Background())
			require.Equal(t, c.schema, h.Schema)
			require.Equal(t, "scripted/1.0", h.Server)
			require.Equal(t, []string{"tiny:latest"}, h.Models)
			require.Contains(t, h.Error, c.fails)
		}
		p, _ := start(chat.Options{}, plannertest.Reply{Status: 400, Error: "json_schema, format: not here"}, plannertest.Reply{Text: "Hello"})
		require.Equal(t, "refused", p.Check(context.Background()).Schema)
		p, server := start(chat.Options{}, plannertest.Reply{Text: "Hello"})
		server.Models = []string{"huge"}
		require.Contains(t, p.Check(context.Background()).Error, "does not list the model tiny")
	})
}
