package plan

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"stepbox.dev/host/fault"
)

func TestParseFindsThePlan(t *testing.T) {
	const one = `{"plan":[{"tool":"look","args":{"n":1.10},"output":"$v"}]}`
	for name, text := range map[string]string{
		"alone": one, "with spaces": " \n" + one + "\t\n", "after a byte order mark": "\xef\xbb\xbf" + one,
		"in a fence":                  "```json\n" + one + "\n```",
		"in prose":                    "Here is {the plan}: " + one + " Anything {else}?",
		"after thinking":              "<think>{\"plan\":[]} or {\"plan\":[{}]}…</think>\n" + one,
		"after thinking without head": "so {\"plan\":[]} …</think>" + one,
		"said twice":                  one + "\nAgain:\n" + one,
		"after another object":        `{"a":{"b":[1]}} ` + one,
		"after half an object":        `{"plan":[{"tool": ` + one,
	} {
		t.Run(name, func(t *testing.T) {
			d, err := Parse([]byte(text))
			require.NoError(t, err)
			require.Len(t, d.Calls(), 1)
			require.Equal(t, "look", d.Calls()[0].Tool)
			require.Equal(t, json.Number("1.10"), d.Calls()[0].Args["n"])
			require.Equal(t, "$v", d.Calls()[0].Output)
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, wrong string }{
		{"nothing", "", "empty"},
		{"prose", "I would move the files.", "no plan in the text"},
		{"an unfinished thought", `<think>{"plan":[]}`, "no plan in the text"},
		{"a list", `[{"tool":"look"}]`, "a list"},
		{"no plan", `{"plans":[]}`, `unknown key "plans"; did you mean "plan"?`},
		{"plan is no list", `{"plan":{}}`, "must be a list"},
		{"other keys", `{"plan":[],"note":1}`, `unknown key "note"`},
		{"a call that is none", `{"plan":[1]}`, "/plan/0 must be a call"},
		{"a call without tool", `{"plan":[{"args":{}}]}`, `must name its "tool"`},
		{"misspelt key", `{"plan":[{"tool":"x","arg":{}}]}`, `did you mean "args"?`},
		{"args of another type", `{"plan":[{"tool":"x","args":[]}]}`, `object under "args", not a list`},
		{"output of another type", `{"plan":[{"tool":"x","args":{},"output":1}]}`, `variable under "output"`},
		{"duplicate key", `{"plan":[{"tool":"x","args":{"a":1,"a":2}}]}`, `line 1, column 36: key "a" is given twice`},
		{"duplicate key by an escape", `{"plan":[{"tool":"x","args":{"a":1,"\u0061":2}}]}`, `key "a" is given twice`},
		{"duplicate plan", `{"plan":[],"plan":[]}`, `key "plan" is given twice`},
		{"trailing comma", "{\n\"plan\":[],\n}", "line 3, column 1"},
		{"half a surrogate pair", `{"plan":[{"tool":"\ud800"}]}`, "surrogate"},
		{"invalid UTF-8", "{\"plan\":[{\"tool\":\"\xff\"}]}", "UTF-8"},
		{"control character", "{\"plan\":[{\"tool\":\"a\x01\"}]}", "control character"},
		{"too deep", `{"plan":[{"tool":"x","args":{"a":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}}]}`, "levels deep"},
		{"a faulty plan in prose", "Sure: ```json\n{\"plan\":[{\"tool\":\"x\",\"tool\":\"y\"}]}\n```", `key "tool" is given twice`},
		{"two plans after prose", `Either {"plan":[]} or {"plan":[{"tool":"x"}]}`, "more than one plan"},
		{"two plans", `{"plan":[]} or {"plan":[{"tool":"x"}]}`, "more than one plan"},
		{"too long", strings.Repeat(" ", MaxBytes+1), "larger than"},
		{"too many calls", `{"plan":[` + strings.Repeat(`{"tool":"x"},`, MaxCalls) + `{"tool":"x"}]}`, "at most 1000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse([]byte(c.text))
			require.ErrorContains(t, err, c.wrong)
			require.Equal(t, fault.Usage, fault.Of(err))
		})
	}
}

// Text made to be read again and again must not take long.
func TestParseIsLinear(t *testing.T) {
	for name, text := range map[string]string{
		"open braces": strings.Repeat("{", MaxBytes), "open objects": strings.Repeat(`{"a":`, MaxBytes/5),
		"open lists": strings.Repeat(`{"a":[`, 60) + strings.Repeat("1,{},", MaxBytes/6), "open strings": strings.Repeat(`{"`, MaxBytes/2),
		"thoughts": strings.Repeat("<think></think>", MaxBytes/15),
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			_, err := Parse([]byte(text))
			require.Error(t, err)
			require.Less(t, time.Since(began), 5*time.Second)
		})
	}
}

// FuzzParse: what parses re-encodes and parses to the same calls and digest.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"plan":[{"tool":"a","args":{"b":[1,"$c",{"d":null}]},"output":"$e"}]}`))
	f.Add([]byte("<think>x</think>```{\"plan\":[]}```"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse([]byte(encodedPlan(d)))
		require.NoError(t, err)
		require.Equal(t, encodedPlan(d), encodedPlan(again))
	})
}

func encodedPlan(d Draft) string { return `{"plan":` + string(appendCalls(nil, d.calls)) + `}` }

// FuzzScan compares the scanner with encoding/json: what both accept is the
// same, and what only one accepts is for one of the reasons it exists for.
func FuzzScan(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-0.5e+3,true,false,null,"x\n\u00e9\ud83d\ude00"]}`, `{"a":1,"a":2}`, `"\ud800"`, "\"\xff\"", `01`, `1.`, `[,]`, `{}x`, `1e999`, ` "a" `,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := scanJSON(text)
		d := json.NewDecoder(strings.NewReader(string(text)))
		d.UseNumber()
		var theirs any
		accepted := json.Valid(text)
		if err != nil {
			if !accepted {
				return
			}
			message := err.Error()
			for _, reason := range []string{"given twice", "surrogate", "UTF-8", "levels deep", "too large"} {
				if strings.Contains(message, reason) {
					return
				}
			}
			t.Fatalf("refused for no reason: %v", err)
		}
		require.True(t, accepted)
		require.NoError(t, d.Decode(&theirs))
		require.Equal(t, theirs, v)
	})
}
