package guest

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"stepbox.dev/abi"
)

// Schema derives the shape of a tool's arguments from the fields of the struct
// A. It is the one declaration of them in code; the host compares it with the
// skill's tools.yaml and refuses the skill when they differ.
//
// The name comes from the json tag (snake_case), the type from the Go type:
// string, bool, integers, floats, [Size], [Date], [Duration], slices of these,
// structs and maps (object), and pointers to any of them, where nil means "not
// given". Embedded structs count as their fields. Further tags:
//
//	enum:"zip,tar.gz"   the only values (of the items, for a slice)
//	min:"1" max:"9"     bounds, of a number or of the length of a slice
//	role:"input"        a path that must exist; role:"output" one that is made
//	required:"true"     must be given
//	help:"…"            one sentence for a person
//
// What a variable of the plan comes to is checked like what is written: null, an
// empty path, an empty date and, with min:"1", an empty list are refused before
// the handler runs. A list without it may be empty and is then not nil, which
// only a list that is not given is: a handler that takes "all" for an argument
// that is left out must look for nil.
func Schema[A any]() (map[string]abi.ArgSchema, error) {
	fields, err := fieldsOf(reflect.TypeFor[A]())
	if err != nil {
		return nil, err
	}
	args := make(map[string]abi.ArgSchema, len(fields))
	for _, f := range fields {
		args[f.name] = f.schema
	}
	return args, nil
}

// field is one argument and where it lies in its struct.
type field struct {
	name   string
	index  []int
	schema abi.ArgSchema
}

func fieldsOf(t reflect.Type) ([]field, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("arguments are a struct, not %s", t)
	}
	var fields []field
	for _, sf := range reflect.VisibleFields(t) {
		if sf.Anonymous || !sf.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if name == "" {
			return nil, fmt.Errorf("field %s of %s needs a json name", sf.Name, t)
		}
		s, err := schemaOf(sf)
		if err != nil {
			return nil, fmt.Errorf("field %s of %s: %w", sf.Name, t, err)
		}
		fields = append(fields, field{name: name, index: sf.Index, schema: s})
	}
	return fields, nil
}

func schemaOf(sf reflect.StructField) (abi.ArgSchema, error) {
	s := abi.ArgSchema{
		Help:     sf.Tag.Get("help"),
		PathRole: abi.PathRole(sf.Tag.Get("role")),
		Required: sf.Tag.Get("required") == "true",
	}
	if e := sf.Tag.Get("enum"); e != "" {
		s.Enum = strings.Split(e, ",")
	}
	t := sf.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var err error
	if s.Type, err = argType(t, s.Enum != nil); err != nil {
		return s, err
	}
	if s.Type == abi.TypeArray {
		if s.Items, err = argType(t.Elem(), s.Enum != nil); err != nil {
			return s, err
		}
	}
	if s.Min, err = bound(sf.Tag.Get("min")); err != nil {
		return s, err
	}
	s.Max, err = bound(sf.Tag.Get("max"))
	return s, err
}

func bound(tag string) (*float64, error) {
	if tag == "" {
		return nil, nil
	}
	v, err := strconv.ParseFloat(tag, 64)
	if err != nil {
		return nil, fmt.Errorf("bound %q is not a number", tag)
	}
	return &v, nil
}

var (
	sizeType     = reflect.TypeFor[Size]()
	dateType     = reflect.TypeFor[Date]()
	durationType = reflect.TypeFor[Duration]()
)

func argType(t reflect.Type, enum bool) (abi.ArgType, error) {
	switch t {
	case sizeType:
		return abi.TypeSize, nil
	case dateType:
		return abi.TypeDate, nil
	case durationType:
		return abi.TypeDuration, nil
	}
	switch t.Kind() {
	case reflect.String:
		if enum {
			return abi.TypeEnum, nil
		}
		return abi.TypeString, nil
	case reflect.Bool:
		return abi.TypeBoolean, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return abi.TypeInteger, nil
	case reflect.Float32, reflect.Float64:
		return abi.TypeNumber, nil
	case reflect.Slice:
		return abi.TypeArray, nil
	case reflect.Struct, reflect.Map:
		return abi.TypeObject, nil
	}
	return "", fmt.Errorf("type %s cannot be an argument", t)
}
