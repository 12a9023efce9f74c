// Command mkengines makes the engines that the skills of this repository run,
// as bundles in a folder (wasm/ when none is named):
//
//	go run ./cmd/mkengines [FOLDER]
//
// An engine is other people's program under its own licence. It is fetched as
// it was published, through Go's module proxy, checked against a digest that
// stands here, and packed with its licence. It is never linked into stepbox,
// and not part of this repository.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"

	"stepbox.dev/host/skill"
)

// source is where an engine comes from.
type source struct {
	name    string // of its folder here, which holds its manifest
	module  string // Go module at a version
	file    string // in that module, gzipped
	licence string // in that module
	digest  string // SHA-256 of the unpacked file
}

var sources = []source{{
	name: "ffmpreg", module: "codeberg.org/gruf/go-ffmpreg@v0.6.22", file: "embed/ffmpreg.wasm.gz", licence: "LICENSE",
	digest: "357dd97d37f5fa01b45865bc5d6e90a9538e8bff236de7f1c143a3bc863bc766",
}}

// maxEngine bounds what a file may unpack to.
const maxEngine = 256 << 20

//go:embed ffmpreg
var manifests embed.FS

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out := "wasm"
	switch len(os.Args) {
	case 1:
	case 2:
		out = os.Args[1]
	default:
		fmt.Fprintln(os.Stderr, "usage: mkengines [FOLDER]")
		os.Exit(2)
	}
	for _, s := range sources {
		path, err := s.build(ctx, out)
		if err != nil {
			fmt.Fprintf(os.Stderr, "mkengines: %s: %v\n", s.name, err)
			os.Exit(1)
		}
		fmt.Println(path)
	}
}

// build fetches one engine and writes its bundle.
func (s source) build(ctx context.Context, out string) (string, error) {
	work, err := os.MkdirTemp("", "mkengines-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	from, err := s.fetch(ctx, work)
	if err != nil {
		return "", err
	}
	module, err := s.unpack(filepath.Join(from, filepath.FromSlash(s.file)))
	if err != nil {
		return "", err
	}
	licence, err := os.ReadFile(filepath.Join(from, s.licence))
	if err != nil {
		return "", err
	}
	manifest, err := manifests.ReadFile(s.name + "/skill.yaml")
	if err != nil {
		return "", err
	}
	folder := filepath.Join(work, s.name)
	if err := os.Mkdir(folder, 0o700); err != nil {
		return "", err
	}
	for name, data := range map[string][]byte{"skill.yaml": manifest, "LICENSE": licence, s.name + ".wasm": module} {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			return "", err
		}
	}
	engine, err := skill.LoadEngine(folder)
	if err != nil {
		return "", err
	}
	bundle, err := engine.Pack(ctx)
	if err != nil {
		return "", err
	}
	return filepath.Join(out, s.name+".wasm"), put(out, s.name+".wasm", bundle)
}

// fetch has Go download the module, and returns its folder. work is outside of
// any Go module, so that nobody's go.sum changes.
func (s source) fetch(ctx context.Context, work string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", s.module)
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	answer, err := cmd.Output()
	var m struct{ Dir, Error string }
	if jerr := json.Unmarshal(answer, &m); jerr == nil && m.Error != "" {
		return "", errors.New(m.Error)
	}
	if err != nil {
		return "", fmt.Errorf("go mod download %s: %w: %s", s.module, err, bytes.TrimSpace(errs.Bytes()))
	}
	return m.Dir, nil
}

// unpack returns the file if it is the one that is meant.
func (s source) unpack(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.file, err)
	}
	data, err := io.ReadAll(io.LimitReader(r, maxEngine))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.file, err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != s.digest {
		return nil, fmt.Errorf("%s has the digest %x, and %s is expected: do not use it", s.file, sum, s.digest)
	}
	return data, nil
}

// put writes a file into a folder at once: who looks for it meanwhile finds
// nothing or all of it.
func put(dir, name string, data []byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, "new-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), filepath.Join(dir, name))
}
