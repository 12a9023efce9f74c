package expand

import (
	"fmt"
	"maps"
	"slices"

	"stepbox.dev/host/plan"
)

// walk renames the variables in arguments and measures their text. It copies
// what it changes and shares the rest.
type walk struct {
	rename func(name string) (string, error)
	bytes  int
}

func (w *walk) args(args map[string]any) (map[string]any, error) {
	if args == nil {
		return map[string]any{}, nil
	}
	out, _, err := w.object(args, 0)
	return out, err
}

func (w *walk) value(v any, depth int) (out any, changed bool, err error) {
	if depth > plan.MaxDepth {
		return nil, false, fmt.Errorf("an argument nests more than %d levels deep", plan.MaxDepth)
	}
	w.bytes += 8
	switch v := v.(type) {
	case string:
		w.bytes += len(v)
		name, rest, ok := plan.Reference(v)
		if !ok {
			return v, false, nil
		}
		to, err := w.rename(name)
		return to + rest, true, err
	case []any:
		return w.list(v, depth)
	case map[string]any:
		return w.object(v, depth)
	}
	return v, false, nil
}

func (w *walk) list(list []any, depth int) (out []any, changed bool, err error) {
	out = list
	for i, e := range list {
		c, different, err := w.value(e, depth+1)
		if err != nil {
			return nil, false, err
		}
		if different {
			if !changed {
				out, changed = slices.Clone(list), true
			}
			out[i] = c
		}
	}
	return out, changed, nil
}

func (w *walk) object(object map[string]any, depth int) (out map[string]any, changed bool, err error) {
	out = object
	for k, e := range object {
		w.bytes += len(k)
		c, different, err := w.value(e, depth+1)
		if err != nil {
			return nil, false, err
		}
		if different {
			if !changed {
				out, changed = maps.Clone(object), true
			}
			out[k] = c
		}
	}
	return out, changed, nil
}
