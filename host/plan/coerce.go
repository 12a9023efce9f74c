package plan

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"stepbox.dev/abi"
	"stepbox.dev/host/registry"
)

// coerce returns v in the shape that the argument wants and whether that is
// another value. What cannot be coerced without loss stays as it is.
func (n *normalizer) coerce(a *registry.Arg, v any) (any, bool) {
	if isReference(v) {
		return v, false
	}
	if !a.Declared {
		return n.undeclared(a, v)
	}
	list, isList := v.([]any)
	if a.Type != abi.TypeArray {
		if isList && len(list) == 1 && a.Type != abi.TypeObject {
			out, _ := n.coerce(a, list[0])
			if _, nested := out.([]any); nested {
				return v, false
			}
			return out, true
		}
		return n.scalar(a, a.Type, v)
	}
	if !isList {
		if _, object := v.(map[string]any); object && a.Items != abi.TypeObject {
			return v, false
		}
		out, _ := n.scalar(a, a.Items, v)
		return []any{out}, true
	}
	return n.each(list, func(e any) (any, bool) {
		if isReference(e) {
			return e, false
		}
		return n.scalar(a, a.Items, e)
	})
}

// each maps a list, which is copied before the first change.
func (n *normalizer) each(list []any, f func(any) (any, bool)) (any, bool) {
	changed := false
	for i, e := range list {
		out, other := f(e)
		if !other {
			continue
		}
		if !changed {
			list, changed = slices.Clone(list), true
		}
		list[i] = out
	}
	return list, changed
}

// undeclared mends what can be mended without a schema: paths, by their name.
func (n *normalizer) undeclared(a *registry.Arg, v any) (any, bool) {
	if a.PathRole == abi.RoleNone {
		return v, false
	}
	switch v := v.(type) {
	case string:
		return n.path(a, v)
	case []any:
		return n.each(v, func(e any) (any, bool) {
			if s, ok := e.(string); ok && !isReference(s) {
				return n.path(a, s)
			}
			return e, false
		})
	}
	return v, false
}

func (n *normalizer) path(a *registry.Arg, s string) (any, bool) {
	if out := n.clean(s, a.PathRole); out != s {
		return out, true
	}
	return s, false
}

// clean cleans the path that s says, and says it so that no variable comes of
// it: "./$x" is a file, and so is what becomes of it.
func (n *normalizer) clean(s string, role abi.PathRole) string {
	if strings.IndexByte(s, '$') < 0 {
		return n.paths.clean(s, role)
	}
	return Literal(n.paths.clean(Meant(s), role))
}

// scalar coerces one value to a type other than array.
func (n *normalizer) scalar(a *registry.Arg, t abi.ArgType, v any) (any, bool) {
	switch t {
	case abi.TypeString:
		s, ok, changed := text(v)
		if !ok {
			return v, false
		}
		if a.PathRole != abi.RoleNone {
			if clean := n.clean(s, a.PathRole); clean != s {
				return clean, true
			}
		}
		if changed {
			return s, true
		}
	case abi.TypeEnum:
		s, ok, _ := text(v)
		if !ok {
			return v, false
		}
		if value, ok := enumValue(a, s); ok && v != any(value) {
			return value, true
		}
	case abi.TypeInteger, abi.TypeNumber:
		return number(t, v)
	case abi.TypeBoolean:
		return boolean(v)
	case abi.TypeSize:
		return canonical(v, canonicalSize)
	case abi.TypeDate:
		return canonical(v, canonicalDate)
	case abi.TypeDuration:
		return canonical(v, canonicalDuration)
	}
	return v, false
}

// canonical rewrites a value that travels as a string.
func canonical(v any, form func(string) (string, bool)) (any, bool) {
	s, ok, changed := text(v)
	if !ok {
		return v, false
	}
	out, ok := form(s)
	if !ok || out == s && !changed {
		return v, false
	}
	return out, true
}

// text returns the string that a scalar stands for; changed says that it was
// no string.
func text(v any) (s string, ok, changed bool) {
	switch v := v.(type) {
	case string:
		return v, true, false
	case json.Number:
		return string(v), true, true
	case bool:
		return strconv.FormatBool(v), true, true
	}
	return "", false, false
}

// number returns the shortest decimal form of a number, in or out of a string.
func number(t abi.ArgType, v any) (any, bool) {
	var s string
	switch v := v.(type) {
	case json.Number:
		s = string(v)
	case string:
		s = strings.TrimPrefix(strings.TrimSpace(v), "+")
		if !isNumber(s) {
			return v, false
		}
	default:
		return v, false
	}
	out := s
	if _, err := strconv.ParseInt(s, 10, 64); err != nil || s == "-0" {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return v, false
		}
		switch {
		case f == 0:
			out = "0"
		case f == math.Trunc(f) && math.Abs(f) < 1<<53:
			out = strconv.FormatInt(int64(f), 10)
		case t == abi.TypeInteger: // too large, or with a fraction
			return v, false
		default:
			out = strconv.FormatFloat(f, 'g', -1, 64)
		}
	}
	if _, was := v.(json.Number); was && out == s {
		return v, false
	}
	return json.Number(out), true
}

// isNumber reports whether s is a number as JSON writes it, but for leading
// zeros and a missing zero before the point: people write "007" and ".5".
func isNumber(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9' || c == '.' || c == '-' && i == 0:
		case (c == 'e' || c == 'E' || c == '-' || c == '+') && i > 0:
		default:
			return false
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	return err == nil && !math.IsInf(f, 0)
}

func boolean(v any) (any, bool) {
	s, ok, changed := text(v)
	if !ok || changed && (s == "true" || s == "false") {
		return v, false // a boolean already, or nothing like one
	}
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true", "yes", "y", "on", "1":
		return true, true
	case "false", "no", "n", "off", "0":
		return false, true
	}
	return v, false
}

// enumValue returns the value that s means: itself, by a synonym, or by
// either in another case or with other separators, when that is unambiguous.
func enumValue(a *registry.Arg, s string) (string, bool) {
	if slices.Contains(a.Enum, s) {
		return s, true
	}
	if v, ok := a.Synonyms[s]; ok {
		return v, true
	}
	found := ""
	for _, e := range a.Enum {
		if SameWord(e, s) {
			if found != "" {
				return "", false
			}
			found = e
		}
	}
	if found != "" {
		return found, true
	}
	for k, v := range a.Synonyms {
		if SameWord(k, s) {
			if found != "" && found != v {
				return "", false
			}
			found = v
		}
	}
	return found, found != ""
}

// SameWord compares two spellings of a value without case, spaces, - and _.
func SameWord(a, b string) bool {
	for {
		ra, na := nextLetter(a)
		rb, nb := nextLetter(b)
		if ra != rb {
			return false
		}
		if na == 0 || nb == 0 {
			return na == nb
		}
		a, b = a[na:], b[nb:]
	}
}

// Word is what SameWord compares of a spelling: two are the same word when it is
// the same.
func Word(s string) string {
	var b strings.Builder
	for {
		r, n := nextLetter(s)
		if n == 0 {
			return b.String()
		}
		b.WriteRune(r)
		s = s[n:]
	}
}

// nextLetter returns the first rune that counts, in lower case, and how many
// bytes to skip; 0 at the end.
func nextLetter(s string) (rune, int) {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if r != '-' && r != '_' && r != ' ' {
			return unicode.ToLower(r), i
		}
	}
	return 0, 0
}
