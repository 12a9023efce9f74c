package lexicon

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/registry"
)

func TestTokenize(t *testing.T) {
	// A file name that comes apart becomes words, and words become actions.
	for name, c := range map[string]struct {
		in   string
		want []string // kind letter and folded text
	}{
		"words":           {"List the PDFs.", []string{"w:list", "w:the", "w:pdfs", "p:."}},
		"file names":      {"move a-b (1).txt ./x/y.tar.gz", []string{"w:move", "w:a-b", "p:(", "#:1", "p:)", "n:.txt", "n:./x/y.tar.gz"}},
		"quoted":          {`delete "old stuff" and 'it''`, []string{"w:delete", "q:old stuff", "w:and", "q:it"}},
		"apostrophe":      {"don't touch mum's l'audio", []string{"w:don't", "w:touch", "w:mum", "w:l", "w:audio"}},
		"sizes":           {"10MB 1.5GiB 00:01:30 16:9 1,3,5", []string{"#:10mb", "#:1.5gib", "#:00:01:30", "#:16:9", "#:1,3,5"}},
		"globs":           {"*.pdf report?.txt ok?", []string{"n:*.pdf", "n:report?.txt", "w:ok", "p:?"}},
		"hidden":          {".gitignore .DS_Store", []string{"n:.gitignore", "n:.ds_store"}},
		"chinese":         {"删除a.txt，再列出", []string{"h:删", "h:除", "n:a.txt", "p:,", "h:再", "h:列", "h:出"}},
		"cyrillic":        {"Удали Ёлку", []string{"w:удали", "w:елку"}},
		"accents":         {"Größe déplacé ＡＢＣ", []string{"w:grosse", "w:deplace", "w:abc"}},
		"arrow":           {"a.mov → b.mp4 -> c", []string{"n:a.mov", "p:→", "n:b.mp4", "p:→", "w:c"}},
		"nothing":         {" \t\n", nil},
		"broken encoding": {"a\xff b", []string{"w:a\ufffd", "w:b"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, tok := range Tokenize(c.in) {
				got = append(got, map[Kind]string{Word: "w", Number: "#", Name: "n", Quoted: "q", Han: "h", Punct: "p"}[tok.Kind]+":"+tok.Fold)
			}
			require.Equal(t, c.want, got)
		})
	}
}

func FuzzTokenize(f *testing.F) {
	for _, s := range []string{"list 'a b' c.txt", "„x“ «y»", "把a.txt删", "'", "-> →", "a\x00b", "l'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		last := 0
		for _, tok := range Tokenize(s) {
			require.LessOrEqual(t, last, tok.Start)
			require.LessOrEqual(t, tok.Start, tok.End)
			require.LessOrEqual(t, tok.End, len(s))
			last = tok.Start
		}
	})
}

// now is a Sunday.
var now = time.Date(2026, 11, 29, 20, 0, 0, 0, time.UTC)

func TestTypedValues(t *testing.T) {
	reader := func(s string) Reader { return Reader{Tokens: Tokenize(s), Now: now} }
	for in, want := range map[string]string{
		"10 MB": "10MB", "10MB": "10MB", "1.5 gigabytes": "1.5GB", "500 kilobytes": "500KB", "2 GiB": "2GiB", "100 bytes": "100",
		"five megabytes": "5MB", "5 Mo": "5MB", "5兆": "5MB", "1,5 MB": "1.5MB", "1,500 KB": "1500KB", "5": "", "5 days": "", "-5 MB": "",
	} {
		got, _ := reader(in).Size(0)
		require.Equal(t, want, got, in)
	}
	for in, want := range map[string]string{
		"30 days": "2026-10-30", "a week": "2026-11-22", "two months": "2026-09-29", "3 hours": "2026-11-29T17:00:00Z", "1 year": "2025-11-29",
		"month": "2026-10-29", "6 Monate": "2026-05-29", "30天": "2026-10-30", "两个月": "2026-09-29", "5 MB": "", "9999999 years": "",
	} {
		got, _ := reader(in).Ago(0)
		require.Equal(t, want, got, in)
	}
	for in, want := range map[string][2]string{
		"today": {"2026-11-29", "2026-11-30"}, "yesterday": {"2026-11-28", "2026-11-29"}, "last week": {"2026-11-16", "2026-11-23"},
		"this month": {"2026-11-01", "2026-12-01"}, "2024": {"2024-01-01", "2025-01-01"}, "March": {"2026-03-01", "2026-04-01"},
		"December": {"2025-12-01", "2026-01-01"}, "March 2024": {"2024-03-01", "2024-04-01"}, "5 March 2024": {"2024-03-05", "2024-03-06"},
		"March 5, 2024": {"2024-03-05", "2024-03-06"}, "2024-01-31": {"2024-01-31", "2024-02-01"}, "31.12.2025": {"2025-12-31", "2026-01-01"},
		"monday": {"2026-11-23", "2026-11-24"}, "letzte Woche": {"2026-11-16", "2026-11-23"}, "上周": {"2026-11-16", "2026-11-23"},
		"2024年3月": {"2024-03-01", "2024-04-01"}, "2024-03": {"2024-03-01", "2024-04-01"}, "31 February": {"", ""}, "banana": {"", ""},
	} {
		from, to, n := reader(in).Period(0)
		if want[0] == "" {
			require.Zero(t, n, in)
			continue
		}
		require.Equal(t, want, [2]string{from.Format(time.DateOnly), to.Format(time.DateOnly)}, in)
	}
	for in, want := range map[string]string{"90 seconds": "00:01:30", "1h30m": "01:30:00", "00:05": "00:00:05", "1 minute 5 seconds": "00:01:05", "2.5s": "00:00:02.5", "3秒": "00:00:03"} {
		d, n := reader(in).Duration(0)
		require.Positive(t, n, in)
		require.Equal(t, want, Clock(d), in)
	}
}

