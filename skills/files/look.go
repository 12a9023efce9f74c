package main

import (
	"cmp"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// lookArgs are the arguments of list_files and find_files, and what the other
// looking tools share.
type lookArgs struct {
	Path []string `json:"path" role:"input"`
	Filter
	Details bool   `json:"details"`
	SaveTo  string `json:"save_to" role:"output"`
}

// The values of show.
const (
	showNames   = "names"
	showDetails = "details"
)

func (a lookArgs) show() string {
	if a.Details {
		return showDetails
	}
	return showNames
}

// scanArgs are the arguments of scan_files.
type scanArgs struct {
	Path  []string `json:"path" role:"input"`
	Items []string `json:"items" role:"input"`
	Filter
	Whole bool   `json:"whole"`
	Show  string `json:"show" enum:"names,details"`
}

// Entry is one thing found, as results and variables carry it.
type Entry struct {
	Path string `json:"path"`
	// Name is the path below the folder that was looked in, when it differs.
	Name string `json:"name,omitempty"`
	Kind string `json:"kind"` // file, folder, link, other
	Type string `json:"type,omitempty"`
	// Size in bytes; of a folder, that of all in it when it was needed.
	Size     int64  `json:"size"`
	Modified string `json:"modified"` // RFC 3339
	Accessed string `json:"accessed,omitempty"`
	// Named says that the request itself names it, between the steps of one
	// intent.
	Named bool `json:"named,omitempty"`
}

// Listing is the result of scan_files.
type Listing struct {
	Entries []Entry  `json:"entries"`
	Paths   []string `json:"paths"`
	Count   int      `json:"count"` // of all that match, listed or not
	Bytes   int64    `json:"bytes"`
	Show    string   `json:"show,omitempty"`
}

// expandLook turns list_files and find_files into the look itself, which
// changes nothing, and the saving of the list when that was asked for.
func expandLook(in lookArgs) ([]guest.Call, error) {
	look := guest.Call{Tool: "scan_files", Args: guest.ArgsOf(scanArgs{Path: in.Path, Filter: in.Filter, Show: in.show()}), Output: "$found"}
	return withSave([]guest.Call{look}, in.SaveTo)
}

// withSave appends the call that saves the result of the last one.
func withSave(calls []guest.Call, saveTo string) ([]guest.Call, error) {
	if saveTo == "" {
		return calls, nil
	}
	if _, err := listFormat(saveTo); err != nil {
		return nil, err
	}
	list := calls[len(calls)-1].Output
	return append(calls, guest.Call{Tool: "save_list", Args: map[string]any{"list": list, "save_to": saveTo}, Output: "$saved"}), nil
}

func scan(ctx guest.Context, in scanArgs) (Listing, error) {
	paths := in.Path
	if paths == nil && in.Items == nil {
		paths = []string{"."}
	}
	found, err := collect(ctx, selection{roots: paths, items: in.Items, Filter: in.Filter, whole: in.Whole, stat: true})
	if err != nil {
		return Listing{}, err
	}
	out := Listing{Entries: []Entry{}, Paths: []string{}, Count: len(found), Show: in.Show}
	zone := ctx.Zone()
	room := budget(resultBytes)
	for i, e := range found {
		r := resultEntry(e, zone)
		r.Named = e.named && in.Show == ""
		if in.Show == showDetails && e.mode.IsRegular() {
			r.Type = mainType(ctx.Files(), e)
		}
		if !e.accessed.IsZero() && in.Sort == "accessed" {
			r.Accessed = e.accessed.In(zone).Format(time.RFC3339)
		}
		out.Bytes += e.size
		switch {
		case len(out.Entries) < i: // the list is full
		case room.take(len(r.Path)*2 + len(r.Name) + 150):
			out.Entries = append(out.Entries, r)
			if in.Show != "" { // else the next step needs entries alone
				out.Paths = append(out.Paths, e.Path)
			}
		case in.Show == "":
			return Listing{}, guest.Errorf(abi.CodeLimit, "%s match, more than can be handled at once; name fewer folders, or narrow the request", count(len(found), "file", "files"))
		default:
			ctx.Issue("only the first %s of %s are listed", thousands(i), thousands(len(found)))
		}
	}
	return out, nil
}

// resultBytes bounds a result, which the host refuses when it is too large:
// after the work was done, which would be a pity.
const resultBytes = 12 << 20

// budget is how many bytes may still go into a result.
type budget int

func (b *budget) take(n int) bool {
	if int(*b) < n {
		return false
	}
	*b -= budget(n)
	return true
}

func resultEntry(e *entry, zone *time.Location) Entry {
	kind := "other"
	switch {
	case e.mode.IsRegular():
		kind = "file"
	case e.folder():
		kind = "folder"
	case e.link():
		kind = "link"
	}
	r := Entry{Path: e.Path, Kind: kind, Size: e.size, Modified: e.modified.In(zone).Format(time.RFC3339)}
	if e.Name != e.Path {
		r.Name = e.Name
	}
	return r
}

// label is how a listing calls an entry: folders end with a slash.
func (e Entry) label() string {
	switch e.Kind {
	case "folder":
		return e.Path + "/"
	case "link":
		return e.Path + " (link)"
	case "other":
		return e.Path + " (not a file)"
	}
	return e.Path
}

func (e Entry) when() time.Time {
	t, err := time.Parse(time.RFC3339, cmp.Or(e.Accessed, e.Modified))
	if err != nil {
		return time.Time{}
	}
	return t
}

// maxLines bounds how much of a list a person is shown.
const maxLines = 2000

func formatListing(out Listing, _ bool) []guest.Item {
	if out.Show == "" {
		return nil
	}
	if out.Count == 0 {
		return []guest.Item{{Kind: abi.ItemInfo, Message: "nothing matches"}}
	}
	items := make([]guest.Item, 0, len(out.Entries)+1)
	for i, e := range out.Entries {
		if i == maxLines {
			items = append(items, moreItem(len(out.Entries)-i))
			break
		}
		text := e.label()
		if out.Show == showDetails {
			text = detailLine(e)
		}
		items = append(items, guest.Item{Kind: abi.ItemOutput, Message: text, Path: e.Path})
	}
	return append(items, guest.Item{Kind: abi.ItemInfo, Message: totals(out)})
}

func moreItem(n int) guest.Item {
	return guest.Item{Kind: abi.ItemInfo, Message: "… and " + count(n, "more", "more") + "; save the list to a file to have all"}
}

// detailLine puts the name last: whatever letters it has, the columns before it
// stay aligned.
func detailLine(e Entry) string {
	size := guest.Size(e.Size).String()
	if e.Kind == "folder" && e.Size == 0 {
		size = "-"
	}
	kind := e.Type
	if kind == "" {
		kind = e.Kind
	}
	return padLeft(size, 9) + "  " + e.when().Format("2006-01-02 15:04") + "  " + padRight(kind, 12) + "  " + e.label()
}

func totals(out Listing) string {
	var files, folders int
	for _, e := range out.Entries {
		if e.Kind == "folder" {
			folders++
		} else {
			files++
		}
	}
	text := ""
	switch {
	case files > 0 && folders > 0:
		text = count(files, "file", "files") + ", " + count(folders, "folder", "folders")
	case folders > 0:
		text = count(folders, "folder", "folders")
	default:
		text = count(files, "file", "files")
	}
	if out.Bytes > 0 {
		text += ", " + guest.Size(out.Bytes).String()
	}
	return text
}
