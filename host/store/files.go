package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// access is what others may not do with a file.
type access os.FileMode

const (
	anyAccess          access = 0 // and owner: it is checked in other ways
	othersMustNotWrite access = 0o022
	othersMustNotRead  access = 0o077
)

// openToOthersError says that somebody else could have written a file, or read
// a secret.
type openToOthersError struct {
	why   string
	owned bool // by somebody else
}

func (e *openToOthersError) Error() string { return e.why }

// Closing is what puts right what err says of a path that others can change:
// chmod with the given arguments, which only its owner may do.
func Closing(err error, chmod, path string) string {
	var open *openToOthersError
	switch {
	case errors.As(err, &open) && !open.owned:
		return fmt.Sprintf("make it yours alone: chmod %s %s", chmod, path)
	case errors.As(err, &open):
		return fmt.Sprintf("if you know who put it there and that it is sound: sudo chown -R %d %s; else move it away", os.Geteuid(), path)
	}
	return "move it away"
}

// readFile reads one regular file, following no link to it and waiting for
// nobody, if it is this user's own and as closed to others as it has to be.
func readFile(path string, most int64, a access) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openPlain, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q is no regular file", path)
	case info.Size() > most:
		return nil, fmt.Errorf("%q is larger than %d MiB", path, most>>20)
	}
	if err := closed(info, a); err != nil {
		return nil, err
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, fmt.Errorf("%q changed while it was read: %w", path, err)
	}
	return data, nil
}

// Guarded reports, as an error, a folder of the person's own, or anything below
// it, that somebody else can change.
func Guarded(dir string) error {
	if err := mine(dir, othersMustNotWrite); err != nil {
		return fmt.Errorf("%q: %w", dir, err)
	}
	return filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Stat(path) // what a link leads to counts
		if err != nil {
			return err
		}
		if err := closed(info, othersMustNotWrite); err != nil {
			return fmt.Errorf("%q: %w", path, err)
		}
		return nil
	})
}

// mine reports, as an error, a folder that is not this user's or that others
// can write to.
func mine(dir string, a access) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return errors.New("it is no folder")
	}
	return closed(info, a)
}
