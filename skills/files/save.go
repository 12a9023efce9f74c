package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"path"
	"strconv"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
)

// saveArgs are the arguments of save_list.
type saveArgs struct {
	List   map[string]json.RawMessage `json:"list" required:"true"`
	SaveTo string                     `json:"save_to" role:"output" required:"true"`
}

// listFormat is the form a list is written in, by the name of its file.
func listFormat(name string) (string, error) {
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case "", ".txt":
		return "txt", nil
	case ".csv", ".json":
		return ext[1:], nil
	}
	return "", guest.Errorf(abi.CodeUnsupported, "a list cannot be saved as %q; name a .txt, .csv or .json file", name)
}

// saveList writes the list to a new file and returns the list again, with
// saved_to, so that later calls can use it as if it had not been saved.
func saveList(ctx guest.Context, in saveArgs) (map[string]json.RawMessage, error) {
	format, err := listFormat(in.SaveTo)
	if err != nil {
		return nil, err
	}
	table, err := tableOf(in.List)
	if err != nil {
		return nil, err
	}
	var data []byte
	switch format {
	case "txt":
		data = table.text()
	case "csv":
		data, err = table.csv()
	case "json":
		data, err = json.MarshalIndent(table.records(), "", "  ")
		data = append(data, '\n')
	}
	if err != nil {
		return nil, err
	}
	if err := newFile(ctx, in.SaveTo, data); err != nil {
		return nil, err
	}
	in.List["saved_to"], _ = json.Marshal(guest.Clean(in.SaveTo))
	in.List["lines"], _ = json.Marshal(len(table.rows))
	return in.List, nil
}

// newFile writes a file that must not be there yet, with the folders above it.
func newFile(ctx guest.Context, name string, data []byte) error {
	if err := free(ctx, name); err != nil {
		return err
	}
	if err := ctx.Files().MkdirAll(path.Dir(guest.Clean(name))); err != nil {
		return err
	}
	return ctx.Files().WriteFile(name, data)
}

// free reports an error when a name is taken.
func free(ctx guest.Context, name string) error {
	_, err := ctx.Files().Lstat(name)
	if err == nil {
		return guest.Errorf(abi.CodeConflict, "%q is there already and is not overwritten; choose another name", name)
	}
	if guest.IsNotExist(err) {
		return nil
	}
	return err
}

// table is a list in rows: what a looking tool found.
type table struct {
	columns []string
	rows    [][]string
	path    int // the column that holds paths, -1 for none
}

func tableOf(list map[string]json.RawMessage) (table, error) {
	read := func(name string, to any) error {
		if err := json.Unmarshal(list[name], to); err != nil {
			return guest.Errorf(abi.CodeBadRequest, "the list cannot be read: %v", err)
		}
		return nil
	}
	switch {
	case list["entries"] != nil:
		var entries []Entry
		t := table{columns: []string{"path", "kind", "size", "modified"}}
		err := read("entries", &entries)
		for _, e := range entries {
			t.rows = append(t.rows, []string{e.Path, e.Kind, strconv.FormatInt(e.Size, 10), e.Modified})
		}
		return t, err
	case list["rows"] != nil:
		var rows []Row
		t := table{columns: []string{"name", "files", "bytes", "percent"}, path: -1}
		err := read("rows", &rows)
		for _, r := range rows {
			t.rows = append(t.rows, []string{r.Name, strconv.Itoa(r.Count), strconv.FormatInt(r.Bytes, 10), strconv.FormatFloat(r.Percent, 'f', 1, 64)})
		}
		return t, err
	case list["groups"] != nil:
		var groups []Group
		t := table{columns: []string{"path", "group", "size"}}
		err := read("groups", &groups)
		for i, g := range groups {
			for _, p := range g.Paths {
				t.rows = append(t.rows, []string{p, strconv.Itoa(i + 1), strconv.FormatInt(g.Size, 10)})
			}
		}
		return t, err
	}
	return table{}, guest.Errorf(abi.CodeBadRequest, "there is no list to save")
}

// text is one line for each row: the path alone, or all columns of a summary. A
// name with a line break is quoted, so that every line is one row.
func (t table) text() []byte {
	var b bytes.Buffer
	for _, r := range t.rows {
		line := strings.Join(r, "\t")
		if t.path >= 0 {
			line = r[t.path]
		}
		if strings.ContainsAny(line, "\n\r") {
			line = strconv.Quote(line)
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// csv writes the rows with a header. A path that a spreadsheet would take for a
// formula gets "./" in front: still the same path.
func (t table) csv() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	rows := append([][]string{t.columns}, t.rows...)
	for i, r := range rows {
		if i > 0 && strings.ContainsAny(r[0][:min(1, len(r[0]))], "=+-@\t\r") {
			r = append([]string{"./" + r[0]}, r[1:]...)
		}
		if err := w.Write(r); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

func (t table) records() []map[string]string {
	out := make([]map[string]string, 0, len(t.rows))
	for _, r := range t.rows {
		record := map[string]string{}
		for i, c := range t.columns {
			record[c] = r[i]
		}
		out = append(out, record)
	}
	return out
}

func formatSaved(out map[string]json.RawMessage, dryRun bool) []guest.Item {
	var name string
	var lines int
	if json.Unmarshal(out["saved_to"], &name) != nil || json.Unmarshal(out["lines"], &lines) != nil {
		return nil
	}
	return []guest.Item{{Kind: abi.ItemInfo, Message: done(dryRun, "saved") + " " + count(lines, "line", "lines") + " to " + name, Path: name}}
}

// done is the verb of what was done, or would be.
func done(dryRun bool, verb string) string {
	if dryRun {
		return "would have " + verb
	}
	return verb
}
