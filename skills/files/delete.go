package main

import (
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// deleteArgs are the arguments of delete_files.
type deleteArgs struct {
	Path  []string `json:"path" role:"input"`
	Items []string `json:"items" role:"input"`
	Filter
}

// Deleted is the result of delete_files.
type Deleted struct {
	Paths   []string `json:"paths"`
	Count   int      `json:"count"`
	Folders int      `json:"folders"`           // among them, with all that was in them
	Emptied int      `json:"emptied,omitempty"` // folders that held nothing else, of which everything was deleted
	Bytes   int64    `json:"bytes"`
}

func deleteFiles(ctx guest.Context, in deleteArgs) (Deleted, error) {
	if in.Path == nil && in.Items == nil {
		return Deleted{}, guest.Errorf(abi.CodeBadRequest, "it is not said what to delete: name folders to look in, or files and folders")
	}
	if err := refuseRoot(in.Items); err != nil {
		return Deleted{}, err
	}
	for _, p := range in.Path {
		if guest.Clean(p) == "." && !in.narrows() {
			return Deleted{}, guest.Errorf(abi.CodeBadRequest, "this would delete everything; say which files, or in which folder")
		}
	}
	if in.Hidden != hiddenInclude && in.everything() {
		if err := tellHidden(ctx, in.Path, in.Hidden); err != nil {
			return Deleted{}, err
		}
	}
	found, err := collect(ctx, selection{roots: in.Path, items: in.Items, Filter: in.Filter, whole: true, stat: true})
	if err != nil {
		return Deleted{}, err
	}
	out := Deleted{Paths: []string{}, Count: len(found)}
	room := budget(resultBytes)
	for i, e := range found {
		if len(out.Paths) == i && room.take(len(e.Path)+10) {
			out.Paths = append(out.Paths, e.Path)
		}
		out.Bytes += e.size
		remove := ctx.Files().Remove
		if e.folder() {
			out.Folders++
			remove = ctx.Files().RemoveAll
		}
		if err := remove(e.Path); err != nil {
			return Deleted{}, undeletable(ctx.Files(), e, err)
		}
		ctx.Progress(float64(i+1), float64(len(found)), "deleting")
	}
	if in.everything() {
		for _, p := range in.Path {
			n, err := removeEmptied(ctx.Files(), guest.Clean(p), in.Filter)
			if err != nil {
				return Deleted{}, err
			}
			out.Emptied += n
		}
	}
	if len(out.Paths) < len(found) {
		ctx.Issue("only the first %s of %s are listed in the result", thousands(len(out.Paths)), thousands(len(found)))
	}
	return out, nil
}

// removeEmptied removes the folders below one that hold nothing, once all that was
// meant in them is gone: who deletes everything in a folder wants no husks. What is
// hidden or left out stays, and so do the folders that hold it.
func removeEmptied(files *guest.Files, root string, f Filter) (int, error) {
	exclude := make([]*glob, len(f.Exclude))
	for i, p := range f.Exclude {
		exclude[i] = newGlob(p, f.IgnoreCase)
	}
	removed := 0
	var clear func(dir, prefix string) (empty bool, err error)
	clear = func(dir, prefix string) (bool, error) {
		entries, err := files.ReadDir(dir)
		if err != nil {
			return false, nil // a file, or what cannot be looked into: the walk said so
		}
		left := len(entries)
		for _, d := range entries {
			e := &entry{Path: path.Join(dir, d.Name()), Name: path.Join(prefix, d.Name()), mode: d.Type()}
			if !e.folder() || f.Hidden != hiddenInclude && strings.HasPrefix(d.Name(), ".") || matchAny(exclude, e) {
				continue
			}
			empty, err := clear(e.Path, e.Name)
			if err != nil {
				return false, err
			}
			if !empty {
				continue
			}
			if err := files.Remove(e.Path); err != nil {
				return false, err
			}
			left--
			removed++
		}
		return left == 0, nil
	}
	_, err := clear(root, "")
	return removed, err
}

// undeletable says why a folder cannot be deleted, where the system does not: a
// name in it that is not text can be moved along, but not touched itself.
func undeletable(files *guest.Files, e *entry, err error) error {
	if !e.folder() {
		return err
	}
	odd := ""
	if look := below(files, e.Path, func(_ fs.DirEntry, full string) (bool, error) {
		if !utf8.ValidString(full) {
			odd = full
		}
		return odd == "", nil
	}); look != nil || odd == "" {
		return err
	}
	return guest.Errorf(abi.CodeUnsupported, "nothing was changed: %q holds %q, whose name is not text, and cannot be deleted; give that another name first, or leave it out with exclude", e.Path, odd)
}

func formatDeleted(out Deleted, dryRun bool) []guest.Item {
	if out.Count == 0 && out.Emptied == 0 {
		return []guest.Item{{Kind: abi.ItemInfo, Message: "nothing matches"}}
	}
	var parts []string
	if n := out.Count - out.Folders; n > 0 {
		parts = append(parts, count(n, "file", "files"))
	}
	if out.Folders > 0 {
		parts = append(parts, count(out.Folders, "folder with all in it", "folders with all in them"))
	}
	if out.Emptied > 0 {
		parts = append(parts, count(out.Emptied, "empty folder", "empty folders"))
	}
	text := done(dryRun, "deleted") + " " + joinAnd(parts)
	if out.Bytes > 0 {
		text += ", " + guest.Size(out.Bytes).String()
	}
	return []guest.Item{{Kind: abi.ItemInfo, Message: text}}
}

// folderArgs are the arguments of make_folder.
type folderArgs struct {
	Paths []string `json:"paths" role:"output" required:"true"`
}

// Made is the result of what makes new files and folders.
type Made struct {
	Paths []string `json:"paths"`
	Count int      `json:"count"` // of files packed or unpacked
	Bytes int64    `json:"bytes"`
}

func makeFolders(ctx guest.Context, in folderArgs) (Made, error) {
	out := Made{Paths: []string{}}
	for _, p := range in.Paths {
		p = guest.Clean(p)
		if info, err := ctx.Files().Lstat(p); err == nil {
			if !info.IsDir() {
				return Made{}, guest.Errorf(abi.CodeConflict, "%q is there already, and it is no folder", p)
			}
			ctx.Issue("%s is there already", p)
			continue
		}
		if err := ctx.Files().MkdirAll(p); err != nil {
			return Made{}, err
		}
		out.Paths = append(out.Paths, p)
	}
	return out, nil
}

func formatFolders(out Made, dryRun bool) []guest.Item {
	var items []guest.Item
	for _, p := range out.Paths {
		items = append(items, guest.Item{Kind: abi.ItemInfo, Message: done(dryRun, "made") + " " + path.Clean(p) + "/", Path: p})
	}
	return items
}
