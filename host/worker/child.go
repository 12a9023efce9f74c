package worker

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime/debug"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/sandbox"
)

// childName is argv[0] of a child. Nobody starts one by accident: descriptor 3
// has to be a socket, too.
const childName = "stepbox-worker"

// Roles of a child, argv[1].
const (
	roleRun     = "run"     // serves one skill
	roleEngine  = "engine"  // runs one engine
	roleCompile = "compile" // compiles one module and ends
	roleWalls   = "walls"   // tries the walls and ends
)

// Descriptors of a child.
const (
	fdSocket = 3
	fdFiles  = 4 // the first file
)

// RunIfAsked turns this process into a worker when it was started as one, and
// then never returns. It must be the first thing main or TestMain does.
func RunIfAsked() {
	if len(os.Args) != 2 || os.Args[0] != childName || !isSocket(fdSocket) {
		return
	}
	c := &child{conn: os.NewFile(fdSocket, "host")}
	c.in = bufio.NewReaderSize(c.conn, 64<<10)
	if err := c.main(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child is the worker's own side.
type child struct {
	conn  *os.File
	in    *bufio.Reader
	setup setup
	body  []byte     // of the setup, behind the module
	files []*os.File // what it was handed; collected ones would be closed
}

// maxSetup bounds what the host sends: a module and the skill's files.
const maxSetup = 1 << 30

func (c *child) main(role string) error {
	f, err := readFrame(c.in, maxSetup)
	if err != nil {
		return err
	}
	if f.kind != kindSetup {
		return fmt.Errorf("frame %d before the setup", f.kind)
	}
	if err := f.decode(&c.setup); err != nil {
		return err
	}
	if c.setup.Module > len(f.body) {
		return fmt.Errorf("the module is not in the setup")
	}
	wasm := f.body[:c.setup.Module:c.setup.Module]
	c.body = f.body[c.setup.Module:]
	n := 0
	for _, has := range []bool{c.setup.Lower, c.setup.Stage, c.setup.Tmp} {
		if has {
			n++
		}
	}
	if err := closeInherited(fdFiles + n); err != nil {
		return err
	}
	switch role {
	case roleRun:
		return c.run()
	case roleEngine:
		return c.engine()
	case roleCompile:
		return c.compile(wasm)
	case roleWalls:
		return c.walls()
	}
	return fmt.Errorf("unknown role %q", role)
}

func noStage(err error) ready {
	return ready{Fault: err.Error(), DiskFull: fault.NoRoom(err)}
}

// run confines the process, loads the module and serves calls until the host
// hangs up.
func (c *child) run() error {
	o, rules := c.openFiles()
	if err := confine(rules, c.setup.MissingWallsOK); err != nil {
		return writeFrame(c.conn, kindReady, ready{Fault: err.Error(), Wall: true})
	}
	ctx := context.Background()
	collect := debug.SetGCPercent(-1) // loading leaves little garbage, and would be stopped for it three times
	g, err := load(ctx, c)
	if err != nil {
		return writeFrame(c.conn, kindReady, ready{Fault: err.Error()})
	}
	debug.SetGCPercent(collect)
	if g.view, err = sandbox.Open(o); err != nil {
		return writeFrame(c.conn, kindReady, noStage(err))
	}
	if err := writeFrame(c.conn, kindReady, ready{}); err != nil {
		return err
	}
	for {
		f, err := readFrame(c.in, maxSetup)
		if err != nil {
			return nil // the host is done with us
		}
		if f.kind != kindCall {
			return fmt.Errorf("frame %d instead of a call", f.kind)
		}
		var cl call
		if err := f.decode(&cl); err != nil {
			return err
		}
		if err := g.call(ctx, cl, f.body); err != nil {
			return err
		}
	}
}

// openFiles takes the descriptors that the host handed over, and says what the
// walls must leave open.
func (c *child) openFiles() (sandbox.Options, wallRules) {
	o := sandbox.Options{Quotas: c.setup.Limits.Quotas, Skill: map[string][]byte{}}
	rules := wallRules{memory: c.setup.Limits.MemoryBytes, cpu: c.setup.Limits.Step}
	fd := fdFiles
	take := func(has bool, name string, paths *[]string) *os.File {
		if !has {
			return nil
		}
		*paths = append(*paths, fmt.Sprintf("/proc/self/fd/%d", fd))
		f := os.NewFile(uintptr(fd), name)
		c.files = append(c.files, f)
		fd++
		return f
	}
	o.Lower = take(c.setup.Lower, "sandbox", &rules.read)
	o.Stage = take(c.setup.Stage, "stage", &rules.write)
	o.Tmp = take(c.setup.Tmp, "tmp", &rules.write)
	if c.setup.Compiled != "" {
		rules.read = append(rules.read, c.setup.Compiled)
	}
	rest := c.body
	for _, d := range c.setup.Skill {
		if d.Size < 0 || d.Size > len(rest) {
			break
		}
		o.Skill[d.Path], rest = rest[:d.Size:d.Size], rest[d.Size:]
	}
	return o, rules
}
