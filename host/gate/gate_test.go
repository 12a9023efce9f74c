package gate

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/registry"
)

// contract is a small one that has every case the rules know.
const contract = `
merge_pdfs:
  description: "Merge PDFs."
  keywords: [merge, join]
  required_args: [inputs, output]
  safety_category: safe
  arg_schemas:
    inputs: {type: array, items: string, path_role: input}
    output: {type: string, path_role: output}
split_pdf:
  description: "Split a PDF."
  keywords: [split]
  required_args: [input, ranges]
  optional_args: [output]
  safety_category: safe
  arg_schemas:
    input: {type: string, path_role: input}
    ranges: {type: string}
    output: {type: string, path_role: output}
protect_pdf:
  description: "Protect a PDF."
  keywords: [protect, lock]
  required_args: [input, password]
  grounded_args: [password]
  safety_category: safe
  arg_schemas:
    input: {type: string, path_role: input}
    password: {type: string}
convert:
  description: "Convert a file."
  keywords: [convert]
  required_args: [input, to_format, output]
  safety_category: safe
  arg_schemas:
    input: {type: string, path_role: input}
    to_format: {type: enum, enum: [pdf, txt, md]}
    output: {type: string, path_role: output}
move_files:
  description: "Move files."
  keywords: [move]
  required_args: [dst]
  any_of_args: [src, items]
  safety_category: destructive
  arg_schemas:
    src: {type: array, items: string, path_role: input}
    items: {type: array, items: string, path_role: input}
    dst: {type: string, path_role: output}
    file_type: {type: enum, enum: [log, image, archive]}
    what: {type: enum, enum: [files, folders, both], aliases: {everything: both, lot: both}}
list_files:
  description: "List files."
  keywords: [list, show]
  optional_args: [path]
  defaults: {path: ["."]}
  readonly: true
  arg_schemas:
    path: {type: array, items: string, path_role: input}
trim_video:
  description: "Trim a video."
  keywords: [trim, cut]
  required_args: [inputs]
  optional_args: [output, base]
  safety_category: destructive
`

func contractRegistry(t testing.TB) *registry.Registry {
	r, err := registry.Parse([]byte(contract), registry.Options{File: "tools.yaml"})
	require.NoError(t, err)
	return r
}

var home = fstest.MapFS{
	"report.pdf":              {},
	"$odd.txt":                {},
	"b.pdf":                   {},
	"clip.mp4":                {},
	"Holiday Plan.docx":       {},
	"video.mp4":               {},
	"notes.txt":               {},
	"notes.md":                {},
	"report-merge.pdf":        {},
	"inbox/invoice-01.pdf":    {},
	"inbox/invoice-02.pdf":    {},
	"inbox/deep/contract.pdf": {},
	"archive/old.zip":         {},
	"photos/a.jpg":            {},
}

func call(tool string, args map[string]any) abi.Call { return abi.Call{Tool: tool, Args: args} }

func list(s ...any) []any { return s }

