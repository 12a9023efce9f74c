package schema_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
	"stepbox.dev/host/plan"
	"stepbox.dev/host/planner/schema"
	"stepbox.dev/host/registry"
	"stepbox.dev/host/skill"
)

// compile reads a schema the way a server would.
func compile(t testing.TB, tools []*registry.Tool) *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.For(tools)))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("plan.json", doc))
	s, err := c.Compile("plan.json")
	require.NoError(t, err)
	return s
}

func public(r *registry.Registry) []*registry.Tool {
	return slices.DeleteFunc(slices.Clone(r.Tools()), func(t *registry.Tool) bool { return t.Internal })
}

// document is a plan as a server's validator sees it.
func document(t testing.TB, calls []abi.Call) any {
	text, err := json.Marshal(map[string]any{"plan": calls})
	require.NoError(t, err)
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	return v
}

const contract = `
act:
  description: Act.
  required_args: [mode]
  any_of_args: [one, many]
  arg_schemas:
    mode: {type: enum, enum: [fast, 'slow"er']}
    one: {type: string, path_role: input}
    many: {type: array, items: string, max: 3}
    from: {type: array, items: string, path_role: input}
    count: {type: integer, min: 1, max: 9}
    ratio: {type: number, min: 0.5}
    kinds: {type: array, items: enum, enum: [a, b], min: 1}
    size: {type: size}
    before: {type: date}
    wait: {type: duration}
    dry: {type: boolean}
    more: {type: object}
    level: {type: string, pattern: '(?i)[0-9]+db', help: "like 3dB"}
  optional_args: [anything]
look:
  description: Look.
  readonly: true
hidden:
  description: Hidden.
  internal: true
`

// The schema and the validation say the same about a plan, so that a server
// that honours the schema and one that does not lead to the same plans.
func TestAgreesWithValidation(t *testing.T) {
	r, err := registry.Parse([]byte(contract), registry.Options{})
	require.NoError(t, err)
	s := compile(t, public(r))
	for text, valid := range map[string]bool{
		`[{"tool":"look","args":{}}]`: true,
		`[{"tool":"look","args":{},"output":"$x"},{"tool":"act","args":{"mode":"fast","one":"$x.name"}}]`:                                                                                                                      true,
		`[{"tool":"look","args":{},"output":"$x"},{"tool":"act","args":{"mode":"fast","one":"a","count":"$x.n","many":["$x.a","b"],"dry":"$x.d"}}]`:                                                                            true,
		`[{"tool":"act","args":{"mode":"slow\"er","many":["a"]}}]`:                                                                                                                                                             true,
		`[{"tool":"act","args":{"mode":"fast","one":"a","many":["a","b","c"],"count":9,"ratio":0.5,"kinds":["a"],"size":"10MiB","before":"2026-01-31","wait":"1h30m0s","dry":true,"more":{"x":[1]},"anything":[{"a":null}]}}]`: true,
		`[{"tool":"act","args":{"mode":"fast","one":"a","before":"2026-01-31T10:00:00+02:00","size":"12"}}]`:                                                                                                                   true,
		`[{"tool":"clarify","args":{"question":"Which?"}}]`:                                                                                                                                                                    true,
		`[{"tool":"clarify","args":{}}]`:                                    false,
		`[]`:                                                                false,
		`[{"tool":"hidden","args":{}}]`:                                     false,
		`[{"tool":"lok","args":{}}]`:                                        false,
		`[{"tool":"look","args":{"x":1}}]`:                                  false,
		`[{"tool":"look","args":{},"output":"$a b"}]`:                       false,
		`[{"tool":"act","args":{"mode":"fast"}}]`:                           false,
		`[{"tool":"act","args":{"one":"a"}}]`:                               false,
		`[{"tool":"act","args":{"mode":"quick","one":"a"}}]`:                false,
		`[{"tool":"act","args":{"mode":"fast","one":""}}]`:                  false,
		`[{"tool":"act","args":{"mode":"fast","many":["a","b","c","d"]}}]`:  false,
		`[{"tool":"act","args":{"mode":"fast","one":"a","from":[]}}]`:       false,
		`[{"tool":"act","args":{"mode":"fast","one":"a","from":["b"]}}]`:    true,
		`[{"tool":"act","args":{"mode":"fast","one":"a","count":0}}]`:       false,
		`[{"tool":"act","args":{"mode":"fast","one":"a","count":10}}]`:      false,
		`[{"tool":"act","args":{"mode":"fast","one":"a","count":1.5}}]`:     false,
		`[{"tool":"act","args":{"mode":"fast","one":"a","ratio":0.4}}]`:     false,
		`[{"tool":"act","args":{"mode":"fast","one":"a","kinds":[]}}]`:      false,
		`[{"tool":"act","args":{"mode":"fast","one":"a","kinds":["c"]}}]`:   false,
		`[{"tool":"act","args":{"mode":"fast","one":"a","size":"big"}}]`:    false,
		`[{"tool":"act","args":{"mode":"fast","one":"a","before":"soon"}}]`: false,
		`[{"tool":"act","args":{"mode":"fast","one":"a","wait":"-1h"}}]`:    false,
		`[{"tool":"act","args":{"mode":"fast","one":"a","dry":"perhaps"}}]`: false,
		`[{"tool":"act","args":{"mode":"fast","one":"a","more":[]}}]`:       false,
	} {
		t.Run(text, func(t *testing.T) {
			d, err := plan.Parse([]byte(`{"plan":` + text + `}`))
			require.NoError(t, err)
			d = plan.Normalize(d, r, plan.Paths{})
			_, err = plan.Validate(d, r)
			require.Equal(t, valid, err == nil, "validation: %v", err)
			require.Equal(t, valid, s.Validate(document(t, d.Calls())) == nil, "schema: %v", s.Validate(document(t, d.Calls())))
		})
	}
}

