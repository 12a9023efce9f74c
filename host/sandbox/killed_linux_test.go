package sandbox

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/stage"
)

// childRig names the sandbox and the stage of a child process of TestKilledWriter.
const childRig = "STEPBOX_SANDBOX_CHILD"

// TestKilledWriterChild is the child: it changes the view until it is killed.
func TestKilledWriterChild(t *testing.T) {
	lower, isChild := os.LookupEnv(childRig)
	if !isChild {
		t.Skip("only as a child of TestKilledWriter")
	}
	r := &rig{t: t, lower: lower, stage: lower + "-stage"}
	f := r.open(Quotas{}).Call(0, abi.ModeWrite)
	fmt.Println("ready")
	for i := 0; ; i++ {
		name := fmt.Sprintf("d/%d-%d", os.Getpid(), i)
		require.Zero(t, f.Mkdir(name, 0))
		mustPut(t, f, name+"/f", name)
		require.Zero(t, f.Rename(name+"/f", name+"/g"))
		if i%3 == 0 {
			require.Zero(t, f.Unlink(name+"/g"))
			require.Zero(t, f.Rmdir(name))
		}
	}
}

// A worker that is killed in the middle of whatever it does leaves a stage that
// other processes go on with, and that the host can read.
func TestKilledWriter(t *testing.T) {
	r := newRig(t, map[string]string{"d/f": "f"})
	require.NoError(t, os.Mkdir(r.lower+"-stage", 0o700))
	t.Cleanup(func() { os.RemoveAll(r.lower + "-stage") })
	r.stage = r.lower + "-stage"
	f := r.open(Quotas{}).Call(0, abi.ModeWrite) // lives through all of it
	self, err := os.Executable()
	require.NoError(t, err)
	for round := range 8 {
		child := exec.Command(self, "-test.run=^TestKilledWriterChild$", "-test.v")
		child.Env = append(os.Environ(), childRig+"="+r.lower)
		out, err := child.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, child.Start())
		for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "ready"; {
		}
		mine := fmt.Sprint("mine", round)
		for began := time.Now(); time.Since(began) < time.Duration(10+3*round)*time.Millisecond; {
			mustPut(t, f, mine, "x")
			require.Zero(t, f.Rename(mine, mine+"-moved"))
		}
		require.NoError(t, child.Process.Kill())
		_ = child.Wait()
		require.Equal(t, "x", mustGet(t, f, mine+"-moved"))
		require.Equal(t, tree(t, f), tree(t, r.open(Quotas{}).Call(0, abi.ModeRead)))
		log, err := os.ReadFile(filepath.Join(r.stage, "log"))
		require.NoError(t, err)
		_, err = stage.Replay(log, stage.Options{Partial: true})
		require.NoError(t, err)
	}
	made := names(t, f, "d")
	require.Greater(t, len(made), 8, "the children did work")
}
