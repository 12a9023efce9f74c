// Package plannertest is what every planner is tested with: a suite that holds
// for all of them, and a scripted server that speaks the protocols of models
// over the loopback interface, with every failure that a server can have.
package plannertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Reply is what the server does with one inference.
type Reply struct {
	// Text is what the model says.
	Text string
	// Thinking comes before it, outside of the text.
	Thinking string
	// Status other than 0 and 200 is an error, with Error as its message.
	Status int
	Error  string
	Header map[string]string
	// Raw replaces the body.
	Raw string
	// CutAt ends a stream without its end, after so many parts; 0: not at all.
	CutAt int
	// Finish is the reason why the answer ends; "" is stop.
	Finish string
	// Whole answers in one piece though a stream was asked for.
	Whole bool
	// Hang waits for the client to give up.
	Hang bool
	// HangAfter sends so many parts first.
	HangAfter int
}

// Call is an inference that was asked for.
type Call struct {
	Path   string
	Header http.Header
	Body   map[string]any
	Raw    string
}

// Server speaks chat completions below /v1 and Ollama's protocol below /api.
type Server struct {
	URL     string
	Models  []string
	mu      sync.Mutex
	replies []Reply
	calls   []Call
	http    *httptest.Server
}

// Serve starts a server that gives the replies one after the other, and then
// the last one again and again.
func Serve(t interface{ Cleanup(func()) }, replies ...Reply) *Server {
	s := &Server{replies: replies, Models: []string{"tiny:latest"}}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
	t.Cleanup(s.Close)
	return s
}

// Close stops the server: nobody listens at its address any more.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// Calls are the inferences so far.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Server", "scripted/1.0")
	switch r.URL.Path {
	case "/v1/models":
		list := []map[string]string{}
		for _, m := range s.Models {
			list = append(list, map[string]string{"id": m, "object": "model"})
		}
		send(w, map[string]any{"object": "list", "data": list})
	case "/api/tags":
		list := []map[string]string{}
		for _, m := range s.Models {
			list = append(list, map[string]string{"name": m})
		}
		send(w, map[string]any{"models": list})
	case "/v1/chat/completions":
		s.infer(w, r, completions{})
	case "/api/chat":
		s.infer(w, r, ollama{})
	default:
		http.NotFound(w, r)
	}
}

func send(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that went away is part of the tests
}

// next notes the call and returns its reply.
func (s *Server) next(r *http.Request) (Reply, bool, error) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return Reply{}, false, err
	}
	c := Call{Path: r.URL.Path, Header: r.Header.Clone(), Raw: string(raw)}
	if err := json.Unmarshal(raw, &c.Body); err != nil {
		return Reply{}, false, err
	}
	stream, _ := c.Body["stream"].(bool)
	s.mu.Lock()
	defer s.mu.Unlock()
	reply := s.replies[min(len(s.calls), len(s.replies)-1)]
	s.calls = append(s.calls, c)
	return reply, stream && !reply.Whole, nil
}

func (s *Server) infer(w http.ResponseWriter, r *http.Request, d dialect) {
	reply, stream, err := s.next(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if reply.Hang {
		<-r.Context().Done()
		return
	}
	d.kind(w, stream)
	for k, v := range reply.Header {
		w.Header().Set(k, v)
	}
	switch {
	case reply.Raw != "":
		if reply.Status != 0 {
			w.WriteHeader(reply.Status)
		}
		fmt.Fprint(w, reply.Raw)
		return
	case reply.Status != 0 && reply.Status != http.StatusOK:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(reply.Status)
		fmt.Fprint(w, d.failure(reply.Error))
		return
	}
	if reply.Finish == "" {
		reply.Finish = "stop"
	}
	if !stream {
		fmt.Fprint(w, d.whole(reply))
		return
	}
	parts := d.parts(reply)
	for i, part := range parts {
		if reply.CutAt > 0 && i == reply.CutAt {
			return
		}
		fmt.Fprint(w, part)
		w.(http.Flusher).Flush()
		if reply.HangAfter > 0 && i+1 == reply.HangAfter {
			<-r.Context().Done()
			return
		}
	}
}

// dialect is one protocol as its servers speak it.
type dialect interface {
	kind(w http.ResponseWriter, stream bool)
	failure(message string) string
	whole(r Reply) string
	parts(r Reply) []string
}

// pieces splits text the way tokens do: anywhere, in the middle of a word.
func pieces(s string) []string {
	var out []string
	for runes := []rune(s); len(runes) > 0; {
		n := min(7, len(runes))
		out = append(out, string(runes[:n]))
		runes = runes[n:]
	}
	return out
}

func quote(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of strings marshal
	}
	return string(b)
}

