package plan

import (
	"encoding/json"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"stepbox.dev/abi"
	"stepbox.dev/host/registry"
)

// CheckValue reports what is wrong with one value of an argument once it is
// normalized: for defaults, which no plan carries.
func CheckValue(a *registry.Arg, v any) []Diagnostic {
	n := normalizer{}
	out, _ := n.coerce(a, plain(v, 0))
	c := checker{}
	c.arg(&pointer{name: a.Name}, a, out)
	return c.found
}

// arg checks one argument against its schema.
func (c *checker) arg(at *pointer, a *registry.Arg, v any) {
	if s, ok := v.(string); ok {
		if _, _, ok := Reference(s); ok {
			c.reference(at, s)
			return
		}
	}
	switch {
	case !a.Declared:
		c.anything(at, v, 0)
		c.undeclaredPaths(at, a, v)
	case a.Type == abi.TypeArray:
		c.array(at, a, v)
	default:
		c.scalar(at, a, a.Type, v)
	}
}

func (c *checker) array(at *pointer, a *registry.Arg, v any) {
	list, ok := v.([]any)
	if !ok {
		c.wrongType(at, a, "a list", v)
		return
	}
	if len(list) == 0 && (a.PathRole != abi.RoleNone || a.Min != nil && *a.Min > 0) {
		c.add(CodeBounds, at, "", "%q is an empty list, which says nothing: name something in it, or leave it out", a.Name)
		return
	}
	n := float64(len(list))
	if a.Min != nil && n < *a.Min && !slices.ContainsFunc(list, isReference) {
		c.add(CodeBounds, at, "", "%q must have at least %v elements, not %d", a.Name, *a.Min, len(list))
	}
	if a.Max != nil && n > *a.Max {
		c.add(CodeBounds, at, "", "%q must have at most %v elements, not %d", a.Name, *a.Max, len(list))
	}
	where := pointer{up: at}
	for i, e := range list {
		where.index = i
		if s, ok := e.(string); ok {
			if _, _, ok := Reference(s); ok {
				c.reference(&where, s)
				continue
			}
		}
		if a.Items == "" {
			c.anything(&where, e, 1)
		} else {
			c.scalar(&where, a, a.Items, e)
		}
	}
}

func (c *checker) wrongType(at *pointer, a *registry.Arg, want string, v any) {
	c.add(CodeType, at, "", "%q must be %s, not %s", a.Name, want, typeName(v))
}

// scalar checks a value of a type other than array.
func (c *checker) scalar(at *pointer, a *registry.Arg, t abi.ArgType, v any) {
	switch t {
	case abi.TypeString:
		s, ok := v.(string)
		if !ok {
			c.wrongType(at, a, "a string", v)
			return
		}
		if !c.textFault(at, s) && !c.patternFault(at, a, s) && a.PathRole != abi.RoleNone {
			c.pathFault(at, a, s)
		}
	case abi.TypeEnum:
		if s, ok := v.(string); !ok || !slices.Contains(a.Enum, s) {
			c.enumFault(at, a, v)
		}
	case abi.TypeInteger, abi.TypeNumber:
		c.number(at, a, t, v)
	case abi.TypeBoolean:
		if _, ok := v.(bool); !ok {
			c.wrongType(at, a, "true or false", v)
		}
	case abi.TypeSize:
		c.form(at, a, v, canonicalSize, `a size such as "10MB"`)
	case abi.TypeDate:
		c.form(at, a, v, canonicalDate, `a date such as "2026-01-31", or a date and time with its zone`)
	case abi.TypeDuration:
		c.form(at, a, v, canonicalDuration, `a duration such as "1h30m"`)
	case abi.TypeObject:
		if _, ok := v.(map[string]any); !ok {
			c.wrongType(at, a, "an object", v)
			return
		}
		c.anything(at, v, 0)
	default:
		c.anything(at, v, 0)
	}
}

func (c *checker) enumFault(at *pointer, a *registry.Arg, v any) {
	s, ok := v.(string)
	said := typeName(v)
	if ok {
		said = fmt.Sprintf("%q", s)
	}
	suggestion := meant(s, a.Enum)
	if a.Name == "file_type" {
		c.add(CodeEnum, at, suggestion, "unknown file_type %s: it must be one of %s", said, values(a.Enum))
		return
	}
	c.add(CodeEnum, at, suggestion, "%q must be one of %s, not %s", a.Name, values(a.Enum), said)
}

// values lists what is allowed, as far as anybody reads.
func values(enum []string) string {
	const most = 30
	if len(enum) > most {
		return strings.Join(enum[:most], ", ") + ", …"
	}
	return strings.Join(enum, ", ")
}

