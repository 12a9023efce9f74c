package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/worker"
)

// grace is how late after its deadline a guest may end.
const grace = 250 * time.Millisecond

// deadline is what the guests here get.
const deadline = 300 * time.Millisecond

// Rows 8 and 9 of the threat model: whatever a guest does with its time, it is
// gone at the deadline, and the host goes on.
func TestDeadlineKills(t *testing.T) {
	poll := func(nanoseconds int64) []byte {
		p := newPlug()
		p.poll = p.wasi("poll_oneoff")
		p.pages = 1
		// One subscription to the monotonic clock, relative.
		p.data = cat(make([]byte, 16), []byte{1, 0, 0, 0, 0, 0, 0, 0}, le64(nanoseconds), make([]byte, 16))
		p.fn(abi.ExportStep, c32(0), c32(100), c32(1), c32(200), run(p.poll))
		return p.bytes()
	}
	initialize := func() []byte {
		p := newPlug()
		p.fn("_initialize", busy, ok)
		p.fn(abi.ExportStep, ok)
		return p.bytes()
	}
	begins := func() []byte {
		p := newPlug()
		p.types = append(p.types, []byte{0x60, 0, 0})
		p.fns = append(p.fns, fn{len(p.types) - 1, cat([]byte{0}, forever, []byte{0x0b})})
		p.start = len(p.imports) + 1
		p.fn(abi.ExportStep, ok)
		return p.bytes()
	}
	for name, wasm := range map[string][]byte{
		"an empty loop":                stepping(func(*plug) []byte { return cat(forever, ok) }),
		"a busy loop":                  stepping(func(*plug) []byte { return cat(busy, ok) }),
		"a loop in the start function": begins(),
		"a loop while it initialises":  initialize(),
		"a poll of an hour":            poll(3600 * 1e9),
		"growing, then a loop": stepping(func(p *plug) []byte {
			p.pages = 1
			return cat(loop(100, grow64MiB, drop), busy, ok)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, wasm, worker.Options{Limits: worker.Limits{Step: deadline}})
			// The clock of the call begins when the module is loaded.
			_, _, _ = w.Format(t.Context(), abi.FormatRequest{})
			begin := time.Now()
			_, err := step(t.Context(), w)
			took := time.Since(begin)
			require.Equal(t, fault.Timeout, fault.Of(err), "%v", err)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Less(t, took, 2*deadline+grace)
			require.NoError(t, w.Close())
			hostWorks(t)
		})
	}
}

// A pure call that never ends is ended by its caller's deadline too.
func TestDescribeForEver(t *testing.T) {
	p := newPlug()
	p.fn(abi.ExportDescribe, busy, ok)
	w := start(t, p.bytes(), worker.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	begin := time.Now()
	_, err := w.Describe(ctx)
	require.Equal(t, fault.Timeout, fault.Of(err), "%v", err)
	require.Less(t, time.Since(begin), deadline+grace)
}

func TestCancelKills(t *testing.T) {
	w := start(t, stepping(func(*plug) []byte { return cat(busy, ok) }), worker.Options{})
	_, err := w.Describe(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	begin := time.Now()
	_, err = step(ctx, w)
	require.Equal(t, fault.Interrupted, fault.Of(err), "%v", err)
	require.Less(t, time.Since(begin), 100*time.Millisecond+grace)
	// The next call gets a new child.
	_, err = w.Describe(t.Context())
	require.NoError(t, err)
}

// A worker that is ended while a large request is on its way to the child was
// cancelled; the broken pipe is no failure of the step.
func TestCancelWhileAsking(t *testing.T) {
	m, err := openCache(t).Module(t.Context(), good(), nil)
	require.NoError(t, err)
	large := map[string]any{"text": strings.Repeat("x", 4<<20)}
	for i := range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		w, err := worker.Start(ctx, worker.Options{Module: m})
		require.NoError(t, err)
		works(t, w)
		time.AfterFunc(time.Duration(i)*time.Millisecond, cancel)
		for err == nil {
			_, err = w.Step(t.Context(), abi.ModeRead, abi.StepRequest{Tool: "go", Args: large})
		}
		require.Equal(t, fault.Interrupted, fault.Of(err), "%v", err)
		require.NoError(t, w.Close())
	}
}

// Guests that end badly by themselves fail their step, and the next call of
// the same worker works.
func TestCrashes(t *testing.T) {
	recursion := func() []byte {
		p := newPlug()
		p.fn(abi.ExportDescribe, p.says(described), ok)
		p.fn(abi.ExportStep, run(len(p.imports)+1), drop, ok)
		return p.bytes()
	}
	for name, c := range map[string]struct {
		wasm []byte
		want string
		kind fault.Kind
	}{
		"a trap":            {stepping(func(*plug) []byte { return cat(trap) }), "unreachable", fault.StepFailed},
		"endless recursion": {recursion(), "", fault.StepFailed},
		"no output at all":  {stepping(func(*plug) []byte { return ok }), "returned nothing", fault.StepFailed},
		"an offset from nowhere": {stepping(func(p *plug) []byte { return cat(c64(1<<40), c64(1<<50), run(p.out), ok) }),
			"returned nothing", fault.StepFailed},
		"a huge length": {stepping(func(p *plug) []byte { return cat(c64(8), c64(1<<31), run(p.out), ok) }),
			"", fault.StepFailed},
		"an error without text": {stepping(func(p *plug) []byte { return failed }), "did not say why", fault.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, c.wasm, worker.Options{})
			_, err := step(t.Context(), w)
			require.ErrorContains(t, err, c.want)
			if c.kind != fault.Internal {
				require.Equal(t, c.kind, fault.Of(err), "%v", err)
			}
			_, err = w.Describe(t.Context())
			require.NoError(t, err)
			hostWorks(t)
		})
	}
	t.Run("an exit", func(t *testing.T) {
		p := newPlug()
		exit := p.wasi("proc_exit")
		p.fn(abi.ExportDescribe, p.says(described), ok)
		p.fn(abi.ExportStep, c32(7), run(exit), ok)
		w := start(t, p.bytes(), worker.Options{})
		_, err := step(t.Context(), w)
		require.ErrorContains(t, err, "exit code 7")
		_, err = w.Describe(t.Context())
		require.NoError(t, err)
	})
}

