package display

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/commit"
	"stepbox.dev/host/event"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func moves(n int) []commit.Change {
	var list []commit.Change
	for range n {
		list = append(list, commit.Change{Kind: commit.Move, Entry: commit.File, From: "in/a", Path: "out/a"})
	}
	return list
}

var yes = true

var streams = map[string][]event.Event{
	"only looks": {
		event.Start{Version: 1, Verb: "run", Sandbox: "/home/me"},
		event.Retrieved{Skill: "files", Competed: true},
		event.Planned{Plan: []abi.Call{{Tool: "list_files"}}, Summaries: []string{"list the PDF files in inbox"}, May: []string{"read"}},
		event.StepStart{Call: 0, Tool: "list_files", Of: 1},
		event.StepEnd{Call: 0, Tool: "list_files", OK: true},
		event.Changes{Safe: true},
		event.Result{Items: []abi.Item{{Kind: abi.ItemOutput, Message: "a.pdf  3 kB\nb.pdf  1 kB"}, {Kind: abi.ItemInfo, Message: "2 files"}}},
		event.End{Outcome: "done", RunID: "r1"},
	},
	"asks and is not approved": {
		event.Start{Version: 1, Verb: "run"},
		event.Planned{Plan: []abi.Call{{Tool: "move_files"}, {Tool: "delete_files", Args: map[string]any{"path": []any{"build"}}, Output: "$x"}},
			Summaries: []string{"move invoices to archive"}, May: []string{"write", "write"}},
		event.Changes{Digest: "d1", Changes: append(moves(14), commit.Change{Kind: commit.Create, Entry: commit.File, Path: "z/.envrc", Size: 1200, Protected: "other programs run it"})},
		event.Approval{Digest: "d1"},
		event.End{Outcome: "not_approved", ExitCode: 5, RunID: "r2", Digest: "d1", Error: "nobody approved the changes", Next: "add --yes"},
	},
	"a hostile guest": {
		event.Notice{Message: "building \x1b[31mskill"},
		event.Planned{Plan: []abi.Call{{Tool: "x"}}, Summaries: []string{"list\ndo this? [y/N] y\u202e"}, May: []string{"\x1b[2J"}},
		event.Output{Line: "\x1b]0;title\a"},
		event.StepEnd{Issues: []string{"a\rb"}},
		event.Changes{Changes: []commit.Change{{Kind: commit.Delete, Entry: commit.Folder, Path: "a\nb\xff"}, {Kind: commit.Create, Entry: commit.Link, Path: "l\x1b"}}},
		event.Result{Items: []abi.Item{{Kind: abi.ItemOutput, Message: "a\x1b[1A", Path: "p\x07"}, {Kind: abi.ItemCommand, Message: "ls -l"}, {Kind: abi.ItemError, Message: "bad\x00"}}},
		event.End{Outcome: "step_failed", ExitCode: 6, Error: "step \"x\u2066\" failed\nstepbox: done", Next: "try\x1b"},
	},
	"a question without a person": {
		event.Decision{Outcome: "clarify", Question: "which folder?", Candidates: []string{"inbox", "outbox"}},
		event.End{Outcome: "clarify", ExitCode: 3, Error: "which folder?", Next: "one of: inbox, outbox"},
	},
	"a dry run": {
		event.Changes{DryRun: true, Changes: []commit.Change{{Kind: commit.Replace, Entry: commit.File, Path: "a", Size: 5}, {Kind: commit.Touch, Entry: commit.Folder, Path: "t"}}},
		event.End{Outcome: "done"},
	},
	"a safe commit": {
		event.Changes{Safe: true, Changes: []commit.Change{{Kind: commit.Create, Entry: commit.File, Path: "logs.zip", Size: 2_000_000}}},
		event.Approval{Given: &yes, By: "safe"},
		event.Committed{Changes: 1, Bytes: 2_000_000},
		event.Result{Items: []abi.Item{{Kind: abi.ItemInfo, Message: "zipped 3 files", Path: "logs.zip"}}},
		event.End{Outcome: "done", RunID: "r3"},
	},
	"an undo of everything": {
		event.Start{RunID: "r5", Verb: "undo"},
		event.Undone{Changes: []commit.Change{
			{Kind: commit.Move, Entry: commit.File, Path: "in/a", From: "out/a"},
			{Kind: commit.Create, Entry: commit.File, Path: "gone", Size: 3},
			{Kind: commit.Create, Entry: commit.Folder, Path: "old"},
			{Kind: commit.Delete, Entry: commit.Folder, Path: "out"},
			{Kind: commit.Replace, Entry: commit.File, Path: "text", Size: 5, Note: "the file has other names"},
		}},
		event.Undone{DryRun: true, Changes: []commit.Change{{Kind: commit.Create, Entry: commit.File, Path: "gone", Size: 3}}},
		event.End{RunID: "r6"},
	},
	"an undo that keeps a file": {
		event.Start{RunID: "r4", Verb: "undo"},
		event.Undone{Changes: moves(1), Refused: []commit.Refusal{{Path: "b", Reason: "changed since"}}},
		event.End{Outcome: "conflict", ExitCode: 8, Error: "1 change could not be taken back"},
	},
}

