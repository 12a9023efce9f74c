package sandbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	esys "github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/experimental/sysfs"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"stepbox.dev/abi"
)

// suiteTest is the specification of one test of the public suite.
type suiteTest struct {
	Args     []string          `json:"args"`
	Root     *string           `json:"root"`
	Env      map[string]string `json:"env"`
	ExitCode uint32            `json:"exit_code"`
	Stdout   *string           `json:"stdout"`
}

// differs are the tests of the suite that fail, with the reason. Any other
// failure is a regression, and so is one of these that passes unnoticed.
var differs = map[string]string{
	"sock_shutdown-not_sock": "wazero answers EBADF for what is no socket",
	"dir_fd_op_failures":     "wazero names a preopen that was closed",
	"fd_fdstat_set_rights":   "wazero has no rights",
	"overwrite_preopen":      "wazero renumbers no preopen",
	"path_filestat":          "wazero keeps no SYNC flag",
	"path_link":              "hard links look apart in the view, on purpose",
	"path_open_read_write":   "wazero has no rights",
	"poll_oneoff_stdio":      "wazero polls no writable stdio",
	"readlink":               "wazero refuses a buffer shorter than the target",
	"renumber":               "wazero renumbers to any number",
	"stdio":                  "wazero renumbers no preopen",
	"truncation_rights":      "wazero has no rights",
}

// TestWASISuite runs the public suite's preview 1 modules on the view. It guards
// what guests of every language rely on. Its files are read from the folder
// STEPBOX_WASI_TESTSUITE, a checkout of the branch prod/testsuite-base.
func TestWASISuite(t *testing.T) {
	suite := os.Getenv("STEPBOX_WASI_TESTSUITE")
	if suite == "" {
		t.Skip("STEPBOX_WASI_TESTSUITE names no checkout of WebAssembly/wasi-testsuite")
	}
	modules, err := filepath.Glob(filepath.Join(suite, "tests/*/testsuite/wasm32-wasip1/*.wasm"))
	require.NoError(t, err)
	require.NotEmpty(t, modules)
	sort.Strings(modules)
	passed := 0
	for _, module := range modules {
		name := strings.TrimSuffix(filepath.Base(module), ".wasm")
		t.Run(name, func(t *testing.T) {
			err := runSuiteTest(t, module, os.Getenv("STEPBOX_WASI_STOCK") != "")
			if why := differs[name]; why != "" {
				require.Error(t, err, "it passes now: take it off the list")
				t.Skip(why)
			}
			require.NoError(t, err)
			passed++
		})
	}
	t.Logf("%d of %d pass", passed, len(modules))
}

func runSuiteTest(t *testing.T, module string, stock bool) error {
	var spec suiteTest
	if b, err := os.ReadFile(strings.TrimSuffix(module, ".wasm") + ".json"); err == nil {
		require.NoError(t, json.Unmarshal(b, &spec))
	}
	code, err := os.ReadFile(module)
	require.NoError(t, err)
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	wasi_snapshot_preview1.MustInstantiate(ctx, r)
	var out, errOut bytes.Buffer
	config := wazero.NewModuleConfig().WithArgs(append([]string{module}, spec.Args...)...).
		WithStdout(&out).WithStderr(&errOut).WithSysWalltime().WithSysNanotime().WithRandSource(rand.Reader)
	for k, v := range spec.Env {
		config = config.WithEnv(k, v)
	}
	if spec.Root != nil {
		lower := t.TempDir()
		require.NoError(t, os.CopyFS(lower, os.DirFS(filepath.Join(filepath.Dir(module), *spec.Root))))
		var mount esys.FS = sysfs.DirFS(lower)
		if !stock {
			rig := &rig{t: t, lower: lower, stage: t.TempDir()}
			mount = rig.open(Quotas{}).Call(0, abi.ModeWrite)
		}
		config = config.WithFSConfig(wazero.NewFSConfig().(sysfs.FSConfig).WithSysFSMount(mount, "/"))
	}
	_, err = r.InstantiateWithConfig(ctx, code, config)
	exit := uint32(0)
	var ended *sys.ExitError
	if errors.As(err, &ended) {
		exit = ended.ExitCode()
	} else if err != nil {
		return errors.New(err.Error() + "\n" + errOut.String())
	}
	switch {
	case exit != spec.ExitCode:
		return errors.New("wrong exit code\n" + errOut.String())
	case spec.Stdout != nil && *spec.Stdout != out.String():
		return errors.New("wrong output")
	}
	return nil
}
