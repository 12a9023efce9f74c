package plan

import (
	"testing"

	"github.com/stretchr/testify/require"
	"stepbox.dev/abi"
	"stepbox.dev/host/registry"
)

const benchTools = `
tidy_files:
  description: Tidy a folder
  required_args: [path]
  optional_args: [by, file_type, min_size, older, recursive, limit, dst]
  arg_aliases: {folder: path}
  defaults: {by: type, recursive: true}
  safety_category: destructive
  arg_schemas:
    path: {type: array, items: string, path_role: input}
    by: {type: enum, enum: [type, extension, year, month], aliases: {kind: type}}
    file_type: {type: array, items: enum, enum: [image, video, text]}
    min_size: {type: size}
    recursive: {type: boolean}
    limit: {type: integer, min: 1}
    dst: {type: string, path_role: output}
scan:
  description: Look
  internal: true
  readonly: true
  required_args: [path]
  optional_args: [recursive]
  arg_schemas:
    path: {type: array, items: string, path_role: input}
    recursive: {type: boolean}
arrange:
  description: Put files in their place
  internal: true
  safety_category: destructive
  required_args: [items, dst]
  arg_schemas:
    items: {type: array, items: string, path_role: input}
    dst: {type: string, path_role: output}
`

const benchPlan = `{"plan":[{"tool":"tidy_files","args":{"folder":"./downloads/","by":"Kind","file_type":"image","limit":"5","min_size":"10 mb"},"output":"$done"}]}`

// expandNatively stands for what the guest does: one intent into eight calls.
func expandNatively(c abi.Call) []abi.Call {
	calls := make([]abi.Call, 0, 8)
	calls = append(calls, abi.Call{Tool: "scan", Args: map[string]any{"path": c.Args["path"], "recursive": true}, Output: "$found"})
	for _, dst := range [...]string{"downloads/image", "downloads/video", "downloads/text", "downloads/audio", "downloads/code", "downloads/log"} {
		calls = append(calls, abi.Call{Tool: "arrange", Args: map[string]any{"items": "$found.paths", "dst": dst}})
	}
	return append(calls, abi.Call{Tool: "scan", Args: map[string]any{"path": []any{"downloads"}}})
}

// BenchmarkPipeline takes one request's plan from text to a program of eight
// calls, with everything but the guest in between.
func BenchmarkPipeline(b *testing.B) {
	r, err := registry.Parse([]byte(benchTools), registry.Options{File: "tools.yaml"})
	require.NoError(b, err)
	text := []byte(benchPlan)
	intents := make([]int, 8)
	once := func() Program {
		d, err := Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		v, err := Validate(Normalize(d, r, Paths{Sandbox: "/home/someone/files", Home: "/home/someone", Work: "/home/someone"}), r)
		if err != nil {
			b.Fatal(err)
		}
		expanded := Normalize(NewDraft(expandNatively(v.Calls()[0])), r, Paths{})
		p, err := NewProgram(v, expanded.Calls(), intents)
		if err != nil {
			b.Fatal(err)
		}
		return Optimize(p)
	}
	require.Len(b, once().Calls(), 8)
	b.Run("undigested", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			once()
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "plans/s")
	})
	b.Run("digested", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			once().Digest()
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "plans/s")
	})
}

func BenchmarkParse(b *testing.B) {
	text := []byte(benchPlan)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}
