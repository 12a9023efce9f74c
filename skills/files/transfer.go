package main

import (
	"cmp"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// transferArgs are the arguments of move_files and copy_files.
type transferArgs struct {
	Src   []string `json:"src" role:"input"`
	Items []string `json:"items" role:"input"`
	Filter
	Dst         string `json:"dst" role:"output" required:"true"`
	KeepFolders bool   `json:"keep_folders"`
}

func moveFiles(ctx guest.Context, in transferArgs) (Moved, error) {
	moves, same, err := planTransfer(ctx, in, false)
	if err != nil {
		return Moved{}, err
	}
	return runMoves(ctx, moves, same, "moving")
}

// planTransfer finds what is meant and the path that each will get. same counts
// what is there already; sizes says that they are needed.
func planTransfer(ctx guest.Context, in transferArgs, sizes bool) (moves []move, same int, err error) {
	if in.Src == nil && in.Items == nil {
		return nil, 0, guest.Errorf(abi.CodeBadRequest, "it is not said what to take: name folders in src, or files and folders in items")
	}
	if err := refuseRoot(in.Items); err != nil {
		return nil, 0, err
	}
	dst := guest.Clean(in.Dst)
	if !in.KeepFolders && in.everything() {
		in.Kind = kindBoth
		if err := tellHidden(ctx, in.Src, in.Hidden); err != nil {
			return nil, 0, err
		}
	}
	found, err := collect(ctx, selection{
		roots: in.Src, items: in.Items, Filter: in.Filter, whole: true, stat: sizes, avoid: avoided(dst, in.Src),
	})
	if err != nil {
		return nil, 0, err
	}
	asName, err := namesFile(ctx, in, dst, found)
	if err != nil {
		return nil, 0, err
	}
	for _, e := range found {
		to := dst
		if !asName {
			name := cmp.Or(e.part, path.Base(e.Path))
			if in.KeepFolders {
				name = e.Name
			}
			to = path.Join(dst, name)
		}
		if to == e.Path {
			same++
			continue
		}
		moves = append(moves, move{From: e.Path, To: to, folder: e.folder(), size: e.size})
	}
	return moves, same, nil
}

// tellHidden remarks on what is hidden in folders of which everything is meant,
// and is passed over.
func tellHidden(ctx guest.Context, roots []string, hidden string) error {
	if hidden == hiddenInclude {
		return nil
	}
	for _, root := range roots {
		entries, err := ctx.Files().ReadDir(guest.Clean(root))
		if err != nil {
			continue // a file, or one that collect will complain about
		}
		n := 0
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".") {
				n++
			}
		}
		if n > 0 {
			ctx.Issue("%s in %s; say \"including hidden\" to take them too", count(n, "hidden name is left", "hidden names are left"), folderName(guest.Clean(root)))
		}
	}
	return nil
}

// avoided is the destination when it lies below a folder that is looked in:
// what is there already is not taken out again.
func avoided(dst string, roots []string) string {
	for _, root := range roots {
		root = guest.Clean(root)
		if root == "." && dst != "." || strings.HasPrefix(dst, root+"/") {
			return dst
		}
	}
	return ""
}

// namesFile reports whether dst is the new name of the one file named, and not
// a folder to put things into.
func namesFile(ctx guest.Context, in transferArgs, dst string, found []*entry) (bool, error) {
	info, err := ctx.Files().Lstat(dst)
	switch {
	case err == nil && info.IsDir():
		return false, nil
	case err == nil:
		return false, guest.Errorf(abi.CodeConflict, "nothing was changed: %q is there already, and it is no folder", in.Dst)
	case !guest.IsNotExist(err):
		return false, err
	}
	one := len(in.Src)+len(in.Items) == 1 && len(found) == 1 && found[0].named && !found[0].folder()
	return one && path.Ext(dst) != "" && !strings.HasSuffix(in.Dst, "/"), nil
}

// refuseRoot refuses to act on the whole folder that is worked in.
func refuseRoot(items []string) error {
	for _, item := range items {
		if guest.Clean(item) == "." {
			return guest.Errorf(abi.CodeBadRequest, "the folder that is worked in cannot be changed as a whole; name what is in it")
		}
	}
	return nil
}

func copyFiles(ctx guest.Context, in transferArgs) (Moved, error) {
	moves, same, err := planTransfer(ctx, in, true)
	if err != nil {
		return Moved{}, err
	}
	original := make([]string, len(moves))
	c := &copier{ctx: ctx, files: ctx.Files(), buffer: make([]byte, 512<<10)}
	for i, m := range moves {
		original[i] = m.From
		c.total += m.size
	}
	if err := checkMoves(ctx, moves, false); err != nil {
		return Moved{}, err
	}
	for _, m := range moves {
		if err := c.files.MkdirAll(path.Dir(m.To)); err != nil {
			return Moved{}, err
		}
		if err := c.copy(m.From, m.To); err != nil {
			return Moved{}, err
		}
	}
	out := movedOf(ctx, moves, original, same)
	out.Bytes = c.done
	return out, nil
}

// copier copies files and folders, times with them.
type copier struct {
	ctx         guest.Context
	files       *guest.Files
	done, total int64
	buffer      []byte
}

func (c *copier) copy(from, to string) error {
	info, err := c.files.Lstat(from)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return c.folder(from, to, info.ModTime())
	case info.Mode().IsRegular():
		return c.file(from, to, info)
	case info.Mode()&fs.ModeSymlink != 0:
		c.ctx.Issue("%s is a link and is not copied", from)
	default:
		c.ctx.Issue("%s is no file and is not copied", from)
	}
	return nil
}

func (c *copier) folder(from, to string, modified time.Time) error {
	if err := c.files.Mkdir(to); err != nil {
		return err
	}
	entries, err := c.files.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(from, e.Name())
		if !isText(c.ctx, name) {
			continue
		}
		if err := c.copy(name, path.Join(to, e.Name())); err != nil {
			return err
		}
	}
	// Last: what is put into a folder changes its time.
	return c.files.Chtimes(to, modified, modified)
}

func (c *copier) file(from, to string, info fs.FileInfo) error {
	in, err := c.files.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	n, err := writeFile(c.files, to, in, c.buffer, info.ModTime(), func(n int64) {
		c.ctx.Progress(float64(c.done+n), float64(c.total), "copying")
	})
	c.done += n
	if err == nil && n != info.Size() {
		return guest.Errorf(abi.CodeFailed, "%s changed while it was copied", from)
	}
	return err
}

// writeFile makes a new file with what a reader gives and a modification time.
func writeFile(files *guest.Files, name string, from io.Reader, buffer []byte, modified time.Time, progress func(n int64)) (int64, error) {
	out, err := files.Create(name)
	if err != nil {
		return 0, err
	}
	n, err := io.CopyBuffer(&counter{w: out, progress: progress}, onlyReader{from}, buffer)
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err == nil && !modified.IsZero() {
		err = files.Chtimes(name, modified, modified)
	}
	return n, err
}

// onlyReader hides WriterTo, so that CopyBuffer uses its buffer.
type onlyReader struct{ io.Reader }

// counter tells how much went through it.
type counter struct {
	w        io.Writer
	n        int64
	progress func(n int64)
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	c.progress(c.n)
	return n, err
}
