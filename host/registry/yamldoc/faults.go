package yamldoc

import (
	"fmt"
	"slices"
	"strings"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/registry/nearest"
)

// most is how many faults are told: beyond that nobody reads on, and a hostile
// file must not write a megabyte of message.
const most = 100

// Faults collects everything that is wrong with a document, so that its author
// sees all of it at once. The zero value is ready.
type Faults struct {
	list  []string
	more  int
	hints int
}

// maxHints is how often the word that was meant is looked for: it takes a look at
// all known ones, and a hostile file may have many of both.
const maxHints = 30

// Hint is nearest.Hint, for as many words as anybody reads about.
func (f *Faults) Hint(word string, known []string) string {
	if f.hints++; f.hints > maxHints {
		return ""
	}
	return nearest.Hint(word, known)
}

// Add notes a fault at a node.
func (f *Faults) Add(n *Node, format string, args ...any) { f.AddAt(n.File, n.Line, format, args...) }

// AddAt notes a fault at a line of a file; line 0 means the whole file.
func (f *Faults) AddAt(file string, line int, format string, args ...any) {
	if len(f.list) >= most {
		f.more++
		return
	}
	where := file
	if line > 0 {
		where = fmt.Sprintf("%s:%d", file, line)
	}
	text := where + ": " + fmt.Sprintf(format, args...)
	if !slices.Contains(f.list, text) { // an anchor is read once a use
		f.list = append(f.list, text)
	}
}

// AddError notes an error that already says where it is.
func (f *Faults) AddError(err error) { f.list = append(f.list, err.Error()) }

// Err returns all faults as one error of kind Usage, a line each, or nil.
func (f *Faults) Err() error {
	if len(f.list) == 0 {
		return nil
	}
	text := strings.Join(f.list, "\n")
	if f.more > 0 {
		text += fmt.Sprintf("\nand %d more faults", f.more)
	}
	return fault.New(fault.Usage, "%s", text)
}

// Keys reports keys of a mapping that are not known. what names a key: "field".
func (f *Faults) Keys(n *Node, what string, known []string) {
	for _, e := range n.Entries {
		if !slices.Contains(known, e.Key) {
			f.AddAt(n.fileOf(e), e.Line, "unknown %s %q%s", what, e.Key, f.Hint(e.Key, known))
		}
	}
}

// fileOf is the file an entry was written in: a layer laid over another keeps
// its own lines.
func (n *Node) fileOf(e Entry) string {
	if e.Value != nil {
		return e.Value.File
	}
	return n.File
}

// Mapping returns the mapping under key, nil when it is absent or wrong.
func (f *Faults) Mapping(n *Node, key string) *Node {
	v := n.Get(key)
	if v == nil || v.Kind == Map {
		return v
	}
	if v.Kind != Null { // "key:" with nothing after it means none
		f.Add(v, "%s must be a mapping, not %s", key, v.Kind)
	}
	return nil
}

// Text returns the string under key, "" when it is absent or wrong.
func (f *Faults) Text(n *Node, key string) string {
	v := n.Get(key)
	switch {
	case v == nil || v.Kind == Null:
		return ""
	case !v.Scalar():
		f.Add(v, "%s must be a string, not %s", key, v.Kind)
		return ""
	}
	return v.Text
}

// Flag returns the boolean under key, false when it is absent or wrong.
func (f *Faults) Flag(n *Node, key string) bool {
	v := n.Get(key)
	if v == nil {
		return false
	}
	if v.Kind != Bool {
		f.Add(v, "%s must be true or false, not %s", key, v.Kind)
		return false
	}
	return strings.EqualFold(v.Text, "true")
}

// Texts returns the list of strings under key, without the elements that are
// wrong or stand there twice.
func (f *Faults) Texts(n *Node, key string) []string {
	v := n.Get(key)
	if v == nil || v.Kind == Null {
		return nil
	}
	if v.Kind != List {
		f.Add(v, "%s must be a list of strings, not %s", key, v.Kind)
		return nil
	}
	out := make([]string, 0, len(v.Items))
	seen := make(map[string]bool, len(v.Items))
	for _, item := range v.Items {
		switch {
		case !item.Scalar():
			f.Add(item, "%s holds %s where a string belongs", key, item.Kind)
		case seen[item.Text]:
			f.Add(item, "%s holds %q twice", key, item.Text)
		default:
			seen[item.Text] = true
			out = append(out, item.Text)
		}
	}
	return out
}
