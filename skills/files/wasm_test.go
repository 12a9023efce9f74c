package main

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
	"stepbox.dev/host"
	"stepbox.dev/host/commit"
	"stepbox.dev/host/event"
	"stepbox.dev/internal/hometest"
	"stepbox.dev/internal/moduletest"
)

var cache string

func TestMain(m *testing.M) { moduletest.Main(m, &cache) }

// agree says yes to everything, protected changes by name too.
type agree struct{}

func (agree) Clarify(context.Context, event.Decision) (string, error)   { return "", nil }
func (agree) Proceed(context.Context, string) (bool, error)             { return true, nil }
func (agree) Confirm(context.Context, abi.ConfirmRequest) (bool, error) { return true, nil }
func (agree) Approve(_ context.Context, c *commit.Changes) (bool, []string, error) {
	var names []string
	for _, p := range c.Protected() {
		names = append(names, p.Path)
	}
	return true, names, nil
}

// inModule runs a plan as the product does: as a module, staged, committed.
func inModule(t *testing.T, dir string, calls ...abi.Call) (host.Result, error) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("modules run only where the walls stand")
	}
	h, err := host.New(t.Context(), host.Options{State: t.TempDir(), Cache: cache})
	require.NoError(t, err)
	text, err := json.Marshal(map[string]any{"plan": calls})
	require.NoError(t, err)
	return h.Run(t.Context(), host.Request{Skill: "./", Plan: text, Sandbox: dir}, agree{}, event.Discard)
}

// skeleton is every path below a folder with its kind and, of small files, the
// content.
func skeleton(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		info, err := d.Info()
		if err != nil {
			return err
		}
		all[rel] = d.Type().String()
		if d.Type().IsRegular() && info.Size() < 1<<20 {
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			all[rel] = string(data)
		}
		return nil
	}))
	return all
}