func TestMonthsBackStaysInTheMonth(t *testing.T) {
	// The 31st minus one month must not run over into the next.
	r := Reader{Tokens: Tokenize("a month"), Now: time.Date(2026, 3, 31, 9, 0, 0, 0, time.UTC)}
	got, _ := r.Ago(0)
	require.Equal(t, "2026-02-28", got)
}

func TestSharedVocabularyLoads(t *testing.T) {
	v, err := readShared()
	require.NoError(t, err)
	for _, lang := range Languages {
		f := v.files[lang]
		require.Len(t, f.Months, 12, lang)
		require.Len(t, f.Weekdays, 7, lang)
		for _, r := range []Role{In, From, To, Except, And, Then, Not, Them, Folder, Files, Named} {
			require.NotEmpty(t, f.Roles[r], "%s has no %s", lang, r)
		}
		require.NotEmpty(t, f.Refuse, lang)
		for role, says := range f.Roles {
			for _, s := range says {
				_, err := parsePhrase(s)
				require.NoError(t, err, "%s %s %q", lang, role, s)
			}
		}
	}
}

func TestParseReportsEveryFaultWithItsLine(t *testing.T) {
	_, err := Parse([]byte("tools:\n  a: {en: [go]}\nverbs: {}\nphrases:\n  - set: {x: 1}\n  - en: [\"{y}\"]\n  - xx: [hm]\nroles: {nowhere: [a]}\n"), "lexicon.yaml")
	require.Error(t, err)
	for _, want := range []string{
		`lexicon.yaml:3: unknown key "verbs"`,
		`lexicon.yaml:5: an entry of phrases says nothing`,
		`lexicon.yaml:6: phrase "{y}": needs at least one word`,
		`lexicon.yaml:7: unknown key or language "xx"`,
		`lexicon.yaml:8: unknown role "nowhere"`,
	} {
		require.ErrorContains(t, err, want)
	}
}

func TestParseHostileText(t *testing.T) {
	for name, in := range map[string]string{
		"not yaml": "tools: [", "a list": "- a", "a scalar": "hello", "bombs": "a: &a [x,x]\nb: &b [*a,*a]\ntools: *b",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(in), "lexicon.yaml")
			require.Error(t, err)
		})
	}
	l, err := Parse(nil, "lexicon.yaml")
	require.NoError(t, err)
	require.NotNil(t, l)
}

func TestPhraseSyntax(t *testing.T) {
	for in, why := range map[string]string{
		"":                 "is empty",
		"{size}":           "at least one word",
		"ab*":              "three letters",
		"over {size":       "no closing brace",
		"over {}":          "names no argument",
		"over {x:banana}":  "unknown kind",
		"over {a..b:size}": "only the kinds period, named, clocks and dimensions",
		"... over":         "may not begin or end",
		"a? b? c? d? e? f": "more than four",
	} {
		_, err := parsePhrase(in)
		require.ErrorContains(t, err, why, in)
	}
}

