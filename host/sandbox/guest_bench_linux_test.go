package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/experimental/sysfs"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"stepbox.dev/abi"
)

// BenchmarkThroughGuest runs the same guest on wazero's own mount and on the
// view by turns, and reports for every operation the best of each in
// microseconds and their ratio. The targets: stat, read and list within 1.5,
// write, rename and remove within 2, the large file within 1.2.
func BenchmarkThroughGuest(b *testing.B) {
	wasm := filepath.Join(b.TempDir(), "guest.wasm")
	build := exec.Command("go", "build", "-o", wasm, "./testdata/benchguest")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	out, err := build.CombinedOutput()
	require.NoError(b, err, string(out))
	code, err := os.ReadFile(wasm)
	require.NoError(b, err)
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	wasi_snapshot_preview1.MustInstantiate(ctx, r)
	compiled, err := r.CompileModule(ctx, code)
	require.NoError(b, err)

	files := map[string]string{}
	for i := range benchFiles {
		files[benchName(i)] = "0123456789abcdef"
		if i < 100 {
			files[fmt.Sprintf("a/b/d%d/f%d", i/10, i%10)] = "x"
		}
	}
	best := map[bool]map[string]float64{true: {}, false: {}}
	var order []string
	for b.Loop() {
		for _, view := range []bool{false, true} {
			rig := newRig(b, files)
			var mount sys.FS = sysfs.DirFS(rig.lower)
			if view {
				mount = rig.in(abi.ModeWrite)
			}
			var printed bytes.Buffer
			m, err := r.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName("").
				WithStdout(&printed).WithStderr(os.Stderr).WithSysNanotime().WithSysWalltime().
				WithFSConfig(wazero.NewFSConfig().(sysfs.FSConfig).WithSysFSMount(mount, "/")))
			require.NoError(b, err)
			require.NoError(b, m.Close(ctx))
			order = order[:0]
			for line := range bytes.Lines(printed.Bytes()) {
				var what string
				var ns float64
				_, err := fmt.Sscan(string(line), &what, &ns)
				require.NoError(b, err)
				order = append(order, what)
				if old, ok := best[view][what]; !ok || ns < old {
					best[view][what] = ns
				}
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	for _, what := range order {
		stock, view := best[false][what], best[true][what]
		b.Logf("%-8s stock %8.2f µs, view %8.2f µs, ratio %.2f", what, stock/1e3, view/1e3, view/stock)
	}
}
