package main

import (
	"path"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// organizeArgs are the arguments of organize_files.
type organizeArgs struct {
	Path []string `json:"path" role:"input"`
	Filter
	By  string `json:"by" enum:"type,extension,year,month,size"`
	Dst string `json:"dst" role:"output"`
}

// arrangeArgs are the arguments of arrange_files.
type arrangeArgs struct {
	Files []Entry `json:"files" required:"true"`
	By    string  `json:"by" enum:"type,extension,year,month,size" required:"true"`
	Dst   string  `json:"dst" role:"output"`
}

func expandOrganize(in organizeArgs) ([]guest.Call, error) {
	if in.Kind == kindFolders {
		return nil, guest.Errorf(abi.CodeUnsupported, "files can be organized, folders cannot")
	}
	in.Kind = kindFiles
	by := in.By
	if by == "" {
		by = "type"
	}
	paths := in.Path
	if paths == nil {
		paths = []string{"."}
	}
	if in.Dst != "" {
		return organizeCalls("$found", paths, in.Filter, by, in.Dst), nil
	}
	// Each folder gets sub folders of its own.
	var calls []guest.Call
	for i, p := range paths {
		name := "$found"
		if i > 0 {
			name += thousands(i + 1)
		}
		calls = append(calls, organizeCalls(name, []string{p}, in.Filter, by, p)...)
	}
	return calls, nil
}

func organizeCalls(name string, paths []string, f Filter, by, dst string) []guest.Call {
	return []guest.Call{
		{Tool: "scan_files", Args: guest.ArgsOf(scanArgs{Path: paths, Filter: f}), Output: name},
		{Tool: "arrange_files", Args: map[string]any{"files": name + ".entries", "by": by, "dst": dst}},
	}
}

func arrangeFiles(ctx guest.Context, in arrangeArgs) (Moved, error) {
	var moves []move
	same := 0
	dst := guest.Clean(in.Dst)
	for _, e := range in.Files {
		if e.Kind == "folder" {
			continue
		}
		to := path.Join(dst, shelf(ctx, e, in.By), path.Base(e.Path))
		if to == guest.Clean(e.Path) {
			same++
			continue
		}
		moves = append(moves, move{From: guest.Clean(e.Path), To: to, size: e.Size})
	}
	return runMoves(ctx, moves, same, "organizing")
}

// shelf is the sub folder for a file.
func shelf(ctx guest.Context, e Entry, by string) string {
	switch by {
	case "extension":
		if ext := extension(e.Path); ext != "" {
			return ext
		}
		return "no extension"
	case "year", "month":
		t, err := time.Parse(time.RFC3339, e.Modified)
		if err != nil {
			return "other"
		}
		if by == "year" {
			return t.In(ctx.Zone()).Format("2006")
		}
		return t.In(ctx.Zone()).Format("2006-01")
	case "size":
		switch {
		case e.Size < 1e6:
			return "under 1 MB"
		case e.Size < 1e7:
			return "1 to 10 MB"
		case e.Size < 1e8:
			return "10 to 100 MB"
		case e.Size < 1e9:
			return "100 MB to 1 GB"
		}
		return "over 1 GB"
	}
	kept := &entry{Path: e.Path}
	if e.Kind != "file" {
		// Only the name of a link tells anything.
		if types := typesOfExtension(extension(e.Path)); len(types) > 0 {
			return plurals[types[0]]
		}
		return plurals[""]
	}
	return plurals[mainType(ctx.Files(), kept)]
}