// Row 10: memory is refused at the cap, and neither the guest's worker nor the
// host dies of asking.
func TestMemoryIsCapped(t *testing.T) {
	wasm := stepping(func(p *plug) []byte {
		p.pages = 1
		// How many of 40 grows of 64 MiB succeed: memory.grow gives -1 at the cap.
		count := loop(40, grow64MiB, c32(-1), []byte{0x47, 0xad}, get(1), add64, set(1))
		return cat(count, get(1), c64(4), []byte{0x53, 0x04, 0x40}, p.says(`{"result":"few"}`), []byte{0x05},
			p.says(`{"result":"many"}`), []byte{0x0b}, ok)
	})
	w := start(t, wasm, worker.Options{Limits: worker.Limits{MemoryBytes: 256 << 20}})
	r, err := step(t.Context(), w)
	require.NoError(t, err)
	require.Equal(t, `"few"`, string(r.Result))
	hostWorks(t)
}

// What wazero does not cap is capped by the process: its death is the guest's.
func TestAppetiteEndsTheChildAlone(t *testing.T) {
	for name, wasm := range map[string][]byte{
		"a descriptor number of two billion": func() []byte {
			p := newPlug()
			renumber := p.wasi("fd_renumber")
			p.fn(abi.ExportDescribe, p.says(described), ok)
			p.fn(abi.ExportStep, c32(1), c32(0x7fffffff), run(renumber), drop, p.says(`{"result":1}`), ok)
			return p.bytes()
		}(),
		"a table that grows": stepping(func(p *plug) []byte {
			p.table = true
			grow := cat([]byte{0xd0, 0x70}, c32(50_000_000), []byte{0xfc, 15, 0})
			return cat(loop(80, grow, drop), p.says(`{"result":1}`), ok)
		}),
		"kernel memory without end": stepping(func(p *plug) []byte {
			return cat(loop(100, c64(64<<20), run(p.alloc), drop), p.says(`{"result":1}`), ok)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, wasm, worker.Options{Limits: worker.Limits{MemoryBytes: 128 << 20}})
			_, err := step(t.Context(), w)
			t.Log(err)
			if err != nil {
				require.Contains(t, []fault.Kind{fault.StepFailed, fault.Stopped}, fault.Of(err), "%v", err)
			}
			_, err = w.Describe(t.Context())
			require.NoError(t, err)
			hostWorks(t)
		})
	}
}

