package host

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/event"
	"stepbox.dev/host/planner/embedded"
	"stepbox.dev/host/retrieval"
	"stepbox.dev/host/skill"
)

// An answer must lead on: a conversation that asks the same again for ever has no
// answer that helps, and one that adds every answer to the request ends in
// nonsense.
func TestAnswersLeadOn(t *testing.T) {
	s, err := skill.Load("../skills/files", skill.Options{})
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("..", "fixtures", "home"))))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "downloads"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "pictures"), 0o755))
	sandbox, err := openSandbox(dir)
	require.NoError(t, err)
	defer sandbox.close()
	index := retrieval.New([]*skill.Skill{s})

	for _, c := range []struct {
		name, request string
		answers       []string
		want          string
	}{
		{"taken back", "delete files in downloads that are wider", []string{"leave it out"}, `delete_files {"path":["downloads"]}`},
		{"taken back in German", "lösche breitere Fotos in pictures", []string{"lass es weg"}, `delete_files {"file_type":["image"],"path":["pictures"]}`},
		{"other words for it", "delete files in downloads that are wider", []string{"pdf"}, `delete_files {"path":["downloads"],"pattern":["*.pdf"]}`},
		{"all in other words", "delete files in downloads that are wider", []string{"delete pdf files in downloads"}, `delete_files {"path":["downloads"],"pattern":["*.pdf"]}`},
		{"one after the other", "delete wider purple pdfs in downloads", []string{"leave it out"}, `delete_files {"path":["downloads"],"pattern":["*.pdf"]}`},
		{"what is missing", "rename all png in pictures", []string{"prefix x-"}, `rename_files {"path":["pictures"],"pattern":["*.png"],"prefix":"x-"}`},
		{"an exception", "delete pdfs in inbox except invoices", []string{"*invoice*"}, `delete_files {"exclude":["*invoice*"],"path":["inbox"],"pattern":["*.pdf"]}`},
		{"an exception is not taken back unseen", "delete pdfs in inbox except those I need", []string{"leave it out", "contract.pdf"}, `delete_files {"exclude":["contract.pdf"],"path":["inbox"],"pattern":["*.pdf"]}`},
		{"folder or kind", "copy pictures to backup", []string{"the folder pictures"}, `copy_files {"dst":"backup","items":["pictures"]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			someone := &answering{answers: c.answers}
			p := &planning{
				skill: s, planner: &embedded.Planner{}, events: event.Discard, sandbox: sandbox, person: someone,
				request: Request{Utterance: c.request}, index: func() *retrieval.Index { return index },
			}
			_, err := p.plan(t.Context())
			require.NoError(t, err)
			require.Empty(t, someone.answers)
			call := p.draft.Calls()[0]
			args := map[string]any{}
			tool, _ := s.Registry().Tool(call.Tool)
			for name, v := range call.Args {
				if _, set := tool.Defaults[name]; !set {
					args[name] = v
				}
			}
			got, err := json.Marshal(args)
			require.NoError(t, err)
			require.Equal(t, c.want, call.Tool+" "+string(got))
		})
	}
}