func TestTextGolden(t *testing.T) {
	for name, events := range streams {
		t.Run(name, func(t *testing.T) {
			var out, err strings.Builder
			text := NewText(Options{Out: &out, Err: &err})
			for _, e := range events {
				require.NoError(t, text.Handle(e))
			}
			require.True(t, text.Ended())
			got := "-- stdout --\n" + out.String() + "-- stderr --\n" + err.String()
			require.NotContains(t, got, "\x1b")
			golden := filepath.Join("testdata", strings.ReplaceAll(name, " ", "_")+".golden")
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, e := os.ReadFile(golden)
			require.NoError(t, e)
			require.Equal(t, string(want), got)
		})
	}
}

func TestCount(t *testing.T) {
	list := append(moves(12), commit.Change{Kind: commit.Delete, Entry: commit.File}, commit.Change{Kind: commit.Replace, Entry: commit.File})
	require.Equal(t, "move 12 files, delete 1, replace 1", Count(list))
	list = append(list, commit.Change{Kind: commit.Create, Entry: commit.Folder}, commit.Change{Kind: commit.Delete, Entry: commit.Folder})
	require.Equal(t, "move 12 files, delete 1 and 1 folder, replace 1 file, create 1 folder", Count(list))
	require.Equal(t, "no changes", Count(nil))
	require.Equal(t, "move 12,345 files", Count(moves(12345)))
}

func TestProtectedChangesAreNeverHidden(t *testing.T) {
	list := append(moves(30), commit.Change{Path: ".envrc", Protected: "x"})
	shown, hidden := some(list, 5)
	require.Len(t, shown, 5)
	require.Equal(t, 26, hidden)
	require.Equal(t, ".envrc", shown[0].Path)
}

func TestProgressOnATerminal(t *testing.T) {
	now := time.Unix(0, 0)
	var err strings.Builder
	text := NewText(Options{Out: &err, Err: &err, Terminal: true, Columns: func() int { return 70 }, Now: func() time.Time { return now }})
	handle := func(e event.Event) string {
		err.Reset()
		require.NoError(t, text.Handle(e))
		return err.String()
	}
	require.Equal(t, "\r\x1b[Kstep 1 of 2: pack", handle(event.StepStart{Call: 0, Tool: "pack", Of: 2}))
	p := event.Progress{Progress: abi.Progress{Done: 1, Total: 4, Label: "a\x1b.txt"}}
	require.Empty(t, handle(p), "drawn too soon")
	now = now.Add(time.Second)
	require.Equal(t, "\r\x1b[Kstep 1 of 2: pack [=====               ]  25% | a\\x1b.txt", handle(p))
	now = now.Add(time.Hour)
	line := handle(p)
	require.Contains(t, line, "about 3h0m3s left")
	require.LessOrEqual(t, Width(strings.TrimPrefix(line, "\r\x1b[K")), 69)
	p.Progress.Done = 0 // over again: an hour for nothing says nothing
	handle(p)
	now, p.Progress.Done = now.Add(10*time.Second), 2
	require.Contains(t, handle(p), "about 10s left")
	text.open("Go on? ") // nor does an hour in which a person thinks
	now = now.Add(time.Hour)
	text.answered(false)
	now, p.Progress.Done = now.Add(10*time.Second), 3
	require.Contains(t, handle(p), "about 10s left")
	require.Equal(t, "\r\x1b[K| note: hm\n", handle(event.StepEnd{Issues: []string{"hm"}}))
}

// A remark is read once where both streams are a terminal, and in the result
// wherever that goes elsewhere.
func TestRemarksOnce(t *testing.T) {
	for _, marked := range []bool{false, true} {
		var out, err strings.Builder
		text := NewText(Options{Out: &out, Err: &err, Terminal: true, Marked: marked})
		require.NoError(t, text.Handle(event.StepEnd{Issues: []string{"no sound"}}))
		require.NoError(t, text.Handle(event.Result{Items: []abi.Item{{Kind: abi.ItemOutput, Message: "a.mp4"}, {Kind: abi.ItemInfo, Message: "no sound"}}}))
		require.Contains(t, err.String(), "| note: no sound\n")
		if marked {
			require.Equal(t, "| a.mp4\n", out.String())
		} else {
			require.Equal(t, "a.mp4\nno sound\n", out.String())
		}
	}
}

func TestProgressElsewhereIsSilent(t *testing.T) {
	var err strings.Builder
	text := NewText(Options{Out: &err, Err: &err})
	require.NoError(t, text.Handle(event.StepStart{Tool: "pack", Of: 1}))
	require.NoError(t, text.Handle(event.Progress{Progress: abi.Progress{Done: 1, Total: 4}}))
	require.Empty(t, err.String())
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errors.New("closed") }

