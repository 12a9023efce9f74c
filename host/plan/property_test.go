package plan

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"stepbox.dev/abi"
)

// randomValue makes values that plans hold, odd ones often.
func randomValue(r *rand.Rand, depth int) any {
	texts := []string{
		"", ".", "./a/", "../x", "~/y", "/home/ann/work/box/a", "box/b", `a\b`, "a//b", "$v", "$v.f", "$$v", "./$v", "$$v/../$w", "x/../$$v", "tiny", "High-Quality", "photos",
		"yes", "0", "3.0", "-1e2", "10 mb", "1.5GiB", "2026/1/2", "2 days", "90s", "Ünïcode имя 名", "007", ".5", "+3",
	}
	switch n := r.IntN(10); {
	case n < 5:
		return texts[r.IntN(len(texts))]
	case n == 5:
		return json.Number([]string{"0", "1", "-0", "2.50", "1e3", "123456789012345678901234567890", "0.1"}[r.IntN(7)])
	case n == 6:
		return r.IntN(2) == 0
	case n == 7 && depth < 3:
		m := map[string]any{}
		for range r.IntN(3) {
			m[texts[r.IntN(len(texts))]] = randomValue(r, depth+1)
		}
		return m
	case n >= 8 && depth < 3:
		list := make([]any, r.IntN(3))
		for i := range list {
			list[i] = randomValue(r, depth+1)
		}
		return list
	}
	return nil
}

func randomCalls(r *rand.Rand) []abi.Call {
	tools := []string{"act", "ready", "look", "look_all", "make", "inner", "nope", "clarify"}
	names := []string{
		"path", "dst", "title", "count", "speed", "keep", "kind", "kinds", "size", "day", "time", "object", "note", "where", "goal",
		"input", "inputs", "text", "from", "output", "data", "question", "candidates", "zzz",
	}
	calls := make([]abi.Call, 1+r.IntN(4))
	for i := range calls {
		calls[i] = abi.Call{Tool: tools[r.IntN(len(tools))], Args: map[string]any{}}
		for range r.IntN(8) {
			calls[i].Args[names[r.IntN(len(names))]] = randomValue(r, 0)
		}
		if r.IntN(3) == 0 {
			calls[i].Output = []string{"$v", "$w", "v", "$a.b"}[r.IntN(4)]
		}
	}
	return calls
}

func TestNormalizeIsIdempotent(t *testing.T) {
	r, reg := rand.New(rand.NewPCG(1, 2)), testRegistry(t)
	for range 10_000 {
		d := NewDraft(randomCalls(r))
		before := encodedPlan(d)
		once := Normalize(d, reg, testPaths)
		require.Equal(t, before, encodedPlan(d), "the input was changed")
		require.Equal(t, once.Calls(), Normalize(once, reg, testPaths).Calls(), "%s", before)
	}
}

// Key order is the only thing that the digest ignores.
func TestDigest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	digest := func(calls []abi.Call) Digest { return Program{calls: calls}.Digest() }
	for range 5_000 {
		calls := NewDraft(randomCalls(r)).Calls()
		text := encodedPlan(Draft{calls: calls})
		again, err := Parse([]byte(text))
		require.NoError(t, err)
		require.Equal(t, digest(calls), digest(again.Calls()), text)

		other := NewDraft(randomCalls(r)).Calls()
		same := encodedPlan(Draft{calls: other}) == text
		require.Equal(t, same, digest(calls) == digest(other))
	}
	base := `{"plan":[{"tool":"t","args":{"a":1,"b":["x","y"]}}]}`
	seen := map[Digest]string{digest(draftOf(t, base).Calls()): base}
	for _, text := range []string{
		`{"plan":[{"tool":"t","args":{"a":1,"b":["y","x"]}}]}`, `{"plan":[{"tool":"t","args":{"a":1.0,"b":["x","y"]}}]}`,
		`{"plan":[{"tool":"t","args":{"a":"1","b":["x","y"]}}]}`, `{"plan":[{"tool":"t","args":{"a":1,"b":["x","y"]},"output":"$v"}]}`,
		`{"plan":[{"tool":"u","args":{"a":1,"b":["x","y"]}}]}`, `{"plan":[{"tool":"t","args":{"a":1,"b":["xy"]}}]}`,
		`{"plan":[{"tool":"t","args":{"a":1,"b":["x","y"],"c":null}}]}`, `{"plan":[{"tool":"t","args":{"a":1,"b":["x","y"]}},{"tool":"t"}]}`,
	} {
		d := digest(draftOf(t, text).Calls())
		require.NotContains(t, seen, d, text)
		seen[d] = text
	}
	require.Equal(t, digest(draftOf(t, base).Calls()), digest(draftOf(t, `{"plan":[{"args":{"b":["x","y"],"a":1},"tool":"t"}]}`).Calls()))

	d := digest(draftOf(t, base).Calls())
	parsed, err := ParseDigest(d.String())
	require.NoError(t, err)
	require.Equal(t, d, parsed)
	_, err = ParseDigest("xyz")
	require.Error(t, err)
}

// What a person can observe of a program: the actions, in order, each with
// what its variables hold, and the results after the last action.
func TestOptimizeKeepsWhatCanBeObserved(t *testing.T) {
	r, reg := rand.New(rand.NewPCG(5, 6)), testRegistry(t)
	for range 2_000 {
		text, set := "", []string{}
		for i := range 1 + r.IntN(8) {
			word := []string{"look", "look", "act", "wait_for_confirmation"}[r.IntN(4)]
			if len(set) > 0 && r.IntN(2) == 0 {
				word += "<" + set[r.IntN(len(set))]
			}
			if r.IntN(2) == 0 {
				name := string(rune('a' + i))
				set, word = append(set, name), word+">"+name
			}
			text += word + " "
		}
		p := programWith(t, reg, text)
		require.Equal(t, observed(p), observed(Optimize(p)), text)
	}
}

// observed runs a program on paper: a look's value is made of what it looked
// at, an action's also of its place among the actions.
func observed(p Program) []string {
	values, actions, tail := map[string]string{}, []string{}, []string{}
	for _, c := range p.calls {
		t, _ := p.registry.Tool(c.Tool)
		value := c.Tool
		if list, ok := c.Args["x"].([]any); ok {
			name, _, _ := Reference(list[0].(string))
			value += "(" + values[name] + ")"
		}
		if !t.Readonly || t.Core {
			value += "#" + string(rune('0'+len(actions)))
			actions, tail = append(actions, value), tail[:0]
		} else {
			tail = append(tail, value)
		}
		values[c.Output] = value
	}
	return slices.Concat(actions, tail)
}
