// Package schema writes the JSON schema of the plans that some tools allow, for
// a server that can hold a model to it: one branch a tool, with what is
// required, types, values and bounds, so that an unknown tool, argument or value
// cannot even be written.
//
// It is the form for a server of what plan.Validate checks: whatever a server
// lets through is validated there again. The patterns of texts are left to that:
// servers read other expressions than RE2, if any. Only keywords that servers turn into a
// grammar are used, properties stand in the order in which they are written,
// and no keyword stands beside an anyOf, which some servers then forget.
package schema

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/registry"
)

// For returns the schema of plans that call the tools and nothing else.
func For(tools []*registry.Tool) json.RawMessage {
	var branches list
	for _, t := range tools {
		branches = append(branches, call(t))
	}
	return object{
		{"type", "object"},
		{"properties", object{{"plan", object{{"type", "array"}, {"minItems", 1}, {"items", object{{"anyOf", branches}}}}}}},
		{"required", list{"plan"}},
		{"additionalProperties", false},
		{"$defs", object{
			{"variable", pattern(`^\$[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*$`)},
			{"size", pattern(`^([0-9]+|[0-9]+(\.[0-9]+)?[KMGT]i?B)$`)},
			{"date", pattern(`^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2}))?$`)},
			{"duration", pattern(`^([0-9]+(\.[0-9]+)?(h|m|s|ms|us|µs|ns))+$`)},
		}},
	}.append(make([]byte, 0, 4096))
}

func pattern(p string) object { return object{{"type", "string"}, {"pattern", p}} }

// call is one entry of a plan. The tool comes first: a model that has written
// it knows which arguments follow.
func call(t *registry.Tool) object {
	return object{
		{"type", "object"},
		{"properties", object{
			{"tool", object{{"const", t.Name}}},
			{"args", args(t)},
			{"output", pattern(`^\$[A-Za-z_][A-Za-z0-9_]*$`)},
		}},
		{"required", list{"tool", "args"}},
		{"additionalProperties", false},
	}
}

// args are a tool's arguments. Where one of several is needed there is a
// variant for each, which requires it.
func args(t *registry.Tool) object {
	var properties object
	for _, name := range t.ArgOrder {
		properties = append(properties, member{name, argument(t.Args[name])})
	}
	variant := func(also ...string) object {
		var required list
		for _, name := range slices.Concat(t.Required, also) {
			required = append(required, name)
		}
		return object{
			{"type", "object"}, {"properties", properties}, {"required", required}, {"additionalProperties", false},
		}
	}
	satisfied := slices.ContainsFunc(t.AnyOf, func(name string) bool { return slices.Contains(t.Required, name) })
	if len(t.AnyOf) == 0 || satisfied {
		return variant()
	}
	var variants list
	for _, name := range t.AnyOf {
		variants = append(variants, variant(name))
	}
	return object{{"anyOf", variants}}
}

// argument is one value, or a variable that holds it. What has no schema in the
// contract is any value.
func argument(a *registry.Arg) object {
	if !a.Declared {
		return object{}
	}
	if a.Type != abi.TypeArray {
		return orVariable(value(a, a.Type))
	}
	items := object{}
	if a.Items != "" {
		items = orVariable(value(&registry.Arg{ArgSchema: abi.ArgSchema{Enum: a.Enum, PathRole: a.PathRole}}, a.Items))
	}
	array := object{{"type", "array"}, {"items", items}}
	// One variable may stand for several elements; a list of no paths says nothing.
	if a.Min != nil && *a.Min >= 1 || a.PathRole != abi.RoleNone {
		array = append(array, member{"minItems", 1})
	}
	if a.Max != nil {
		array = append(array, member{"maxItems", math.Floor(*a.Max)})
	}
	return orVariable(array)
}

// orVariable also allows a variable, where text is not allowed anyway.
func orVariable(o object) object {
	if len(o) == 0 || o[0].value == "string" {
		return o
	}
	return object{{"anyOf", list{o, definition("variable")}}}
}

func definition(name string) object { return object{{"$ref", "#/$defs/" + name}} }

func value(a *registry.Arg, t abi.ArgType) object {
	switch t {
	case abi.TypeString:
		o := object{{"type", "string"}}
		if a.PathRole != abi.RoleNone {
			o = append(o, member{"minLength", 1})
		}
		return o
	case abi.TypeEnum:
		var values list
		for _, v := range a.Enum {
			values = append(values, v)
		}
		return object{{"enum", values}}
	case abi.TypeInteger, abi.TypeNumber:
		o := object{{"type", string(t)}}
		if a.Min != nil {
			o = append(o, member{"minimum", *a.Min})
		}
		if a.Max != nil {
			o = append(o, member{"maximum", *a.Max})
		}
		return o
	case abi.TypeBoolean, abi.TypeObject:
		return object{{"type", string(t)}}
	case abi.TypeSize, abi.TypeDate, abi.TypeDuration:
		return definition(string(t))
	}
	return object{}
}

// object is JSON whose members keep their order.
type object []member

type member struct {
	name  string
	value any // object, list, string, bool, int or float64
}

type list []any

func (o object) append(b []byte) []byte {
	b = append(b, '{')
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, m.name), ':')
		b = appendValue(b, m.value)
	}
	return append(b, '}')
}

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case object:
		return v.append(b)
	case list:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, e)
		}
		return append(b, ']')
	case string:
		return appendText(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case float64:
		return strconv.AppendFloat(b, v, 'g', -1, 64)
	}
	return append(b, "null"...)
}

func appendText(b []byte, s string) []byte {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"\\<>&`, r) }) {
		return append(append(append(b, '"'), s...), '"') // nearly every name
	}
	text, err := json.Marshal(s)
	if err != nil { // a string always marshals
		return append(b, `""`...)
	}
	return append(b, text...)
}