// A pattern of a contract is an expression that a server may read otherwise or not
// at all: only the validation holds to it.
func TestPatternsAreLeftToValidation(t *testing.T) {
	r, err := registry.Parse([]byte(contract), registry.Options{})
	require.NoError(t, err)
	require.NotContains(t, string(schema.For(r.Tools())), "(?i)")
	d, err := plan.Parse([]byte(`{"plan":[{"tool":"act","args":{"mode":"fast","one":"a","level":"loud"}}]}`))
	require.NoError(t, err)
	d = plan.Normalize(d, r, plan.Paths{})
	require.NoError(t, compile(t, public(r)).Validate(document(t, d.Calls())))
	_, err = plan.Validate(d, r)
	require.ErrorContains(t, err, "level")
}

// A model writes in the order of the schema: it must have chosen the tool
// before it writes its arguments.
func TestToolComesFirst(t *testing.T) {
	r, err := registry.Parse([]byte(contract), registry.Options{})
	require.NoError(t, err)
	text := string(schema.For(r.Tools()))
	require.Less(t, strings.Index(text, `"tool":{"const":"act"}`), strings.Index(text, `"args":{`))
	require.Less(t, strings.Index(text, `"mode":{`), strings.Index(text, `"one":{`))
	require.True(t, json.Valid([]byte(text)))
}

// Each reference contract's schema takes the plans that its author wrote, and
// none of them with an unknown tool or argument. (The peer's ffmpeg contract
// contradicts itself in one value, which schema and validation both refuse.)
func TestReferenceContracts(t *testing.T) {
	shared := os.Getenv("STEPBOX_SHARED")
	if shared == "" {
		t.Skip("STEPBOX_SHARED is not set")
	}
	for _, name := range []string{"ffmpeg", "documents", "io"} {
		t.Run(name, func(t *testing.T) {
			s, err := skill.Load(filepath.Join(shared, "reference-skills", name), skill.Options{})
			require.NoError(t, err)
			r := s.Registry()
			compiled := compile(t, public(r))
			f, err := os.Open(filepath.Join(shared, "corpora", name, "train.jsonl"))
			require.NoError(t, err)
			defer f.Close()
			rows := 0
			lines := bufio.NewScanner(f)
			for lines.Scan() {
				var row struct{ Plan json.RawMessage }
				require.NoError(t, json.Unmarshal(lines.Bytes(), &row))
				d, err := plan.Parse(row.Plan)
				require.NoError(t, err)
				d = plan.Normalize(d, r, plan.Paths{})
				rows++
				_, invalid := plan.Validate(d, r)
				require.Equal(t, invalid == nil, compiled.Validate(document(t, d.Calls())) == nil,
					"row %d: %v, %v", rows, invalid, compiled.Validate(document(t, d.Calls())))
				if d.Calls()[0].Args["container"] == "gif" { // the peer's contract does not list it, and its corpus asks for it
					require.Error(t, invalid)
					continue
				}
				require.NoError(t, invalid, "row %d", rows)
				for what, calls := range mutations(d.Calls()) {
					err := compiled.Validate(document(t, calls))
					require.Error(t, err, "row %d, %s", rows, what)
					var refused *jsonschema.ValidationError
					require.True(t, errors.As(err, &refused))
				}
			}
			require.NoError(t, lines.Err())
			require.Greater(t, rows, 30)
		})
	}
}

// mutations are plans that no schema may take.
func mutations(calls []abi.Call) map[string][]abi.Call {
	tool, arg := slices.Clone(calls), slices.Clone(calls)
	tool[0].Tool += "_x"
	arg[0].Args = map[string]any{"no_such_argument": "x"}
	for k, v := range calls[0].Args {
		arg[0].Args[k] = v
	}
	return map[string][]abi.Call{"an unknown tool": tool, "an unknown argument": arg, "no calls": {}}
}

func BenchmarkSchema30Tools(b *testing.B) {
	var contract strings.Builder
	for i := range 30 {
		fmt.Fprintf(&contract, `
tool_%d:
  description: A tool.
  required_args: [path]
  any_of_args: [items, pattern]
  arg_schemas:
    path: {type: array, items: string, path_role: input}
    items: {type: array, items: string}
    pattern: {type: array, items: string}
    kind: {type: enum, enum: [image, video, audio, document, archive, log, config, text]}
    limit: {type: integer, min: 1, max: 1000}
    before: {type: date}
    after: {type: date}
    bigger: {type: size}
    smaller: {type: size}
    order: {type: enum, enum: [asc, desc]}
`, i)
	}
	r, err := registry.Parse([]byte(contract.String()), registry.Options{})
	require.NoError(b, err)
	size := len(schema.For(r.Tools()))
	b.ReportMetric(float64(size), "bytes")
	b.ResetTimer()
	for b.Loop() {
		schema.For(r.Tools())
	}
}
