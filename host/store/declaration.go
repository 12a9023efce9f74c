package store

import (
	"fmt"
	"strings"

	"stepbox.dev/host/skill"
)

// Declaration is what a bundle says that it may do; the host holds it to that.
type Declaration struct {
	Tools        []Tool   `json:"tools"`
	Engines      []Engine `json:"engines"`
	Limits       Limits   `json:"limits"`
	WasmFeatures []string `json:"wasm_features"`
	Licence      string   `json:"licence"`
}

// Tool is one tool. May is none, read, create or write.
type Tool struct {
	Name string `json:"name"`
	May  string `json:"may"`
}

// Engine is an engine that a skill may run, by the SHA-256 of its module.
type Engine struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
}

// Limits are what the bundle asks for. 0 means the host's default.
type Limits struct {
	MemoryMB    int `json:"memory_mb,omitempty"`
	StepSeconds int `json:"step_seconds,omitempty"`
	OutputMB    int `json:"output_mb,omitempty"`
	Files       int `json:"files,omitempty"`
}

func declaredBySkill(s *skill.Skill) Declaration {
	d := Declaration{Tools: []Tool{}, Engines: []Engine{}, Limits: Limits(s.Limits()), WasmFeatures: append([]string{}, s.WasmFeatures()...), Licence: s.Licence()}
	for _, t := range s.Registry().Tools() {
		if !t.Core {
			d.Tools = append(d.Tools, Tool{t.Name, t.Mode().String()})
		}
	}
	for _, e := range s.Engines() {
		d.Engines = append(d.Engines, Engine{e.Name, e.Digest})
	}
	return d
}

func declaredByEngine(e *skill.EngineBundle) Declaration {
	return Declaration{
		Tools: []Tool{}, Engines: []Engine{}, Limits: Limits(e.Limits()),
		WasmFeatures: append([]string{}, e.WasmFeatures()...), Licence: e.Licence(),
	}
}

// Difference is one thing that an update changes. Before or After is "" when
// it was not there, or is there no more.
type Difference struct {
	What   string `json:"what"` // tool, engine, limit, feature, licence, version, signer
	Name   string `json:"name"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// differences lists what an update changes, what only the new one has included.
func differences(from, to Entry) []Difference {
	var out []Difference
	add := func(what, name, before, after string) {
		if before != after {
			out = append(out, Difference{what, name, before, after})
		}
	}
	add("version", to.Name, from.Version, to.Version)
	add("signer", to.Name, who(from.Signer), who(to.Signer))
	each := func(what string, before, after []named) {
		was := map[string]string{}
		for _, n := range before {
			was[n.name] = n.value
		}
		is := map[string]bool{}
		for _, n := range after {
			is[n.name] = true
			add(what, n.name, was[n.name], n.value)
		}
		for _, n := range before {
			if !is[n.name] {
				add(what, n.name, n.value, "")
			}
		}
	}
	each("tool", from.Declares.tools(), to.Declares.tools())
	each("engine", from.Declares.engines(), to.Declares.engines())
	each("limit", from.Declares.Limits.list(), to.Declares.Limits.list())
	each("feature", from.Declares.features(), to.Declares.features())
	add("licence", to.Name, from.Declares.Licence, to.Declares.Licence)
	return out
}

type named struct{ name, value string }

func who(s *Signer) string {
	if s == nil {
		return "nobody"
	}
	return s.Name + " " + string(s.Key)
}

func (d Declaration) tools() (list []named) {
	for _, t := range d.Tools {
		list = append(list, named{t.Name, t.May})
	}
	return list
}

// engines of one name are told apart by nothing else.
func (d Declaration) engines() (list []named) {
	for _, e := range d.Engines {
		list = append(list, named{e.Name, e.Digest})
	}
	return list
}

func (d Declaration) features() (list []named) {
	for _, f := range d.WasmFeatures {
		list = append(list, named{f, "yes"})
	}
	return list
}

func (l Limits) list() []named {
	text := func(n int, unit string) string {
		if n == 0 {
			return "the default"
		}
		return strings.TrimSpace(fmt.Sprintf("%d %s", n, unit))
	}
	return []named{
		{"memory", text(l.MemoryMB, "MB")}, {"time of a step", text(l.StepSeconds, "s")},
		{"output", text(l.OutputMB, "MB")}, {"files", text(l.Files, "")},
	}
}
