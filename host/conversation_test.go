package host

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/event"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/planner/embedded"
	"stepbox.dev/host/retrieval"
	"stepbox.dev/host/skill"
)

// conversing plans a request for a shipped skill, in a home with some files.
func conversing(t *testing.T, name, request string, someone Person) *planning {
	s, err := skill.Load("../skills/"+name, skill.Options{})
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("..", "fixtures", "home"))))
	for _, folder := range []string{"downloads", "pictures"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, folder), 0o755))
	}
	for _, file := range []string{"a.mp4", "intro.mov"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), nil, 0o644))
	}
	sandbox, err := openSandbox(dir)
	require.NoError(t, err)
	t.Cleanup(sandbox.close)
	return &planning{
		skill: s, planner: &embedded.Planner{}, events: event.Discard, sandbox: sandbox, person: someone,
		request: Request{Utterance: request}, index: sync.OnceValue(func() *retrieval.Index { return retrieval.New([]*skill.Skill{s}) }),
	}
}

// said is the first call of a draft with what it takes beyond its defaults.
func said(t *testing.T, p *planning) string {
	call := p.draft.Calls()[0]
	args := map[string]any{}
	tool, _ := p.skill.Registry().Tool(call.Tool)
	for name, v := range call.Args {
		if _, set := tool.Defaults[name]; !set {
			args[name] = v
		}
	}
	got, err := json.Marshal(args)
	require.NoError(t, err)
	return call.Tool + " " + string(got)
}

