package main

import (
	"path"
	"slices"
	"strings"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// summaryArgs are the arguments of folder_summary.
type summaryArgs struct {
	lookArgs
	By string `json:"by" enum:"folder,type,extension,total"`
}

// measureArgs are the arguments of measure_files.
type measureArgs struct {
	Path []string `json:"path" role:"input"`
	Filter
	By   string `json:"by" enum:"folder,type,extension,total" required:"true"`
	Show string `json:"show" enum:"names,details"`
}

// Row is one line of a summary.
type Row struct {
	Name    string  `json:"name"`
	Count   int     `json:"count"`
	Bytes   int64   `json:"bytes"`
	Percent float64 `json:"percent"` // of all bytes
	newest  time.Time
}

// Summary is the result of measure_files.
type Summary struct {
	By      string  `json:"by"`
	Rows    []Row   `json:"rows"`
	Count   int     `json:"count"`
	Bytes   int64   `json:"bytes"`
	Folders int     `json:"folders"` // matching ones; Count has them only when nothing else was asked for
	Largest []Entry `json:"largest"`
	Kind    string  `json:"kind,omitempty"` // what was counted, when not files
	Show    string  `json:"show,omitempty"`
}

func expandSummary(in summaryArgs) ([]guest.Call, error) {
	by := in.By
	if by == "" {
		by = "folder"
	}
	args := guest.ArgsOf(measureArgs{Path: in.Path, Filter: in.Filter, By: by, Show: in.show()})
	return withSave([]guest.Call{{Tool: "measure_files", Args: args, Output: "$found"}}, in.SaveTo)
}

// largestShown is how many of the largest files a summary names.
const largestShown = 5

func measure(ctx guest.Context, in measureArgs) (Summary, error) {
	paths := in.Path
	if paths == nil {
		paths = []string{"."}
	}
	f := in.Filter
	// Sorting and "the first N" are about the rows.
	f.Sort, f.Order, f.Limit = "", "", 0
	found, err := collect(ctx, selection{roots: paths, Filter: f, stat: true})
	if err != nil {
		return Summary{}, err
	}
	out := Summary{By: in.By, Kind: in.Kind, Show: in.Show, Rows: []Row{}, Largest: []Entry{}}
	rows := map[string]*Row{}
	zone := ctx.Zone()
	for _, e := range found {
		if e.folder() {
			out.Folders++
			if in.Kind == kindBoth {
				continue // its files are counted themselves
			}
		}
		name := rowName(ctx, e, in.By)
		r := rows[name]
		if r == nil {
			r = &Row{Name: name}
			rows[name] = r
		}
		r.Count++
		r.Bytes += e.size
		if e.modified.After(r.newest) {
			r.newest = e.modified
		}
		out.Count++
		out.Bytes += e.size
	}
	for _, r := range rows {
		if out.Bytes > 0 {
			r.Percent = float64(r.Bytes) * 100 / float64(out.Bytes)
		}
		out.Rows = append(out.Rows, *r)
	}
	sortRows(out.Rows, in.Filter)
	if in.Limit > 0 && len(out.Rows) > in.Limit {
		out.Rows = out.Rows[:in.Limit]
	}
	sortEntries(found, Filter{Sort: "size"})
	for _, e := range found {
		if len(out.Largest) == largestShown {
			break
		}
		if !e.folder() {
			out.Largest = append(out.Largest, resultEntry(e, zone))
		}
	}
	return out, nil
}

// rowName is the row that an entry belongs to.
func rowName(ctx guest.Context, e *entry, by string) string {
	switch by {
	case "folder":
		root := strings.TrimSuffix(e.Path, e.Name)
		if first, _, below := strings.Cut(e.Name, "/"); below {
			return path.Join(root, first) + "/"
		}
		return guest.Clean(root) + "/ itself"
	case "type":
		return plurals[mainType(ctx.Files(), e)]
	case "extension":
		if ext := extension(e.Path); ext != "" {
			return "." + ext
		}
		return "no extension"
	}
	return "total"
}

func sortRows(rows []Row, f Filter) {
	desc := f.Sort != "name" && f.Sort != "extension"
	if f.Order != "" {
		desc = f.Order == "desc"
	}
	slices.SortFunc(rows, func(a, b Row) int {
		c := 0
		switch f.Sort {
		case "name", "extension":
		case "modified", "accessed":
			c = a.newest.Compare(b.newest)
		default:
			c = order(a.Bytes, b.Bytes)
		}
		if c == 0 {
			c = strings.Compare(a.Name, b.Name)
			if desc && f.Sort != "name" && f.Sort != "extension" {
				c = -c // equal ones stay in alphabetical order
			}
		}
		if desc {
			return -c
		}
		return c
	})
}

func formatSummary(out Summary, _ bool) []guest.Item {
	if out.Show == "" {
		return nil
	}
	if out.Count+out.Folders == 0 {
		return []guest.Item{{Kind: abi.ItemInfo, Message: "nothing matches"}}
	}
	var items []guest.Item
	if out.By != "total" {
		for _, r := range out.Rows {
			line := padLeft(guest.Size(r.Bytes).String(), 9) + "  " + padLeft(percent(r.Percent), 5) + "  " +
				padLeft(out.count(r.Count), 11) + "  " + r.Name
			items = append(items, guest.Item{Kind: abi.ItemOutput, Message: line})
		}
	}
	inFolders := ""
	if out.Kind == kindBoth {
		inFolders = ", and " + count(out.Folders, "folder", "folders")
	}
	items = append(items, guest.Item{Kind: abi.ItemOutput, Message: padLeft(guest.Size(out.Bytes).String(), 9) + "   100%  " +
		padLeft(out.count(out.Count), 11) + "  in all" + inFolders})
	if out.Show == showDetails || out.By == "total" {
		for i, e := range out.Largest {
			if i == 0 {
				items = append(items, guest.Item{Kind: abi.ItemInfo, Message: "the largest:"})
			}
			items = append(items, guest.Item{Kind: abi.ItemOutput, Message: padLeft(guest.Size(e.Size).String(), 9) + "  " + e.label(), Path: e.Path})
		}
	}
	return items
}

// count is n of what was counted: files, unless folders alone were asked for.
func (s Summary) count(n int) string {
	if s.Kind == kindFolders {
		return count(n, "folder ", "folders")
	}
	return count(n, "file ", "files")
}

func percent(p float64) string {
	switch {
	case p > 0 && p < 0.5:
		return "<1%"
	case p > 99.5 && p < 100:
		return ">99%"
	}
	return thousands(int(p+0.5)) + "%"
}
