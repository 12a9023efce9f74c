package plan

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/registry/nearest"
)

// maxResolved bounds the text that variables bring into one call: a result that
// is used a thousand times over must not become a thousand results.
const maxResolved = 64 << 20

// Reference splits a string that stands for a variable: "$name" into "$name"
// and "", "$name.field" into "$name" and ".field". ok is false for any other
// text. A text that would look like a variable and is meant as it stands is
// written with "$$" in front and loses one of them when it is resolved.
func Reference(s string) (name, rest string, ok bool) {
	if len(s) < 2 || s[0] != '$' {
		return "", "", false
	}
	i := 1
	for i < len(s) && (s[i] == '_' || s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z' || i > 1 && s[i] >= '0' && s[i] <= '9') {
		i++
	}
	if i == 1 || i < len(s) && s[i] != '.' {
		return "", "", false
	}
	return s[:i], s[i:], true
}

// Literal returns s as an argument that means s itself, whatever it looks like:
// a file called "$RECYCLE.BIN" is no variable.
func Literal(s string) string {
	if _, _, ok := Reference(s); ok || strings.HasPrefix(s, "$$") {
		return "$" + s
	}
	return s
}

// Meant undoes Literal: it returns what an argument that is no variable says.
func Meant(s string) string {
	if strings.HasPrefix(s, "$$") {
		return s[1:]
	}
	return s
}

// isReference reports whether a value stands for a variable.
func isReference(v any) bool {
	s, ok := v.(string)
	if !ok {
		return false
	}
	_, _, ok = Reference(s)
	return ok
}

// UsesVariables reports whether a call needs the result of another.
func UsesVariables(c abi.Call) bool {
	for _, v := range c.Args {
		if uses(v, 0, func(string) bool { return true }) {
			return true
		}
	}
	return false
}

// uses reports whether yes holds for the name of any variable in v.
func uses(v any, depth int, yes func(name string) bool) bool {
	if depth > MaxDepth {
		return false
	}
	switch v := v.(type) {
	case string:
		name, _, ok := Reference(v)
		return ok && yes(name)
	case []any:
		for _, e := range v {
			if uses(e, depth+1, yes) {
				return true
			}
		}
	case map[string]any:
		for _, e := range v {
			if uses(e, depth+1, yes) {
				return true
			}
		}
	}
	return false
}

// Variables holds the results of finished calls. The zero value is empty and
// ready.
type Variables struct{ values map[string]variable }

type variable struct {
	value any
	size  int // bytes of its JSON
}

// Set stores the result of a call under its output name ("$x"). The result must
// be strict JSON: no duplicate keys, valid UTF-8, at most MaxDepth deep.
func (v *Variables) Set(name string, result json.RawMessage) error {
	if n, rest, ok := Reference(name); !ok || rest != "" {
		return fault.New(fault.Internal, "%q is not the name of a variable", n+rest)
	}
	value, err := scanJSON(result)
	if err != nil {
		return fault.New(fault.StepFailed, "the result for %s is not valid JSON: %w", name, err)
	}
	if v.values == nil {
		v.values = map[string]variable{}
	}
	v.values[name] = variable{value, len(result)}
	return nil
}

// Resolve returns args with every "$x" and "$x.field" replaced by its value,
// also inside lists and objects; whole values only. A field of a list is an
// index from 0 ("$x.0"). An element of a list that resolves to a list is
// spliced into it. What a variable holds is never resolved again. The result
// shares values with the variables and must not be changed.
func (v *Variables) Resolve(args map[string]any) (map[string]any, error) {
	r := resolver{values: v.values}
	out := make(map[string]any, len(args))
	for k, a := range args {
		value, _, err := r.value(a, 0)
		if err != nil {
			return nil, fault.New(fault.StepFailed, "argument %q: %w", k, err)
		}
		out[k] = value
	}
	return out, nil
}

type resolver struct {
	values map[string]variable
	bytes  int
}

// value resolves a; variable says that a was one.
func (r *resolver) value(a any, depth int) (out any, variable bool, err error) {
	if depth > MaxDepth {
		return nil, false, fmt.Errorf("nested more than %d levels deep", MaxDepth)
	}
	switch a := a.(type) {
	case string:
		if _, _, ok := Reference(a); !ok {
			return Meant(a), false, nil
		}
		out, err = r.look(a)
		return out, true, err
	case []any:
		list := make([]any, 0, len(a))
		for _, e := range a {
			value, variable, err := r.value(e, depth+1)
			if err != nil {
				return nil, false, err
			}
			if more, ok := value.([]any); ok && variable {
				list = append(list, more...)
			} else {
				list = append(list, value)
			}
		}
		return list, false, nil
	case map[string]any:
		m := make(map[string]any, len(a))
		for k, e := range a {
			if m[k], _, err = r.value(e, depth+1); err != nil {
				return nil, false, err
			}
		}
		return m, false, nil
	}
	return a, false, nil
}

// look finds what "$name.field.0" stands for.
func (r *resolver) look(ref string) (any, error) {
	name, rest, _ := Reference(ref)
	v, ok := r.values[name]
	if !ok {
		return nil, fmt.Errorf("the variable %q has no value yet", name)
	}
	// The size of the whole is an upper bound on the part.
	if r.bytes += v.size; r.bytes > maxResolved {
		return nil, fmt.Errorf("variables bring more than %d MiB into one call", maxResolved>>20)
	}
	value := v.value
	for rest != "" {
		var field string
		field, rest, _ = strings.Cut(rest[1:], ".")
		if rest != "" {
			rest = "." + rest
		}
		switch in := value.(type) {
		case map[string]any:
			if value, ok = in[field]; !ok {
				return nil, fmt.Errorf("%q: the result has no field %q%s", ref, field, nearest.Hint(field, sortedKeys(in)))
			}
		case []any:
			i, err := strconv.Atoi(field)
			if err != nil || i < 0 || i >= len(in) {
				return nil, fmt.Errorf("%q: the list of %d has no element %q", ref, len(in), field)
			}
			value = in[i]
		default:
			return nil, fmt.Errorf("%q: %s has no fields", ref, typeName(value))
		}
	}
	return value, nil
}
