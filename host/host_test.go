package host_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host"
	"stepbox.dev/host/commit"
	"stepbox.dev/host/event"
	"stepbox.dev/host/fault"
	"stepbox.dev/internal/hometest"
	"stepbox.dev/internal/moduletest"
)

// cache is shared by the tests: a skill is compiled once.
var cache string

func TestMain(m *testing.M) { moduletest.Main(m, &cache) }

const files = "../skills/files"

func open(t *testing.T) *host.Host {
	h, err := host.New(t.Context(), host.Options{State: filepath.Join(t.TempDir(), "state"), Cache: cache})
	require.NoError(t, err)
	return h
}

// tree is every path below dir with its content.
func tree(t *testing.T, dir string) map[string]string {
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		switch {
		case e.IsDir():
			all[rel+"/"] = ""
		default:
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			all[rel] = string(b)
		}
		return nil
	}))
	return all
}

// events keeps what happened.
type events struct {
	all []event.Event
	on  func(event.Event) error
}

func (e *events) Handle(ev event.Event) error {
	e.all = append(e.all, ev)
	if e.on != nil {
		return e.on(ev)
	}
	return nil
}

func (e *events) types() string {
	var names []string
	for _, ev := range e.all {
		if t := ev.Type(); t != "notice" && t != "progress" && t != "output" && t != "committing" {
			names = append(names, t)
		}
	}
	return strings.Join(names, " ")
}

// person is somebody with prepared answers.
type person struct {
	approve bool
	names   []string
	answers []string
	asked   []event.Decision
	shown   []commit.Change
	proceed func(summary string) bool
}

func (p *person) Clarify(ctx context.Context, d event.Decision) (string, error) {
	p.asked = append(p.asked, d)
	if len(p.answers) == 0 {
		return "", nil
	}
	a := p.answers[0]
	p.answers = p.answers[1:]
	return a, nil
}

func (p *person) Approve(ctx context.Context, c *commit.Changes) (bool, []string, error) {
	p.shown = c.List()
	return p.approve, p.names, nil
}

func (p *person) Proceed(ctx context.Context, summary string) (bool, error) {
	return p.proceed(summary), nil
}

func (p *person) Confirm(ctx context.Context, r abi.ConfirmRequest) (bool, error) {
	return p.approve, nil
}

func TestASafeRunNeedsNoAnswer(t *testing.T) {
	h, dir := open(t), hometest.Copy(t)
	before := tree(t, dir)
	e := &events{}
	res, err := h.Run(t.Context(), host.Request{Skill: files, Sandbox: dir, Utterance: "zip every log file in logs into logs.zip"}, nil, e)
	require.NoError(t, err)
	require.Equal(t, []commit.Change{{Kind: commit.Create, Entry: commit.File, Path: "logs.zip", Size: res.Changes[0].Size}}, res.Changes)
	after := tree(t, dir)
	require.NotEmpty(t, after["logs.zip"])
	delete(after, "logs.zip")
	require.Equal(t, before, after)
	require.Equal(t, "start retrieved planned program step_start step_end step_start step_end changes approval committed result end", e.types())
}

