//go:build !wasip1

package guest

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
)

type nameArgs struct {
	Name string `json:"name" required:"true"`
}

type countResult struct {
	Words []string `json:"words"`
	Count int      `json:"count"`
}

type joinArgs struct {
	Words []string `json:"words" required:"true"`
}

func sampleSkill() *Skill {
	return &Skill{Tools: []Tool{
		Step("count", func(ctx Context, in nameArgs) (countResult, error) {
			data, err := ctx.Files().ReadFile(in.Name)
			if err != nil {
				return countResult{}, err
			}
			words := strings.Fields(string(data))
			ctx.Issue("%d bytes", len(data))
			return countResult{words, len(words)}, nil
		}).Summary(func(in nameArgs) string { return "count the words of " + in.Name }).
			Preflight(func(ctx Context, in nameArgs) []abi.Problem {
				if _, err := ctx.Files().Stat(in.Name); err != nil {
					return []abi.Problem{{Kind: abi.ProblemMissing, Message: in.Name}}
				}
				return nil
			}).
			Format(func(out countResult, dryRun bool) []Item {
				return []Item{{Kind: abi.ItemOutput, Message: strings.Join(out.Words, " ")}}
			}),
		Step("join", func(ctx Context, in joinArgs) (string, error) {
			ctx.Verified(len(in.Words) > 0)
			return strings.Join(in.Words, "+"), nil
		}),
		Intent("count_and_join", func(in nameArgs) ([]Call, error) {
			return []Call{
				{Tool: "count", Args: ArgsOf(in), Output: "$counted"},
				{Tool: "join", Args: map[string]any{"words": "$counted.words"}},
			}, nil
		}),
		Step("burst", func(Context, struct{}) (any, error) { var m map[string]int; m["x"] = 1; return nil, nil }),
	}}
}

func TestNativeRunsAnIntent(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one two"), 0o600))
	n := Native{Dir: dir}
	results, err := n.Run(sampleSkill(), Call{Tool: "count_and_join", Args: map[string]any{"name": "a.txt"}})
	require.NoError(t, err)
	require.Len(t, results, 2)
	require.JSONEq(t, `"one+two"`, string(results[1].Result))

	items, err := n.Format(sampleSkill(), results)
	require.NoError(t, err)
	require.Equal(t, []Item{{Kind: abi.ItemOutput, Message: "one two"}, {Kind: abi.ItemInfo, Message: "7 bytes"}}, items)
}

func TestErrorsHaveCodes(t *testing.T) {
	n := Native{Dir: t.TempDir()}
	for name, c := range map[string]struct {
		call Call
		code abi.Code
		want string
	}{
		"missing file":     {Call{Tool: "count", Args: map[string]any{"name": "gone.txt"}}, abi.CodeNotFound, "gone.txt"},
		"missing argument": {Call{Tool: "count"}, abi.CodeBadRequest, `argument "name" is missing`},
		"unknown tool":     {Call{Tool: "fly"}, abi.CodeNotFound, `no tool "fly"`},
		"panic":            {Call{Tool: "burst"}, abi.CodePanic, "the skill panicked: assignment to entry in nil map"},
		"way out":          {Call{Tool: "count", Args: map[string]any{"name": "../../etc/passwd"}}, abi.CodeNotFound, "passwd"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := n.Run(sampleSkill(), c.call)
			var e *abi.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.code, e.Code)
			require.Contains(t, e.Message, c.want)
		})
	}
}

func TestStepsAreNotExpandedNorIntentsRun(t *testing.T) {
	s := sampleSkill()
	_, err := s.expand([]byte(`{"tool":"count","args":{"name":"a"}}`))
	require.ErrorContains(t, err, "is a step")
	_, err = s.step([]byte(`{"tool":"count_and_join","args":{"name":"a"}}`), call{})
	require.ErrorContains(t, err, "is an intent")
	_, err = s.step([]byte(`{"tool":`), call{})
	require.ErrorContains(t, err, "cannot be read")
}

func TestDescribe(t *testing.T) {
	d, err := sampleSkill().describe()
	require.NoError(t, err)
	require.Equal(t, abi.Version, d.ABI)
	require.Equal(t, "count", d.Tools[0].Name)
	require.Equal(t, abi.KindIntent, d.Tools[2].Kind)
	require.True(t, d.Tools[0].Args["name"].Required)
	require.True(t, d.Tools[0].Preflight)
	require.False(t, d.Tools[1].Preflight, "the host does not ask a tool that has nothing to say")

	_, err = (*Skill)(nil).describe()
	require.ErrorContains(t, err, "call guest.Serve")
}

func TestVerifiedAndIssuesTravel(t *testing.T) {
	r, err := sampleSkill().step([]byte(`{"tool":"join","args":{"words":[]}}`), call{})
	require.NoError(t, err)
	require.False(t, *r.Verified)
	text, err := json.Marshal(r)
	require.NoError(t, err)
	require.JSONEq(t, `{"result":"","verified":false}`, string(text))
}

