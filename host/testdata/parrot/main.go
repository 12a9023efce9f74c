// Command parrot is a guest without the SDK: it answers the very bytes that its
// arguments hold, so that a test can put any answer behind every wall there is.
package main

import (
	"encoding/json"
	"os"
	"path"
	"strings"

	pdk "github.com/extism/go-pdk"

	"stepbox.dev/abi"
)

func main() {}

type request struct {
	Tool string `json:"tool"`
	Args struct {
		Raw    string `json:"raw"`
		Times  int    `json:"times"`
		Path   string `json:"path"`
		Where  string `json:"where"`
		Output string `json:"output"`
		Dst    string `json:"dst"`
	} `json:"args"`
}

// input reads a request. What it cannot read is an empty one.
func input() request {
	var r request
	_ = json.Unmarshal(pdk.Input(), &r)
	return r
}

//go:wasmexport stepbox_describe
func describe() int32 {
	text := abi.ArgSchema{Type: abi.TypeString, Required: true}
	in, out := text, text
	in.PathRole, out.PathRole = abi.RoleInput, abi.RoleOutput
	said := map[string]abi.ArgSchema{"raw": text, "times": {Type: abi.TypeInteger}}
	path := map[string]abi.ArgSchema{"path": in}
	d := abi.Description{ABI: abi.Version, SDK: "none", Tools: []abi.ToolDescription{
		{Name: "look", Kind: abi.KindIntent, Args: said},
		{Name: "add", Kind: abi.KindIntent, Args: said},
		{Name: "change", Kind: abi.KindIntent, Args: said},
		{Name: "say", Kind: abi.KindStep, Args: said},
		{Name: "read", Kind: abi.KindStep, Args: path},
		{Name: "peek", Kind: abi.KindStep, Args: map[string]abi.ArgSchema{"where": text}},
		{Name: "copy", Kind: abi.KindStep, Args: map[string]abi.ArgSchema{"path": in, "output": out}},
		{Name: "keep", Kind: abi.KindStep, Args: map[string]abi.ArgSchema{"path": in, "dst": out}},
		{Name: "wipe", Kind: abi.KindStep, Args: path},
	}}
	b, err := json.Marshal(d)
	if err != nil {
		return 1
	}
	pdk.Output(b)
	return 0
}

// stepbox_expand answers raw, or a plan that holds it so many times. %SELF% in
// it is raw itself as JSON: a plan without end.
//
//go:wasmexport stepbox_expand
func expand() int32 {
	r := input()
	raw := r.Args.Raw
	if quoted, err := json.Marshal(raw); err == nil {
		raw = strings.ReplaceAll(raw, "%SELF%", string(quoted))
	}
	if n := r.Args.Times; n > 0 {
		raw = `{"plan":[` + strings.Repeat(raw+",", n-1) + raw + `]}`
	}
	pdk.Output([]byte(raw))
	return 0
}

//go:wasmexport stepbox_step
func step() int32 {
	r := input()
	answer := func(v any, err error) int32 {
		if err != nil {
			pdk.SetErrorString((&abi.Error{Code: abi.CodeFailed, Message: err.Error()}).JSON())
			return 1
		}
		b, err := json.Marshal(map[string]any{"result": v})
		if err != nil {
			return 1
		}
		pdk.Output(b)
		return 0
	}
	switch r.Tool {
	case "read":
		b, err := os.ReadFile(r.Args.Path)
		return answer(string(b), err)
	case "peek":
		b, err := os.ReadFile(r.Args.Where)
		return answer(string(b), err)
	case "copy":
		return answer(r.Args.Output, copyTo(r.Args.Output, r.Args.Path))
	case "keep":
		return answer(r.Args.Dst, copyTo(path.Join(r.Args.Dst, path.Base(r.Args.Path)), r.Args.Path))
	case "wipe":
		return answer(true, os.Remove(r.Args.Path))
	}
	pdk.Output([]byte(strings.Repeat(r.Args.Raw, max(1, r.Args.Times))))
	return 0
}

func copyTo(to, from string) error {
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(path.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, b, 0o644)
	}
	return err
}