func TestADestructiveRunWaitsForAnAnswer(t *testing.T) {
	h, dir := open(t), hometest.Copy(t)
	before := tree(t, dir)
	e := &events{}
	ask := host.Request{Skill: files, Sandbox: dir, Utterance: "delete the tmp files in build"}
	res, err := h.Run(t.Context(), ask, nil, e)
	require.Equal(t, fault.NotApproved, fault.Of(err), "%v", err)
	require.Equal(t, before, tree(t, dir))
	require.NotEmpty(t, res.RunID)
	require.NotEmpty(t, res.Digest)

	t.Run("another digest is refused", func(t *testing.T) {
		_, err := h.Commit(t.Context(), res.RunID, host.CommitOptions{Digest: strings.Repeat("0", 64)}, nil, e)
		require.Equal(t, fault.NotApproved, fault.Of(err), "%v", err)
		require.Equal(t, before, tree(t, dir))
	})
	t.Run("what was shown is committed, once", func(t *testing.T) {
		done, err := h.Commit(t.Context(), res.RunID, host.CommitOptions{Digest: res.Digest}, nil, e)
		require.NoError(t, err)
		require.Equal(t, res.Changes, done.Changes)
		after := tree(t, dir)
		for _, c := range done.Changes {
			require.NotContains(t, after, c.Path)
		}
		require.Len(t, after, len(before)-len(done.Changes))
		_, err = h.Commit(t.Context(), res.RunID, host.CommitOptions{}, nil, e)
		require.Equal(t, fault.Usage, fault.Of(err), "%v", err)
	})
	t.Run("undo, and undo of the undo", func(t *testing.T) {
		after := tree(t, dir)
		_, err := h.Undo(t.Context(), res.RunID, true, e)
		require.NoError(t, err)
		require.Equal(t, after, tree(t, dir))
		u, err := h.Undo(t.Context(), res.RunID, false, e)
		require.NoError(t, err)
		require.Equal(t, before, tree(t, dir))
		_, err = h.Undo(t.Context(), u.Run.ID, false, e)
		require.NoError(t, err)
		require.Equal(t, after, tree(t, dir))
		_, err = h.Undo(t.Context(), res.RunID, false, e)
		require.Error(t, err)
	})
}

func TestASandboxThatChangedMeanwhileIsAConflict(t *testing.T) {
	h, dir := open(t), hometest.Copy(t)
	e := &events{}
	res, err := h.Run(t.Context(), host.Request{Skill: files, Sandbox: dir, Utterance: "delete the tmp files in build"}, nil, e)
	require.Equal(t, fault.NotApproved, fault.Of(err), "%v", err)
	changed := res.Changes[0].Path
	require.NoError(t, os.WriteFile(filepath.Join(dir, changed), []byte("precious"), 0o644))
	before := tree(t, dir)
	_, err = h.Commit(t.Context(), res.RunID, host.CommitOptions{}, nil, e)
	require.Equal(t, fault.CheckFailed, fault.Of(err), "%v", err)
	require.ErrorContains(t, err, changed)
	require.Equal(t, before, tree(t, dir))
}

func TestAPersonDecides(t *testing.T) {
	ask := host.Request{Skill: files, Utterance: "move the invoices from inbox to archive/2026"}
	for name, yes := range map[string]bool{"yes": true, "no": false} {
		t.Run(name, func(t *testing.T) {
			h, dir := open(t), hometest.Copy(t)
			before := tree(t, dir)
			p := &person{approve: yes}
			r := ask
			r.Sandbox = dir
			res, err := h.Run(t.Context(), r, p, nil)
			require.NotEmpty(t, p.shown)
			require.Equal(t, res.Changes, p.shown)
			if yes {
				require.NoError(t, err)
				require.NotEqual(t, before, tree(t, dir))
				return
			}
			require.Equal(t, fault.NotApproved, fault.Of(err), "%v", err)
			require.Equal(t, before, tree(t, dir))
		})
	}
}

func TestAQuestionIsAConversation(t *testing.T) {
	h, dir := open(t), hometest.Copy(t)
	p := &person{approve: true, answers: []string{"inbox/todo.txt"}}
	_, err := h.Run(t.Context(), host.Request{Skill: files, Sandbox: dir, Utterance: "rename missing.txt to done.txt"}, p, nil)
	require.NoError(t, err)
	require.Len(t, p.asked, 1)
	require.Contains(t, p.asked[0].Question, "missing.txt")
	require.Contains(t, tree(t, dir), "inbox/done.txt")
}

// An answer in one word is the argument that was asked for.
func TestAnAnswerInOneWord(t *testing.T) {
	for _, words := range []string{"backup", "to backup"} {
		t.Run(words, func(t *testing.T) {
			h, dir := open(t), hometest.Copy(t)
			p := &person{approve: true, answers: []string{words}}
			_, err := h.Run(t.Context(), host.Request{Skill: files, Sandbox: dir, Utterance: "copy inbox/letter.docx"}, p, nil)
			require.NoError(t, err)
			require.Len(t, p.asked, 1)
			require.Contains(t, tree(t, dir), "backup/letter.docx")
		})
	}
}

