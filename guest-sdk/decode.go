package guest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"

	"stepbox.dev/abi"
)

// decode reads the arguments of a step into A, strictly: unknown names, wrong
// types, values out of bounds and missing ones are all told at once.
func decode[A any](raw map[string]json.RawMessage) (in A, err error) {
	_, err = decodeInto(reflect.ValueOf(&in).Elem(), raw, resolved)
	return in, err
}

// decodeLent reads the arguments of an intent, which is expanded before any
// variable has a value. Texts and lists of texts may be variables: a list that
// is one becomes a list that holds its name, which the host resolves where the
// intent passes it on. Nothing else may be: an intent would leave it out.
func decodeLent[A any](raw map[string]json.RawMessage) (in A, err error) {
	_, err = decodeInto(reflect.ValueOf(&in).Elem(), raw, lent)
	return in, err
}

// decodeOpen reads arguments to tell them: nothing is missing, and what a
// variable stands for in the place of anything but texts is left out of A and
// named in later.
func decodeOpen[A any](raw map[string]json.RawMessage) (in A, later []string, err error) {
	later, err = decodeInto(reflect.ValueOf(&in).Elem(), raw, told)
	return in, later, err
}

// purpose is what arguments are read for.
type purpose int

const (
	resolved purpose = iota
	lent
	told
)

// decodeInto reads arguments into the struct v. It is one function for all
// types: in a module each copy of it would cost time at every start.
func decodeInto(v reflect.Value, raw map[string]json.RawMessage, p purpose) (later []string, err error) {
	fields, err := fieldsOf(v.Type())
	if err != nil {
		return nil, Errorf(abi.CodeFailed, "%v", err)
	}
	var faults []string
	known := make(map[string]bool, len(fields))
	for _, f := range fields {
		known[f.name] = true
		value, given := raw[f.name]
		if !given || string(value) == "null" {
			switch {
			case f.schema.Required && p != told:
				faults = append(faults, fmt.Sprintf("argument %q is missing", f.name))
			case given && p == resolved:
				// A variable came to nothing. Without the argument the step
				// would do more than was asked for, not less.
				faults = append(faults, fmt.Sprintf("argument %q is null", f.name))
			}
			continue
		}
		target := v.FieldByIndex(f.index)
		if p != resolved && isVariable(value) && target.Type() == textsType {
			value = json.RawMessage("[" + string(value) + "]")
		}
		why := ""
		if err := json.Unmarshal(value, target.Addr().Interface()); err != nil {
			why = ": " + wrongType(err, f.schema)
		} else if why = check(target, f.schema); why != "" {
			why = " " + why
		}
		switch {
		case why == "":
		case p == told && holdsVariable(value):
			target.SetZero()
			later = append(later, f.name)
		case p == lent && holdsVariable(value):
			faults = append(faults, fmt.Sprintf("argument %q cannot be a variable here: it is needed before anything runs", f.name))
		default:
			faults = append(faults, fmt.Sprintf("argument %q%s", f.name, why))
		}
	}
	for name := range raw {
		if !known[name] {
			faults = append(faults, fmt.Sprintf("argument %q is unknown", name))
		}
	}
	if len(faults) > 0 {
		sort.Strings(faults)
		return nil, Errorf(abi.CodeBadRequest, "%s", strings.Join(faults, "; "))
	}
	return later, nil
}

var textsType = reflect.TypeFor[[]string]()

func isVariable(value json.RawMessage) bool {
	var text string
	return len(value) > 2 && value[0] == '"' && value[1] == '$' && json.Unmarshal(value, &text) == nil && IsVariable(text)
}

// holdsVariable reports whether a value is a variable or has one in it.
func holdsVariable(value json.RawMessage) bool {
	var v any
	return bytes.Contains(value, []byte(`"$`)) && json.Unmarshal(value, &v) == nil && holds(v)
}

func holds(value any) bool {
	switch v := value.(type) {
	case string:
		return IsVariable(v)
	case []any:
		return slices.ContainsFunc(v, holds)
	case map[string]any:
		for _, e := range v {
			if holds(e) {
				return true
			}
		}
	}
	return false
}

// IsVariable reports whether an argument's text stands for the result of an
// earlier call: "$name" or "$name.field". A text that begins with "$$" stands
// for itself without the first dollar; see [Plain].
func IsVariable(text string) bool {
	name, _, _ := strings.Cut(text, ".")
	for i := 1; i < len(name); i++ {
		c := name[i]
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 1 || c < '0' || c > '9') {
			return false
		}
	}
	return len(name) > 1 && name[0] == '$'
}

// Plain is an argument's text as a person would write it, where it is no
// variable. Only intents and summaries need it: steps get texts as they are.
func Plain(text string) string {
	if strings.HasPrefix(text, "$$") {
		return text[1:]
	}
	return text
}

func wrongType(err error, s abi.ArgSchema) string {
	if _, ok := err.(*json.UnmarshalTypeError); ok {
		return fmt.Sprintf("is not %s %s", article(string(s.Type)), s.Type)
	}
	return err.Error()
}

func article(word string) string {
	if strings.ContainsRune("aeio", rune(word[0])) {
		return "an"
	}
	return "a"
}

// check returns what is wrong with a value, "" when nothing is.
func check(v reflect.Value, s abi.ArgSchema) string {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if s.Enum != nil {
		for _, text := range texts(v) {
			if !slices.Contains(s.Enum, text) {
				return fmt.Sprintf("is %q, not one of %s", text, strings.Join(s.Enum, ", "))
			}
		}
	}
	if s.PathRole != "" && v.Kind() == reflect.String && v.String() == "" {
		return "is an empty path"
	}
	if s.Min == nil && s.Max == nil {
		return ""
	}
	if v.Kind() == reflect.Slice && v.Len() == 0 && s.Min != nil && *s.Min == 1 {
		return "is an empty list"
	}
	n, what := number(v)
	switch {
	case s.Min != nil && n < *s.Min:
		return fmt.Sprintf("%s %v, less than %v", what, n, *s.Min)
	case s.Max != nil && n > *s.Max:
		return fmt.Sprintf("%s %v, more than %v", what, n, *s.Max)
	}
	return ""
}

func texts(v reflect.Value) []string {
	if v.Kind() != reflect.Slice {
		return []string{v.String()}
	}
	list := make([]string, v.Len())
	for i := range list {
		list[i] = v.Index(i).String()
	}
	return list
}

func number(v reflect.Value) (n float64, what string) {
	switch {
	case v.Kind() == reflect.Slice:
		return float64(v.Len()), "has a length of"
	case v.CanInt():
		return float64(v.Int()), "is"
	case v.CanUint():
		return float64(v.Uint()), "is"
	case v.CanFloat():
		return v.Float(), "is"
	}
	return 0, "is"
}

// ArgsOf turns a struct of arguments into those of a [Call]. Fields that are
// zero are left out: a handler cannot tell them from fields not given, unless
// they are pointers.
func ArgsOf[A any](in A) map[string]any {
	args := map[string]any{}
	v := reflect.ValueOf(in)
	fields, err := fieldsOf(v.Type())
	if err != nil {
		return args
	}
	for _, f := range fields {
		if fv := v.FieldByIndex(f.index); !fv.IsZero() {
			args[f.name] = fv.Interface()
		}
	}
	return args
}
