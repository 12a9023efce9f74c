package event_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/commit"
	"stepbox.dev/host/event"
)

// The stream is an interface that scripts read: its exact form is pinned.
func TestJSONLines(t *testing.T) {
	yes := true
	for _, tc := range []struct {
		name string
		e    event.Event
		want string
	}{
		{"first", event.Start{Version: 1, Verb: "run", RunID: "r1", Sandbox: "/s"},
			`{"type":"start","version":1,"verb":"run","run_id":"r1","sandbox":"/s"}`},
		{"html stays readable", event.Notice{Message: "a < b & c"},
			`{"type":"notice","message":"a < b & c"}`},
		{"nil lists are empty", event.Planned{Planner: "embedded"},
			`{"type":"planned","planner":"embedded","confidence":0,"plan":[],"summaries":[],"may":[],"skill":""}`},
		{"embedded fields are flat", event.Progress{Call: 2, Progress: abi.Progress{Done: 1, Total: 4}},
			`{"type":"progress","call":2,"done":1,"total":4}`},
		{"raw result stays", event.StepEnd{Call: 0, Tool: "t", OK: true, Result: json.RawMessage(`{"a":1.50,"b":"\\x41"}`), Elapsed: time.Microsecond},
			`{"type":"step_end","call":0,"tool":"t","ok":true,"result":{"a":1.50,"b":"\\x41"},"elapsed_ns":1000}`},
		{"stray bytes are visible", event.Changes{Changes: []commit.Change{{Kind: commit.Delete, Entry: commit.File, Path: "a\xffb\\c"}}},
			`{"type":"changes","digest":"","changes":[{"kind":"delete","entry":"file","path":"a\\xffb\\\\c","size":0}],"safe":false,"dry_run":false}`},
		{"bidirectional marks do not reach a terminal", event.Output{Line: "\u202etxt.exe\u009b1m\x1b"},
			`{"type":"output","line":"\u202etxt.exe\u009b1m\u001b"}`},
		{"arguments inside maps", event.Program{Digest: "d", Calls: []abi.Call{{Tool: "t", Args: map[string]any{"items": []any{"\xfe", json.Number("1"), nil}}}}},
			`{"type":"program","digest":"d","calls":[{"tool":"t","args":{"items":["\\xfe",1,null]}}]}`},
		{"pointer", event.Approval{Digest: "d", Given: &yes}, `{"type":"approval","digest":"d","given":true}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, event.NewJSON(&b).Handle(tc.e))
			require.Equal(t, tc.want+"\n", b.String())
			require.True(t, json.Valid(b.Bytes()))
		})
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("pipe closed") }

// A reader that went away has to end the run, not be ignored.
func TestJSONReportsTheWriter(t *testing.T) {
	err := event.NewJSON(brokenWriter{}).Handle(event.Notice{})
	require.ErrorContains(t, err, "pipe closed")
}

func TestUnescapeRefusesWhatEscapeNeverMakes(t *testing.T) {
	for _, s := range []string{`\xzz`, `\xFF`, `\x`, `\xff\`, `\xff\n`} {
		_, err := event.Unescape(s)
		require.Error(t, err, s)
	}
}

// A file name must come back byte for byte, whatever it holds.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "a", "a\xff", `a\xff`, `\\x41`, "a\\b", "\xf0\x9f", "名前", `\x` + "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line, err := event.Line(event.Output{Line: s})
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(line), "\n"), "one object a line")
		var got struct{ Line string }
		require.NoError(t, json.Unmarshal(line, &got))
		back, err := event.Unescape(got.Line)
		require.NoError(t, err)
		require.Equal(t, s, back)
	})
}
