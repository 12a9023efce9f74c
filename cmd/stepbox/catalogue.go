package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"stepbox.dev/cmd/stepbox/internal/display"
	"stepbox.dev/host"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/skill"
)

// catalogueText is the page of skills show --html: one file that loads nothing
// and runs nothing.
//
//go:embed catalogue.html
var catalogueText string

// entryPage is what the page shows. Every text in it is cleaned; the template
// escapes it.
type entryPage struct {
	Name, Version, Title, Tagline, Description, Licence, Maker string

	Examples []string
	Tools    []toolPage
	Several  []argPage
	Facts    [][2]string
}

type toolPage struct {
	Name, Description, Mode, May, AnyOf, Also string

	Args []argPage
}

type argPage struct{ Name, Type, Default, Help string }

// maxExamples is how many examples the page shows.
const maxExamples = 60

// catalogueEntry is the page about a skill.
func catalogueEntry(s shownSkill) ([]byte, error) {
	t, err := template.New("entry").Parse(catalogueText)
	if err != nil {
		return nil, fault.New(fault.Internal, "the page: %w", err)
	}
	clean := display.Clean
	p := entryPage{
		Name: clean(s.Name), Version: clean(s.Version), Title: display.Clip(s.Title, 200), Tagline: display.Clip(s.Tagline, 400),
		Description: display.Clip(s.Description, 4000), Licence: clean(s.Licence), Maker: clean(s.maker()),
	}
	for _, e := range s.Examples[:min(len(s.Examples), maxExamples)] {
		p.Examples = append(p.Examples, display.Clip(e, 400))
	}
	shared := sharing(s.Tools)
	for _, t := range s.Tools {
		if t.Internal {
			continue
		}
		own, also := ownArgs(t, shared)
		p.Tools = append(p.Tools, toolPage{
			Name: clean(t.Name), Description: display.Clip(strings.TrimSpace(t.Description), 4000), Mode: t.May, May: display.May(t.May),
			AnyOf: clean(strings.Join(t.AnyOf, ", ")), Also: strings.Join(also, ", "), Args: argPages(own),
		})
	}
	p.Several = argPages(severalOf(s.Tools, shared))
	p.Facts = s.facts()
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return nil, fault.New(fault.Internal, "the page: %w", err)
	}
	return b.Bytes(), nil
}

func argPages(args []shownArg) []argPage {
	var list []argPage
	for _, a := range args {
		list = append(list, argPage{display.Clean(a.Name), argType(a), argDefault(a), display.Clean(argHelp(a))})
	}
	return list
}

// facts are the limits, the engines and the digest, for a table.
func (s shownSkill) facts() [][2]string {
	l := host.Granted(skill.Limits(s.Limits), false)
	rows := [][2]string{
		{"memory", megabytes(l.MemoryMB)}, {"time of a step", fmt.Sprintf("%d s", l.StepSeconds)},
		{"output", megabytes(l.OutputMB)}, {"files it may make", strconv.Itoa(l.Files)},
		{"network, environment", "none"},
	}
	for _, e := range s.Engines {
		rows = append(rows, [2]string{"engine " + display.Clean(e.Name), display.Clean(e.Digest)})
	}
	if len(s.Engines) == 0 {
		rows = append(rows, [2]string{"engines", "none"})
	}
	return append(rows, [2]string{"digest of the contract", s.Digest})
}
