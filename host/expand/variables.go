package expand

import (
	"fmt"

	"stepbox.dev/host/plan"
)

// walk copies arguments, renames the variables in them and measures their text.
type walk struct {
	rename func(name string) (string, error)
	bytes  int
}

func (w *walk) args(args map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(args))
	for k, v := range args {
		c, err := w.value(v, 0)
		if err != nil {
			return nil, fmt.Errorf("argument %q: %w", k, err)
		}
		w.bytes += len(k)
		out[k] = c
	}
	return out, nil
}

func (w *walk) value(v any, depth int) (any, error) {
	if depth > plan.MaxDepth {
		return nil, fmt.Errorf("nests deeper than %d", plan.MaxDepth)
	}
	w.bytes += 8
	switch v := v.(type) {
	case string:
		w.bytes += len(v)
		name, rest, ok := plan.Reference(v)
		if !ok {
			return v, nil
		}
		to, err := w.rename(name)
		return to + rest, err
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			c, err := w.value(e, depth+1)
			if err != nil {
				return nil, err
			}
			out[i] = c
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			c, err := w.value(e, depth+1)
			if err != nil {
				return nil, err
			}
			w.bytes += len(k)
			out[k] = c
		}
		return out, nil
	}
	return v, nil
}
