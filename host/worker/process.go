package worker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"stepbox.dev/host/fault"
)

// sendTime is how long a child may take to accept a frame. A child that does
// not read is not one that works.
const sendTime = 10 * time.Second

// process is one child and the host's end of its socket.
type process struct {
	cmd     *exec.Cmd
	conn    *os.File
	frames  chan frame // closed when the child hangs up
	readErr error      // why; set before frames is closed
	ready   bool       // used by one call at a time
	words   *tail
	dead    chan struct{} // closed when the process is reaped
	dropped chan struct{} // closed when nobody will read frames any more
	killing sync.Once
	refused atomic.Pointer[error] // why the child was not set up
	asked   chan struct{}         // closed when the setup was sent, or never will be
	stop    func() bool
}

// spawn starts a child in the role. Its descriptors are the socket (3) and
// files (4 and on). When ctx ends it is killed.
func spawn(ctx context.Context, role string, maxBody int64, files ...*os.File) (*process, error) {
	conn, theirs, err := socketPair()
	if err != nil {
		return nil, fault.New(fault.Internal, "make the worker's socket: %w", err)
	}
	defer theirs.Close()
	words, wordsIn, err := os.Pipe()
	if err != nil {
		conn.Close()
		return nil, fault.New(fault.Internal, "make the worker's pipe: %w", err)
	}
	defer wordsIn.Close()
	cmd := childCommand(role)
	cmd.Env = childEnv()
	cmd.Stdout, cmd.Stderr = wordsIn, wordsIn
	cmd.ExtraFiles = append([]*os.File{theirs}, files...)
	if err := startChild(cmd); err != nil {
		conn.Close()
		words.Close()
		return nil, fault.New(fault.Internal, "start a worker: %w", err)
	}
	p := &process{cmd: cmd, conn: conn, frames: make(chan frame), words: &tail{done: make(chan struct{})},
		dead: make(chan struct{}), dropped: make(chan struct{}), asked: make(chan struct{})}
	go p.words.keep(words)
	go p.read(maxBody)
	go func() {
		_ = cmd.Wait() // the state says how it ended
		close(p.dead)
	}()
	p.stop = context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	return p, nil
}

func (p *process) read(maxBody int64) {
	defer close(p.frames)
	r := bufio.NewReaderSize(p.conn, 64<<10)
	for {
		f, err := readFrame(r, maxBody)
		if err != nil {
			p.readErr = err
			return
		}
		select {
		case p.frames <- f:
		case <-p.dropped:
			p.readErr = io.ErrUnexpectedEOF
			return
		}
	}
}

// send writes one frame.
func (p *process) send(k kind, head any, bodies ...[]byte) error {
	if err := p.conn.SetWriteDeadline(time.Now().Add(sendTime)); err != nil {
		return err
	}
	return writeFrame(p.conn, k, head, bodies...)
}

// kill ends the child and returns when it is reaped and its last words are in.
func (p *process) kill() {
	p.killing.Do(func() {
		p.stop()
		// A child that is ending by itself gets a moment, so that its own
		// reason is the one reported.
		if p.hungUp() {
			select {
			case <-p.dead:
			case <-time.After(100 * time.Millisecond):
			}
		}
		_ = p.cmd.Process.Kill()
		<-p.dead
		close(p.dropped)
		p.conn.Close()
		<-p.words.done
	})
}

// hungUp reports whether the child closed its end.
func (p *process) hungUp() bool {
	select {
	case _, open := <-p.frames:
		return !open
	default:
		return false
	}
}

// gone reports whether the child has ended.
func (p *process) gone() bool {
	select {
	case <-p.dead:
		return true
	default:
		return false
	}
}

// lastWords is the end of what the child wrote to its standard output and
// error. It is for deciding why it died, and is not shown.
func (p *process) lastWords() string { return p.words.text() }

func (p *process) status() string {
	if p.cmd.ProcessState == nil {
		return "not ended"
	}
	return p.cmd.ProcessState.String()
}

// tail keeps the first and the last bytes of a stream: a fatal error says what
// it is first, and the trace behind it may be long.
type tail struct {
	mu    sync.Mutex
	first []byte
	buf   []byte
	done  chan struct{}
}

const (
	headBytes = 1 << 10
	tailBytes = 7 << 10
)

func (t *tail) keep(r *os.File) {
	defer close(t.done)
	defer r.Close()
	b := make([]byte, 4<<10)
	for {
		n, err := r.Read(b)
		t.mu.Lock()
		room := min(n, headBytes-len(t.first))
		t.first = append(t.first, b[:room]...)
		t.buf = append(t.buf, b[room:n]...)
		if over := len(t.buf) - tailBytes; over > 0 {
			t.buf = append(t.buf[:0], t.buf[over:]...)
		}
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.first) + string(t.buf)
}

// startRun starts a child that serves a skill.
func startRun(ctx context.Context, o Options, tmp string) (*process, error) {
	st := setup{Limits: o.Limits}
	var bodies [][]byte
	for path, b := range o.SkillFiles {
		st.Skill = append(st.Skill, skillDoc{path, len(b)})
		bodies = append(bodies, b)
	}
	return start(ctx, roleRun, o.Module, st, o, tmp, bodies...)
}

// start starts a child that serves a module on the sandbox and the stage of o.
func start(ctx context.Context, role string, m *Module, st setup, o Options, tmp string, bodies ...[]byte) (*process, error) {
	var files []*os.File
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	open := func(path, what string) (bool, error) {
		if path == "" {
			return false, nil
		}
		f, err := os.OpenFile(path, os.O_RDONLY|openDirectory, 0)
		if err != nil {
			k := fault.Internal
			if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
				k = fault.Usage
			}
			return false, fault.New(k, "open the %s %q: %w", what, path, err)
		}
		files = append(files, f)
		return true, nil
	}
	st.Compiled, st.Flavour, st.MissingWallsOK = m.compiled, m.flavour, o.AllowMissingWalls
	var err error
	if st.Lower, err = open(o.Sandbox, "sandbox"); err != nil {
		return nil, err
	}
	if st.Stage, err = open(o.Stage, "stage"); err != nil {
		return nil, err
	}
	if st.Tmp, err = open(tmp, "scratch folder"); err != nil {
		return nil, err
	}
	p, err := spawn(ctx, role, st.Limits.ResultBytes, files...)
	if err != nil {
		return nil, err
	}
	// The child reads this while it starts; a failure shows as its hanging up.
	go func() {
		defer close(p.asked)
		err := m.usable()
		if err == nil {
			err = p.send(kindSetup, st, bodies...)
		}
		if err != nil {
			p.refused.Store(&err)
			_ = p.cmd.Process.Kill()
		}
	}()
	return p, nil
}

// exchange sends the setup to a child that answers once and ends.
func (p *process) exchange(ctx context.Context, limit time.Duration, st setup, body []byte) (frame, error) {
	go func() {
		if err := p.send(kindSetup, st, body); err != nil && !p.gone() {
			_ = p.cmd.Process.Kill()
		}
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case f, open := <-p.frames:
		if !open {
			p.kill()
			return frame{}, fmt.Errorf("the child ended (%s): %w", p.status(), p.readErr)
		}
		return f, nil
	case <-timer.C:
		return frame{}, context.DeadlineExceeded
	case <-ctx.Done():
		return frame{}, context.Cause(ctx)
	}
}
