package gate

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"stepbox.dev/abi"
	"stepbox.dev/host/registry"
)

// missing asks for what a tool needs and the plan does not give. A plan that
// nobody uttered has nobody to ask: there, validation reports it.
func (c *check) missing() Decision {
	if !c.uttered() {
		return proceed
	}
	for i, call := range c.calls {
		t, ok := c.tool(i)
		if !ok {
			continue
		}
		for _, name := range t.Required {
			if absent(call.Args[name]) && !hasDefaultName(t, name) {
				return c.askFor(i, t, name)
			}
		}
		if len(t.AnyOf) == 0 || slices.ContainsFunc(t.AnyOf, func(n string) bool { return !absent(call.Args[n]) }) {
			continue
		}
		if arg := neededInput(t, call.Args); arg != "" {
			return c.askFor(i, t, arg)
		}
		d := c.askFor(i, t, t.AnyOf[0])
		if len(t.AnyOf) > 1 { // which of them is part of the question
			d = Decision{
				Outcome: Clarify, Call: i,
				Question: fmt.Sprintf("To %s, one of these is needed: %s. Which, and what should it be?", plain(t.Name), plain(strings.Join(t.AnyOf, ", "))),
			}
		}
		return d
	}
	return proceed
}

// askFor asks for one argument of call i.
func (c *check) askFor(i int, t *registry.Tool, arg string) Decision {
	d := Decision{Outcome: Clarify, Call: i, Arg: arg}
	a := t.Args[arg]
	if a != nil && a.PathRole == abi.RoleInput {
		d.Question = fmt.Sprintf("Which file or folder should be used to %s?", plain(t.Name))
		if len(c.Files) > 0 {
			d.Candidates = offer(c.Files)
		} else {
			d.Candidates = offer(c.ofSpokenKind())
		}
		return d
	}
	d.Question = fmt.Sprintf("To %s: what should %s be?", plain(t.Name), plain(arg))
	if a != nil {
		if a.Help != "" {
			d.Question += " (" + a.Help + ")"
		}
		d.Candidates = slices.Clone(a.Enum)
	}
	return d
}

// ofSpokenKind returns the files of the first kind that the request speaks of.
func (c *check) ofSpokenKind() []string {
	for _, w := range tokenize(c.Utterance) {
		if k := kindsOf(w.text); k != nil && !w.file {
			return filter(c.walked().names, func(n string) bool { return k[extension(n)] })
		}
	}
	return nil
}

// plain is a name of the contract in words.
func plain(name string) string { return strings.ReplaceAll(name, "_", " ") }

// grounded asks for a value that only the person can know and the request does
// not hold.
func (c *check) grounded() Decision {
	if !c.uttered() {
		return proceed
	}
	for i, call := range c.calls {
		t, ok := c.tool(i)
		if !ok {
			continue
		}
		for _, arg := range t.Grounded {
			v, given := call.Args[arg]
			if !given || absent(v) {
				continue // not needed, or asked for already
			}
			s := fmt.Sprint(v)
			if isVariable(s) || !isGrounded(c.Utterance, s, arg, t) {
				return Decision{
					Outcome: Clarify, Call: i, Arg: arg,
					Question: fmt.Sprintf("To %s: what should %s be? It has to be given exactly.", plain(t.Name), plain(arg)),
				}
			}
		}
	}
	return proceed
}

// isGrounded says that a request holds the value, letter for letter and as a
// whole. A word that the request needs anyway ("password", "protect", a part of
// a file name) counts only in quotes or right behind the argument's name.
func isGrounded(utterance, value, arg string, t *registry.Tool) bool {
	needed := fold(value) == fold(plain(arg)) || strings.Contains("_"+t.Name+"_", "_"+fold(value)+"_") ||
		slices.ContainsFunc(t.Keywords, func(k string) bool { return fold(k) == fold(value) })
	for at := 0; ; {
		i := strings.Index(utterance[at:], value)
		if i < 0 {
			return false
		}
		i += at
		before, after := utterance[:i], utterance[i+len(value):]
		if whole(before, value, after) && (!needed || quoted(before, after) || introduced(before, arg)) {
			return true
		}
		at = i + max(1, len(value))
		if at > len(utterance) {
			return false
		}
	}
}

// whole says that a value is not a part of a longer word or of a file name.
func whole(before, value, after string) bool {
	b, _ := utf8.DecodeLastRuneInString(before)
	a, size := utf8.DecodeRuneInString(after)
	first, _ := utf8.DecodeRuneInString(value)
	last, _ := utf8.DecodeLastRuneInString(value)
	if before != "" && (joined(b, first) || strings.ContainsRune(`./\-`, b)) || after != "" && (joined(last, a) || strings.ContainsRune(`/\-@`, a)) {
		return false
	}
	if a == '.' { // "secret." ends a sentence, "secret.pdf" is a file
		next, _ := utf8.DecodeRuneInString(after[size:])
		return after[size:] == "" || !isWord(next)
	}
	return true
}

func quoted(before, after string) bool {
	const quotes = "\"'`“”„‚‘’«»「」『』"
	b, _ := utf8.DecodeLastRuneInString(before)
	a, _ := utf8.DecodeRuneInString(after)
	return before != "" && after != "" && strings.ContainsRune(quotes, b) && strings.ContainsRune(quotes, a)
}

// introduced says that the argument's name stands right before a value, with
// nothing between them but a link: "password: protect", "the password is lock".
func introduced(before, arg string) bool {
	words := strings.FieldsFunc(fold(before), func(r rune) bool { return !isWord(r) })
	for len(words) > 0 && links[words[len(words)-1]] {
		words = words[:len(words)-1]
	}
	return len(words) > 0 && words[len(words)-1] == fold(plain(arg))
}
