// Package yamldoc reads the YAML of a skill's contract as hostile text: size,
// depth and expansion are capped, duplicate keys are refused, anchors and merge
// keys are resolved, and every value remembers its file and line so that each
// fault can say where it is. It knows no schema.
package yamldoc

import "fmt"

// Kind of a node.
type Kind uint8

// The kinds.
const (
	Null Kind = iota
	String
	Int
	Float
	Bool
	Map
	List
)

// String returns the kind in words.
func (k Kind) String() string {
	switch k {
	case Null:
		return "nothing"
	case String:
		return "a string"
	case Int:
		return "a whole number"
	case Float:
		return "a number"
	case Bool:
		return "true or false"
	case Map:
		return "a mapping"
	}
	return "a list"
}

// Node is one value of a document. It never changes, and may stand in several
// places when the document uses anchors.
type Node struct {
	Kind Kind
	// Text is a scalar as written.
	Text    string
	Entries []Entry // of a Map, in the order written, merged ones last
	Items   []*Node // of a List
	// Anchored says that the document gives this node, or one inside it, a name
	// for reuse.
	Anchored bool
	File     string
	Line     int
}

// Entry is one key of a mapping.
type Entry struct {
	Key   string
	Line  int // of the key
	Value *Node
}

// Get returns the value of a key, nil when there is none.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	for i := range n.Entries {
		if n.Entries[i].Key == key {
			return n.Entries[i].Value
		}
	}
	return nil
}

// Has reports whether the mapping has the key.
func (n *Node) Has(key string) bool { return n.Get(key) != nil }

// Scalar reports whether the node is a string, a number, or true or false.
func (n *Node) Scalar() bool { return n.Kind >= String && n.Kind <= Bool }

// At is "file:line", for messages.
func (n *Node) At() string { return fmt.Sprintf("%s:%d", n.File, n.Line) }
