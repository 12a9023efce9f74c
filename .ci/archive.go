// Command archive makes an archive of a folder, a .zip or a .tar.gz by its name,
// whose bytes depend on nothing but names, contents and the given time: not on
// whoever makes it, their umask or the order of their file system.
//
//	go run .ci/archive.go FOLDER FILE SECONDS EXECUTABLE
package main

import (
	"archive/tar"
	"archive/zip"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: archive FOLDER FILE SECONDS EXECUTABLE")
		os.Exit(2)
	}
	seconds, err := strconv.ParseInt(os.Args[3], 10, 64)
	if err == nil {
		err = archive(os.Args[1], os.Args[2], time.Unix(seconds, 0).UTC(), os.Args[4])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "archive:", err)
		os.Exit(1)
	}
}

// entry begins an entry of an archive and returns what takes its content.
type entry func(name string, mode fs.FileMode, size int64) (io.Writer, error)

func archive(dir, file string, when time.Time, executable string) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if strings.HasSuffix(file, ".zip") {
		w := zip.NewWriter(f)
		w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
			return flate.NewWriter(out, flate.BestCompression)
		})
		err = walk(dir, executable, func(name string, mode fs.FileMode, _ int64) (io.Writer, error) {
			h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: when}
			h.SetMode(mode)
			if mode.IsDir() {
				h.Method = zip.Store
			}
			return w.CreateHeader(h)
		})
		return errors.Join(err, w.Close())
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(z)
	err = walk(dir, executable, func(name string, mode fs.FileMode, size int64) (io.Writer, error) {
		h := &tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: int64(mode.Perm()), Size: size, ModTime: when}
		if mode.IsDir() {
			h.Typeflag = tar.TypeDir
		}
		return w, w.WriteHeader(h)
	})
	return errors.Join(err, w.Close(), z.Close())
}

// walk adds the folder and all below it, by name.
func walk(dir, executable string, add entry) error {
	top := filepath.Dir(dir)
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			_, err := add(name+"/", fs.ModeDir|0o755, 0)
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if d.Name() == executable {
			mode = 0o755
		}
		w, err := add(name, mode, int64(len(data)))
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
}