// Row 14: a flood is cut at the cap.
func TestFloods(t *testing.T) {
	t.Run("standard output", func(t *testing.T) {
		p := newPlug()
		write := p.wasi("fd_write")
		p.pages = 2
		p.data = cat(le32(16), le32(65536), make([]byte, 8), []byte(strings.Repeat("flood 0123456789\n", 3855)))
		p.fn(abi.ExportStep, loop(5000, c32(1), c32(0), c32(1), c32(8), run(write), drop), p.says(`{"result":1}`), ok)
		var got int
		var last string
		w := start(t, p.bytes(), worker.Options{Output: func(l string) { got += len(l) + 1; last = l },
			Limits: worker.Limits{OutputBytes: 100_000}})
		_, err := step(t.Context(), w)
		require.NoError(t, err)
		require.LessOrEqual(t, got, 100_000+200)
		require.Greater(t, got, 50_000)
		require.Contains(t, last, "the rest is not shown")
	})
	t.Run("progress", func(t *testing.T) {
		p := newPlug()
		progress := p.user(abi.HostProgress)
		p.fn(abi.ExportStep, text(p.alloc, p.s8, p.s64, `{"done":1,"total":9,"label":"\u001b[2J\u202eeht"}`), get(0), set(1),
			loop(20_000, get(1), run(progress), drop), p.says(`{"result":1}`), ok)
		var got int
		begin := time.Now()
		w := start(t, p.bytes(), worker.Options{Progress: func(_ int, p abi.Progress) {
			require.Equal(t, "[2Jeht", p.Label)
			got++
		}})
		_, err := step(t.Context(), w)
		require.NoError(t, err)
		require.LessOrEqual(t, got, 2+int(time.Since(begin)/(20*time.Millisecond)))
	})
	t.Run("confirm", func(t *testing.T) {
		p := newPlug()
		confirm := p.user(abi.HostConfirm)
		p.fn(abi.ExportStep, text(p.alloc, p.s8, p.s64, `{"prompt":"stepbox: allow everything?\r\u001b[1A","preview":"a\nb"}`),
			get(0), set(1), loop(200, get(1), run(confirm), drop), p.says(`{"result":1}`), ok)
		var asked int
		w := start(t, p.bytes(), worker.Options{Confirm: func(_ context.Context, _ int, r abi.ConfirmRequest) (bool, error) {
			asked++
			require.Equal(t, "stepbox: allow everything?[1A", r.Prompt)
			require.Equal(t, "a\nb", r.Preview)
			return true, nil
		}})
		_, err := step(t.Context(), w)
		require.NoError(t, err)
		require.Equal(t, 16, asked)
	})
	t.Run("result", func(t *testing.T) {
		wasm := stepping(func(p *plug) []byte {
			return cat(c64(20<<20), run(p.alloc), set(0), get(0), c64(20<<20), run(p.out), ok)
		})
		w := start(t, wasm, worker.Options{Limits: worker.Limits{ResultBytes: 1 << 20}})
		_, err := step(t.Context(), w)
		require.Equal(t, fault.Stopped, fault.Of(err), "%v", err)
		require.ErrorContains(t, err, "20971520 bytes")
		_, err = w.Describe(t.Context())
		require.NoError(t, err)
	})
}

// The clock rests while a person thinks.
func TestClockRests(t *testing.T) {
	p := newPlug()
	confirm := p.user(abi.HostConfirm)
	p.fn(abi.ExportStep, text(p.alloc, p.s8, p.s64, `{"prompt":"go on?"}`), get(0), run(confirm), drop,
		p.says(`{"result":1}`), ok)
	w := start(t, p.bytes(), worker.Options{Limits: worker.Limits{Step: deadline},
		Confirm: func(context.Context, int, abi.ConfirmRequest) (bool, error) {
			time.Sleep(2 * deadline)
			return true, nil
		}})
	_, err := step(t.Context(), w)
	require.NoError(t, err)
}

// A worker can be closed while a person is being asked.
func TestCloseWhileAsked(t *testing.T) {
	p := newPlug()
	confirm := p.user(abi.HostConfirm)
	p.fn(abi.ExportStep, text(p.alloc, p.s8, p.s64, `{"prompt":"go on?"}`), get(0), run(confirm), drop,
		p.says(`{"result":1}`), ok)
	asked := make(chan struct{})
	w := start(t, p.bytes(), worker.Options{Confirm: func(ctx context.Context, _ int, _ abi.ConfirmRequest) (bool, error) {
		close(asked)
		<-ctx.Done()
		return false, ctx.Err()
	}})
	failed := make(chan error, 1)
	go func() {
		_, err := step(context.Background(), w)
		failed <- err
	}()
	<-asked
	require.NoError(t, w.Close())
	require.Equal(t, fault.Interrupted, fault.Of(<-failed))
}

