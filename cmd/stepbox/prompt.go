package main

import (
	"github.com/spf13/cobra"

	"stepbox.dev/cmd/stepbox/internal/display"
	"stepbox.dev/host"
	"stepbox.dev/host/fault"
)

func newPrompt(a *app) *cobra.Command {
	var r host.Request
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "prompt SKILL REQUEST",
		Short: "Show the exact text that a model would be given; none is asked",
		Long: `Prompt makes the text from the skill's contract alone, with the public tools that
the request retrieves and no others. On a given day the same request gives the
same text.`,
		Example:           `  stepbox prompt files "list the pdf files in inbox"`,
		Args:              args(2, 2, "SKILL REQUEST"),
		Annotations:       exitCodes(fault.Usage),
		ValidArgsFunction: a.completeSkill,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Skill, r.Utterance = args[0], args[1]
			h, err := a.host(cmd.Context())
			if err != nil {
				return err
			}
			p, err := h.Prompt(cmd.Context(), r)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(p)
			}
			for _, line := range append(display.Lines(p.System), display.Lines(p.User)...) {
				if err := a.printf("%s\n", line); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, with the text as it is")
	cmd.Flags().StringArrayVar(&r.Files, "file", nil, "offer the file `NAME` to the request (may be repeated)")
	return cmd
}
