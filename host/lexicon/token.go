package lexicon

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind says what a token looks like.
type Kind uint8

// The kinds of token.
const (
	Word   Kind = iota
	Number      // begins with a digit: 5, 10MB, 00:01:30, 16:9, 1-3, 720p
	Name        // looks like a file name, a path or a glob
	Quoted      // stood in quotation marks
	Han         // one character of a script without spaces
	Punct       // punctuation that can separate clauses or list items
)

// Token is one word, number, name or mark of a request.
type Token struct {
	Text  string // as written, without quotation marks
	Fold  string // lower case, without accents, normal width
	Kind  Kind
	Start int // byte offsets in the request
	End   int
}

// Tokenize splits a request. File names never come apart; text in scripts
// without spaces becomes one token a character.
func Tokenize(s string) []Token { return AppendTokens(make([]Token, 0, 16), s) }

// AppendTokens is Tokenize into a caller's buffer.
func AppendTokens(out []Token, s string) []Token {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError:
			i += n
		case isQuote(r):
			if end, next, ok := quoted(s, i, n, r); ok {
				text := s[i+n : end]
				out = append(out, Token{Text: text, Fold: Fold(text), Kind: Quoted, Start: i, End: next})
				i = next
			} else {
				i += n
			}
		case unspaced(r):
			out = append(out, Token{Text: s[i : i+n], Fold: s[i : i+n], Kind: Han, Start: i, End: i + n})
			i += n
		case breaks(r):
			out = append(out, Token{Text: s[i : i+n], Fold: Fold(s[i : i+n]), Kind: Punct, Start: i, End: i + n})
			i += n
		default:
			end := runEnd(s, i)
			out = appendRun(out, s, i, end)
			i = end
		}
	}
	return out
}

func isQuote(r rune) bool {
	switch r {
	case '"', '\'', '`', '“', '”', '„', '«', '»', '‘', '’', '「', '『':
		return true
	}
	return false
}

// closing holds, for each opening mark, the marks that may end it.
var closing = map[rune]string{
	'"': "\"", '\'': "'", '`': "`", '“': "”\"“", '„': "“”\"", '«': "»", '»': "«", '‘': "’", '’': "’", '「': "」", '『': "』",
}

func quoted(s string, i, n int, open rune) (end, next int, ok bool) {
	if open == '\'' || open == '’' {
		if i > 0 {
			if p, _ := utf8.DecodeLastRuneInString(s[:i]); unicode.IsLetter(p) || unicode.IsDigit(p) {
				return 0, 0, false
			}
		}
	}
	for j := i + n; j < len(s); {
		r, w := utf8.DecodeRuneInString(s[j:])
		if strings.ContainsRune(closing[open], r) && j > i+n {
			if open == '\'' || open == '’' { // an apostrophe inside a word closes nothing
				if f, _ := utf8.DecodeRuneInString(s[j+w:]); unicode.IsLetter(f) {
					j += w
					continue
				}
			}
			return j, j + w, true
		}
		j += w
	}
	return 0, 0, false
}

// unspaced reports whether r belongs to a script written without spaces.
func unspaced(r rune) bool {
	if r < 0x2E80 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
}

func breaks(r rune) bool {
	switch r {
	case ',', ';', '!', '?', '(', ')', '、', '，', '。', '；', '！', '？', '：', '¿', '¡', '→', '（', '）', '…':
		return true
	}
	return false
}

// runEnd finds where a run of word characters ends. A comma between digits and
// a question mark inside a glob belong to the run.
func runEnd(s string, i int) int {
	for j := i; j < len(s); {
		if c := s[j] | 0x20; c >= 'a' && c <= 'z' { // most of most requests
			j++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[j:])
		if unicode.IsSpace(r) || unspaced(r) || unicode.IsControl(r) {
			return j
		}
		if r == '"' || r == '“' || r == '”' || r == '«' || r == '»' || r == '`' {
			return j
		}
		if breaks(r) {
			next, _ := utf8.DecodeRuneInString(s[j+n:])
			prev := rune(0)
			if j > i {
				prev, _ = utf8.DecodeLastRuneInString(s[:j])
			}
			inNumber := r == ',' && unicode.IsDigit(prev) && unicode.IsDigit(next)
			inGlob := r == '?' && (unicode.IsLetter(next) || next == '.' || next == '*' || next == '?')
			if !inNumber && !inGlob {
				if j == i {
					return j + n
				}
				return j
			}
		}
		if r == '-' && strings.HasPrefix(s[j:], "->") {
			if j == i {
				return j + 2
			}
			return j
		}
		j += n
	}
	return len(s)
}