func (c *checker) number(at *pointer, a *registry.Arg, t abi.ArgType, v any) {
	want := "a number"
	if t == abi.TypeInteger {
		want = "a whole number"
	}
	n, ok := v.(json.Number)
	if !ok {
		c.wrongType(at, a, want, v)
		return
	}
	f, err := n.Float64()
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) || !wellFormed(string(n)) {
		c.add(CodeType, at, "", "%q must be %s, not %q", a.Name, want, string(n))
		return
	}
	if t == abi.TypeInteger && strings.ContainsAny(string(n), ".eE") {
		c.add(CodeType, at, "", "%q must be a whole number, not %s", a.Name, n)
		return
	}
	if _, err := strconv.ParseInt(string(n), 10, 64); t == abi.TypeInteger && err != nil {
		c.add(CodeBounds, at, "", "%q must be a whole number of at most 64 bits, not %s", a.Name, n)
		return
	}
	if a.Type == abi.TypeArray { // the bounds are those of its length
		return
	}
	if a.Min != nil && f < *a.Min {
		c.add(CodeBounds, at, "", "%q must be >= %v, not %s", a.Name, *a.Min, n)
	}
	if a.Max != nil && f > *a.Max {
		c.add(CodeBounds, at, "", "%q must be <= %v, not %s", a.Name, *a.Max, n)
	}
}

// wellFormed reports whether a number is written as JSON writes numbers: code
// of the host and guests can put anything into a json.Number.
func wellFormed(n string) bool {
	s := scanner{text: n}
	if n == "" || n[0] != '-' && (n[0] < '0' || n[0] > '9') {
		return false
	}
	_, err := s.number()
	return err == nil && s.at == len(n)
}

func (c *checker) form(at *pointer, a *registry.Arg, v any, form func(string) (string, bool), want string) {
	s, ok := v.(string)
	if !ok {
		c.wrongType(at, a, want, v)
		return
	}
	if _, ok := form(s); !ok {
		c.add(CodeType, at, "", "%q must be %s, not %q", a.Name, want, s)
	}
}

// textFault reports text that no argument may hold.
func (c *checker) textFault(at *pointer, s string) bool {
	switch {
	case !utf8.ValidString(s):
		c.add(CodeText, at, "", "%q is not valid UTF-8", s)
	case strings.IndexByte(s, 0) >= 0:
		c.add(CodeText, at, "", "%q holds a zero byte", s)
	default:
		return false
	}
	return true
}

// maxMatched is how many bytes of a plan are held against patterns: it takes time
// with every one of them.
const maxMatched = 64 << 10

// patternFault reports a text that is not what the contract's pattern says.
func (c *checker) patternFault(at *pointer, a *registry.Arg, s string) bool {
	if a.Pattern == nil {
		return false
	}
	if c.matched += len(s); c.matched > maxMatched {
		c.add(CodePattern, at, a.Help, "the texts that have a pattern, %q among them, are longer than %d KiB together", a.Name, maxMatched>>10)
		return true
	}
	if a.Pattern.MatchString(s) {
		return false
	}
	c.add(CodePattern, at, a.Help, "%q cannot be %q", a.Name, s)
	return true
}

func (c *checker) pathFault(at *pointer, a *registry.Arg, s string) {
	switch {
	case s == "":
		c.add(CodeText, at, "", "%q is an empty path", a.Name)
	case len(s) > 4096:
		c.add(CodeText, at, "", "%q is a path of %d bytes; at most 4096 are allowed", a.Name, len(s))
	case leadsOut(s):
		c.add(CodePathOutside, at, allowing(s), "path %q lies outside of the sandbox", s)
	case HidesUp(s):
		c.add(CodeText, at, "", `path %q goes up with ".." behind a name: write the path that it should lead to`, s)
	}
}

// allowing says what would let a path in: the folder that holds it, or the path
// itself where that would be the root, which is no sandbox.
func allowing(s string) string {
	if HidesUp(s) {
		return `write the path without ".." behind a name`
	}
	dir := path.Clean(s)
	if parent := path.Dir(dir); parent != "/" {
		dir = parent
	}
	if dir == "/" || !strings.HasPrefix(s, "/") {
		return "name a file below the sandbox, or run with a --sandbox that holds it"
	}
	return fmt.Sprintf("--sandbox %q would allow it", dir)
}

// undeclaredPaths checks the paths of an argument that has no schema but a
// name that says what it is.
func (c *checker) undeclaredPaths(at *pointer, a *registry.Arg, v any) {
	if a.PathRole == abi.RoleNone {
		return
	}
	switch v := v.(type) {
	case string:
		if leadsOut(v) || HidesUp(v) {
			c.pathFault(at, a, v)
		}
	case []any:
		for i, e := range v {
			if s, ok := e.(string); ok && (leadsOut(s) || HidesUp(s)) {
				c.pathFault(&pointer{up: at, index: i}, a, s)
			}
		}
	}
}

// anything checks a value that has no schema: variables, text, depth, and that
// JSON can hold it.
func (c *checker) anything(at *pointer, v any, depth int) {
	if depth > MaxDepth {
		c.add(CodeTooDeep, at, "", "nested more than %d levels deep", MaxDepth)
		return
	}
	switch v := v.(type) {
	case string:
		if _, _, ok := Reference(v); ok {
			c.reference(at, v)
		} else {
			c.textFault(at, v)
		}
	case json.Number:
		if !wellFormed(string(v)) {
			c.add(CodeType, at, "", "%q is not a number", string(v))
		}
	case bool, nil:
	case []any:
		where := pointer{up: at}
		for i, e := range v {
			where.index = i
			c.anything(&where, e, depth+1)
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			where := pointer{up: at, name: k}
			c.textFault(&where, k)
			c.anything(&where, v[k], depth+1)
		}
	default:
		c.add(CodeType, at, "", "a %T is nothing that JSON can hold", v)
	}
}
