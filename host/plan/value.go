package plan

import (
	"encoding/json"
	"slices"
	"strconv"

	"stepbox.dev/abi"
)

// NewDraft wraps calls made by code of the host or an expansion. The calls are
// copied; Go numbers and slices of strings become what JSON would hold.
func NewDraft(calls []abi.Call) Draft {
	out := make([]abi.Call, len(calls))
	for i, c := range calls {
		out[i] = c
		out[i].Args = make(map[string]any, len(c.Args))
		for k, v := range c.Args {
			out[i].Args[k] = plain(v, 0)
		}
	}
	return Draft{calls: out, ok: true}
}

// plain copies a value into the types that a plan uses. What it does not know,
// and what nests too deeply, stays as it is: Validate reports it.
func plain(v any, depth int) any {
	if depth > MaxDepth {
		return v
	}
	switch v := v.(type) {
	case string, bool, json.Number, nil:
		return v
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = plain(e, depth+1)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = plain(e, depth+1)
		}
		return out
	case []string:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = e
		}
		return out
	case int:
		return json.Number(strconv.Itoa(v))
	case int64:
		return json.Number(strconv.FormatInt(v, 10))
	case float64:
		return json.Number(strconv.FormatFloat(v, 'g', -1, 64))
	}
	return v
}

// typeName says what a value is, for messages.
func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "something JSON cannot hold"
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