type completions struct{}

func (completions) kind(w http.ResponseWriter, stream bool) {
	w.Header().Set("Content-Type", "application/json")
	if stream {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	}
}

func (completions) failure(message string) string {
	return quote(map[string]any{"error": map[string]any{"message": message, "type": "scripted", "code": nil}})
}

func (completions) whole(r Reply) string {
	message := map[string]any{"role": "assistant", "content": r.Text}
	if r.Thinking != "" {
		message["reasoning_content"] = r.Thinking
	}
	return quote(map[string]any{
		"object": "chat.completion", "choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": r.Finish}},
		"usage": map[string]any{"total_tokens": 1},
	})
}

func (completions) parts(r Reply) []string {
	chunk := func(delta map[string]any, finish any) string {
		return "data: " + quote(map[string]any{
			"object": "chat.completion.chunk", "choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
		}) + "\n\n"
	}
	out := []string{": keep-alive\n\n", chunk(map[string]any{"role": "assistant", "content": nil}, nil)}
	for _, p := range pieces(r.Thinking) {
		out = append(out, chunk(map[string]any{"reasoning_content": p}, nil))
	}
	for _, p := range pieces(r.Text) {
		out = append(out, chunk(map[string]any{"content": p}, nil))
	}
	return append(out, chunk(map[string]any{}, r.Finish), `data: {"object":"chat.completion.chunk","choices":[],"usage":{"total_tokens":1}}`+"\n\n", "data: [DONE]\n\n")
}

type ollama struct{}

func (ollama) kind(w http.ResponseWriter, stream bool) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if stream {
		w.Header().Set("Content-Type", "application/x-ndjson")
	}
}

func (ollama) failure(message string) string { return quote(map[string]string{"error": message}) }

func (ollama) whole(r Reply) string {
	return quote(map[string]any{
		"model": "tiny", "message": map[string]any{"role": "assistant", "content": r.Text, "thinking": r.Thinking},
		"done": true, "done_reason": r.Finish, "eval_count": 1,
	})
}

func (ollama) parts(r Reply) []string {
	line := func(m map[string]any) string { return quote(m) + "\n" }
	var out []string
	for _, p := range pieces(r.Thinking) {
		out = append(out, line(map[string]any{"model": "tiny", "message": map[string]any{"role": "assistant", "content": "", "thinking": p}, "done": false}))
	}
	for _, p := range pieces(r.Text) {
		out = append(out, line(map[string]any{"model": "tiny", "message": map[string]any{"role": "assistant", "content": p}, "done": false}))
	}
	return append(out, line(map[string]any{"model": "tiny", "message": map[string]any{"role": "assistant", "content": ""}, "done": true, "done_reason": r.Finish}))
}

// Plan is the text of a plan of one call, the way a model writes it.
func Plan(tool string, args map[string]any) string {
	if args == nil {
		args = map[string]any{}
	}
	return quote(map[string]any{"plan": []any{map[string]any{"tool": tool, "args": args}}})
}

// Said returns what the calls' bodies say to the model, for tests of prompts.
func (c Call) Said() string {
	var b strings.Builder
	messages, _ := c.Body["messages"].([]any)
	for _, m := range messages {
		if m, ok := m.(map[string]any); ok {
			fmt.Fprintf(&b, "%s: %s\n", m["role"], m["content"])
		}
	}
	return b.String()
}
