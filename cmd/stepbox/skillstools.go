package main

import (
	"strings"

	"github.com/spf13/cobra"

	"stepbox.dev/cmd/stepbox/internal/display"
	"stepbox.dev/host/fault"
)

func newSkillsTools(a *app) *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:               "tools SKILL",
		Short:             "List a skill's tools, a line each",
		Example:           `  stepbox skills tools files`,
		Args:              args(1, 1, "a SKILL"),
		Annotations:       exitCodes(fault.Usage),
		ValidArgsFunction: a.completeSkill,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, s, err := a.skill(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			tools := []shownTool{}
			for _, t := range shown(s).Tools {
				if all || !t.Internal {
					tools = append(tools, t)
				}
			}
			if asJSON {
				return a.printJSON(struct {
					Tools []shownTool `json:"tools"`
				}{tools})
			}
			rows := [][]string{{"TOOL", "MAY", "NEEDS", ""}}
			for _, t := range tools {
				rows = append(rows, []string{t.Name, t.May, needs(t), display.Clip(t.Description, 80)})
			}
			var b strings.Builder
			display.Table(&b, rows)
			return a.write([]byte(b.String()))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, with every argument")
	cmd.Flags().BoolVar(&all, "all", false, "list internal tools too, which only the skill itself may use")
	return cmd
}

// needs are the arguments that a call cannot do without.
func needs(t shownTool) string {
	var names []string
	for _, a := range t.Args {
		if a.Required {
			names = append(names, a.Name)
		}
	}
	if len(t.AnyOf) > 0 {
		names = append(names, strings.Join(t.AnyOf, "|"))
	}
	return strings.Join(names, ", ")
}
