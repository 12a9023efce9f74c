package main

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/guest-sdk"
	"stepbox.dev/host/registry"
)

// samples are two values of an argument, neither of them its default.
func samples(t *testing.T, tool *registry.Tool, name string) []any {
	t.Helper()
	schema := tool.Args[name]
	var values []any
	switch schema.Type {
	case abi.TypeBoolean:
		values = []any{true, false}
	case abi.TypeInteger:
		values = []any{7, 8}
	case abi.TypeSize:
		values = []any{"7MB", "7000001"}
	case abi.TypeDate:
		values = []any{"2026-01-02", "2026-02-03T04:05:06+01:00"}
	case abi.TypeEnum:
		for _, v := range schema.Enum {
			values = append(values, v)
		}
	case abi.TypeArray:
		if schema.Items == abi.TypeEnum {
			return []any{[]string{schema.Enum[0]}, []string{schema.Enum[1], schema.Enum[2]}}
		}
		return []any{[]string{"first"}, []string{"first", "second thing"}, "$found.paths", "$found.duplicates"}
	case abi.TypeString:
		values = []any{"first", "second thing"}
		if name == "save_to" {
			values = []any{"first.csv", "second.txt"}
		}
	}
	values = slices.DeleteFunc(values, func(v any) bool { return v == tool.Defaults[name] })
	require.NotEmpty(t, values, "%s %s", tool.Name, name)
	return values
}

// meaningless are arguments that say nothing in the given call, and so need not
// stand in its sentence.
func meaningless(name string, value any, with args) bool {
	given := func(name string) bool { _, ok := with[name]; return ok }
	switch name {
	case "kind", "recursive", "depth":
		if name == "kind" && value == kindFiles { // files are meant anyway when something narrows them down
			for other, v := range with {
				if !slices.Contains([]string{"kind", "path", "src", "items", "dst", "exclude", "sort", "order", "ignore_case"}, other) && !(other == "hidden" && v != hiddenOnly) && !(other == "keep_folders" && v == false) {
					return true
				}
			}
		}
		return given("depth") && name == "recursive" || !given("path") && !given("src") && (given("items") || given("input"))
	case "hidden":
		return value != hiddenOnly && !given("path") && !given("src") && (given("items") || given("input"))
	case "replace", "use_regex":
		return !given("find") || value == false
	case "format":
		return value == formatZip // which it is anyway
	case "order":
		by := with["sort"] // and each order has a usual direction
		return (by == "size" || by == "modified" || by == "accessed") && value == "desc" || (by == "name" || by == "extension") && value == "asc"
	case "start", "digits":
		return with["number"] != true
	case "ignore_case":
		return !given("pattern") && !given("exclude") && !given("regex") && !given("find")
	case "empty", "details", "number", "keep_folders":
		return value == false && name != "empty"
	}
	return false
}

// What a person reads is what a person approves: whatever else a call says,
// each of its arguments must show in the sentence, and its value too.
func TestEveryArgumentShowsInTheSentence(t *testing.T) {
	told := func(t *testing.T, tool *registry.Tool, a args) string {
		full := maps.Clone(tool.Defaults)
		if full == nil {
			full = args{}
		}
		maps.Copy(full, a)
		got, err := guest.Native{}.Summarize(served, guest.Call{Tool: tool.Name, Args: full})
		require.NoError(t, err, "%s %v", tool.Name, full)
		return got
	}
	for _, tool := range contract(t).Tools() {
		if tool.Core || tool.Internal {
			continue
		}
		t.Run(tool.Name, func(t *testing.T) {
			tool, _ := contract(t).Tool(tool.Name)
			var bases []args
			for _, one := range []string{"path", "src", "items", "input", "paths"} {
				if _, ok := tool.Args[one]; ok {
					bases = append(bases, args{one: []string{"base"}})
				}
			}
			for _, base := range bases {
				if _, ok := tool.Args["dst"]; ok {
					base["dst"] = "somewhere"
				}
				for second := range tool.Args { // each argument beside each other one
					if _, ok := base[second]; ok {
						continue
					}
					for _, other := range samples(t, tool, second) {
						with := maps.Clone(base)
						with[second] = other
						for first := range tool.Args {
							_, ok := with[first]
							if ok || first == "kind" && tool.Name == "organize_files" || clash(first, second) {
								continue
							}
							seen := map[string]any{}
							if without := with; tool.Defaults[first] != nil || !tool.Args[first].Required {
								seen[told(t, tool, without)] = "nothing"
							}
							for _, value := range samples(t, tool, first) {
								full := maps.Clone(with)
								full[first] = value
								if meaningless(first, value, full) || meaningless(second, other, full) {
									continue
								}
								text := told(t, tool, full)
								require.NotContains(t, seen, text, "%s=%v does not show in the sentence for %v", first, value, full)
								seen[text] = value
							}
						}
					}
				}
			}
		})
	}
}

// clash are arguments that cannot be given together.
func clash(a, b string) bool {
	return a == "format" && b == "output" || a == "output" && b == "format"
}
