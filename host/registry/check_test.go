package registry

import (
	"testing"

	"github.com/stretchr/testify/require"
	"stepbox.dev/abi"
)

func TestCheck(t *testing.T) {
	r := parse(t, `
find:
  description: Find
  required_args: [query]
  defaults: {by: name}
  arg_schemas:
    query: {type: string, path_role: input}
    by: {enum: [name, size]}
    limit: {type: integer, min: 1}
    tags: {type: array, items: string}
`)
	one := 1.0
	honest := func() abi.Description {
		return abi.Description{ABI: abi.Version, Tools: []abi.ToolDescription{{Name: "find", Kind: abi.KindIntent, Args: map[string]abi.ArgSchema{
			"query": {Type: abi.TypeString, PathRole: abi.RoleInput, Required: true, Help: "other words"},
			"by":    {Type: abi.TypeEnum, Enum: []string{"size", "name"}, Required: true}, // has a default
			"limit": {Type: abi.TypeInteger, Min: &one},
			"tags":  {Type: abi.TypeArray, Items: abi.TypeString},
		}}}}
	}
	require.Empty(t, r.Check(honest()))
	set := func(name string, edit func(*abi.ArgSchema)) func(*abi.Description) {
		return func(d *abi.Description) {
			a := d.Tools[0].Args[name]
			edit(&a)
			d.Tools[0].Args[name] = a
		}
	}
	for _, c := range []struct {
		name string
		edit func(*abi.Description)
		want string
	}{
		{"ABI", func(d *abi.Description) { d.ABI = 2 }, "the module is built for ABI 2, and this stepbox speaks ABI 1"},
		{"missing tool", func(d *abi.Description) { d.Tools = nil }, `tools.yaml declares tool "find", which the module does not implement`},
		{"undeclared tool", func(d *abi.Description) {
			d.Tools = append(d.Tools, abi.ToolDescription{Name: "fnd", Kind: abi.KindStep})
		}, `the module implements tool "fnd", which tools.yaml does not declare; did you mean "find"?`},
		{"tool twice", func(d *abi.Description) { d.Tools = append(d.Tools, d.Tools[0]) }, `the module describes tool "find" twice`},
		{"core tool", func(d *abi.Description) {
			d.Tools = append(d.Tools, abi.ToolDescription{Name: "clarify", Kind: abi.KindStep})
		}, `the module describes tool "clarify", which the host answers itself`},
		{"kind", func(d *abi.Description) { d.Tools[0].Kind = "macro" }, `the module describes tool "find" as "macro", which is neither step nor intent`},
		{"missing argument", func(d *abi.Description) { delete(d.Tools[0].Args, "tags") }, `tools.yaml declares argument "tags" of "find", which the module does not take`},
		{"undeclared argument", func(d *abi.Description) { d.Tools[0].Args["extra"] = abi.ArgSchema{Type: abi.TypeString} },
			`the module takes argument "extra" of "find", which tools.yaml does not declare`},
		{"type", set("limit", func(a *abi.ArgSchema) { a.Type = abi.TypeNumber }), `argument "limit" of "find": tools.yaml says type integer, the module says number`},
		{"items", set("tags", func(a *abi.ArgSchema) { a.Items = abi.TypeSize }), `argument "tags" of "find": tools.yaml says items string, the module says size`},
		{"enum", set("by", func(a *abi.ArgSchema) { a.Enum = []string{"name"} }), `argument "by" of "find": tools.yaml says values name|size, the module says name`},
		{"bound", set("limit", func(a *abi.ArgSchema) { a.Min = nil }), `argument "limit" of "find": tools.yaml says min 1, the module says none`},
		{"path role", set("query", func(a *abi.ArgSchema) { a.PathRole = "" }), `argument "query" of "find": tools.yaml says path_role input, the module says none`},
		{"required", set("limit", func(a *abi.ArgSchema) { a.Required = true }), `argument "limit" of "find": tools.yaml says required false, the module says true`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := honest()
			c.edit(&d)
			require.Equal(t, []string{c.want}, r.Check(d))
		})
	}

	t.Run("every difference is told", func(t *testing.T) {
		require.Len(t, r.Check(abi.Description{ABI: 9, Tools: []abi.ToolDescription{{Name: "a", Kind: abi.KindStep}, {Name: "b", Kind: abi.KindStep}}}), 4)
	})
	t.Run("an argument without a schema is a difference", func(t *testing.T) {
		r := parse(t, "a:\n  description: A\n  optional_args: [x]\n")
		d := abi.Description{ABI: abi.Version, Tools: []abi.ToolDescription{{Name: "a", Kind: abi.KindStep, Args: map[string]abi.ArgSchema{"x": {Type: abi.TypeString}}}}}
		require.Equal(t, []string{`argument "x" of "a": the module says type string, and tools.yaml has no arg_schemas entry for it`}, r.Check(d))
	})
	t.Run("kinds come from the description alone", func(t *testing.T) {
		kind := Kinds(honest())
		require.Equal(t, abi.KindIntent, kind("find"))
		require.Equal(t, abi.KindStep, kind(Clarify))
		require.Equal(t, abi.Kind(""), kind("other"))
	})
}
