package main

import (
	"bytes"
	"hash/maphash"
	"io"
	"slices"
	"strings"
	"time"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// compareArgs are the arguments of compare_files.
type compareArgs struct {
	Files []Entry `json:"files" required:"true"`
	Sort  string  `json:"sort" enum:"name,size,modified,accessed,extension"`
	Order string  `json:"order" enum:"asc,desc"`
	Limit int     `json:"limit" min:"1"`
	Show  string  `json:"show" enum:"names,details"`
}

// Group is files of one content. The first path is the one to keep: the oldest.
type Group struct {
	Size     int64    `json:"size"`
	Paths    []string `json:"paths"`
	Modified []string `json:"modified"`
}

// Duplicates is the result of compare_files.
type Duplicates struct {
	Groups     []Group  `json:"groups"`
	Duplicates []string `json:"duplicates"` // all but one of each group
	Kept       []string `json:"kept"`       // that one
	Count      int      `json:"count"`      // of duplicates
	Wasted     int64    `json:"wasted"`     // bytes
	Show       string   `json:"show,omitempty"`
}

func expandDuplicates(in lookArgs) ([]guest.Call, error) {
	if in.Kind == kindFolders {
		return nil, guest.Errorf(abi.CodeUnsupported, "files can be compared, folders cannot")
	}
	// Sorting and "the first N" are about the groups, not about what is
	// compared.
	f := in.Filter
	f.Sort, f.Order, f.Limit = "", "", 0
	compare := guest.ArgsOf(compareArgs{Sort: in.Sort, Order: in.Order, Limit: in.Limit, Show: in.show()})
	compare["files"] = "$found.entries"
	return withSave([]guest.Call{
		{Tool: "scan_files", Args: guest.ArgsOf(scanArgs{Path: in.Path, Filter: f}), Output: "$found"},
		{Tool: "compare_files", Args: compare, Output: "$duplicates"},
	}, in.SaveTo)
}

func compare(ctx guest.Context, in compareArgs) (Duplicates, error) {
	bySize := map[int64][]Entry{}
	for _, e := range in.Files {
		// Empty files are alike, but nobody copied them.
		if e.Kind == "file" && e.Size > 0 {
			bySize[e.Size] = append(bySize[e.Size], e)
		}
	}
	sizes := make([]int64, 0, len(bySize))
	var total int64
	for size, files := range bySize {
		if len(files) > 1 {
			sizes = append(sizes, size)
			total += size * int64(len(files))
		}
	}
	slices.Sort(sizes)
	c := &comparer{ctx: ctx, seed: maphash.MakeSeed(), total: total, buffer: make([]byte, 512<<10)}
	var groups []group
	for _, size := range sizes {
		groups = append(groups, c.groups(bySize[size])...)
	}
	return duplicatesOf(groups, in), nil
}

// comparer reads files and tells which are alike.
type comparer struct {
	ctx         guest.Context
	seed        maphash.Seed
	done, total int64
	buffer      []byte
}

// headBytes is how much of a file is looked at before all of it is: files of
// one size mostly differ there already.
const headBytes = 4096

// group is the files of one content, the one to keep first.
type group []Entry

// groups returns the groups among files of one size.
func (c *comparer) groups(files []Entry) []group {
	var out []group
	for _, alike := range c.split(files, headBytes) {
		whole := [][]Entry{alike}
		if size := alike[0].Size; size > headBytes {
			whole = c.split(alike, size)
		}
		for _, same := range whole {
			if g := c.verified(keepFirst(same)); len(g) > 1 {
				out = append(out, g)
			}
		}
	}
	return out
}

// split groups files by a hash of their first bytes and drops what is alone.
// The hash is fast, and its seed differs in every call: nobody can prepare
// files that collide. What it finds is compared byte for byte afterwards.
func (c *comparer) split(files []Entry, limit int64) [][]Entry {
	by := map[uint64][]Entry{}
	var keys []uint64
	for _, e := range files {
		sum, err := c.sum(e.Path, limit)
		if err != nil {
			c.ctx.Issue("%s cannot be read and is not compared: %v", e.Path, err)
			continue
		}
		if by[sum] == nil {
			keys = append(keys, sum)
		}
		by[sum] = append(by[sum], e)
	}
	var out [][]Entry
	for _, k := range keys {
		if len(by[k]) > 1 {
			out = append(out, by[k])
		}
	}
	return out
}

func (c *comparer) sum(name string, limit int64) (uint64, error) {
	file, err := c.ctx.Files().Open(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	var h maphash.Hash
	h.SetSeed(c.seed)
	for limit > 0 {
		n, err := file.Read(c.buffer[:min(int64(len(c.buffer)), limit)])
		h.Write(c.buffer[:n])
		limit -= int64(n)
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, err
		}
	}
	return h.Sum64(), nil
}

// verified keeps, of files that are to be alike, those that are the first byte
// for byte: a person may delete the others on our word.
func (c *comparer) verified(g group) group {
	same := g[:1]
	for _, e := range g[1:] {
		equal, err := c.equal(g[0].Path, e.Path)
		if err != nil {
			c.ctx.Issue("%s cannot be read and is not compared: %v", e.Path, err)
		}
		if equal {
			same = append(same, e)
		}
		c.done += e.Size
		c.ctx.Progress(float64(c.done), float64(c.total), "comparing")
	}
	c.done += g[0].Size
	return same
}

func (c *comparer) equal(a, b string) (bool, error) {
	x, err := c.ctx.Files().Open(a)
	if err != nil {
		return false, err
	}
	defer x.Close()
	y, err := c.ctx.Files().Open(b)
	if err != nil {
		return false, err
	}
	defer y.Close()
	half := len(c.buffer) / 2
	p, q := c.buffer[:half], c.buffer[half:2*half]
	for {
		n, errX := io.ReadFull(x, p)
		m, errY := io.ReadFull(y, q)
		if !bytes.Equal(p[:n], q[:m]) {
			return false, nil
		}
		if errX != nil || errY != nil {
			return ended(errX) && ended(errY), nil
		}
	}
}

func ended(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }

// keepFirst puts the file to keep first: the oldest, then the one with the
// shortest path.
func keepFirst(files []Entry) group {
	g := slices.Clone(files)
	slices.SortStableFunc(g, func(a, b Entry) int {
		if c := a.modified().Compare(b.modified()); c != 0 {
			return c
		}
		if c := len(a.Path) - len(b.Path); c != 0 {
			return c
		}
		return strings.Compare(a.Path, b.Path)
	})
	return g
}

func (e Entry) modified() time.Time {
	t, _ := time.Parse(time.RFC3339, e.Modified)
	return t
}

func (g group) wasted() int64 { return g[0].Size * int64(len(g)-1) }

func duplicatesOf(groups []group, in compareArgs) Duplicates {
	slices.SortStableFunc(groups, func(a, b group) int { return order(b.wasted(), a.wasted()) })
	if in.Sort != "" || in.Order != "" {
		groups = sortGroups(groups, in)
	}
	if in.Limit > 0 && len(groups) > in.Limit {
		groups = groups[:in.Limit]
	}
	out := Duplicates{Groups: []Group{}, Duplicates: []string{}, Kept: []string{}, Show: in.Show}
	for _, g := range groups {
		r := Group{Size: g[0].Size}
		for i, e := range g {
			r.Paths = append(r.Paths, e.Path)
			r.Modified = append(r.Modified, e.Modified)
			if i > 0 {
				out.Duplicates = append(out.Duplicates, e.Path)
			}
		}
		out.Kept = append(out.Kept, g[0].Path)
		out.Groups = append(out.Groups, r)
		out.Wasted += g.wasted()
	}
	out.Count = len(out.Duplicates)
	return out
}

// sortGroups sorts groups as their kept files would be.
func sortGroups(groups []group, in compareArgs) []group {
	by := make(map[string]group, len(groups))
	heads := make([]*entry, len(groups))
	for i, g := range groups {
		by[g[0].Path] = g
		heads[i] = &entry{Path: g[0].Path, size: g[0].Size, modified: g[0].modified(), accessed: g[0].when()}
	}
	sortEntries(heads, Filter{Sort: in.Sort, Order: in.Order})
	sorted := make([]group, len(groups))
	for i, h := range heads {
		sorted[i] = by[h.Path]
	}
	return sorted
}

func formatDuplicates(out Duplicates, _ bool) []guest.Item {
	if out.Show == "" {
		return nil
	}
	if len(out.Groups) == 0 {
		return []guest.Item{{Kind: abi.ItemInfo, Message: "no two files have the same content"}}
	}
	var items []guest.Item
	for _, g := range out.Groups {
		items = append(items, guest.Item{Kind: abi.ItemOutput, Message: count(len(g.Paths), "file", "files") + " of " +
			guest.Size(g.Size).String() + ", " + guest.Size(g.Size*int64(len(g.Paths)-1)).String() + " wasted:"})
		for i, p := range g.Paths {
			line := "  " + p
			if out.Show == showDetails && len(g.Modified[i]) >= len("2006-01-02T15:04") {
				line = "  " + strings.Replace(g.Modified[i][:len("2006-01-02T15:04")], "T", " ", 1) + "  " + p
			}
			if i == 0 {
				line += "  (the oldest)"
			}
			items = append(items, guest.Item{Kind: abi.ItemOutput, Message: line, Path: p})
		}
		if len(items) > maxLines {
			items = append(items, moreItem(out.Count+len(out.Kept)-len(items)))
			break
		}
	}
	return append(items, guest.Item{Kind: abi.ItemInfo, Message: count(out.Count, "duplicate", "duplicates") + " in " +
		count(len(out.Groups), "group", "groups") + ", " + guest.Size(out.Wasted).String() + " wasted"})
}
