package gate

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// token is one word of a request, folded: lower case, compatibility forms
// unified, invisible characters dropped. A file name, pattern or path is one
// token, so that no word is found inside it.
type token struct {
	text  string
	file  bool
	comma bool // a comma follows
	ends  bool // a sentence ends after it
}

// fold makes texts comparable.
func fold(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKC.String(strings.ToValidUTF8(s, "\uFFFD")))
	return s
}

// tokenize splits a request into words. Each Han character is a word: Chinese
// puts no spaces between them.
func tokenize(s string) []token {
	var out []token
	for _, line := range strings.FieldsFunc(fold(s), func(r rune) bool { return r == '\n' || r == '\r' }) {
		for _, chunk := range strings.FieldsFunc(line, unicode.IsSpace) {
			for _, part := range splitHan(chunk) {
				out = appendChunk(out, part)
			}
		}
		if len(out) > 0 {
			out[len(out)-1].ends = true
		}
	}
	return out
}

// appendChunk adds the words of a piece of text without spaces.
func appendChunk(out []token, chunk string) []token {
	core := strings.TrimFunc(chunk, func(r rune) bool {
		return !isWord(r) && !strings.ContainsRune("*?./\\~_[{", r)
	})
	core = strings.TrimRight(core, ".?[{")
	tail := chunk[strings.LastIndex(chunk, core)+len(core):]
	first := len(out)
	if core != "" && looksLikePath(core) {
		out = append(out, token{text: core, file: true})
	} else {
		for _, w := range strings.FieldsFunc(core, func(r rune) bool { return !isWord(r) }) {
			out = append(out, token{text: w})
		}
	}
	if len(out) == 0 || first == len(out) && core != "" {
		return out
	}
	last := &out[len(out)-1]
	last.ends = last.ends || strings.ContainsAny(tail, ".!?;。！？；")
	last.comma = last.comma || strings.ContainsAny(tail, ",，、")
	return out
}

// splitHan splits text into single Han characters and the runs between them.
func splitHan(s string) []string {
	var out []string
	start := 0
	for i, r := range s {
		if !unicode.Is(unicode.Han, r) {
			continue
		}
		if start < i {
			out = append(out, s[start:i])
		}
		out = append(out, s[i:i+utf8.RuneLen(r)])
		start = i + utf8.RuneLen(r)
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}

func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
}

// looksLikePath says that a chunk of a request names a file, a pattern or a
// path.
func looksLikePath(s string) bool {
	return strings.ContainsAny(s, `/\`) && len(s) > 1 || strings.HasPrefix(s, "~") || hasGlob(s) || extension(s) != ""
}

// hasGlob says that a path holds a wildcard.
func hasGlob(s string) bool { return strings.ContainsAny(s, "*?[{") }

// extension returns the extension of a file name, folded, without its dot, or
// "" when what follows the last dot is none: "v2.0", "5.5", ".bashrc".
func extension(name string) string {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	i := strings.LastIndexByte(base, '.')
	if i <= 0 {
		return ""
	}
	ext := fold(base[i+1:])
	if extensions[ext] {
		return ext
	}
	if n := utf8.RuneCountInString(ext); n < 2 || n > 8 { // "e.g" is no file
		return ""
	}
	for k, r := range ext {
		if k == 0 && !unicode.IsLetter(r) || !isWord(r) {
			return ""
		}
	}
	return ext
}

// stem returns the last element of a path without its extension.
func stem(name string) string {
	base := path.Base(name)
	if extension(base) != "" {
		return base[:strings.LastIndexByte(base, '.')]
	}
	return base
}

// singular drops the plural s of a word of four letters or more.
func singular(w string) string {
	if len(w) > 3 && strings.HasSuffix(w, "s") {
		return w[:len(w)-1]
	}
	return w
}

// holds says that text has the name in it, not as part of a longer word. Both
// are folded.
func holds(text, name string) bool {
	if name == "" {
		return false
	}
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		i += at
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(name):])
		first, _ := utf8.DecodeRuneInString(name)
		last, _ := utf8.DecodeLastRuneInString(name)
		if !(joined(before, first)) && !(joined(last, after)) {
			return true
		}
		at = i + len(name)
		if at > len(text) {
			return false
		}
	}
}

// joined says that two neighbouring characters belong to one word.
func joined(a, b rune) bool {
	if unicode.Is(unicode.Han, a) || unicode.Is(unicode.Han, b) {
		return false
	}
	return (isWord(a) || a == '_') && (isWord(b) || b == '_')
}
