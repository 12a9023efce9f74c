package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host"
	"stepbox.dev/host/event"
	"stepbox.dev/host/fault"
)

// day is a film that takes hours to encode and no time to make: one second of
// 360p, over and over.
func day(t *testing.T) *studio {
	fixtures["second.mp4"] = "-f lavfi -i smptehdbars=size=640x360:rate=5:duration=1 -c:v libx264 -preset ultrafast -pix_fmt yuv420p"
	fixtures["day.mp4"] = "-stream_loop 6399 -i file:./second.mp4 -c copy"
	return newStudio(t).film("second.mp4", "day.mp4")
}

var slow = call("convert_video", args{"inputs": []string{"day.mp4", "second.mp4"}, "container": "mkv", "quality": "best_possible"})

// onProgress calls back when the work has begun.
type onProgress func()

func (f onProgress) Handle(e event.Event) error {
	if p, ok := e.(event.Progress); ok && strings.HasSuffix(p.Label, ".mkv") {
		f()
	}
	return nil
}

// Before more than ten minutes of work a person is asked, once; nobody there is
// a no, and a dry run asks nothing and says how long it would take. A run that
// is cancelled leaves neither files nor a stage nor processes.
func TestLongWork(t *testing.T) {
	s := day(t)
	before, staged := list(t, s.dir), stages(t, s.state)
	text, err := json.Marshal(map[string]any{"plan": []abi.Call{slow}})
	require.NoError(t, err)
	request := host.Request{Skill: "./", Plan: text, Sandbox: s.dir}

	p := &person{}
	r, err := s.try(p, true, slow)
	require.NoError(t, err)
	require.Empty(t, p.asked)
	made := batches(t, r.Results)[0]
	require.Greater(t, made.Estimate, 3600.0)
	require.Regexp(t, `^this is about [0-9.]+ hours of work$`, formatMade(made, true)[len(made.Commands)+2].Message)

	_, err = s.host.Run(t.Context(), request, nil, event.Discard)
	require.Equal(t, fault.NotApproved, fault.Of(err), "%v", err)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p.yes = true
	_, err = s.host.Run(ctx, request, p, onProgress(cancel))
	require.Equal(t, fault.Interrupted, fault.Of(err), "%v", err)
	require.Len(t, p.asked, 1)
	require.Regexp(t, `^This is about [0-9.]+ (minutes|hours) of work\. Go on\? $`, p.asked[0])
	require.Empty(t, children(t, os.Getpid()))
	require.Equal(t, before, list(t, s.dir))
	require.Equal(t, staged, stages(t, s.state))

	state := t.TempDir()
	s.interrupt(text, state)
	require.Equal(t, before, list(t, s.dir))
	require.Empty(t, stages(t, filepath.Join(state, "stepbox")))
}

// interrupt runs a plan on the command line, agreed to, and presses Ctrl-C in
// the middle of its encode: exit code 130 soon after, and no process is left.
func (s *studio) interrupt(plan []byte, state string) {
	t := s.t
	binary := filepath.Join(scratch, "stepbox")
	msg, err := exec.Command("go", "build", "-buildvcs=false", "-o", binary, "../../cmd/stepbox").CombinedOutput()
	require.NoError(t, err, "%s", msg)
	cmd := exec.Command(binary, "exec", "./", "-", "--sandbox", s.dir, "--yes", "--json")
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
	cmd.Stdin = bytes.NewReader(plan)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	late := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	var last map[string]any
	var below []int
	for lines := json.NewDecoder(out); lines.More(); {
		last = nil
		require.NoError(t, lines.Decode(&last))
		if label, _ := last["label"].(string); last["type"] == "progress" && strings.HasSuffix(label, ".mkv") && below == nil {
			below = children(t, cmd.Process.Pid)
			require.NotEmpty(t, below)
			require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
		}
	}
	_ = cmd.Wait() // the exit code is looked at
	require.Equal(t, 130, cmd.ProcessState.ExitCode())
	require.Equal(t, []any{"end", "interrupted"}, []any{last["type"], last["outcome"]})
	for _, pid := range below {
		require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, "process %d is still there", pid)
	}
}

func stages(t *testing.T, state string) []string {
	t.Helper()
	require.DirExists(t, filepath.Join(state, "runs"))
	found, err := filepath.Glob(filepath.Join(state, "runs", "*", "stage"))
	require.NoError(t, err)
	return found
}

// children are the processes that a process started, and that they did.
func children(t *testing.T, of int) (pids []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	require.NoError(t, err)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue
		}
		require.NoError(t, err)
		_, rest, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest)
		if parent, _ := strconv.Atoi(fields[1]); parent == of {
			pids = append(append(pids, pid), children(t, pid)...)
		}
	}
	return pids
}