const contract = `
pack:
  description: Pack things.
  keywords: [pack]
  required_args: [input]
  optional_args: [big, level, before]
  arg_schemas:
    input: {type: string, path_role: input}
    big: {type: size}
    before: {type: date}
    level: {type: enum, enum: [low, high]}
`

func grammar(t *testing.T, lex string) *Grammar {
	t.Helper()
	r, err := registry.Parse([]byte(contract), registry.Options{File: "tools.yaml"})
	require.NoError(t, err)
	l, err := Parse([]byte(lex), "lexicon.yaml")
	require.NoError(t, err)
	require.Empty(t, l.Check(r, "lexicon.yaml"))
	return New(l, r)
}

func TestMatch(t *testing.T) {
	g := grammar(t, `
tools: {pack: {en: ["make ... parcel", wrap], de: [verpack*]}}
values: {level: {high: {en: [strong]}}}
phrases:
  - en: ["over|above {big}", "at the? most {big}"]
  - en: ["older than {before:ago}"]
  - {en: ["really strong!"], set: {level: high}}
`)
	for name, c := range map[string]struct {
		in   string
		want map[string]any // what the best match of each argument fills
	}{
		"slot":           {"files over 5 MB", map[string]any{"big": "5MB"}},
		"alternative":    {"above 5MB", map[string]any{"big": "5MB"}},
		"optional word":  {"at most 5MB", map[string]any{"big": "5MB"}},
		"filler between": {"older than the 30 days", map[string]any{"before": "2026-10-30"}},
		"wrong type":     {"over 30 days", map[string]any{}},
		"quoted":         {`"over" 5 MB`, map[string]any{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string]any{}
			for _, m := range g.Find(Tokenize(c.in), now) {
				for _, f := range m.Filled {
					got[f.Arg] = f.Value
				}
			}
			require.Equal(t, c.want, got)
		})
	}
	verbs := func(in string) int {
		n := 0
		for _, m := range g.Find(Tokenize(in), now) {
			if m.Meaning == Verb && m.Skill && m.Weight == 1 {
				n++
			}
		}
		return n
	}
	require.Equal(t, 1, verbs("make a big nice parcel"), "a gap")
	require.Equal(t, 0, verbs("make it. a parcel"), "a gap ends with the sentence")
	require.Equal(t, 1, verbs("verpacke das"), "a prefix")
	require.Equal(t, 0, verbs("wraps"), "verbs have no plural")
}

func TestCheckFindsWhatDoesNotExist(t *testing.T) {
	r, err := registry.Parse([]byte(contract), registry.Options{File: "tools.yaml"})
	require.NoError(t, err)
	l, err := Parse([]byte(`
tools: {unpack: {en: [x]}}
values: {level: {medium: {en: [mid]}}}
phrases:
  - {en: [nothing at all]}
  - {en: ["under {small}"]}
roles: {place: [folder, pack.nope]}
default: gone
`), "lexicon.yaml")
	require.NoError(t, err)
	require.Len(t, l.Check(r, "lexicon.yaml"), 7)
}

func TestCorrect(t *testing.T) {
	g := grammar(t, `tools: {pack: {en: [delete, wrap, wrath]}}`)
	verb := func(p *Phrase) bool { return p.Meaning == Verb }
	for in, want := range map[string]string{"delte": "delete", "dleete": "delete", "delette": "delete", "banana": "", "wrat": "", "delete": ""} {
		require.Equal(t, want, g.Correct(in, verb), in)
	}
}

// The lexicon that ships is one that lint accepts.
func TestShippedLexiconsHold(t *testing.T) {
	for _, dir := range []string{"../../skills/files"} {
		tools, err := os.ReadFile(dir + "/tools.yaml")
		require.NoError(t, err)
		r, err := registry.Parse(tools, registry.Options{File: "tools.yaml"})
		require.NoError(t, err)
		data, err := os.ReadFile(dir + "/lexicon.yaml")
		require.NoError(t, err)
		l, err := Parse(data, "lexicon.yaml")
		require.NoError(t, err)
		require.Empty(t, l.Check(r, "lexicon.yaml"))
	}
}

func BenchmarkTokenize(b *testing.B) {
	b.ReportAllocs()
	buf := make([]Token, 0, 32)
	for b.Loop() {
		buf = AppendTokens(buf[:0], "move all the photos larger than 10 MB from camera to archive/2026")
	}
}