// Each row is one way in which a plan and a request can disagree.
func TestCheck(t *testing.T) {
	type m = map[string]any
	r := contractRegistry(t)
	for _, tc := range []struct {
		name      string
		utterance string
		calls     []abi.Call
		files     []string
		outcome   Outcome
		about     string // substring of the question or reason
		arg       string
		value     string
		offers    []string
		want      m // arguments of the first call afterwards
	}{
		{name: "as it stands", utterance: "merge report.pdf and b.pdf into all.pdf",
			calls:   []abi.Call{call("merge_pdfs", m{"inputs": list("report.pdf", "b.pdf"), "output": "all.pdf"})},
			outcome: Proceed, want: m{"inputs": list("report.pdf", "b.pdf"), "output": "all.pdf"}},
		{name: "the planner asks", utterance: "do it", calls: []abi.Call{call("clarify", m{"question": "Which file?", "candidates": list("a", "b")})},
			outcome: Clarify, about: "Which file?", offers: []string{"a", "b"}},
		{name: "the planner refuses, whatever else it plans", utterance: "x", calls: []abi.Call{call("clarify", m{"question": "?"}), call("reject", m{"reason": "no"})},
			outcome: Reject, about: "no"},
		{name: "no call at all", utterance: "x", outcome: Clarify},
		{name: "outside comes before any question", utterance: "split /etc/x.pdf", calls: []abi.Call{call("split_pdf", m{"input": "/data/docs/x.pdf"})},
			outcome: Reject, about: `"/data/docs/x.pdf" lies outside the sandbox /srv/home`, arg: "input"},
		{name: "outside by dots", utterance: "list ../x", calls: []abi.Call{call("list_files", m{"path": list("a/../../x")})}, outcome: Reject, about: "outside", arg: "path"},
		{name: "up from a name", utterance: "list report.pdf/..", calls: []abi.Call{call("list_files", m{"path": list("report.pdf/..")})}, outcome: Reject, about: `".." behind a name`, arg: "path"},
		{name: "outside by drive letter", utterance: "list it", calls: []abi.Call{call("list_files", m{"path": list(`C:\Users`)})}, outcome: Reject, about: "outside", arg: "path"},
		{name: "outside as an output", utterance: "move report.pdf to ~/x", calls: []abi.Call{call("move_files", m{"items": list("report.pdf"), "dst": "~/x"})}, outcome: Reject, about: "outside", arg: "dst"},
		{name: "a text that looks like a path is none", utterance: "split report.pdf at ../x", calls: []abi.Call{call("split_pdf", m{"input": "report.pdf", "ranges": "../x"})}, outcome: Proceed},
		{name: "missing text", utterance: "split report.pdf", calls: []abi.Call{call("split_pdf", m{"input": "report.pdf"})},
			outcome: Clarify, about: "ranges", arg: "ranges"},
		{name: "missing input offers files of the kind", utterance: "split the pdf in two", calls: []abi.Call{call("split_pdf", m{"ranges": "1"})},
			outcome: Clarify, about: "Which file", arg: "input", offers: []string{"b.pdf", "inbox/deep/contract.pdf", "inbox/invoice-01.pdf", "inbox/invoice-02.pdf", "report-merge.pdf", "report.pdf"}},
		{name: "an empty list is missing", utterance: "merge", calls: []abi.Call{call("merge_pdfs", m{"inputs": list(""), "output": "x.pdf"})}, outcome: Clarify, arg: "inputs"},
		{name: "missing enum offers its values", utterance: "convert report.pdf", calls: []abi.Call{call("convert", m{"input": "report.pdf"})},
			outcome: Clarify, arg: "to_format", offers: []string{"pdf", "txt", "md"}},
		{name: "any of", utterance: "move it to archive", calls: []abi.Call{call("move_files", m{"dst": "archive"})}, outcome: Clarify, about: "Which file", arg: "src"},
		{name: "a destination is asked for, never named by default", utterance: "move report.pdf", calls: []abi.Call{call("move_files", m{"items": list("report.pdf")})},
			outcome: Clarify, arg: "dst"},
		{name: "a product is named by default", utterance: "merge b.pdf and report.pdf", calls: []abi.Call{call("merge_pdfs", m{"inputs": list("b.pdf", "report.pdf")})},
			outcome: Proceed, want: m{"inputs": list("b.pdf", "report.pdf"), "output": "b-merge.pdf"}},
		{name: "and never takes a name in use", utterance: "merge report.pdf and b.pdf", calls: []abi.Call{call("merge_pdfs", m{"inputs": list("report.pdf", "b.pdf")})},
			outcome: Proceed, want: m{"inputs": list("report.pdf", "b.pdf"), "output": "report-merge-2.pdf"}},
		{name: "the format gives the extension", utterance: "convert notes.txt to md", calls: []abi.Call{call("convert", m{"input": "notes.txt", "to_format": "md"})},
			outcome: Proceed, want: m{"input": "notes.txt", "to_format": "md", "output": "notes-convert.md"}},
		{name: "beside its input", utterance: "merge invoice-01.pdf", calls: []abi.Call{call("merge_pdfs", m{"inputs": list("inbox/invoice-01.pdf")})},
			outcome: Proceed, want: m{"inputs": list("inbox/invoice-01.pdf"), "output": "inbox/invoice-01-merge.pdf"}},
		{name: "a stem that one file has", utterance: "split report at 2", calls: []abi.Call{call("split_pdf", m{"input": "report", "ranges": "2"})},
			outcome: Proceed, want: m{"input": "report.pdf", "ranges": "2"}},
		{name: "a stem deep in the tree", utterance: "split contract at 2", calls: []abi.Call{call("split_pdf", m{"input": "contract", "ranges": "2"})},
			outcome: Proceed, want: m{"input": "inbox/deep/contract.pdf", "ranges": "2"}},
		{name: "a stem that two files have", utterance: "split notes at 2", calls: []abi.Call{call("split_pdf", m{"input": "notes", "ranges": "2"})},
			outcome: Clarify, about: "several", arg: "input", offers: []string{"notes.md", "notes.txt"}},
		{name: "without case", utterance: "split REPORT.PDF at 2", calls: []abi.Call{call("split_pdf", m{"input": "REPORT.PDF", "ranges": "2"})},
			outcome: Proceed, want: m{"input": "report.pdf", "ranges": "2"}},
		{name: "no such file", utterance: "split reprot.pdf at 2", calls: []abi.Call{call("split_pdf", m{"input": "reprot.pdf", "ranges": "2"})},
			outcome: Clarify, about: "no \"reprot.pdf\"", arg: "input", offers: []string{"report.pdf"}},
		{name: "elsewhere in the tree is a candidate", utterance: "split old.zip", calls: []abi.Call{call("split_pdf", m{"input": "old.zip", "ranges": "2"})},
			outcome: Clarify, arg: "input", offers: []string{"archive/old.zip"}},
		{name: "one of several is asked about by itself", utterance: "merge report.pdf and c.pdf", calls: []abi.Call{call("merge_pdfs", m{"inputs": list("report.pdf", "c.pdf")})},
			outcome: Clarify, about: "c.pdf", arg: "inputs", value: "c.pdf"},
		{name: "a file nobody named", utterance: "split it at page 2", calls: []abi.Call{call("split_pdf", m{"input": "report.pdf", "ranges": "2"})},
			outcome: Clarify, about: "does not name", arg: "input", offers: []string{"report.pdf"}},
		{name: "a word for a kind is no name", utterance: "trim the video", calls: []abi.Call{call("trim_video", m{"inputs": list("video.mp4")})},
			outcome: Clarify, about: "does not name", arg: "inputs"},
		{name: "unless it is used as one", utterance: "trim video.mp4", calls: []abi.Call{call("trim_video", m{"inputs": list("video.mp4")})}, outcome: Proceed},
		{name: "a folder may be called by its kind", utterance: "list what is in the photos folder", calls: []abi.Call{call("list_files", m{"path": list("photos")})}, outcome: Proceed},
		{name: "a folder nobody named", utterance: "list the files", calls: []abi.Call{call("list_files", m{"path": list("inbox")})}, outcome: Clarify, arg: "path"},
		{name: "named word by word", utterance: "split my holiday plan in two", calls: []abi.Call{call("split_pdf", m{"input": "Holiday Plan.docx", "ranges": "2"})}, outcome: Proceed},
		{name: "made by an earlier call", utterance: "merge b.pdf and report.pdf, then split the result",
			calls:   []abi.Call{call("merge_pdfs", m{"inputs": list("b.pdf", "report.pdf"), "output": "tmp.pdf"}), call("split_pdf", m{"input": "tmp.pdf", "ranges": "1"})},
			outcome: Proceed},
		{name: "made by a later call is not there", utterance: "split tmp.pdf",
			calls:   []abi.Call{call("split_pdf", m{"input": "tmp.pdf", "ranges": "1"}), call("merge_pdfs", m{"inputs": list("b.pdf"), "output": "tmp.pdf"})},
			outcome: Clarify, arg: "input"},
		{name: "a default of the contract needs no mention", utterance: "list the files", calls: []abi.Call{call("list_files", m{"path": list(".")})}, outcome: Proceed},
		{name: "without a schema a file name is still an input", utterance: "trim clip.mp4", calls: []abi.Call{call("trim_video", m{"inputs": list("clip.mp4"), "base": "b.mov"})},
			outcome: Clarify, about: "b.mov", arg: "base"},
		{name: "a pattern nobody spoke of", utterance: "trim the video", calls: []abi.Call{call("trim_video", m{"inputs": list("*.mp4")})}, outcome: Clarify, about: "every file", arg: "inputs"},
		{name: "a batch word speaks of it", utterance: "обрежи всички клипове", calls: []abi.Call{call("trim_video", m{"inputs": list("*.mp4")})}, outcome: Proceed},
		{name: "password from the request", utterance: "protect report.pdf with hunter2.", calls: []abi.Call{call("protect_pdf", m{"input": "report.pdf", "password": "hunter2"})}, outcome: Proceed},
		{name: "password made up", utterance: "protect report.pdf", calls: []abi.Call{call("protect_pdf", m{"input": "report.pdf", "password": "secret"})},
			outcome: Clarify, about: "password", arg: "password"},
		{name: "password made up from the request's own words", utterance: "password protect report.pdf", calls: []abi.Call{call("protect_pdf", m{"input": "report.pdf", "password": "password"})},
			outcome: Clarify, about: "password", arg: "password"},
		{name: "password from a file name", utterance: "protect report.pdf", calls: []abi.Call{call("protect_pdf", m{"input": "report.pdf", "password": "report"})}, outcome: Clarify, arg: "password"},
		{name: "password that is a word, said to be one", utterance: "protect report.pdf, the password is protect", calls: []abi.Call{call("protect_pdf", m{"input": "report.pdf", "password": "protect"})}, outcome: Proceed},
		{name: "password in other case", utterance: "protect report.pdf with Hunter2", calls: []abi.Call{call("protect_pdf", m{"input": "report.pdf", "password": "hunter2"})}, outcome: Clarify, arg: "password"},
		{name: "over its input", utterance: "split report.pdf in place", calls: []abi.Call{call("split_pdf", m{"input": "report.pdf", "ranges": "1", "output": "./report.pdf"})},
			outcome: Reject, about: "overwrite", arg: "output"},
		{name: "over another call's input", utterance: "split report.pdf then merge it with b.pdf",
			calls: []abi.Call{call("split_pdf", m{"input": "report.pdf", "ranges": "1", "output": "t.pdf"}), call("merge_pdfs", m{"inputs": list("t.pdf", "b.pdf"), "output": "report.pdf"})}, outcome: Reject, about: "overwrite", arg: "output"},
		{name: "over one of a pattern", utterance: "merge all pdfs into b.pdf", calls: []abi.Call{call("merge_pdfs", m{"inputs": list("*.pdf"), "output": "b.pdf"})}, outcome: Reject, about: "overwrite", arg: "output"},
		{name: "over what an earlier call made", utterance: "merge b.pdf and report.pdf into t.pdf, then split t.pdf at 1 into t.pdf",
			calls:   []abi.Call{call("merge_pdfs", m{"inputs": list("b.pdf", "report.pdf"), "output": "t.pdf"}), call("split_pdf", m{"input": "t.pdf", "ranges": "1", "output": "t.pdf"})},
			outcome: Reject, about: "overwrite", arg: "output"},
		{name: "over what was offered from elsewhere", utterance: "merge 0 and report.pdf into 0", files: []string{"0"},
			calls: []abi.Call{call("merge_pdfs", m{"inputs": list("0", "report.pdf"), "output": "0"})}, outcome: Reject, about: "overwrite", arg: "output"},
		{name: "a folder that an earlier call made is put in order", utterance: "move report.pdf to new, then move what is in new to new",
			calls: []abi.Call{call("move_files", m{"items": list("report.pdf"), "dst": "new"}), call("move_files", m{"src": list("new"), "dst": "new"})}, outcome: Proceed},
		{name: "a new name beside a pattern", utterance: "merge all pdfs into new.pdf", calls: []abi.Call{call("merge_pdfs", m{"inputs": list("*.pdf"), "output": "new.pdf"})}, outcome: Proceed},
		{name: "into its own folder overwrites nothing", utterance: "move report.pdf to inbox from inbox", calls: []abi.Call{call("move_files", m{"src": list("inbox"), "dst": "inbox"})}, outcome: Proceed},
		{name: "offered, by description", utterance: "trim the 4K video", files: []string{"clip.mp4", "clip_4k.mp4"}, calls: []abi.Call{call("trim_video", m{"inputs": list("the 4K video")})},
			outcome: Proceed, want: m{"inputs": list("clip_4k.mp4")}},
		{name: "offered, left out by the planner", utterance: "trim the 4K video", files: []string{"clip.mp4", "clip_4k.mp4"}, calls: []abi.Call{call("trim_video", m{})},
			outcome: Proceed, want: m{"inputs": list("clip_4k.mp4")}},
		{name: "offered, by position", utterance: "split the second pdf at 1", files: []string{"a.pdf", "v.mp4", "c.pdf"}, calls: []abi.Call{call("split_pdf", m{"input": "second pdf", "ranges": "1"})},
			outcome: Proceed, want: m{"input": "c.pdf", "ranges": "1"}},
		{name: "offered, by stem", utterance: "trim clip_4k", files: []string{"x/clip_4k.mp4"}, calls: []abi.Call{call("trim_video", m{"inputs": list("clip_4k")})},
			outcome: Proceed, want: m{"inputs": list("x/clip_4k.mp4")}},
		{name: "offered, but two fit", utterance: "trim the video", files: []string{"a.mp4", "b.mov"}, calls: []abi.Call{call("trim_video", m{})},
			outcome: Clarify, arg: "inputs", offers: []string{"a.mp4", "b.mov"}},
		{name: "offered, but none fits", utterance: "trim the silent clip", files: []string{"a.mp4", "b.mov"}, calls: []abi.Call{call("trim_video", m{"inputs": list("the silent clip")})},
			outcome: Clarify, arg: "inputs"},
		{name: "a name that looks like a variable", utterance: "split $odd.txt at 1", calls: []abi.Call{call("split_pdf", m{"input": "$$odd.txt", "ranges": "1"})},
			outcome: Proceed, want: m{"input": "$$odd.txt", "ranges": "1"}},
		{name: "its stem finds it, as a name", utterance: "split $odd at 1", calls: []abi.Call{call("split_pdf", m{"input": "$$odd", "ranges": "1"})},
			outcome: Proceed, want: m{"input": "$$odd.txt", "ranges": "1"}},
		{name: "what is named after it is a name too", utterance: "merge $odd.txt", calls: []abi.Call{call("merge_pdfs", m{"inputs": list("$$odd.txt")})},
			outcome: Proceed, want: m{"inputs": list("$$odd.txt"), "output": "$odd-merge.txt"}},
		{name: "over an input that looks like a variable", utterance: "split $odd.txt at 1", calls: []abi.Call{call("split_pdf", m{"input": "$$odd.txt", "ranges": "1", "output": "$$odd.txt"})},
			outcome: Reject, about: "overwrite", arg: "output"},
		{name: "a dollar and a number is no variable", utterance: "split $3.$2.$1 at 1", calls: []abi.Call{call("split_pdf", m{"input": "$3.$2.$1", "ranges": "1"})},
			outcome: Clarify, about: "no \"$3.$2.$1\"", arg: "input", value: "$3.$2.$1"},
		{name: "variables are known later", utterance: "split it", calls: []abi.Call{call("split_pdf", m{"input": "$x.path", "ranges": "1"})}, outcome: Proceed},
		{name: "nobody uttered it: existence still counts", calls: []abi.Call{call("split_pdf", m{"input": "nope.pdf", "ranges": "1"})}, outcome: Clarify, arg: "input"},
		{name: "nobody uttered it: nothing is compared", calls: []abi.Call{call("protect_pdf", m{"input": "report.pdf", "password": "x"})}, outcome: Proceed},
		{name: "nobody uttered it: what is missing is validation's matter", calls: []abi.Call{call("split_pdf", m{"input": "report.pdf"})}, outcome: Proceed},
		{name: "an unknown tool is validation's matter", utterance: "x", calls: []abi.Call{call("no_such", m{"input": "x"})}, outcome: Proceed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, d := Check(Request{
				Utterance: tc.utterance, Draft: plan.NewDraft(tc.calls), Registry: r,
				Sandbox: home, SandboxPath: "/srv/home", Files: tc.files,
			})
			require.Equal(t, tc.outcome, d.Outcome, "%+v", d)
			require.Contains(t, d.Question+d.Reason, tc.about)
			if tc.outcome != Proceed {
				require.Equal(t, tc.arg, d.Arg)
			}
			if tc.value != "" {
				require.Equal(t, tc.value, d.Value)
			}
			if tc.offers != nil {
				require.Equal(t, tc.offers, d.Candidates)
			}
			if tc.want != nil {
				require.Equal(t, tc.want, got.Calls()[0].Args)
			}
		})
	}
}

