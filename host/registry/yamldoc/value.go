package yamldoc

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Value returns the node as JSON would hold it: nil, string, json.Number, bool,
// []any or map[string]any. Numbers come out in their shortest decimal form.
func (n *Node) Value() any {
	switch n.Kind {
	case String:
		return n.Text
	case Int, Float:
		return number(n.Text)
	case Bool:
		return strings.EqualFold(n.Text, "true")
	case List:
		out := make([]any, len(n.Items))
		for i, item := range n.Items {
			out[i] = item.Value()
		}
		return out
	case Map:
		out := make(map[string]any, len(n.Entries))
		for _, e := range n.Entries {
			out[e.Key] = e.Value.Value()
		}
		return out
	}
	return nil
}

// number rewrites YAML's spellings (0x1f, 0o17, 1_000, .5, +1) as JSON's.
func number(text string) json.Number {
	plain := strings.ReplaceAll(text, "_", "")
	if i, err := strconv.ParseInt(plain, 0, 64); err == nil {
		return json.Number(strconv.FormatInt(i, 10))
	}
	if u, err := strconv.ParseUint(plain, 0, 64); err == nil {
		return json.Number(strconv.FormatUint(u, 10))
	}
	f, err := strconv.ParseFloat(plain, 64)
	if err != nil { // Read has checked floats; an integer too long to hold is left
		return json.Number("0")
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
}

// Merge lays over on base: mappings merge key by key, at every depth; anything
// else in over, lists included, replaces what base has; null removes it.
func Merge(base, over *Node) *Node {
	if base == nil || over == nil || base.Kind != Map || over.Kind != Map {
		if over == nil {
			return base
		}
		return over
	}
	out := &Node{Kind: Map, Anchored: base.Anchored || over.Anchored, File: over.File, Line: over.Line}
	laid := make(map[string]*Entry, len(over.Entries))
	for i := range over.Entries {
		laid[over.Entries[i].Key] = &over.Entries[i]
	}
	for _, e := range base.Entries {
		o, ok := laid[e.Key]
		switch {
		case !ok:
			out.Entries = append(out.Entries, e)
			continue
		case o.Value.Kind != Null:
			out.Entries = append(out.Entries, Entry{Key: e.Key, Line: o.Line, Value: Merge(e.Value, o.Value)})
		}
		delete(laid, e.Key)
	}
	for _, e := range over.Entries {
		if _, left := laid[e.Key]; left && e.Value.Kind != Null {
			out.Entries = append(out.Entries, e)
		}
	}
	return out
}
