package worker

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// sum is what the file ENTRY/sum holds.
type sum struct {
	Module string    `json:"module"`
	Files  []sumFile `json:"files"`
	MAC    []byte    `json:"mac"`
}

type sumFile struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 []byte `json:"sha256"`
}

func (c *Cache) mac(s sum) ([]byte, error) {
	s.MAC = nil
	b, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	h := hmac.New(sha256.New, c.key)
	h.Write(b)
	return h.Sum(nil), nil
}

func (c *Cache) sign(dir, digest string, files []sumFile) (err error) {
	s := sum{Module: digest, Files: files}
	if s.MAC, err = c.mac(s); err != nil {
		return err
	}
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "sum"), b, 0o600)
}

const maxSum = 64 << 10

// verify checks an entry whole.
func (c *Cache) verify(dir, digest string) error {
	s, err := c.readSum(dir, digest)
	if err != nil {
		return err
	}
	return s.verify(dir)
}

// readSum reads what an entry says about itself, if the MAC covers it.
func (c *Cache) readSum(dir, digest string) (sum, error) {
	b, err := readCapped(filepath.Join(dir, "sum"), maxSum)
	if err != nil {
		return sum{}, err
	}
	var s sum
	if err := strictJSON(b, &s); err != nil {
		return sum{}, err
	}
	want, err := c.mac(s)
	if err != nil {
		return sum{}, err
	}
	if !hmac.Equal(want, s.MAC) || s.Module != digest {
		return sum{}, errors.New("the MAC does not fit")
	}
	return s, nil
}

// verify checks that the files of an entry are those of s, and no others.
func (s sum) verify(dir string) error {
	files, err := takeCompiled(dir)
	if err != nil {
		return err
	}
	if len(files) != len(s.Files) {
		return errors.New("the files are not those that were signed")
	}
	for i, f := range files {
		g := s.Files[i]
		if f.Path != g.Path || f.Size != g.Size || !hmac.Equal(f.SHA256, g.SHA256) {
			return errors.New("a file is not the one that was signed")
		}
	}
	return nil
}

var compiledName = regexp.MustCompile(`^[0-9a-f]{64}$`)

// takeCompiled lists the files of an entry: the module without its code, and
// in one folder one or two regular files named as the runtime names them.
// Anything else means that the child, or somebody, was up to something.
func takeCompiled(dir string) ([]sumFile, error) {
	top, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	folder, paths := "", []string{stubFile}
	for _, e := range top {
		switch {
		case e.Name() == "sum", e.Name() == stubFile:
		case folder == "" && e.IsDir() && strings.HasPrefix(e.Name(), "wazero-"):
			folder = e.Name()
		default:
			return nil, fmt.Errorf("unexpected %q", clean(e.Name(), 80))
		}
	}
	if folder == "" {
		return nil, errors.New("no compiled code")
	}
	entries, err := os.ReadDir(filepath.Join(dir, folder))
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 || len(entries) > 2 {
		return nil, fmt.Errorf("%d compiled files", len(entries))
	}
	for _, e := range entries {
		if !compiledName.MatchString(e.Name()) {
			return nil, fmt.Errorf("unexpected %q", clean(e.Name(), 160))
		}
		paths = append(paths, filepath.Join(folder, e.Name()))
	}
	var files []sumFile
	for _, path := range paths {
		f, err := digestFile(filepath.Join(dir, path))
		if err != nil {
			return nil, err
		}
		f.Path = path
		files = append(files, f)
	}
	return files, nil
}

func digestFile(path string) (sumFile, error) {
	f, err := openPlain(path)
	if err != nil {
		return sumFile{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, maxCompiled+1))
	if err != nil {
		return sumFile{}, err
	}
	if n > maxCompiled {
		return sumFile{}, fmt.Errorf("a compiled file is over %d bytes", int64(maxCompiled))
	}
	return sumFile{Size: n, SHA256: h.Sum(nil)}, nil
}

func readCapped(path string, limit int64) ([]byte, error) {
	f, err := openPlain(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("%q is over %d bytes", path, limit)
	}
	return b, err
}

// openPlain opens a regular file, and follows no link to it.
func openPlain(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openNoFollow, 0)
	if err != nil {
		return nil, err
	}
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("%q is not a regular file", path)
	}
	return f, nil
}