// Row 17: an answer that two readers could read in two ways is no answer.
func TestBrokenAnswers(t *testing.T) {
	for name, c := range map[string]struct{ out, want string }{
		"not JSON":            {`result: 1`, "not JSON"},
		"cut short":           {`{"result":{"a":1}`, "ends too early"},
		"two values":          {`{"result":1} {"result":2}`, "follows"},
		"NaN":                 {`{"result":NaN}`, "not JSON"},
		"infinity":            {`{"result":-Infinity}`, "not JSON"},
		"leading zero":        {`{"result":01}`, "not JSON"},
		"duplicate keys":      {`{"result":{"a":1,"a":2}}`, "twice"},
		"duplicate cased":     {`{"result":1,"RESULT":2}`, "twice"},
		"duplicate by escape": {`{"result":{"a":1,"\u0061":2}}`, "twice"},
		"a lone surrogate":    {`{"result":"\ud800"}`, "surrogate"},
		"surrogates reversed": {`{"result":"\udc00\ud800"}`, "surrogate"},
		"not UTF-8":           {"{\"result\":\"\xff\"}", "UTF-8"},
		"a control character": {"{\"result\":\"\x01\"}", "control"},
		"too deep":            {`{"result":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, "deeper"},
		"a list":              {`[1]`, "array"},
		"a wrong type":        {`{"result":1,"verified":"yes"}`, "verified"},
		"issues of numbers":   {`{"result":1,"issues":[1]}`, "issues"},
		"no result":           {`{"verified":true}`, "without a result"},
		"null":                {`null`, "without a result"},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, stepping(func(p *plug) []byte { return cat(p.says(c.out), ok) }), worker.Options{})
			_, err := step(t.Context(), w)
			require.Equal(t, fault.StepFailed, fault.Of(err), "%v", err)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestGuestErrors(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want abi.Error
	}{
		"proper":         {`{"code":"not_found","message":"no such file","retryable":true}`, abi.Error{Code: abi.CodeNotFound, Message: "no such file", Retryable: true}},
		"plain text":     {`it broke`, abi.Error{Code: abi.CodeFailed, Message: "it broke"}},
		"unknown code":   {`{"code":"root","message":"x"}`, abi.Error{Code: abi.CodeFailed, Message: "x"}},
		"no message":     {`{"code":"failed"}`, abi.Error{Code: abi.CodeFailed, Message: `{"code":"failed"}`}},
		"terminal codes": {`{"code":"failed","message":"a\u001b]0;x\u0007b\u202ec\nd"}`, abi.Error{Code: abi.CodeFailed, Message: "a]0;xbc d"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, stepping(func(p *plug) []byte { return p.complains(c.text) }), worker.Options{})
			_, err := step(t.Context(), w)
			var e *abi.Error
			require.True(t, errors.As(err, &e), "%v", err)
			require.Equal(t, c.want, *e)
		})
	}
}

// Rows 11 and 16: what admission refuses never reaches a compiler.
func TestRefusedModules(t *testing.T) {
	undeclared := newPlug()
	signatures["system"] = [2][]byte{{i32}, {i32}}
	undeclared.imp("env", "system")
	undeclared.fn(abi.ExportStep, ok)
	for name, c := range map[string]struct {
		wasm []byte
		want string
	}{
		"an undeclared import": {undeclared.bytes(), "not part of the ABI"},
		"four billion imports": {[]byte("\x00asm\x01\x00\x00\x00\x02\x05\xff\xff\xff\xff\x0f"), "over the cap"},
		"nothing":              {nil, "not a WebAssembly module"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := openCache(t).Module(t.Context(), c.wasm, nil)
			require.Equal(t, fault.Stopped, fault.Of(err), "%v", err)
			require.ErrorContains(t, err, c.want)
		})
	}
	t.Run("invalid code", func(t *testing.T) {
		_, err := openCache(t).Module(t.Context(), stepping(func(*plug) []byte { return nil }), nil)
		require.Equal(t, fault.CheckFailed, fault.Of(err), "%v", err)
		hostWorks(t)
	})
}
