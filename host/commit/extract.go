package commit

import (
	"context"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"sort"

	"stepbox.dev/host/fault"
)

// ErrTooLarge says that an Extract would copy more than it may.
var ErrTooLarge = errors.New("too much to copy")

// Extract writes into an empty folder a copy of every file that the changes
// would create or replace, under the file's own path, to be looked at before
// anybody agrees. It returns the copies, sorted, and ErrTooLarge before it
// copies more than most bytes.
func (c *Changes) Extract(ctx context.Context, dir string, most int64) ([]string, error) {
	failed := func(err error) error {
		return fault.New(fault.Internal, "copy what run %q staged: %w", c.run.ID, err)
	}
	data, err := openRoot(c.run.Data)
	if err != nil {
		return nil, failed(err)
	}
	defer data.close()
	to, err := os.OpenRoot(dir)
	if err != nil {
		return nil, failed(err)
	}
	defer to.Close()
	var total int64
	for i := range c.made {
		if c.items[i].kind == isFile {
			total += c.items[i].was.size
		}
	}
	if total > most {
		return nil, ErrTooLarge
	}
	copies := []string{}
	for i := range c.made {
		it := c.items[i]
		if it.kind != isFile {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := extract(data, it.home, to, it.to, it.was.size); err != nil {
			return nil, failed(err)
		}
		copies = append(copies, filepath.Join(dir, filepath.FromSlash(it.to)))
	}
	sort.Strings(copies)
	return copies, nil
}

// extract copies one file. A worker that lives may still write to it: not more
// than the size that was looked at is copied.
func extract(data *root, home string, to *os.Root, name string, size int64) error {
	from, err := data.openFile(home)
	if err != nil {
		return err
	}
	defer from.Close()
	if err := to.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, io.LimitReader(from, size))
	return errors.Join(err, f.Close())
}
