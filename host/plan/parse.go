package plan

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stepbox.dev/abi"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/registry/nearest"
)

// Caps on a plan.
const (
	MaxBytes = 1 << 20 // of its text
	MaxCalls = 1000
)

// Parse reads {"plan":[…]} strictly: size cap, no duplicate keys, no unknown
// keys, numbers kept as json.Number. With text around it (a model's answer:
// <think> blocks, code fences, prose) it finds the one JSON object that holds a
// plan. Its errors are of kind fault.Usage.
func Parse(text []byte) (Draft, error) {
	if len(text) > MaxBytes {
		return Draft{}, fault.New(fault.Usage, "the plan is larger than %d KiB", MaxBytes>>10)
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	v, err := scanJSON(text)
	if err == nil {
		return draft(v)
	}
	found, broken := find(withoutThinking(string(text)))
	switch {
	case found != nil:
		return draft(found)
	case broken == severalPlans, broken != "" && bytes.TrimSpace(text)[0] != '{': // else the whole says it better, with its place
		return Draft{}, fault.New(fault.Usage, "%s", broken)
	}
	return Draft{}, notPlan(text, err)
}

// notPlan says why the text as a whole is no plan, with line and column when it
// looks like JSON at all.
func notPlan(text []byte, err error) error {
	trimmed := bytes.TrimSpace(text)
	if len(trimmed) == 0 {
		return fault.New(fault.Usage, "the plan is empty").Hint(`a plan looks like {"plan":[{"tool":"…","args":{…}}]}`)
	}
	var s *syntaxError
	if trimmed[0] != '{' || !errors.As(err, &s) {
		return fault.New(fault.Usage, "no plan in the text: it holds no JSON object with a %q", "plan").
			Hint(`a plan looks like {"plan":[{"tool":"…","args":{…}}]}`)
	}
	before := text[:min(s.at, len(text))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := 1 + len([]rune(string(before[bytes.LastIndexByte(before, '\n')+1:])))
	return fault.New(fault.Usage, "the plan is not valid JSON: line %d, column %d: %s", line, column, s.message)
}

// withoutThinking drops what a model thought aloud before it answered. A block
// that never ends leaves nothing.
func withoutThinking(text string) string {
	const begin, end = "<think>", "</think>"
	if i := strings.LastIndex(text, end); i >= 0 { // some models leave out the beginning
		text = text[i+len(end):]
	}
	if i := strings.Index(text, begin); i >= 0 {
		text = text[:i]
	}
	return text
}

const severalPlans = "the text holds more than one plan"

// find returns the one JSON object in the text that has a "plan", nil when
// there is none. The same plan twice counts as one; different ones are broken,
// because choosing between them is not for a parser. With none, broken says
// what is wrong with the first that was meant to be one.
func find(text string) (found any, broken string) {
	// Every attempt at an opening brace may read on to the end of the text, so
	// all attempts together have a budget.
	budget := 4*len(text) + 1<<12
	for at := 0; budget > 0; {
		i := strings.IndexByte(text[at:], '{')
		if i < 0 {
			break
		}
		at += i
		s := scanner{text: text, at: at}
		v, err := s.value(0)
		budget -= s.at - at
		if err != nil {
			at++
			if broken == "" && strings.HasPrefix(strings.TrimLeft(text[at:min(len(text), at+64)], " \t\r\n"), `"plan"`) {
				broken = "the plan is not valid JSON: " + err.Error()
			}
			continue
		}
		at = s.at
		m, ok := v.(map[string]any)
		if _, has := m["plan"]; !ok || !has {
			continue
		}
		if found != nil && !bytes.Equal(appendValue(nil, found), appendValue(nil, v)) {
			return nil, severalPlans
		}
		found = v
	}
	if found != nil {
		return found, ""
	}
	return nil, broken
}

// draft turns the document into calls. All faults of shape are told at once.
func draft(v any) (Draft, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return Draft{}, fault.New(fault.Usage, "a plan is an object with a list under %q, not %s", "plan", typeName(v))
	}
	var p shape
	p.keys(nil, m, "plan")
	list, ok := m["plan"].([]any)
	switch {
	case !ok && m["plan"] == nil:
		p.add(nil, `there is no "plan"`)
	case !ok:
		p.add(&pointer{name: "plan"}, "must be a list of calls, not %s", typeName(m["plan"]))
	case len(list) > MaxCalls:
		p.add(&pointer{name: "plan"}, "has %d calls; at most %d are allowed", len(list), MaxCalls)
		list = nil
	}
	calls := make([]abi.Call, len(list))
	root := &pointer{name: "plan"}
	for i, e := range list {
		calls[i] = p.call(&pointer{up: root, index: i}, e)
	}
	if len(p.faults) > 0 {
		return Draft{}, fault.New(fault.Usage, "the plan has the wrong shape: %s", strings.Join(p.faults, "; "))
	}
	return Draft{calls: calls, ok: true}, nil
}

// shape collects what is wrong with a document before it is a plan.
type shape struct{ faults []string }

func (p *shape) add(at *pointer, format string, args ...any) {
	if len(p.faults) == 20 {
		return
	}
	text := fmt.Sprintf(format, args...)
	if at != nil {
		text = at.String() + " " + text
	}
	p.faults = append(p.faults, text)
}

func (p *shape) keys(at *pointer, m map[string]any, known ...string) {
	n := 0
	for _, k := range known {
		if _, ok := m[k]; ok {
			n++
		}
	}
	if n == len(m) {
		return
	}
	for _, k := range sortedKeys(m) {
		if !slices.Contains(known, k) {
			p.add(at, "has an unknown key %q%s", k, nearest.Hint(k, known))
		}
	}
}

func (p *shape) call(at *pointer, v any) (c abi.Call) {
	m, ok := v.(map[string]any)
	if !ok {
		p.add(at, "must be a call, not %s", typeName(v))
		return c
	}
	p.keys(at, m, "tool", "args", "output")
	if c.Tool, ok = m["tool"].(string); !ok {
		p.add(at, `must name its "tool"`)
	}
	switch args := m["args"].(type) {
	case map[string]any:
		c.Args = args
	default:
		if _, given := m["args"]; given {
			p.add(at, `must have an object under "args", not %s`, typeName(m["args"]))
		}
		c.Args = map[string]any{}
	}
	if output, given := m["output"]; given && output != nil {
		if c.Output, ok = output.(string); !ok {
			p.add(at, `must have a variable under "output", not %s`, typeName(output))
		}
	}
	return c
}
