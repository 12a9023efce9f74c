package worker

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
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
	Entry string    `json:"entry"` // its name: one use of one module
	Salt  []byte    `json:"salt"`  // of the key of the tags
	Files []sumFile `json:"files"`
	MAC   []byte    `json:"mac"` // of everything else
}

type sumFile struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
	Tag  []byte `json:"tag"` // see tagger
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

// take reads what the compiler left in a folder, for an entry.
func (c *Cache) take(dir, entry string) (sum, error) {
	s := sum{Entry: filepath.Base(entry), Salt: make([]byte, 16)}
	if _, err := rand.Read(s.Salt); err != nil {
		return sum{}, err
	}
	var err error
	s.Files, err = c.tagged(dir, s.Salt)
	return s, err
}

// sign writes the sum of an entry.
func (c *Cache) sign(dir string, s sum) (err error) {
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
func (c *Cache) verify(dir string) error {
	s, err := c.readSum(dir)
	if err != nil {
		return err
	}
	return c.verifyFiles(dir, s)
}

// readSum reads what an entry says about itself, if the MAC covers it.
func (c *Cache) readSum(dir string) (sum, error) {
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
	if !hmac.Equal(want, s.MAC) || s.Entry != filepath.Base(dir) {
		return sum{}, errors.New("the MAC does not fit")
	}
	return s, nil
}

// verifyFiles checks that the files of an entry are those of s, and no others.
func (c *Cache) verifyFiles(dir string, s sum) error {
	files, err := c.tagged(dir, s.Salt)
	if err != nil {
		return err
	}
	if len(files) != len(s.Files) {
		return errors.New("the files are not those that were signed")
	}
	for i, f := range files {
		g := s.Files[i]
		if f.Path != g.Path || f.Size != g.Size || !hmac.Equal(f.Tag, g.Tag) {
			return errors.New("a file is not the one that was signed")
		}
	}
	return nil
}

// tagged lists the files of an entry with their tags.
func (c *Cache) tagged(dir string, salt []byte) ([]sumFile, error) {
	paths, err := compiledFiles(dir)
	if err != nil {
		return nil, err
	}
	t, err := c.newTagger(salt)
	if err != nil {
		return nil, err
	}
	var files []sumFile
	for _, path := range paths {
		f, err := t.file(filepath.Join(dir, path))
		if err != nil {
			return nil, err
		}
		f.Path = path
		files = append(files, f)
	}
	return files, nil
}

// tagger computes the tags of an entry's files: the SHA-256 of the GMACs of
// their pieces. All of the native code is read at every start, and GMAC takes
// a third of the time of a hash. Its key serves one entry, and no number within
// it comes twice.
type tagger struct {
	gcm   cipher.AEAD
	buf   []byte
	piece uint64
}

// pieceBytes is how much is read at once: what stays in a processor's cache.
const pieceBytes = 256 << 10

func (c *Cache) newTagger(salt []byte) (*tagger, error) {
	h := hmac.New(sha256.New, c.key)
	h.Write([]byte("files of an entry\n"))
	h.Write(salt)
	block, err := aes.NewCipher(h.Sum(nil))
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	return &tagger{gcm: gcm, buf: make([]byte, pieceBytes)}, err
}

func (t *tagger) file(path string) (sumFile, error) {
	f, err := openPlain(path)
	if err != nil {
		return sumFile{}, err
	}
	defer f.Close()
	var s sumFile
	var tag []byte
	nonce := make([]byte, t.gcm.NonceSize())
	h := sha256.New()
	for {
		n, err := io.ReadFull(f, t.buf)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return sumFile{}, err
		}
		if s.Size += int64(n); s.Size > maxCompiled {
			return sumFile{}, fmt.Errorf("a compiled file is over %d bytes", int64(maxCompiled))
		}
		binary.BigEndian.PutUint64(nonce, t.piece)
		t.piece++
		tag = t.gcm.Seal(tag[:0], nonce, nil, t.buf[:n])
		h.Write(tag)
		if err != nil {
			s.Tag = h.Sum(nil)
			return s, nil
		}
	}
}

var compiledName = regexp.MustCompile(`^[0-9a-f]{64}$`)

// compiledFiles lists the files of an entry: the module without its code, and
// in one folder one or two regular files named as the runtime names them.
// Anything else means that the child, or somebody, was up to something.
func compiledFiles(dir string) ([]string, error) {
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
	return paths, nil
}

func readCapped(path string, limit int64) ([]byte, error) {
	f, err := openPlain(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() > limit {
		return nil, fmt.Errorf("%q is over %d bytes", path, limit)
	}
	b := make([]byte, st.Size()) // what the file has now is read, however it grows
	_, err = io.ReadFull(f, b)
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