// An answer must lead on: a conversation that asks the same again for ever has no
// answer that helps, and one that adds every answer to the request ends in
// nonsense.
func TestAnswersLeadOn(t *testing.T) {
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
		{"folder or kind", "delete pictures", []string{"the folder pictures"}, `delete_files {"items":["pictures"]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			someone := &answering{answers: c.answers}
			p := conversing(t, "files", c.request, someone)
			_, err := p.plan(t.Context())
			require.NoError(t, err)
			require.Empty(t, someone.answers)
			require.Equal(t, c.want, said(t, p))
		})
	}
}

// A word that only answers a question is never put into the request, a request
// that says what not to do never becomes its opposite, and no conversation goes
// round in circles.
func TestAnswersThatSayNothingOfFiles(t *testing.T) {
	for _, c := range []struct {
		name, skill, request string
		answers              []string
		want, ends           string
	}{
		{name: "yes is no folder", request: "copy inbox/todo.txt", answers: []string{"yes", "backup"}, want: `copy_files {"dst":"backup","src":["inbox/todo.txt"]}`},
		{name: "a folder of that name", request: "copy inbox/todo.txt", answers: []string{`"yes"`}, want: `copy_files {"dst":"yes","src":["inbox/todo.txt"]}`},
		{name: "a no ends it", request: "copy inbox/todo.txt", answers: []string{"nein"}, ends: "nothing is done"},
		{name: "twice the same and no more", request: "copy inbox/todo.txt", answers: []string{"ok", "ok"}, ends: "nothing is done"},
		{name: "yes names the one pattern", request: "delete pdfs in inbox except invoices", answers: []string{"да"}, want: `delete_files {"exclude":["*invoice*"],"path":["inbox"],"pattern":["*.pdf"]}`},
		{name: "an exception stays", request: "delete pdfs in inbox except those I need", answers: []string{"leave it out", "ok"}, ends: "nothing is done"},
		{name: "a word of an offer", request: "delete pictures", answers: []string{"the folder"}, want: `delete_files {"items":["pictures"]}`},
		{name: "do not, then ok", request: "do not delete inbox/todo.txt", answers: []string{"ok", "leave it out"}, ends: "nothing is done"},
		{name: "don't, in German", request: "lösche inbox/todo.txt nicht", answers: []string{"ja", "ok"}, ends: "nothing is done"},
		{name: "don't, in French", request: "ne supprime pas inbox/todo.txt", answers: []string{"oui", "ok"}, ends: "nothing is done"},
		{name: "don't, in Spanish", request: "no borres inbox/todo.txt", answers: []string{"sí", "ok"}, ends: "nothing is done"},
		{name: "don't, in Bulgarian", request: "не изтривай inbox/todo.txt", answers: []string{"да", "ok"}, ends: "nothing is done"},
		{name: "don't, in Chinese", request: "不要删除inbox/todo.txt", answers: []string{"好", "ok"}, ends: "nothing is done"},
		{name: "do not, then a request", request: "do not delete inbox/todo.txt", answers: []string{"copy inbox/todo.txt to backup"}, want: `copy_files {"dst":"backup","src":["inbox/todo.txt"]}`},
		{name: "do not mute", skill: "ffmpeg", request: "do not mute a.mp4", answers: []string{"ok", "yes"}, ends: "nothing is done"},
		{name: "what cannot be left out", skill: "ffmpeg", request: "pasa todos los mov a mp4 menos intro.mov", answers: []string{"ok", "sin eso"}, ends: "nothing is done"},
		{name: "a number in words", skill: "ffmpeg", request: "change the speed of a.mp4", answers: []string{"double"}, want: `adjust_speed {"inputs":["a.mp4"],"speed":2}`},
		{name: "a share", skill: "ffmpeg", request: "change the speed of a.mp4", answers: []string{"50%"}, want: `adjust_speed {"inputs":["a.mp4"],"speed":0.5}`},
		{name: "no value, then one", skill: "ffmpeg", request: "change the speed of a.mp4", answers: []string{"banana", "2"}, want: `adjust_speed {"inputs":["a.mp4"],"speed":2}`},
		{name: "never a value", skill: "ffmpeg", request: "change the speed of a.mp4", answers: []string{"banana", "apple"}, ends: "nothing is done"},
		{name: "one of several arguments", request: "rename all png in pictures", answers: []string{"new name", "sea.png"}, want: `rename_files {"new_name":"sea.png","path":["pictures"],"pattern":["*.png"]}`},
		{name: "one of several, and its value", request: "rename all png in pictures", answers: []string{"Suffix -old"}, want: `rename_files {"path":["pictures"],"pattern":["*.png"],"suffix":"-old"}`},
		{name: "the only one that takes it", skill: "ffmpeg", request: "change the volume of a.mp4", answers: []string{"apple", "50%"}, want: `adjust_volume {"inputs":["a.mp4"],"level":"50%"}`},
		{name: "folder was said", request: "delete everything except the documents folder", want: `delete_files {"exclude":["documents"],"path":["."]}`},
		{name: "the folder, of folder and kind", request: "delete everything except documents", answers: []string{"the folder"}, want: `delete_files {"exclude":["documents"],"path":["."]}`},
		{name: "what is not done, and what is", skill: "ffmpeg", request: "blur a.mp4", answers: []string{"mute"}, want: `strip_audio {"inputs":["a.mp4"]}`},
		{name: "other words, quite another thing", skill: "ffmpeg", request: "make a.mp4 half the size", answers: []string{"50%", "no"}, ends: "nothing is done"},
		{name: "what is wanted stays", skill: "ffmpeg", request: "make a gif from seconds 1 to 3 of a.mp4", answers: []string{"leave it out", "ok"}, ends: "nothing is done"},
		{name: "another request", skill: "ffmpeg", request: "change the speed of a.mp4", answers: []string{"mute a.mp4"}, want: `strip_audio {"inputs":["a.mp4"]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			someone := &answering{answers: c.answers}
			p := conversing(t, cmp.Or(c.skill, "files"), c.request, someone)
			_, err := p.plan(t.Context())
			require.Empty(t, someone.answers)
			if c.ends != "" {
				require.Equal(t, fault.Question, fault.Of(err), "%v, %v", err, p.draft.Calls())
				require.Contains(t, err.Error()+fault.Next(err), c.ends)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, said(t, p))
		})
	}
}

// What a value can be is asked in words: nobody typed a plan.
func TestAValueThatCannotBe(t *testing.T) {
	p := conversing(t, "ffmpeg", "set the volume of a.mp4 to banana", nil)
	p.person = nil
	_, err := p.plan(t.Context())
	require.Equal(t, fault.Question, fault.Of(err), err)
	require.NotContains(t, err.Error(), "/plan/")

	p.request.Plan = []byte(`{"plan":[{"tool":"adjust_volume","args":{"inputs":["a.mp4"],"level":"banana"}}]}`)
	_, err = p.plan(t.Context())
	require.Equal(t, fault.Usage, fault.Of(err), err)
}
