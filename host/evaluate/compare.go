package evaluate

import (
	"bytes"
	"encoding/json"
	"fmt"

	"stepbox.dev/abi"
	"stepbox.dev/host/registry"
)

// same reports whether two normalized plans say the same: tools, arguments with
// defaults, and variables and intermediate files up to renaming. The text of a
// question or a refusal does not count.
func same(got, want []abi.Call, r *registry.Registry) bool {
	if len(got) != len(want) {
		return false
	}
	g, w := renamed(got, r), renamed(want, r)
	for i := range g {
		if g[i].Tool != w[i].Tool || g[i].Output != w[i].Output {
			return false
		}
		if t, ok := r.Tool(g[i].Tool); ok && t.Core {
			continue
		}
		a, err1 := json.Marshal(g[i].Args)
		b, err2 := json.Marshal(w[i].Args)
		if err1 != nil || err2 != nil || !bytes.Equal(canonical(a), canonical(b)) {
			return false
		}
	}
	return true
}

// canonical writes numbers in one form: 2 and 2.0 are equal.
func canonical(b []byte) []byte {
	var v any
	if json.Unmarshal(b, &v) != nil {
		return b
	}
	out, err := json.Marshal(v)
	if err != nil {
		return b
	}
	return out
}

// renamed gives variables, and files that one call makes and a later one reads,
// names by their order.
func renamed(calls []abi.Call, r *registry.Registry) []abi.Call {
	names := map[string]string{}
	read := map[string]int{} // the last call that reads a value
	for i, c := range calls {
		walk(c.Args, func(s string) string { read[s] = i; return s })
	}
	out := make([]abi.Call, len(calls))
	for i, c := range calls {
		c.Args, _ = walk(c.Args, func(s string) string { return rename(names, s) }).(map[string]any)
		if c.Output != "" {
			names[c.Output] = fmt.Sprintf("$%d", i)
			c.Output = names[c.Output]
		}
		if t, ok := r.Tool(c.Tool); ok {
			for name, v := range c.Args {
				s, isText := v.(string)
				a := t.Args[name]
				if isText && a != nil && a.PathRole == abi.RoleOutput && read[s] > i {
					names[s] = fmt.Sprintf("made %d", i)
					c.Args[name] = names[s]
				}
			}
		}
		out[i] = c
	}
	return out
}

func rename(names map[string]string, s string) string {
	if n, ok := names[s]; ok {
		return n
	}
	if len(s) > 1 && s[0] == '$' {
		for i := range s {
			if s[i] == '.' {
				if n, ok := names[s[:i]]; ok {
					return n + s[i:]
				}
			}
		}
	}
	return s
}

// walk copies a value with every string replaced.
func walk(v any, f func(string) string) any {
	switch v := v.(type) {
	case string:
		return f(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = walk(e, f)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = walk(e, f)
		}
		return out
	}
	return v
}
