package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Caps on one document. A contract of a hundred tools is a hundredth of them.
const (
	MaxBytes = 1 << 20 // of which the parser makes a hundred times as much
	maxDepth = 32
	maxNodes = 200_000 // after aliases are followed
)

// Read parses one YAML document. An empty one is a Null node. file is the name
// that errors use.
func Read(file string, data []byte) (*Node, error) {
	doc, err := Parse(file, data)
	if err != nil {
		return nil, err
	}
	if doc == nil {
		return &Node{Kind: Null, File: file, Line: 1}, nil
	}
	r := reader{file: file, left: maxNodes, open: map[*yaml.Node]bool{}}
	return r.node(doc, 0)
}

// Parse is Read for those who walk the parser's own nodes, nil for an empty
// document. Aliases are not followed: who does counts what they find.
func Parse(file string, data []byte) (root *yaml.Node, err error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%s: larger than %d MiB", file, MaxBytes>>20)
	}
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%s:%d: not valid UTF-8", file, 1+bytes.Count(validPrefix(data), []byte("\n")))
	}
	if err := checkFlow(file, data); err != nil {
		return nil, err
	}
	// The parser is known to panic on some malformed documents.
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, fmt.Errorf("%s: not YAML that can be read (%v)", file, p)
		}
	}()
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, syntaxError(file, err)
	}
	switch err := d.Decode(new(yaml.Node)); {
	case err == nil:
		return nil, fmt.Errorf("%s: holds more than one YAML document", file)
	case !errors.Is(err, io.EOF):
		return nil, syntaxError(file, err)
	}
	if len(doc.Content) != 1 {
		return nil, fmt.Errorf("%s: not a YAML document", file)
	}
	return doc.Content[0], nil
}

// checkFlow bounds the nesting before the parser, which recurses, sees it. It
// counts brackets in quoted text too, where nobody writes that many in a row.
func checkFlow(file string, data []byte) error {
	depth, line := 0, 1
	for _, c := range data {
		switch c {
		case '\n':
			line++
		case '[', '{':
			if depth++; depth > 1000 {
				return fmt.Errorf("%s:%d: nested too deeply", file, line)
			}
		case ']', '}':
			depth = max(0, depth-1)
		}
	}
	return nil
}

func validPrefix(data []byte) []byte {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return data[:i]
		}
		i += n
	}
	return data
}

// syntaxError turns the parser's "yaml: line 3: …" into "file:3: …".
func syntaxError(file string, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	var line int
	if n, _ := fmt.Sscanf(text, "line %d:", &line); n == 1 {
		_, text, _ = strings.Cut(text, ": ")
		return fmt.Errorf("%s:%d: %s", file, line, text)
	}
	return fmt.Errorf("%s: %s", file, text)
}

type reader struct {
	file string
	left int
	open map[*yaml.Node]bool // anchored nodes being converted
}

func (r *reader) errorf(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", r.file, n.Line, fmt.Sprintf(format, args...))
}

func (r *reader) node(n *yaml.Node, depth int) (*Node, error) {
	if depth > maxDepth {
		return nil, r.errorf(n, "nested more than %d levels deep", maxDepth)
	}
	if r.left--; r.left < 0 {
		return nil, r.errorf(n, "expands to more than %d values", maxNodes)
	}
	if n.Kind == yaml.AliasNode {
		return r.alias(n, depth)
	}
	if n.Anchor == "" {
		return r.plain(n, depth)
	}
	r.open[n] = true
	out, err := r.plain(n, depth)
	delete(r.open, n)
	if err == nil {
		out.Anchored = true
	}
	return out, err
}

// alias converts the target again instead of sharing it, so that depth and
// expansion are counted as a reader of the document meets them. Sharing would
// be cheaper for a bomb and no cheaper for anybody else.
func (r *reader) alias(n *yaml.Node, depth int) (*Node, error) {
	if n.Alias == nil || r.open[n.Alias] {
		return nil, r.errorf(n, "*%s stands inside itself", n.Value)
	}
	r.open[n.Alias] = true
	defer delete(r.open, n.Alias)
	return r.plain(n.Alias, depth)
}

func (r *reader) plain(n *yaml.Node, depth int) (*Node, error) {
	out := &Node{File: r.file, Line: n.Line}
	switch n.Kind {
	case yaml.ScalarNode:
		return out, r.scalar(n, out)
	case yaml.SequenceNode:
		if tag := n.ShortTag(); tag != "!!seq" {
			return nil, r.errorf(n, "tag %q is not used in contracts", tag)
		}
		out.Kind = List
		out.Items = make([]*Node, 0, len(n.Content))
		for _, c := range n.Content {
			item, err := r.node(c, depth+1)
			if err != nil {
				return nil, err
			}
			out.Anchored = out.Anchored || item.Anchored
			out.Items = append(out.Items, item)
		}
		return out, nil
	case yaml.MappingNode:
		if tag := n.ShortTag(); tag != "!!map" {
			return nil, r.errorf(n, "tag %q is not used in contracts", tag)
		}
		out.Kind = Map
		return out, r.mapping(n, out, depth)
	}
	return nil, r.errorf(n, "not a value")
}

func (r *reader) scalar(n *yaml.Node, out *Node) error {
	out.Text = n.Value
	switch tag := n.ShortTag(); tag {
	case "!!null":
		out.Kind = Null
	case "!!str", "!!timestamp": // a date is text here
		out.Kind = String
	case "!!bool":
		out.Kind = Bool
	case "!!int":
		out.Kind = Int
	case "!!float":
		var f float64
		if err := n.Decode(&f); err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return r.errorf(n, "%q is not a number that can be used", n.Value)
		}
		out.Kind = Float
	default:
		return r.errorf(n, "tag %q is not used in contracts", tag)
	}
	return nil
}

func (r *reader) mapping(n *yaml.Node, out *Node, depth int) error {
	seen := make(map[string]int, len(n.Content)/2)
	var merges []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind == yaml.ScalarNode && k.ShortTag() == "!!merge" {
			merges = append(merges, v)
			continue
		}
		if k.Kind == yaml.AliasNode && k.Alias != nil {
			k = k.Alias
		}
		if k.Kind != yaml.ScalarNode || k.ShortTag() == "!!null" {
			return r.errorf(k, "a key must be a plain word")
		}
		if line, twice := seen[k.Value]; twice {
			return r.errorf(k, "key %q is already given on line %d", k.Value, line)
		}
		seen[k.Value] = k.Line
		value, err := r.node(v, depth+1)
		if err != nil {
			return err
		}
		out.Anchored = out.Anchored || value.Anchored
		out.Entries = append(out.Entries, Entry{Key: k.Value, Line: k.Line, Value: value})
	}
	for _, m := range merges {
		if err := r.merge(m, out, seen, depth); err != nil {
			return err
		}
	}
	return nil
}

// merge adds the keys of "<<: *name" (or of a list of such) that are not given
// already: what stands nearer wins, the earlier of a list wins.
func (r *reader) merge(n *yaml.Node, out *Node, seen map[string]int, depth int) error {
	sources := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		sources = n.Content
	}
	for _, s := range sources {
		from, err := r.node(s, depth+1)
		if err != nil {
			return err
		}
		if from.Kind != Map {
			return r.errorf(s, "<< takes a mapping, not %s", from.Kind)
		}
		for _, e := range from.Entries {
			if _, given := seen[e.Key]; !given {
				seen[e.Key] = e.Line
				out.Entries = append(out.Entries, e)
			}
		}
	}
	return nil
}
