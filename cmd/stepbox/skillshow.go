package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"stepbox.dev/abi"
	"stepbox.dev/cmd/stepbox/internal/display"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/registry"
	"stepbox.dev/host/skill"
	"stepbox.dev/host/skill/bundle"
	"stepbox.dev/host/store"
)

// shownSkill is skills show --json.
type shownSkill struct {
	Name        string      `json:"name"`
	Version     string      `json:"version"`
	Title       string      `json:"title"`
	Tagline     string      `json:"tagline"`
	Description string      `json:"description"`
	Stale       bool        `json:"stale"`
	Path        string      `json:"path"`
	Digest      string      `json:"digest"`
	Licence     string      `json:"licence"`
	Examples    []string    `json:"examples"`
	Tools       []shownTool `json:"tools"`

	Engines []store.Engine `json:"engines"`
	Limits  store.Limits   `json:"limits"` // 0 is the host's default
	// Signed is no, unknown or trusted (by the key ring), and for a folder "".
	Signed string        `json:"signed,omitempty"`
	Signer *store.Signer `json:"signer,omitempty"`
}

// shownTool is one tool of it. May is none, read, create or write.
type shownTool struct {
	Name        string     `json:"name"`
	Description string     `json:"description"`
	May         string     `json:"may"`
	Internal    bool       `json:"internal"`
	AnyOf       []string   `json:"any_of,omitempty"`
	Args        []shownArg `json:"args"`
}

// shownArg is one argument.
type shownArg struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Values   []string `json:"values,omitempty"`
	Required bool     `json:"required"`
	Default  any      `json:"default,omitempty"`
	Min      *float64 `json:"min,omitempty"`
	Max      *float64 `json:"max,omitempty"`
	Help     string   `json:"help,omitempty"`
}

func newSkillsShow(a *app) *cobra.Command {
	var asJSON, asHTML bool
	cmd := &cobra.Command{
		Use:   "show SKILL",
		Short: "Show what one can ask a skill, what each tool may touch, and every default",
		Long: `Show is made from the skill's contract alone: nothing of the skill is run. What a
tool may touch is enforced, whatever the skill does.`,
		Example:           `  stepbox skills show files`,
		Args:              args(1, 1, "a SKILL"),
		Annotations:       exitCodes(fault.Usage),
		ValidArgsFunction: a.completeSkill,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.host(cmd.Context())
			if err != nil {
				return err
			}
			s, err := h.Skill(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			v := shown(s)
			if s.Bundle() != nil {
				v.Signer, v.Signed, err = signedBy(h.Store(), s.Bundle())
			}
			switch {
			case err != nil:
				return err
			case asJSON:
				return a.printJSON(v)
			case asHTML:
				text, err := catalogueEntry(v)
				if err != nil {
					return err
				}
				return a.write(text)
			}
			return a.write([]byte(page(v)))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().BoolVar(&asHTML, "html", false, "print it as a page for a browser")
	cmd.MarkFlagsMutuallyExclusive("json", "html")
	return cmd
}

func shown(s *skill.Skill) shownSkill {
	v := shownSkill{
		Name: s.Name(), Version: s.Version(), Title: s.Title(), Tagline: s.Tagline(), Description: s.Description(),
		Stale: s.Stale(), Path: s.Dir(), Digest: s.Digest(), Examples: []string{}, Tools: []shownTool{},
		Licence: s.Licence(), Engines: []store.Engine{}, Limits: store.Limits(s.Limits()),
	}
	for _, e := range s.Engines() {
		v.Engines = append(v.Engines, store.Engine(e))
	}
	for _, e := range s.Prompt().Examples {
		if answers(e.Plan, s.Registry()) {
			v.Examples = append(v.Examples, e.Request)
		}
	}
	for _, t := range s.Registry().Tools() {
		if !t.Core {
			v.Tools = append(v.Tools, shownToolOf(t))
		}
	}
	return v
}

// signedBy says who signed a bundle, by the name the key ring knows them by.
func signedBy(known *store.Store, b *bundle.Bundle) (*store.Signer, string, error) {
	who, err := store.Verify(b)
	if err != nil || who == nil {
		return nil, "no", err
	}
	ring, err := known.Ring()
	if err != nil {
		return nil, "", err
	}
	for _, t := range ring.Trusted {
		if t.Key == who.Key {
			return &t.Signer, "trusted", nil
		}
	}
	return who, "unknown", nil
}

func (s shownSkill) maker() string {
	switch s.Signed {
	case "trusted":
		return s.Signer.Name + ", " + string(s.Signer.Key)
	case "unknown":
		return s.Signer.Name + ", as it says, " + string(s.Signer.Key) + ", a key that nobody here knows"
	case "no":
		return "somebody who did not sign it"
	}
	return "whoever wrote the folder that it was read from"
}

// answers reports whether an example's plan does something: examples of
// questions and refusals are for planners, not for people.
func answers(calls []abi.Call, r *registry.Registry) bool {
	for _, c := range calls {
		if t, ok := r.Tool(c.Tool); !ok || t.Core {
			return false
		}
	}
	return len(calls) > 0
}

func shownToolOf(t *registry.Tool) shownTool {
	v := shownTool{
		Name: t.Name, Description: t.Description, May: t.Mode().String(), Internal: t.Internal, AnyOf: t.AnyOf, Args: []shownArg{},
	}
	for _, name := range t.ArgOrder {
		arg := t.Args[name]
		if arg == nil {
			continue
		}
		sa := shownArg{Name: name, Type: "any", Default: t.Defaults[name], Values: arg.Enum, Min: arg.Min, Max: arg.Max, Help: arg.Help}
		if arg.Declared {
			sa.Type = string(arg.Type)
			if arg.Type == abi.TypeArray && arg.Items != "" {
				sa.Type = "list of " + string(arg.Items)
			}
		}
		for _, r := range t.Required {
			sa.Required = sa.Required || r == name
		}
		v.Args = append(v.Args, sa)
	}
	return v
}

// page is the skill for a person.
func page(s shownSkill) string {
	var b strings.Builder
	title := s.Title
	if title == "" {
		title = s.Name
	}
	fmt.Fprintf(&b, "%s (%s %s)\n", display.Clean(title), display.Clean(s.Name), display.Clean(s.Version))
	for _, l := range []string{s.Tagline, s.Description} {
		if l != "" {
			fmt.Fprintf(&b, "%s\n", display.Clean(l))
		}
	}
	if len(s.Examples) > 0 {
		b.WriteString("\nYou can say\n")
		for _, e := range s.Examples {
			fmt.Fprintf(&b, "  %s\n", display.Clean(e))
		}
	}
	shared := sharing(s.Tools)
	for _, t := range s.Tools {
		if t.Internal { // nobody can ask for it by itself
			continue
		}
		fmt.Fprintf(&b, "\n%s: %s\n", display.Clean(t.Name), display.Clean(strings.TrimSpace(t.Description)))
		fmt.Fprintf(&b, "  %s\n", display.May(t.May))
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
	if values := strings.Join(a.Values, ", "); len(values) > maxValues {
		return strings.TrimSpace(a.Help + " One of: " + values + ".")
	}
	return a.Help
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
		return "= " + display.Value(a.Default)
	}
	return ""
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