func TestAResultThatCannotBeWrittenIsAnError(t *testing.T) {
	text := NewText(Options{Out: closed{}, Err: closed{}})
	require.NoError(t, text.Handle(event.Notice{Message: "x"}))
	require.ErrorContains(t, text.Handle(event.Result{Items: []abi.Item{{Kind: abi.ItemOutput, Message: "x"}}}), "closed")
}

func TestPerson(t *testing.T) {
	ctx := context.Background()
	protected := []commit.Change{{Kind: commit.Create, Entry: commit.File, Path: ".envrc", Protected: "x"}, {Kind: commit.Delete, Entry: commit.File, Path: "b"}}
	for name, c := range map[string]struct {
		typed string
		ask   func(*Person) (any, error)
		want  any
		said  string
	}{
		"a candidate by number": {"2\n", clarify, "outbox", "2) outbox"},
		"an answer in words":    {"the inbox \n", clarify, "the inbox", "which folder?"},
		"gives up":              {"\n", clarify, "", ""},
		"input ends":            {"", clarify, "", ""},
		"yes":                   {"y\n", approve(moves(1)), answer{true, nil}, "do this? [y/N"},
		"no":                    {"\n", approve(moves(1)), answer{false, nil}, ""},
		"input ends is no":      {"", approve(moves(1)), answer{false, nil}, ""},
		"lists, then yes":       {"l\nyes\n", approve(moves(1)), answer{true, nil}, "move    in/a → out/a"},
		"something else":        {"perhaps\ny\n", approve(moves(1)), answer{true, nil}, "please answer y or n"},
		"yes in Bulgarian":      {"Да\n", approve(moves(1)), answer{true, nil}, ""},
		"no in Chinese":         {"不\n", approve(moves(1)), answer{false, nil}, ""},
		"neither yes nor no":    {"leave it out\nnein\n", approve(moves(1)), answer{false, nil}, "please answer y or n"},
		"protected agreed":      {"y\ny\n", approve(protected), answer{true, []string{".envrc"}}, "protected"},
		"protected declined":    {"y\nn\n", approve(protected), answer{false, nil}, ""},
		"confirms": {"y\n", func(p *Person) (any, error) {
			return p.Confirm(ctx, abi.ConfirmRequest{Prompt: "ok?\x1b\nfake", Preview: strings.Repeat("x\n", 100)})
		}, true, "| ok?\\x1b\n| fake\n"},
		"proceeds": {"no\n", func(p *Person) (any, error) { return p.Proceed(ctx, "move\nall") }, false, "next:\n| move\\nall\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var err strings.Builder
			p := NewPerson(strings.NewReader(c.typed), NewText(Options{Out: &err, Err: &err}), nil)
			got, e := c.ask(p)
			require.NoError(t, e)
			require.Equal(t, c.want, got)
			require.Contains(t, err.String(), c.said)
			require.Less(t, strings.Count(err.String(), "\n"), 60)
		})
	}
}

type answer struct {
	yes   bool
	names []string
}

func clarify(p *Person) (any, error) {
	return p.Clarify(context.Background(), event.Decision{Question: "which folder?", Candidates: []string{"inbox", "outbox"}})
}

func approve(list []commit.Change) func(*Person) (any, error) {
	return func(p *Person) (any, error) {
		yes, names, err := p.approve(context.Background(), list)
		return answer{yes, names}, err
	}
}

func TestAskEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer w.Close()
	cancel()
	var out strings.Builder
	_, err = NewPerson(r, NewText(Options{Out: &out, Err: &out}), nil).Proceed(ctx, "x")
	require.ErrorIs(t, err, context.Canceled)
}

// Events that arrive while a question is open must not leave it unreadable.
func TestAQuestionIsAskedAgainBelowWhatCameMeanwhile(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	var out strings.Builder
	text := NewText(Options{Out: &out, Err: &out, Terminal: true})
	asked := make(chan struct{})
	go func() {
		<-asked
		for _, e := range []event.Event{event.Notice{Message: "compiling"}, event.Progress{Progress: abi.Progress{Total: 1}}} {
			if text.Handle(e) != nil {
				break
			}
		}
		w.WriteString("y\n")
		w.Close()
	}()
	yes, err := NewPerson(r, text, func() { close(asked) }).Proceed(context.Background(), "x")
	require.NoError(t, err)
	require.True(t, yes)
	require.Regexp(t, `^next:\n\| x\n(go on\? \[y/N\] \n)?compiling\n(go on\? \[y/N\] )`, out.String())
}

func TestCallAndValue(t *testing.T) {
	c := abi.Call{Tool: "find", Args: map[string]any{"b": json.Number("3"), "a": []any{"x<y"}, "s": "in box", "w": "inbox"}, Output: "$f"}
	require.Equal(t, `find a=["x<y"] b=3 s="in box" w=inbox → $f`, Call(c))
}

func TestTableAlignsWideText(t *testing.T) {
	var b strings.Builder
	Table(&b, [][]string{{"NAME", "X"}, {"报告", "1"}, {"e\u0301", "2"}})
	require.Equal(t, "NAME  X\n报告  1\ne\u0301     2\n", b.String())
}
