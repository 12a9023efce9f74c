package gate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/plan"
)

// Whatever a request holds, a one-word phrase in it is found, and nothing but a
// decision comes back.
func FuzzScreen(f *testing.F) {
	for _, s := range []string{"", "delete all log files", "wipe", "删除所有文件 clip.mp4", "a, b and c. d; e", "*", "\xff\u200b", "~/x/../y.pdf?"} {
		f.Add(s)
	}
	r := contractRegistry(f)
	f.Fuzz(func(t *testing.T, s string) {
		d := NewPhrases([]string{"wipe", "delete all"}, r).Screen(s)
		require.Contains(t, []Outcome{Proceed, Reject}, d.Outcome)
		require.Equal(t, Reject, NewPhrases([]string{"wipe"}, r).Screen(s+"\nplease wipe it").Outcome)
		require.Equal(t, d, NewPhrases([]string{"wipe", "delete all"}, r).Screen(s), "the same request, the same answer")
	})
}

// Whatever a planner writes, no draft that passes names a path outside, or
// loses a source to a product.
func FuzzCheck(f *testing.F) {
	f.Add("merge a.pdf", "a.pdf", "b.pdf", "offered.mp4")
	f.Add("trim the second video", "second video", "", "b.mp4")
	f.Add("x", "../a", `..\b`, "*")
	f.Add("all", "*.pdf", "report.pdf", "$x")
	f.Add("report", "report", "$$report", "\xff.pdf")
	r := contractRegistry(f)
	f.Fuzz(func(t *testing.T, said, in, out, offered string) {
		calls := []abi.Call{
			call("merge_pdfs", map[string]any{"inputs": list(in, "report.pdf"), "output": out}),
			call("split_pdf", map[string]any{"input": out, "ranges": said}),
		}
		q := Request{Utterance: said, Draft: plan.NewDraft(calls), Registry: r, Sandbox: home, SandboxPath: "/srv/home", Files: []string{offered}}
		got, d := Check(q)
		again, d2 := Check(q)
		require.Equal(t, d, d2)
		require.Equal(t, got.Calls(), again.Calls())
		switch d.Outcome {
		case Clarify:
			require.NotEmpty(t, d.Question)
			require.LessOrEqual(t, len(d.Candidates), maxOffer)
		case Reject:
			require.NotEmpty(t, d.Reason)
		case Proceed:
			for _, c := range got.Calls() {
				product, _ := c.Args["output"].(string)
				for _, v := range append(texts(c.Args["inputs"]), texts(c.Args["input"])...) {
					require.False(t, leadsOut(v) && !isVariable(v), "%q", v)
					require.False(t, product != "" && v == product && !isVariable(v) && !strings.Contains(v, "*"), "%q over itself", v)
				}
			}
		default:
			t.Fatalf("outcome %q", d.Outcome)
		}
	})
}

// BenchmarkGates is what the gates add to planning one request.
func BenchmarkGates(b *testing.B) {
	r := contractRegistry(b)
	draft := plan.NewDraft([]abi.Call{call("split_pdf", map[string]any{"input": "report", "ranges": "1-2"})})
	phrases := []string{"delete all documents", "delete everything", "wipe", "shred", "hard drive", "rm -rf", "nuke", "format drive"}
	for b.Loop() {
		if NewPhrases(phrases, r).Screen("split report into pages 1-2").Outcome != Proceed {
			b.Fatal("refused")
		}
		if _, d := Check(Request{Utterance: "split report into pages 1-2", Draft: draft, Registry: r, Sandbox: home, SandboxPath: "/srv/home"}); d.Outcome != Proceed {
			b.Fatal(d)
		}
	}
}
