package embedded

import (
	"strings"
	"unicode/utf8"

	"stepbox.dev/host/lexicon"
)

// spaced makes one name of words and the name that they lead up to when such a
// file is there: "my clip.mp4", "Summer Trip 2024.mp4". The longest is meant. Words
// that steer the request are no part of a name: somebody may have called a file
// "except a.txt".
func (q *reading) spaced() {
	for i := 1; i < len(q.toks) && q.req.Exists != nil; i++ {
		if q.toks[i].Kind != lexicon.Name {
			continue
		}
		from := i
		for from > 0 && i-from < maxWords && q.toks[from-1].End+1 == q.toks[from].Start && (q.toks[from-1].Kind == lexicon.Word || q.toks[from-1].Kind == lexicon.Number) && !q.g.Steers(q.toks[from-1]) {
			from--
		}
		for ; from < i && !q.exists(q.text(from, i+1)); from++ {
		}
		if from < i {
			q.join(from, i)
			i = from
		}
	}
}

// maxWords is how many words may lead up to the last one of a name.
const maxWords = 8

// join makes one name of the tokens from i to j.
func (q *reading) join(i, j int) {
	name := q.text(i, j+1)
	q.toks[i] = lexicon.Token{Text: name, Fold: lexicon.Fold(name), Kind: lexicon.Name, Start: q.toks[i].Start, End: q.toks[j].End}
	q.toks = append(q.toks[:i+1], q.toks[j+1:]...)
}

// glue makes one name of characters without spaces and the extension or name
// right behind them: 压缩会议.mp4 is about 会议.mp4, not about every mp4. What
// exists decides where the name begins, but that it takes no exception away; where
// nothing is known about files, it begins behind the words that lead up to it.
func (q *reading) glue() {
	for i := 1; i < len(q.toks); i++ {
		t := q.toks[i]
		if t.Kind != lexicon.Name || q.toks[i-1].Kind != lexicon.Han || q.toks[i-1].End != t.Start {
			continue
		}
		from := i
		for from > 0 && q.toks[from-1].End == q.toks[from].Start && q.toks[from-1].Kind != lexicon.Punct && q.toks[from-1].Kind != lexicon.Quoted && q.toks[from-1].Kind != lexicon.Name {
			from--
		}
		start := i
		for j := from; j < i; j++ {
			if q.exists(q.text(j, i+1)) && !q.g.TurnsRound(q.toks[j:i]) {
				start = j
				break
			}
		}
		if start == i && strings.HasPrefix(t.Text, ".") && !q.exists(t.Text) {
			start = q.afterWords(from, i)
		}
		if start == i {
			continue
		}
		q.join(start, i)
		i = start
	}
}

// afterWords is the first token of [from, to) behind the words that lead up to a
// name: small words, and one that says what to do.
func (q *reading) afterWords(from, to int) int {
	for j := to - 1; j >= from; j-- {
		if q.toks[j].Kind != lexicon.Han {
			from = j + 1 // a number or a word of another script
			if j+1 < to && q.toks[j].Kind == lexicon.Number {
				_, u, n := lexicon.Reader{Tokens: q.toks[:to]}.Quantity(j)
				if u != "" {
					from = j + n
				}
			}
			break
		}
	}
	for j := to - 1; j > from; j-- {
		if q.toks[j-1].Fold == "的" {
			from = j
			break
		}
	}
	for _, w := range []string{"文件夹", "目录"} { // notes文件夹打包成…
		if n := utf8.RuneCountInString(w); from+n < to && from > 0 && q.text(from, from+n) == w {
			from += n
		}
	}
	ordered := false
	for from < to {
		n, order := q.g.Leads(q.toks[from:to], !ordered)
		if n == 0 {
			break
		}
		ordered = order
		from += n
		if order && from < to-1 && (q.toks[from].Fold == "成" || q.toks[from].Fold == "为") {
			from++ // 打包成…, 改名为…: what becomes of it follows
		}
	}
	return from
}
