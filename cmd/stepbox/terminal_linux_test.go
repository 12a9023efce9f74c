package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// terminal is a stepbox that runs on a terminal.
type terminal struct {
	t    *testing.T
	pty  *os.File
	cmd  *exec.Cmd
	done chan struct{} // closed when there is no more output

	mu   sync.Mutex
	text bytes.Buffer
	read int // how much of text was matched
}

// onTerminal starts stepbox on a terminal, in a folder of the test's own.
func onTerminal(t *testing.T, work string, args ...string) *terminal {
	t.Helper()
	s := prepare(t)
	path, err := exec.LookPath("stepbox")
	require.NoError(t, err)
	cmd := exec.Command(path, args...)
	cmd.Dir = filepath.Join(work, "home")
	cmd.Env = []string{"PATH=" + filepath.Join(work, "bin") + ":" + os.Getenv("PATH"), "DISPLAY=" + os.Getenv("DISPLAY")}
	s.setenv(func(k, v string) { cmd.Env = append(cmd.Env, k+"="+v) }, work)
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 100})
	require.NoError(t, err)
	term := &terminal{t: t, pty: f, cmd: cmd, done: make(chan struct{})}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		f.Close()
		<-term.done
	})
	go func() {
		defer close(term.done)
		b := make([]byte, 4096)
		for {
			n, err := f.Read(b)
			term.mu.Lock()
			term.text.Write(b[:n])
			term.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return term
}

// wait returns when new output matches the pattern.
func (term *terminal) wait(pattern string) {
	term.t.Helper()
	re := regexp.MustCompile(pattern)
	deadline := time.After(time.Minute)
	for {
		term.mu.Lock()
		m := re.FindIndex(term.text.Bytes()[term.read:])
		if m != nil {
			term.read += m[1]
		}
		text := term.text.String()
		term.mu.Unlock()
		if m != nil {
			return
		}
		select {
		case <-deadline:
			require.FailNow(term.t, "never said", "%s in:\n%s", pattern, text)
		case <-term.done:
			term.mu.Lock()
			m := re.FindIndex(term.text.Bytes()[term.read:])
			text = term.text.String()
			term.mu.Unlock()
			if m == nil {
				require.FailNow(term.t, "ended without saying", "%s in:\n%s", pattern, text)
			}
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (term *terminal) types(s string) {
	term.t.Helper()
	_, err := term.pty.WriteString(s)
	require.NoError(term.t, err)
}

// ends waits for the end and returns all that was printed.
func (term *terminal) ends(code int) string {
	term.t.Helper()
	select {
	case <-term.done:
	case <-time.After(time.Minute):
		term.mu.Lock()
		defer term.mu.Unlock()
		require.FailNow(term.t, "does not end", term.text.String())
	}
	_ = term.cmd.Wait() // the exit code is looked at next
	require.Equal(term.t, code, term.cmd.ProcessState.ExitCode(), term.text.String())
	return term.text.String()
}

// home makes a sandbox with some files and returns the folder that holds it.
func home(t *testing.T) string {
	t.Helper()
	work := t.TempDir()
	for name, text := range map[string]string{
		"inbox/invoice-march.pdf": "march", "inbox/invoice-april.pdf": "april", "inbox/letter.txt": "dear",
		"build/a.tmp": "a", "build/b.tmp": "b", "logs/one.log": "one",
	} {
		path := filepath.Join(work, "home", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return work
}

func TestApproveOnATerminal(t *testing.T) {
	work := home(t)
	moved := filepath.Join(work, "home/archive/2026/invoice-march.pdf")

	term := onTerminal(t, work, "run", "files", "move the invoices from inbox to archive/2026")
	term.wait(`do this\? \[y/N`)
	require.NoFileExists(t, moved)
	term.types("l\n")
	term.wait(`move +inbox/invoice-march.pdf`)
	term.wait(`do this\? \[y/N`)
	term.types("n\n")
	term.ends(5)
	require.NoFileExists(t, moved)

	term = onTerminal(t, work, "run", "files", "move the invoices from inbox to archive/2026")
	term.wait(`do this\? \[y/N`)
	term.types("y\n")
	require.Contains(t, term.ends(0), "stepbox undo")
	require.FileExists(t, moved)
}

// What ended well before a failure is offered, and the failure is said first.
func TestKeepWhatEndedWellOnATerminal(t *testing.T) {
	for answer, kept := range map[string]bool{"y": true, "n": false} {
		t.Run(answer, func(t *testing.T) {
			work := home(t)
			require.NoError(t, os.WriteFile(filepath.Join(work, "plan.json"), []byte(`{"plan":[
				{"tool":"make_folder","args":{"paths":["made"]}},
				{"tool":"move_files","args":{"items":["nosuch/*"],"dst":"made"}}]}`), 0o644))
			term := onTerminal(t, work, "exec", "files", "../plan.json")
			term.wait(`nothing was changed; what the calls that ended well had made can be kept`)
			term.wait(`create  made/`)
			term.wait(`do this\?`)
			term.types(answer + "\n")
			if kept {
				term.wait(`take it back with: stepbox undo`)
			} else {
				term.wait(`stepbox commit \S+ --partial`)
			}
			term.ends(6)
			_, err := os.Stat(filepath.Join(work, "home/made"))
			require.Equal(t, kept, err == nil)
		})
	}
}

func TestAnswerTypedBeforeTheQuestionIsNone(t *testing.T) {
	work := home(t)
	term := onTerminal(t, work, "run", "files", "delete the tmp files in build")
	term.types("y\ny\n")
	term.wait(`do this\? \[y/N`)
	term.types("\n")
	term.ends(5)
	require.FileExists(t, filepath.Join(work, "home/build/a.tmp"))
}

func TestClarifyingIsAConversation(t *testing.T) {
	work := home(t)
	term := onTerminal(t, work, "run", "files", "copy the letter")
	term.wait(`answer \(empty to give up\)`)
	term.types("to backup\n")
	out := term.ends(0)
	require.FileExists(t, filepath.Join(work, "home/backup/letter.txt"), out)

	term = onTerminal(t, work, "run", "files", "copy the letter")
	term.wait(`answer \(empty to give up\)`)
	term.types("\n")
	term.ends(3)
}

func TestCtrlCAtAQuestion(t *testing.T) {
	work := home(t)
	term := onTerminal(t, work, "run", "files", "delete the tmp files in build")
	term.wait(`do this\? \[y/N`)
	term.types("\x03")
	term.ends(130)
	require.FileExists(t, filepath.Join(work, "home/build/a.tmp"))
}

func TestAGuestAsks(t *testing.T) {
	slow, err := filepath.Abs("testdata/slow")
	require.NoError(t, err)
	work := home(t)
	written := filepath.Join(work, "home/answer.txt")

	term := onTerminal(t, work, "run", slow, "ask")
	term.wait(`the skill slow asks:`)
	term.wait(`\| write answer.txt\?`)
	term.wait(`your answer\? \[y/N\]`)
	term.types("n\n")
	require.NotContains(t, term.ends(5), "\x1b[31m")
	require.NoFileExists(t, written)

	term = onTerminal(t, work, "run", slow, "ask")
	term.wait(`your answer\? \[y/N\]`)
	term.types("y\n")
	term.ends(0)
	require.FileExists(t, written)
}

func TestAGuestCannotSpeakForStepbox(t *testing.T) {
	slow, err := filepath.Abs("testdata/slow")
	require.NoError(t, err)
	out := onTerminal(t, home(t), "run", slow, "shout").ends(0)
	require.NotContains(t, out, "\x1b]0;")
	require.NotContains(t, out, "\x1b[1A")
	require.NotContains(t, out, "\x1b[2J")
	require.NotContains(t, out, "\u202e")
	for _, line := range strings.Split(out, "\n") {
		require.False(t, strings.HasPrefix(line, "stepbox: all fine"), out)
	}
}

func TestProgressIsDrawn(t *testing.T) {
	slow, err := filepath.Abs("testdata/slow")
	require.NoError(t, err)
	work := home(t)
	term := onTerminal(t, work, "run", slow, "wait")
	term.wait(`wait \[=* *\] +[0-9]+% \| waiting`)
	term.types("\x03")
	term.ends(130)
	require.NoFileExists(t, filepath.Join(work, "home/half.txt"))
}
