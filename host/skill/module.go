package skill

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"stepbox.dev/host/fault"
)

// maxModule bounds the module's file.
const maxModule = 256 << 20

// HasModule reports whether there is anything to run: a contract alone can be
// read, checked and planned for.
func (s *Skill) HasModule() bool { return s.bundle != nil || s.source || s.module != "" }

// Module returns the skill's WebAssembly module, building it with Go when the
// skill is a source folder. cache is a folder for what is built; Go's own cache
// makes a second build of the same source fast. built is told when a build
// starts; it may be nil. A build that fails is fault.CheckFailed.
func (s *Skill) Module(ctx context.Context, cache string, built func()) ([]byte, error) {
	if s.bundle != nil {
		return s.bundle.Module, nil
	}
	if s.source {
		return s.build(ctx, cache, built)
	}
	if !s.HasModule() {
		return nil, fault.New(fault.CheckFailed, "skill %q has a contract but no module: there is neither a .wasm file nor Go source in %q", s.name, s.dir)
	}
	return readModule(s.module)
}

func readModule(file string) ([]byte, error) {
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return nil, fault.New(fault.Usage, "module %q cannot be read: %w", file, plainCause(err))
	}
	defer root.Close()
	data, err := readFile(root, filepath.Base(file), maxModule)
	if err != nil {
		return nil, fault.New(fault.Usage, "module %q cannot be read: %w", file, plainCause(err))
	}
	return data, nil
}

func (s *Skill) build(ctx context.Context, cache string, built func()) ([]byte, error) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		return nil, fault.New(fault.CheckFailed, "skill %q is a source folder, and there is no Go on this machine to build it with", s.name).
			Hint("install Go from https://go.dev/dl, or use the skill's .wasm file")
	}
	if cache, err = filepath.Abs(cache); err == nil {
		err = os.MkdirAll(cache, 0o700)
	}
	if err != nil {
		return nil, fault.New(fault.Internal, "the folder for built skills: %w", err)
	}
	if built != nil {
		built()
	}
	// One file for each source folder: Go leaves it alone when nothing has
	// changed, which saves linking.
	key := sha256.Sum256([]byte(s.dir))
	file := filepath.Join(cache, s.name+"-"+hex.EncodeToString(key[:8])+".wasm")
	var output capped
	cmd := exec.CommandContext(ctx, goTool, "build", "-buildmode=c-shared", "-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-o", file, ".")
	cmd.Dir = s.dir
	// GOTMPDIR lies beside the result, so that Go renames it into place: who
	// builds the same skill at the same time never reads half a file.
	cmd.Env = append(os.Environ(), "PWD="+s.dir, "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOTOOLCHAIN=local", "GOTMPDIR="+cache)
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 3 * time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			return nil, fault.New(fault.CheckFailed, "skill %q cannot be built: %w", s.name, err)
		}
		return nil, fault.New(fault.CheckFailed, "skill %q does not build:\n%s", s.name, readable(output.Bytes(), s.dir)).
			Hint("go build in %s says it in full", s.dir)
	}
	return readModule(file)
}

// capped keeps the beginning of what a compiler prints.
type capped struct{ bytes.Buffer }

func (c *capped) Write(p []byte) (int, error) {
	if room := 64<<10 - c.Len(); room > 0 {
		c.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// readable cuts a compiler's output to what a person reads: no package
// headers, at most 20 lines of 300 characters, nothing that moves a cursor.
func readable(output []byte, dir string) string {
	var lines []string
	for line := range strings.Lines(strings.ToValidUTF8(string(output), "?")) {
		line = strings.TrimRight(strings.ReplaceAll(line, dir+string(filepath.Separator), ""), "\r\n")
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		if len(lines) == 20 {
			lines = append(lines, "  …")
			break
		}
		clean := []rune(strings.Map(func(r rune) rune {
			switch {
			case r == '\t':
				return ' '
			case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
				return -1
			}
			return r
		}, line))
		if len(clean) > 300 {
			clean = append(clean[:300], '…')
		}
		lines = append(lines, "  "+string(clean))
	}
	return strings.Join(lines, "\n")
}
