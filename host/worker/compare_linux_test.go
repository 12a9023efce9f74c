package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	extism "github.com/extism/go-sdk"
	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"stepbox.dev/abi"
	"stepbox.dev/host/worker"
)

// TestComparison runs the hostile guest and a few bombs on the stock runtimes,
// each in a process of its own, and on stepbox, and prints a table. It states
// no expectation of others; of stepbox it does. Set STEPBOX_COMPARE=1.
func TestComparison(t *testing.T) {
	if os.Getenv("STEPBOX_COMPARE") == "" {
		t.Skip("STEPBOX_COMPARE is not set")
	}
	guests := []string{"read outside", "write outside", "link outside", "spin", "sleep", "grow", "crowd", "open without end", "recurse"}
	bombs := map[string][]byte{
		"15 bytes, 4 billion imports": []byte("\x00asm\x01\x00\x00\x00\x02\x05\xff\xff\xff\xff\x0f"),
		"36 bytes, 4 billion locals": cat([]byte("\x00asm\x01\x00\x00\x00"), sec(1, []byte{1, 0x60, 0, 0}), sec(3, []byte{1, 0}),
			sec(10, []byte{1, 9, 1, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x7f, 0x0b, 0x0b})),
		"descriptor two billion": renumber(),
		"table without end":      tables(),
	}
	type score struct{ escapes, deaths, hangs int }
	scores := map[string]*score{"extism": {}, "wazero": {}, "stepbox": {}}
	m, err := hostileSkill()
	require.NoError(t, err)
	for _, how := range guests {
		for _, stock := range []string{"extism", "wazero"} {
			p := newTrap(t)
			got, death, hang := stockRun(t, stock, p.sandbox, how, "")
			t.Logf("%-8s %-28s %v %v", stock, how, got, verdict(death, hang))
			if strings.HasSuffix(how, "outside") {
				scores[stock].escapes += len(got)
			}
			scores[stock].deaths += death
			scores[stock].hangs += hang
		}
		p := newTrap(t)
		o := p.options()
		o.Module, o.Limits = m, worker.Limits{Step: 2 * time.Second, MemoryBytes: 256 << 20}
		w, err := worker.Start(t.Context(), o)
		require.NoError(t, err)
		r, err := w.Step(t.Context(), abi.ModeWrite, abi.StepRequest{Tool: "change", Args: map[string]any{"how": how}})
		var got outcome
		if err == nil {
			require.NoError(t, json.Unmarshal(r.Result, &got))
		}
		t.Logf("%-8s %-28s %v %v", "stepbox", how, got.Got, err)
		if strings.HasSuffix(how, "outside") {
			scores["stepbox"].escapes += len(got.Got)
		}
		require.NoError(t, w.Close())
	}
	for name, wasm := range bombs {
		f := t.TempDir() + "/bomb.wasm"
		require.NoError(t, os.WriteFile(f, wasm, 0o600))
		for _, stock := range []string{"extism", "wazero"} {
			_, death, hang := stockRun(t, stock, t.TempDir(), "", f)
			t.Logf("%-8s %-28s %v", stock, name, verdict(death, hang))
			scores[stock].deaths += death
			scores[stock].hangs += hang
		}
		m, err := openCache(t).Module(t.Context(), wasm, nil)
		if err == nil {
			w, serr := worker.Start(t.Context(), worker.Options{Module: m, Limits: worker.Limits{Step: 2 * time.Second}})
			require.NoError(t, serr)
			_, err = step(t.Context(), w)
			require.NoError(t, w.Close())
		}
		t.Logf("%-8s %-28s %v", "stepbox", name, err)
	}
	require.Zero(t, scores["stepbox"].escapes)
	t.Logf("| | escapes | host deaths | hangs |")
	for _, n := range []string{"extism", "wazero", "stepbox"} {
		t.Logf("| %s | %d | %d | %d |", n, scores[n].escapes, scores[n].deaths, scores[n].hangs)
	}
}

func verdict(death, hang int) string {
	return map[int]string{0: "ends", 1: "host dies", 2: "hangs"}[death+2*hang]
}

func renumber() []byte {
	p := newPlug()
	f := p.wasi("fd_renumber")
	p.fn(abi.ExportStep, c32(1), c32(0x7fffffff), run(f), drop, p.says(`{"result":1}`), ok)
	return p.bytes()
}

func tables() []byte {
	return stepping(func(p *plug) []byte {
		p.table = true
		grow := cat([]byte{0xd0, 0x70}, c32(100_000_000), []byte{0xfc, 15, 0})
		return cat(loop(200, grow, drop), p.says(`{"result":1}`), ok)
	})
}

