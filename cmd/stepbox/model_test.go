package main

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"stepbox.dev/host/planner/plannertest"
)

// model NAME FILE… starts a scripted model that says what the files hold, one
// after the other, and sets NAME to its address. A file that holds "STATUS text"
// is an error of the server.
func model(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: model NAME FILE…")
	}
	var replies []plannertest.Reply
	for _, name := range args[1:] {
		text := strings.TrimSpace(ts.ReadFile(name))
		reply := plannertest.Reply{Text: text}
		if first, rest, ok := strings.Cut(text, " "); ok {
			if code, err := strconv.Atoi(first); err == nil && http.StatusText(code) != "" {
				reply = plannertest.Reply{Status: code, Error: rest}
			}
		}
		replies = append(replies, reply)
	}
	ts.Setenv(args[0], plannertest.Serve(deferring{ts}, replies...).URL)
}

type deferring struct{ ts *testscript.TestScript }

func (d deferring) Cleanup(f func()) { d.ts.Defer(f) }