func TestADryRunChangesNothing(t *testing.T) {
	h, dir := open(t), hometest.Copy(t)
	before := tree(t, dir)
	e := &events{}
	res, err := h.Run(t.Context(), host.Request{Skill: files, Sandbox: dir, Utterance: "organize downloads by type", DryRun: true, Yes: true}, nil, e)
	require.NoError(t, err)
	require.NotEmpty(t, res.Changes)
	require.Equal(t, before, tree(t, dir))
	_, err = h.Commit(t.Context(), res.RunID, host.CommitOptions{}, nil, nil)
	require.Equal(t, fault.Usage, fault.Of(err), "%v", err)
}

func TestStepAsksBeforeAnythingRuns(t *testing.T) {
	h, dir := open(t), hometest.Copy(t)
	e := &events{}
	var heard string
	p := &person{approve: true, proceed: func(s string) bool { heard = s; return false }}
	_, err := h.Run(t.Context(), host.Request{Skill: files, Sandbox: dir, Utterance: "delete the tmp files in build", Step: true}, p, e)
	require.Equal(t, fault.NotApproved, fault.Of(err), "%v", err)
	require.Contains(t, heard, "delete")
	require.NotContains(t, e.types(), "step_start")
}

func TestHowARunIsCutShort(t *testing.T) {
	dir := hometest.Copy(t)
	before := tree(t, dir)
	ask := host.Request{Skill: files, Sandbox: dir, Utterance: "delete the tmp files in build", Yes: true}
	tests := map[string]struct {
		run  func(h *host.Host, e *events) error
		want fault.Kind
	}{
		"cancelled while a step runs": {func(h *host.Host, e *events) error {
			ctx, cancel := context.WithCancel(t.Context())
			e.on = func(ev event.Event) error {
				if ev.Type() == "step_start" {
					cancel()
				}
				return nil
			}
			_, err := h.Run(ctx, ask, nil, e)
			return err
		}, fault.Interrupted},
		"out of time": {func(h *host.Host, e *events) error {
			r := ask
			r.Timeout = time.Millisecond
			_, err := h.Run(t.Context(), r, nil, e)
			return err
		}, fault.Timeout},
		"the front end fails": {func(h *host.Host, e *events) error {
			e.on = func(ev event.Event) error {
				if ev.Type() == "planned" {
					return errors.New("broken pipe")
				}
				return nil
			}
			_, err := h.Run(t.Context(), ask, nil, e)
			return err
		}, fault.Internal},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := test.run(open(t), &events{})
			require.Equal(t, test.want, fault.Of(err), "%v", err)
			require.Equal(t, before, tree(t, dir))
		})
	}
}

func TestRequestsThatEndEarlyLeaveNothing(t *testing.T) {
	dir := hometest.Copy(t)
	tests := map[string]struct {
		request host.Request
		want    fault.Kind
		says    string
	}{
		"unknown skill":        {host.Request{Skill: "nosuch", Utterance: "list"}, fault.Usage, "nosuch"},
		"missing sandbox":      {host.Request{Skill: files, Utterance: "list inbox", Sandbox: dir + "/nosuch"}, fault.Usage, "nosuch"},
		"sandbox of /":         {host.Request{Skill: files, Utterance: "list the files", Sandbox: "/"}, fault.Refused, "/"},
		"plan that is not one": {host.Request{Skill: files, Plan: []byte("hello"), Sandbox: dir}, fault.Usage, "plan"},
		"path outside":         {host.Request{Skill: files, Plan: []byte(`{"plan":[{"tool":"list_files","args":{"path":"../x"}}]}`), Sandbox: dir}, fault.Refused, "../x"},
		"unsafe":               {host.Request{Skill: files, Utterance: "rm -rf everything", Sandbox: dir}, fault.Refused, ""},
		"a question":           {host.Request{Skill: files, Utterance: "rename missing.txt to done.txt", Sandbox: dir}, fault.Question, "missing.txt"},
		"unknown planner":      {host.Request{Skill: files, Utterance: "list inbox", Sandbox: dir, Planner: "oracle"}, fault.Usage, "oracle"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := open(t)
			e := &events{}
			_, err := h.Run(t.Context(), test.request, nil, e)
			require.Equal(t, test.want, fault.Of(err), "%v", err)
			require.ErrorContains(t, err, test.says)
			require.Equal(t, "start", e.all[0].Type())
			end, ok := e.all[len(e.all)-1].(event.End)
			require.True(t, ok)
			require.Equal(t, int(test.want), end.ExitCode)
			runs, err := h.Runs(t.Context())
			require.NoError(t, err)
			require.Empty(t, runs)
		})
	}
}