// One folder with a million oddities must not fill the person's screen.
func TestIssuesAreBounded(t *testing.T) {
	ctx := Context{&call{}}
	for range maxIssues + 7 {
		ctx.Issue("odd")
	}
	require.Len(t, ctx.call.remarks(), maxIssues+1)
	require.Equal(t, "and 7 more remarks", ctx.call.remarks()[maxIssues])
}

func TestSummaryAndPreflight(t *testing.T) {
	s, n := sampleSkill(), Native{Dir: t.TempDir()}
	text, err := n.Summarize(s, Call{Tool: "count", Args: map[string]any{"name": "a.txt"}})
	require.NoError(t, err)
	require.Equal(t, "count the words of a.txt", text)
	text, err = n.Summarize(s, Call{Tool: "join"})
	require.NoError(t, err)
	require.Empty(t, text, "the host has words of its own")

	state, err := n.call()
	require.NoError(t, err)
	p, err := s.preflight([]byte(`{"tool":"count","args":{"name":"a.txt"}}`), state)
	require.NoError(t, err)
	require.Equal(t, []abi.Problem{{Kind: abi.ProblemMissing, Message: "a.txt"}}, p.Problems)
	p, err = s.preflight([]byte(`{"tool":"join","args":{}}`), state)
	require.NoError(t, err)
	require.NotNil(t, p.Problems, "an empty list, not null, so that it cannot be taken for no answer")
}

func TestContextClock(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, berlin)
	ctx, err := Native{Dir: t.TempDir(), Now: now}.Context()
	require.NoError(t, err)
	require.True(t, now.Equal(ctx.Now()))
	require.Equal(t, "Europe/Berlin", ctx.Zone().String())

	// A module without a zone table falls back on the offset of the run.
	odd := Context{&call{Context: abi.Context{Now: "2026-07-01T12:00:00+02:00", Zone: "Nowhere/Land"}}}
	_, offset := odd.Now().Zone()
	require.Equal(t, 7200, offset)
}

func TestConfirmAndProgress(t *testing.T) {
	var told []abi.Progress
	n := Native{Dir: t.TempDir(), Progress: func(p abi.Progress) { told = append(told, p) }}
	ctx, err := n.Context()
	require.NoError(t, err)
	yes, err := ctx.Confirm("sure?", "")
	require.NoError(t, err)
	require.False(t, yes, "nobody to ask means no")
	for i := range 1000 {
		ctx.Progress(float64(i+1), 1000, "work")
	}
	require.Less(t, len(told), 500, "progress is throttled")
	require.Equal(t, abi.Progress{Done: 1000, Total: 1000, Label: "work"}, told[len(told)-1], "the end is always told")

	n.Confirm = func(r abi.ConfirmRequest) bool { return r.Prompt == "sure?" }
	ctx, err = n.Context()
	require.NoError(t, err)
	yes, err = ctx.Confirm("sure?", "")
	require.NoError(t, err)
	require.True(t, yes)
}

func TestFilesStayInside(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "outside.txt"), []byte("secret"), 0o600))
	box := filepath.Join(dir, "box")
	require.NoError(t, os.Mkdir(box, 0o700))
	require.NoError(t, os.Symlink("../outside.txt", filepath.Join(box, "link")))
	ctx, err := Native{Dir: box}.Context()
	require.NoError(t, err)
	f := ctx.Files()

	for _, name := range []string{"../outside.txt", "link", "a/../../outside.txt"} {
		_, err := f.ReadFile(name)
		require.Error(t, err, name)
	}
	require.NoError(t, f.MkdirAll("./a/b/"))
	require.NoError(t, f.WriteFile("/a/b/c.txt", []byte("x")))
	require.ErrorIs(t, f.WriteFile("a/b/c.txt", nil), fs.ErrExist, "nothing is overwritten by accident")
	require.NoError(t, f.Rename("a/b/c.txt", "a/d.txt"))
	entries, err := f.ReadDir("a")
	require.NoError(t, err)
	require.Equal(t, []string{"b", "d.txt"}, []string{entries[0].Name(), entries[1].Name()})

	_, err = f.Open("nowhere/x")
	var pe *fs.PathError
	require.True(t, errors.As(err, &pe))
	require.Equal(t, "open nowhere/x: no such file or directory", err.Error())
}

func TestAccessedIsNotModified(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), nil, 0o600))
	opened, changed := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), time.Date(2020, 3, 1, 0, 0, 0, 0, time.UTC)
	require.NoError(t, os.Chtimes(filepath.Join(dir, "a"), opened, changed))
	ctx, err := Native{Dir: dir}.Context()
	require.NoError(t, err)
	info, err := ctx.Files().Lstat("a")
	require.NoError(t, err)
	require.True(t, Accessed(info).Equal(opened), Accessed(info))
	require.True(t, info.ModTime().Equal(changed))
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{"": ".", ".": ".", "/": ".", "./a/": "a", "/a//b": "a/b", "a/../..": ".", "-x": "-x"} {
		require.Equal(t, want, Clean(in), in)
	}
}
