package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// tmpfs DIR SIZE mounts a small file system, which takes root.
func tmpfs(ts *testscript.TestScript, neg bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+args[1]))
	ts.Defer(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
}

// stops SIGNAL MARK ARG… starts stepbox with the arguments, sends the signal
// once a line of stdout holds MARK, and demands exit code 130 soon after.
func stops(ts *testscript.TestScript, neg bool, args []string) {
	path, err := exec.LookPath("stepbox")
	ts.Check(err)
	cmd := exec.Command(path, args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, key := range []string{"HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "GOCACHE", "GOMODCACHE", "GOPROXY", "PATH"} {
		cmd.Env = append(cmd.Env, key+"="+ts.Getenv(key))
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	var sent time.Time
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if sent.IsZero() && strings.Contains(lines.Text(), args[1]) {
			sent = time.Now()
			ts.Check(cmd.Process.Signal(map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM}[args[0]]))
		}
		_, err := ts.Stdout().Write(append(lines.Bytes(), '\n'))
		ts.Check(err)
	}
	_ = cmd.Wait() // the exit code is looked at below
	took := time.Since(sent)
	if sent.IsZero() || cmd.ProcessState.ExitCode() != 130 || took > 5*time.Second {
		ts.Fatalf("signal sent: %v, exit code %d after %s; stderr:\n%s", !sent.IsZero(), cmd.ProcessState.ExitCode(), took, errs.String())
	}
}