func TestAModuleThatIsNotItsContractIsRefused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(files)))
	name := filepath.Join(dir, "tools.yaml")
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	// A folder to build from must lie in the module; the built file may lie anywhere.
	h := open(t)
	s, err := h.Skill(t.Context(), files)
	require.NoError(t, err)
	wasm, err := s.Module(t.Context(), filepath.Join(cache, "built"), nil)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "files.wasm"), wasm, 0o644))
	lie := strings.Replace(string(text), "delete_files:", "shred_files:", 1)
	lie = strings.Replace(lie, "type: size", "type: string", 1)
	require.NoError(t, os.WriteFile(name, []byte(lie), 0o644))
	_, err = h.Run(t.Context(), host.Request{Skill: filepath.Join(dir, "files.wasm"), Sandbox: hometest.Copy(t), Utterance: "list inbox"}, nil, nil)
	require.Equal(t, fault.CheckFailed, fault.Of(err), "%v", err)
	for _, want := range []string{"delete_files", "shred_files", "min_size"} {
		require.ErrorContains(t, err, want)
	}
}

// An answer goes where it was asked for, in the words people answer with.
func TestAnswersThatNameAPath(t *testing.T) {
	for answer, want := range map[string]string{"backup": "backup", "to backup": "backup", "in the folder $kept": "$kept", "archive": "archive"} {
		t.Run(answer, func(t *testing.T) {
			h, dir := open(t), hometest.Copy(t)
			p := &person{approve: true, answers: []string{answer}}
			// The mock planner leaves out what only the person knows.
			_, err := h.Run(t.Context(), host.Request{Skill: parrot, Sandbox: dir, Planner: "mock", Utterance: "keep inbox/letter.docx"}, p, nil)
			require.NoError(t, err)
			require.Len(t, p.asked, 1)
			require.Contains(t, tree(t, dir), want+"/letter.docx")
		})
	}
}

// --step asks before each intent, not before each call, and a no in the middle
// undoes what ran.
func TestStepAsksInTheMiddle(t *testing.T) {
	h, dir := open(t), hostileHome(t)
	before := tree(t, dir)
	two := `{"plan":[{"tool":"copy","args":{"path":"a.txt","output":"x.txt"}},{"tool":"copy","args":{"path":"b.txt","output":"y.txt"}}]}`
	text := given(t, abi.Call{Tool: "change", Args: map[string]any{"raw": two}}, abi.Call{Tool: "copy", Args: map[string]any{"path": "a.txt", "output": "z.txt"}})
	var heard []string
	p := &person{approve: true, proceed: func(s string) bool { heard = append(heard, s); return len(heard) == 1 }}
	e := &events{}
	_, err := h.Run(t.Context(), host.Request{Skill: parrot, Sandbox: dir, Plan: text, Step: true}, p, e)
	require.Equal(t, fault.NotApproved, fault.Of(err), "%v", err)
	require.Len(t, heard, 2)
	require.Equal(t, 2, strings.Count(e.types(), "step_end"))
	require.Nil(t, p.shown)
	require.Equal(t, before, tree(t, dir))
}
