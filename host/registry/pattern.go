package registry

import (
	"regexp"
	"regexp/syntax"

	"stepbox.dev/host/registry/yamldoc"
)

// Caps on patterns: the contract is a stranger's. A few bytes of one may stand
// for millions of instructions, which take memory when they are compiled and time
// at every letter that is matched.
const (
	maxPattern      = 1000   // bytes of its text
	maxInstructions = 500    // of a pattern
	maxCompiled     = 20_000 // instructions of all patterns of a contract
)

// pattern reads an RE2 expression for the whole of a text.
func (b *builder) pattern(n *yamldoc.Node) *regexp.Regexp {
	text := b.faults.Text(n, "pattern")
	if text == "" {
		return nil
	}
	at := n.Get("pattern")
	if len(text) > maxPattern {
		b.faults.Add(at, "the pattern has %d bytes; at most %d are taken", len(text), maxPattern)
		return nil
	}
	tree, err := syntax.Parse(text, syntax.Perl) // by itself: "a)|(b" would change what is put around it
	if err != nil {
		b.faults.Add(at, "pattern %q is no RE2 expression: %v", text, err)
		return nil
	}
	size := instructions(tree)
	if size > maxInstructions {
		b.faults.Add(at, "the pattern takes more than %d instructions: use fewer and smaller counts such as {1,9}", maxInstructions)
		return nil
	}
	if b.compiled += size; b.compiled > maxCompiled {
		b.faults.Add(at, "the patterns of the contract take more than %d instructions together", maxCompiled)
		return nil
	}
	re, err := regexp.Compile(`^(?:` + text + `)$`)
	if err != nil {
		b.faults.Add(at, "pattern %q is no RE2 expression: %v", text, err)
		return nil
	}
	return re
}

// instructions is about how many a parsed pattern compiles to, counted before
// anything of it is written out, and no more than one over the cap.
func instructions(re *syntax.Regexp) int {
	size := 0
	for _, sub := range re.Sub {
		size = min(size+instructions(sub), maxInstructions+1)
	}
	switch re.Op {
	case syntax.OpLiteral:
		size = len(re.Rune)
	case syntax.OpCharClass:
		size = 1 + len(re.Rune)/20 // its table takes room, and is searched
	case syntax.OpRepeat:
		most := max(re.Min, re.Max, 1)
		size = size*most + most - re.Min + 1
	case syntax.OpAlternate:
		size += len(re.Sub)
	case syntax.OpConcat:
	default:
		size += 2
	}
	return min(size, maxInstructions+1)
}