func appendRun(out []Token, s string, i, end int) []Token {
	run := s[i:end]
	if run == "->" || run == "=>" {
		return append(out, Token{Text: run, Fold: "→", Kind: Punct, Start: i, End: end})
	}
	if strings.Trim(run, "-–—") == "" {
		return append(out, Token{Text: run, Fold: "-", Kind: Punct, Start: i, End: end})
	}
	trimmed := strings.TrimRight(run, ".:'’")
	if rest := run[len(trimmed):]; strings.HasSuffix(trimmed, "/") && (rest == "." || rest == "..") {
		trimmed = run // "a/.." is another place than "a"
	}
	if trimmed == "" { // dots alone are a path or a full stop
		if run == "." || run == ".." {
			out = append(out, Token{Text: run, Fold: run, Kind: Name, Start: i, End: end})
		}
		return out
	}
	tail := run[len(trimmed):]
	for _, p := range []string{"'s", "’s", "'S"} {
		if len(trimmed) > len(p) {
			trimmed = strings.TrimSuffix(trimmed, p)
		}
	}
	if a := strings.IndexAny(trimmed, "'’"); a > 0 && a <= 2 && elided(trimmed[:a]) {
		out = append(out, Token{Text: trimmed[:a], Fold: Fold(trimmed[:a]), Kind: Word, Start: i, End: i + a})
		_, w := utf8.DecodeRuneInString(trimmed[a:])
		i += a + w
		trimmed = trimmed[a+w:]
		if trimmed == "" {
			return out
		}
	}
	out = append(out, Token{Text: trimmed, Fold: Fold(trimmed), Kind: classify(trimmed), Start: i, End: i + len(trimmed)})
	if strings.HasPrefix(tail, ".") || strings.HasPrefix(tail, ":") {
		out = append(out, Token{Text: tail[:1], Fold: tail[:1], Kind: Punct, Start: end - len(tail), End: end - len(tail) + 1})
	}
	return out
}

func elided(p string) bool {
	switch strings.ToLower(p) {
	case "l", "d", "qu", "s", "n", "j", "m", "c":
		return true
	}
	return false
}

func classify(w string) Kind {
	if looksLikeName(w) {
		return Name
	}
	c := w[0]
	if c >= '0' && c <= '9' || len(w) > 1 && (c == '-' || c == '+' || c == '.') && w[1] >= '0' && w[1] <= '9' {
		return Number
	}
	return Word
}

func looksLikeName(w string) bool {
	if strings.ContainsAny(w, "*\\") || strings.HasPrefix(w, "~") {
		return true
	}
	if slash := strings.IndexByte(w, '/'); slash >= 0 {
		// 1/2 and 24/12/2025 are numbers.
		return strings.Trim(w, "0123456789/") != "" || slash == 0
	}
	dot := strings.LastIndexByte(w, '.')
	if dot < 0 || dot == len(w)-1 {
		return false
	}
	ext := w[dot+1:]
	if len(ext) > 8 && dot > 0 {
		return false
	}
	letters := false
	for _, r := range ext {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && (dot > 0 || r != '_' && r != '-') {
			return false
		}
		letters = letters || unicode.IsLetter(r)
	}
	if !letters {
		return false
	}
	if strings.Trim(w[:dot], "0123456789,-+") == "" && dot > 0 && ext[0] >= '0' && ext[0] <= '9' {
		return false // 1.5GB
	}
	return true
}