// The gates must not change the plan they were given: a conversation goes back
// to it.
func TestCheckLeavesItsInputAlone(t *testing.T) {
	given := []any{"report"}
	calls := []abi.Call{call("merge_pdfs", map[string]any{"inputs": given})}
	_, d := Check(Request{Utterance: "merge report", Draft: plan.NewDraft(calls), Registry: contractRegistry(t), Sandbox: home})
	require.Equal(t, Proceed, d.Outcome, "%+v", d)
	require.Equal(t, []any{"report"}, given)
	require.Equal(t, map[string]any{"inputs": given}, calls[0].Args)
}

// What is refused as outside must come with a sandbox that would work: never a
// root or a home, which no sandbox may be.
func TestAllowing(t *testing.T) {
	for _, tc := range []struct{ name, sandbox, path, want string }{
		{"a neighbour", "/srv/work/a", "/srv/work/b/x.pdf", "/srv/work"},
		{"by dots", "/srv/work/a", "../b/x.pdf", "/srv/work"},
		{"far away", "/srv/work/a", "/data/docs/x.pdf", "/data/docs"},
		{"only a home in common", "/home/u/work", "/home/u/docs/x.pdf", "/home/u/docs"},
		{"at the top", "/srv/work/a", "/etc/passwd", "/etc"},
		{"nothing wide in common", "/srv/a", "/srv/b/x.pdf", "/srv/b"},
		{"nothing can allow the root", "/srv/a", "/x.pdf", ""},
		{"tilde", "/srv/a", "~/docs/x.pdf", "~/docs"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := check{Request: Request{SandboxPath: tc.sandbox}}
			require.Equal(t, tc.want, c.allowing(tc.path))
		})
	}
}

// Every gate says why it is there: the order is a decision to be understood
// before it is changed.
func TestRulesGiveReasons(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rules {
		require.False(t, seen[r.name], r.name)
		seen[r.name] = true
		require.Greater(t, len(r.why), 30, r.name)
	}
}
