package main

import (
	"fmt"
	"strconv"
	"strings"

	"stepbox.dev/cmd/stepbox/internal/display"
)

// page is the skill for a person. What its contract says in words of its own
// is marked, as all that a skill says.
func page(s shownSkill) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\nmade by  %s\n", display.Clean(s.Name), display.Clean(s.Version), display.Clean(s.maker()))
	said := []string{s.Tagline, s.Description}
	if s.Title != s.Name {
		said = append([]string{s.Title}, said...)
	}
	display.Said(&b, said...)
	if len(s.Examples) > 0 {
		b.WriteString("\nYou can say\n")
		display.Said(&b, s.Examples...)
	}
	shared := sharing(s.Tools)
	for _, t := range s.Tools {
		if t.Internal { // nobody can ask for it by itself
			continue
		}
		fmt.Fprintf(&b, "\n%s: %s\n", display.Clean(t.Name), display.May(t.May))
		display.Said(&b, t.Description)
		if len(t.AnyOf) > 0 {
			fmt.Fprintf(&b, "  needs one of: %s\n", display.Clean(strings.Join(t.AnyOf, ", ")))
		}
		own, also := ownArgs(t, shared)
		argTable(&b, own)
		if len(also) > 0 {
			fmt.Fprintf(&b, "  also takes: %s\n", strings.Join(also, ", "))
		}
	}
	if several := severalOf(s.Tools, shared); len(several) > 0 {
		b.WriteString("\nWhat several tools take\n")
		argTable(&b, several)
	}
	b.WriteString("\nLimits and engines\n")
	var rows [][]string
	for _, f := range s.facts() {
		rows = append(rows, []string{"  " + f[0], f[1]})
	}
	display.Table(&b, rows)
	return b.String()
}

// severalTools is how many tools must take an argument for it to be described
// once, below them, and not at each.
const severalTools = 3

// common identifies an argument that tools share: everything but the default.
func common(a shownArg) string {
	return fmt.Sprintf("%q %q %q %v", a.Name, argType(a), a.Help, a.Required)
}

// sharing counts how many tools take each argument.
func sharing(tools []shownTool) map[string]int {
	n := map[string]int{}
	for _, t := range tools {
		for _, a := range t.Args {
			if !t.Internal && !a.Required {
				n[common(a)]++
			}
		}
	}
	return n
}

// ownArgs are the arguments that are described at the tool, and the names and
// defaults of those that are not.
func ownArgs(t shownTool, shared map[string]int) (own []shownArg, also []string) {
	for _, arg := range t.Args {
		if shared[common(arg)] < severalTools {
			own = append(own, arg)
			continue
		}
		also = append(also, strings.TrimSpace(display.Clean(arg.Name)+" "+argDefault(arg)))
	}
	return own, also
}

// severalOf lists the shared arguments once, in the order of the tools. Their
// defaults stand at the tools.
func severalOf(tools []shownTool, shared map[string]int) []shownArg {
	var list []shownArg
	seen := map[string]bool{}
	for _, t := range tools {
		for _, a := range t.Args {
			if key := common(a); shared[key] >= severalTools && !seen[key] && !t.Internal {
				seen[key] = true
				a.Default = nil
				list = append(list, a)
			}
		}
	}
	return list
}

func argTable(b *strings.Builder, args []shownArg) {
	rows := make([][]string, 0, len(args))
	for _, a := range args {
		rows = append(rows, []string{"  " + a.Name, argType(a), argDefault(a), argHelp(a)})
	}
	display.Table(b, rows)
}

// argHelp names the values that are too many to stand where the type does.
func argHelp(a shownArg) string {
	help := a.Help
	if values := strings.Join(a.Values, ", "); len(values) > maxValues {
		help = strings.TrimSpace(help + " One of: " + values + ".")
	}
	return display.Clip(help, 1000)
}

// maxValues is how long a list of values may be to stand where the type does.
const maxValues = 50

func argType(a shownArg) string {
	s := a.Type
	if values := strings.Join(a.Values, "|"); len(values) > maxValues {
		s = strings.Replace(s, "enum", "word", 1) // the help names them
	} else if values != "" {
		s = strings.Replace(s, "enum", values, 1)
	}
	switch {
	case a.Min != nil && a.Max != nil:
		s += " " + number(*a.Min) + " to " + number(*a.Max)
	case a.Min != nil:
		s += " from " + number(*a.Min)
	case a.Max != nil:
		s += " up to " + number(*a.Max)
	}
	return display.Clip(s, 64)
}

func argDefault(a shownArg) string {
	switch {
	case a.Required:
		return "required"
	case a.Default != nil:
		return "= " + display.Clip(display.Value(a.Default), 64)
	}
	return ""
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
