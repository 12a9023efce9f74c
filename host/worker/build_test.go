package worker_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// buildGuest builds a skill's module with Go and returns its bytes. folder is
// where the Go module lies, seen from the top of the repository.
func buildGuest(folder, pkg string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "guest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "guest.wasm")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-buildmode=c-shared", "-ldflags=-s -w", "-o", out, pkg)
	cmd.Dir = filepath.Join("..", "..", folder)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOTOOLCHAIN=local")
	if msg, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build %s: %w: %s", pkg, err, msg)
	}
	return os.ReadFile(out)
}
