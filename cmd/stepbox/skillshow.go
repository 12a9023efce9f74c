package main

import (
	"context"

	"github.com/spf13/cobra"

	"stepbox.dev/abi"
	"stepbox.dev/host"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/registry"
	"stepbox.dev/host/skill"
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
	identity
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
			h, s, err := a.skill(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			v := shown(s)
			if b := s.Bundle(); b != nil {
				who, broken := store.Verify(b)
				if v.identity, err = identify(h.Store(), b.Manifest, who, broken); err != nil {
					return err
				}
			}
			switch {
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

// skill finds and loads the skill that was named.
func (a *app) skill(ctx context.Context, name string) (*host.Host, *skill.Skill, error) {
	h, err := a.host(ctx)
	if err != nil {
		return nil, nil, err
	}
	s, err := h.Skill(ctx, name)
	return h, s, err
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