// stockRun runs one thing on a stock runtime in a process of its own.
func stockRun(t *testing.T, stock, sandbox, how, bomb string) (got []string, death, hang int) {
	file := bomb
	if bomb == "" {
		file = hostileDir + "/hostile.wasm"
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	exe, err := os.Executable()
	require.NoError(t, err)
	// A machine of its own would be fair; a limit on data keeps this one alive.
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", `ulimit -d 3000000; exec "$@"`, "sh", exe)
	cmd.Args = append(cmd.Args, roleStock, stock, file, sandbox, how)
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, 0, 1
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() != 9 {
		return nil, 1, 0
	}
	var o outcome
	if line := strings.TrimSpace(string(out)); line != "" {
		_ = json.Unmarshal([]byte(line), &o)
	}
	return o.Got, 0, 0
}

// roleStock is argv[1] of a process that hosts a guest as the runtimes' own
// documentation says: with a folder allowed and a timeout set.
const roleStock = "stock-host"

func stockHost(stock, file, sandbox, how string) {
	wasm, err := os.ReadFile(file)
	if err != nil {
		os.Exit(1)
	}
	none := func(name string) extism.HostFunction {
		f := extism.NewHostFunctionWithStack(name, func(_ context.Context, p *extism.CurrentPlugin, s []uint64) {
			s[0], _ = p.WriteString(`{}`)
		}, []extism.ValueType{extism.ValueTypePTR}, []extism.ValueType{extism.ValueTypePTR})
		f.SetNamespace(abi.HostNamespace)
		return f
	}
	manifest := extism.Manifest{Wasm: []extism.Wasm{extism.WasmData{Data: wasm}}, Timeout: 2000}
	cfg := wazero.NewModuleConfig().WithSysWalltime().WithSysNanotime().WithSysNanosleep()
	if stock == "extism" {
		manifest.AllowedPaths = map[string]string{sandbox: "/"}
	} else {
		cfg = cfg.WithFSConfig(wazero.NewFSConfig().WithDirMount(sandbox, "/"))
	}
	ctx := context.Background()
	p, err := extism.NewPlugin(ctx, manifest, extism.PluginConfig{EnableWasi: true, ModuleConfig: cfg},
		[]extism.HostFunction{none(abi.HostConfirm), none(abi.HostProgress), none(abi.HostEngine)})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(9)
	}
	in, _ := json.Marshal(abi.StepRequest{Tool: "change", Args: map[string]any{"how": how}})
	_, out, err := p.CallWithContext(ctx, abi.ExportStep, in)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(9) // an error is a proper end
	}
	var r abi.StepResponse
	_ = json.Unmarshal(out, &r)
	fmt.Println(string(r.Result))
	os.Exit(0)
}

// The price of a deadline on a guest that only computes: none at all, the
// runtime's own interruption, and a worker that can be killed.
func BenchmarkTightLoop(b *testing.B) {
	const rounds = 300_000_000
	body := func(p *plug) []byte { return cat(loop(rounds), p.says(`{"result":1}`), ok) }
	bare := &mod{}
	bare.fn("run", loop(rounds), ok)
	for name, interrupt := range map[string]bool{"no-deadline": false, "interruption": true} {
		b.Run(name, func(b *testing.B) {
			ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
			defer cancel()
			rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler().WithCloseOnContextDone(interrupt))
			defer rt.Close(ctx)
			wasi_snapshot_preview1.MustInstantiate(ctx, rt)
			m, err := rt.Instantiate(ctx, bare.bytes())
			require.NoError(b, err)
			for b.Loop() {
				_, err := m.ExportedFunction("run").Call(ctx)
				require.NoError(b, err)
			}
		})
	}
	b.Run("worker", func(b *testing.B) {
		w := start(b, stepping(body), worker.Options{Limits: worker.Limits{Step: time.Hour}})
		for b.Loop() {
			_, err := step(b.Context(), w)
			require.NoError(b, err)
		}
	})
}

// How late a kill comes: the time from the deadline of a spinning guest to the
// end of its worker.
func BenchmarkKill(b *testing.B) {
	m, err := openCache(b).Module(b.Context(), stepping(func(*plug) []byte { return cat(busy, ok) }), nil)
	require.NoError(b, err)
	const limit = 50 * time.Millisecond
	var late time.Duration
	for b.Loop() {
		w, err := worker.Start(b.Context(), worker.Options{Module: m, Limits: worker.Limits{Step: limit}})
		require.NoError(b, err)
		_, err = w.Describe(b.Context())
		require.NoError(b, err)
		begin := time.Now()
		_, err = step(b.Context(), w)
		require.ErrorIs(b, err, context.DeadlineExceeded)
		late = max(late, time.Since(begin)-limit)
		require.NoError(b, w.Close())
	}
	b.ReportMetric(float64(late.Microseconds())/1000, "ms-late-max")
}
