package lexicon

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold lowers case, drops accents and narrows wide forms, so that spellings
// compare equal. ASCII that is lower case already comes back as it is.
func Fold(s string) string {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf {
			return foldWide(s)
		}
		if c >= 'A' && c <= 'Z' {
			for _, d := range []byte(s[i:]) {
				if d >= utf8.RuneSelf {
					return foldWide(s)
				}
			}
			return strings.ToLower(s)
		}
	}
	return s
}

func foldWide(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(unicode.ToLower(r))
		case r >= 0xFF01 && r <= 0xFF5E: // full width
			b.WriteRune(unicode.ToLower(r - 0xFEE0))
		case r == 0x3000:
			b.WriteByte(' ')
		case unspaced(r), unicode.Is(unicode.Mn, r):
			if unspaced(r) {
				b.WriteRune(r)
			}
		default:
			foldLetter(&b, unicode.ToLower(r))
		}
	}
	return b.String()
}

// foldLetter writes r without its accent. Letters that are no accented forms
// for Unicode, but are for people, are spelled out.
func foldLetter(b *strings.Builder, r rune) {
	switch r {
	case 'ß':
		b.WriteString("ss")
		return
	case 'ø':
		b.WriteByte('o')
		return
	case 'ł':
		b.WriteByte('l')
		return
	case 'æ':
		b.WriteString("ae")
		return
	case 'œ':
		b.WriteString("oe")
		return
	case 'ё':
		b.WriteRune('е')
		return
	case 'й': // a letter of its own
		b.WriteRune(r)
		return
	}
	var buf [utf8.UTFMax]byte
	n := utf8.EncodeRune(buf[:], r)
	d := norm.NFD.Properties(buf[:n]).Decomposition()
	if d == nil {
		b.WriteRune(r)
		return
	}
	for len(d) > 0 {
		c, w := utf8.DecodeRune(d)
		if !unicode.Is(unicode.Mn, c) {
			b.WriteRune(c)
		}
		d = d[w:]
	}
}
