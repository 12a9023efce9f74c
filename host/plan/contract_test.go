package plan

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"stepbox.dev/abi"
	"stepbox.dev/host/registry"
)

// testTools has an argument of every type.
const testTools = `
act:
  description: Do something
  arg_aliases: {where: path, goal: dst}
  optional_args: [note]
  safety_category: destructive
  arg_schemas:
    path: {type: array, items: string, path_role: input, max: 4}
    dst: {type: string, path_role: output}
    title: {type: string}
    level: {type: string, pattern: '[+-]?[0-9]+dB', help: "like -3dB"}
    count: {type: integer, min: 1, max: 10}
    speed: {type: number, min: 0.5}
    keep: {type: boolean}
    kind: {type: enum, enum: [small_file, high quality, x], aliases: {tiny: small_file, BEST: high quality}}
    kinds: {type: array, items: enum, enum: [image, video], aliases: {photos: image}}
    size: {type: size}
    day: {type: date}
    time: {type: duration}
    object: {type: object}
ready:
  description: Act with defaults
  defaults: {speed: "2", keep: "no", kind: tiny, path: inbox/}
  arg_schemas:
    path: {type: array, items: string, path_role: input}
    speed: {type: number}
    keep: {type: boolean}
    kind: {type: enum, enum: [small_file], aliases: {tiny: small_file}}
look:
  description: Look
  required_args: [input]
  readonly: true
  arg_schemas: {input: {type: string, path_role: input}}
look_all:
  description: Look at all
  required_args: [inputs]
  readonly: true
  arg_schemas: {inputs: {type: array, items: string, path_role: input}}
make:
  description: Make a file
  any_of_args: [text, from]
  optional_args: [output]
  arg_schemas: {text: {type: string}, from: {type: string, path_role: input}}
inner:
  description: Inside
  internal: true
  readonly: true
  optional_args: [data]
`

func testRegistry(t testing.TB) *registry.Registry {
	r, err := registry.Parse([]byte(testTools), registry.Options{File: "tools.yaml"})
	require.NoError(t, err)
	return r
}

// draftOf parses a plan that must parse.
func draftOf(t testing.TB, text string) Draft {
	d, err := Parse([]byte(text))
	require.NoError(t, err)
	return d
}

func encoded(t testing.TB, calls []abi.Call) string {
	b, err := json.Marshal(map[string]any{"plan": calls})
	require.NoError(t, err)
	return string(b)
}
