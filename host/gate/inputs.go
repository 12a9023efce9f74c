package gate

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"stepbox.dev/abi"
)

// inputs finds each file that a plan names: as it stands, by its name without
// case or extension when exactly one file has it, else by asking.
func (c *check) inputs() Decision {
	if c.Sandbox == nil && len(c.Files) == 0 {
		return proceed
	}
	for i := range c.calls {
		for _, v := range c.values(i, abi.RoleInput) {
			if d := c.input(v); d.Outcome != Proceed {
				return d
			}
		}
	}
	return proceed
}

func (c *check) input(v value) Decision {
	switch {
	case v.text == "" || hasGlob(v.text) || c.made(v.call, v.text) || c.isOffered(v.text) || c.stat(v.text) != nil:
		return proceed
	case c.Sandbox == nil:
		return proceed // nothing says that it is not there
	}
	matches := c.sameFolder(v.text, func(base string) bool { return sameName(base, path.Base(v.text)) })
	sure := true
	if len(matches) == 0 && extension(v.text) == "" && strings.TrimSuffix(v.text, "/") == v.text {
		byStem := func(base string) bool { return extension(base) != "" && sameName(stem(base), path.Base(v.text)) }
		if matches = c.sameFolder(v.text, byStem); len(matches) == 0 && !strings.Contains(v.text, "/") {
			matches = c.anywhere(byStem)
			sure = c.walked().complete
		}
	}
	if len(matches) == 1 && sure {
		c.set(v, matches[0])
		return proceed
	}
	if len(matches) > 1 {
		return ask(v, fmt.Sprintf("%q could be several files. Which one?", v.text), offer(matches))
	}
	return ask(v, fmt.Sprintf("There is no %q in the sandbox. Which file or folder do you mean?", v.text), c.similar(v.text))
}

// similar returns names that somebody may have meant: the same name elsewhere,
// the same name with another extension, a description, a slip of the pen.
func (c *check) similar(name string) []string {
	base := path.Base(clean(name))
	if out := c.anywhere(func(b string) bool { return sameName(b, base) }); len(out) > 0 {
		return offer(out)
	}
	if out := c.anywhere(func(b string) bool { return sameName(stem(b), stem(base)) }); len(out) > 0 {
		return offer(out)
	}
	if out := describe(tokenize(name), c.walked().names); len(out) > 0 {
		return offer(out)
	}
	folded := []rune(fold(base))
	return offer(c.anywhere(func(b string) bool { return near(folded, []rune(fold(b))) }))
}

// near says that two names differ by at most two slips, and by fewer than half
// of their letters.
func near(a, b []rune) bool {
	const slips = 2
	if len(a)-len(b) > slips || len(b)-len(a) > slips || len(a) <= 2*slips {
		return false
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			cost := diagonal
			if x != y {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)] <= slips
}

// made says that a call before call i makes the file, or a folder it lies in.
func (c *check) made(i int, name string) bool {
	if c.makers == nil {
		c.makers = map[string]int{}
		for k := range c.calls {
			for _, out := range c.values(k, abi.RoleOutput) {
				if o := clean(out.text); o != "." && o != "" {
					if _, known := c.makers[o]; !known {
						c.makers[o] = k
					}
				}
			}
		}
	}
	if len(c.makers) == 0 {
		return false
	}
	for p := clean(name); p != "" && p != "." && p != "/"; p = path.Dir(p) {
		if k, ok := c.makers[p]; ok && k < i {
			return true
		}
	}
	return false
}

func (c *check) isOffered(name string) bool {
	return slices.ContainsFunc(c.Files, func(f string) bool { return clean(f) == clean(name) })
}

// mentioned asks about a file that the request does not name and no earlier
// call makes.
func (c *check) mentioned() Decision {
	if !c.uttered() {
		return proceed
	}
	said := fold(c.Utterance)
	words := tokenize(c.Utterance)
	for i := range c.calls {
		t, ok := c.tool(i)
		if !ok {
			continue
		}
		for _, v := range c.values(i, abi.RoleInput) {
			name := v.text
			if from, ok := c.from[name]; ok {
				name = from
			}
			switch {
			case clean(name) == "." || hasGlob(name) || c.isOffered(v.text) || c.made(i, v.text):
			case slices.Contains(texts(t.Defaults[v.arg]), v.text): // the contract's own
			case speaksOf(said, words, name, c.isFolder(v.text)):
			default:
				return ask(v, fmt.Sprintf("The request does not name %q. Which file or folder do you mean?", v.text), []string{v.text})
			}
		}
	}
	return proceed
}

// speaksOf says that a request names a file: its last element whole, or without
// its extension, or word by word. A word for a kind of file behind an article
// ("the video") describes and does not name; for a folder it does ("the
// pictures").
func speaksOf(said string, words []token, name string, folder bool) bool {
	base := fold(path.Base(clean(name)))
	if base == "" {
		return false
	}
	if extension(base) != "" && holds(said, base) {
		return true
	}
	st := fold(stem(base))
	if nouns[st] && !folder {
		return namesNoun(words, st)
	}
	if holds(said, st) {
		return true
	}
	parts := strings.FieldsFunc(st, func(r rune) bool { return !isWord(r) })
	for _, p := range parts {
		if !slices.ContainsFunc(words, func(t token) bool {
			return singular(t.text) == singular(p) || t.file && holds(t.text, p)
		}) {
			return false
		}
	}
	return len(parts) > 0
}

// namesNoun says that a word for a kind stands somewhere as a name: right behind
// a preposition ("in archive"), or with no article among the three words before.
func namesNoun(words []token, noun string) bool {
	for i, t := range words {
		if t.text != noun && !(t.file && stem(t.text) == noun) {
			continue
		}
		before := words[max(0, i-3):i]
		if i+1 < len(words) && folders[words[i+1].text] || i > 0 && folders[words[i-1].text] {
			return true // "my music folder"
		}
		if t.file || i > 0 && (places[words[i-1].text] || words[i-1].text == "of") || !slices.ContainsFunc(before, func(t token) bool { return determiners[t.text] && !t.ends }) {
			return true
		}
	}
	return false
}

func (c *check) isFolder(name string) bool {
	info := c.stat(name)
	return info != nil && info.IsDir()
}

// widened asks about a pattern that the request does not speak of.
func (c *check) widened() Decision {
	if !c.uttered() {
		return proceed
	}
	words := tokenize(c.Utterance)
	for i := range c.calls {
		for _, v := range c.values(i, abi.RoleInput) {
			if hasGlob(v.text) && !speaksOfPattern(words, v.text) {
				return ask(v, fmt.Sprintf("Should it be every file that matches %q? Name the files, or say all.", v.text), nil)
			}
		}
	}
	return proceed
}

// speaksOfPattern says that a request means many files: by a batch word, a
// pattern, a plural, or the kind that the pattern is about.
func speaksOfPattern(words []token, pattern string) bool {
	if speaksOfMany(words) {
		return true
	}
	ext := extension(strings.NewReplacer("*", "x", "?", "x").Replace(path.Base(pattern)))
	return slices.ContainsFunc(words, func(t token) bool {
		if t.file {
			return hasGlob(t.text)
		}
		if t.text == "files" || ext != "" && singular(t.text) == ext {
			return true
		}
		return nouns[t.text] && singular(t.text) != t.text
	})
}