// The same calls, natively and as a module behind the view, on a folder of
// every odd thing a disk may hold: both must leave the same folder behind. It
// is what shows that the handlers' tests hold for the module.
func TestModuleDoesWhatHandlersDo(t *testing.T) {
	for name, calls := range map[string][]abi.Call{
		"move odd names": {{Tool: "move_files", Args: args{"src": []string{"names"}, "dst": "out", "pattern": []string{"*.txt"}, "exclude": []string{"UPPER.TXT"}}}},
		"move a folder":  {{Tool: "move_files", Args: args{"items": []string{"names", "links", "deep/1"}, "dst": "moved here"}}},
		"copy a folder":  {{Tool: "copy_files", Args: args{"items": []string{"duplicates", "deep", "empty"}, "dst": "copies"}}},
		"delete":         {{Tool: "delete_files", Args: args{"path": []string{"names", "links"}, "kind": "both", "hidden": "include"}}},
		"delete folders": {{Tool: "delete_files", Args: args{"path": []string{"."}, "kind": "folders", "empty": true}}},
		"rename":         {{Tool: "rename_files", Args: args{"path": []string{"deep", "duplicates"}, "prefix": "новый ", "kind": "both"}}},
		"number":         {{Tool: "rename_files", Args: args{"path": []string{"names"}, "number": true, "new_name": "n.txt", "exclude": []string{"*\n*", "*\r*", "*\x1b*"}}}},
		"organize":       {{Tool: "organize_files", Args: args{"path": []string{"duplicates"}, "recursive": true, "exclude": []string{"c.txt"}}}},
		"pack, unpack": {
			{Tool: "make_archive", Args: args{"items": []string{"names", "deep", "duplicates", "empty"}, "output": "all.tar.gz", "exclude": []string{"*\n*", "*\r*", "*\x1b*", "upper.txt", "back?slash.txt"}, "ignore_case": false}},
			{Tool: "extract_archive", Args: args{"input": []string{"all.tar.gz"}}},
			{Tool: "extract_archive", Args: args{"input": []string{"nested.tar.gz"}, "dst": "outer"}},
			{Tool: "extract_archive", Args: args{"input": []string{"outer/inner.zip"}}},
		},
		"duplicates to the bin": {
			{Tool: "find_duplicates", Args: args{"path": []string{"duplicates"}}, Output: "$twice"},
			{Tool: "move_files", Args: args{"items": "$twice.duplicates", "dst": "bin", "keep_folders": true}},
		},
		"duplicates packed, unpacked": {
			{Tool: "find_duplicates", Args: args{"path": []string{"duplicates"}}, Output: "$twice"},
			{Tool: "make_archive", Args: args{"items": "$twice.duplicates", "output": "twice.zip"}, Output: "$packed"},
			{Tool: "extract_archive", Args: args{"input": "$packed.paths", "dst": "again"}},
		},
		"unpack what is found": {{Tool: "extract_archive", Args: args{"path": []string{"."}, "dst": "all"}}},
		"save a list":          {{Tool: "find_files", Args: args{"path": []string{"names", "duplicates"}, "save_to": "lists/all.txt"}}},
		"make folders":         {{Tool: "make_folder", Args: args{"paths": []string{"a/b", "文件夹", "-x"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			native, module := hometest.NewOdd(t), hometest.NewOdd(t)
			for _, dir := range []string{native.Dir, module.Dir} { // archives hold times
				for _, name := range []string{"a.txt", "b.txt", "deep/c.txt", "same-size.txt"} {
					age(t, dir, "duplicates/"+name, 1)
				}
			}
			runNatively(t, native.Dir, calls)
			_, err := inModule(t, module.Dir, withDefaults(t, calls)...)
			require.NoError(t, err)
			require.Equal(t, skeleton(t, native.Dir), skeleton(t, module.Dir))
			require.Equal(t, skeleton(t, native.Outside), skeleton(t, module.Outside))
		})
	}
}

func withDefaults(t *testing.T, calls []abi.Call) []abi.Call {
	out := slices.Clone(calls)
	for i, c := range out {
		full := args{}
		for k, v := range contract(t).defaults(c.Tool) {
			full[k] = v
		}
		for k, v := range c.Args {
			full[k] = v
		}
		out[i].Args = full
	}
	return out
}

func runNatively(t *testing.T, dir string, calls []abi.Call) {
	t.Helper()
	results := map[string]json.RawMessage{}
	for _, c := range withDefaults(t, calls) {
		for k, v := range c.Args {
			text, ok := v.(string)
			variable, field, dotted := strings.Cut(text, ".")
			if !ok || !dotted || results[variable] == nil {
				continue
			}
			var fields map[string]any
			require.NoError(t, json.Unmarshal(results[variable], &fields))
			c.Args[k] = fields[field]
		}
		made, err := guest.Native{Dir: dir, Now: now}.Run(served, c)
		require.NoError(t, err)
		results[c.Output] = made[len(made)-1].Result
	}
}

// What the module finds is what the handlers find, with sizes and times.
func TestModuleSeesWhatHandlersSee(t *testing.T) {
	odd := hometest.NewOdd(t)
	for _, c := range withDefaults(t, []abi.Call{
		{Tool: "find_files", Args: args{"hidden": "include", "details": true, "kind": "both"}},
		{Tool: "find_files", Args: args{"file_type": []string{"text", "archive"}, "sort": "size", "limit": 20}},
		{Tool: "folder_summary", Args: args{"by": "extension"}},
		{Tool: "find_duplicates", Args: args{}},
	}) {
		native, err := guest.Native{Dir: odd.Dir, Now: now}.Run(served, c)
		require.NoError(t, err)
		module, err := inModule(t, odd.Dir, c)
		require.NoError(t, err)
		require.Len(t, module.Results, len(native), c.Tool)
		require.JSONEq(t, string(native[len(native)-1].Result), string(module.Results[len(native)-1].Result), c.Tool)
	}
}
