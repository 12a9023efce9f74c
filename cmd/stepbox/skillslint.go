package main

import (
	"github.com/spf13/cobra"

	"stepbox.dev/cmd/stepbox/internal/display"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/lint"
	"stepbox.dev/host/plan"
)

func newSkillsLint(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "lint SKILL",
		Short: "Find what a skill's contract allows and its author will regret",
		Long: `Lint reads the contract, asks the module what it implements, and expands the
contract's examples in a worker. It runs no step. Errors end it with exit
code 8, warnings do not.`,
		Example:           `  stepbox skills lint files`,
		Args:              args(1, 1, "a SKILL"),
		Annotations:       exitCodes(fault.Usage, fault.CheckFailed, fault.Stopped, fault.Interrupted),
		ValidArgsFunction: a.completeSkill,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.host(cmd.Context())
			if err != nil {
				return err
			}
			found, err := h.Lint(cmd.Context(), args[0], notices{a.front(false)})
			if err != nil {
				return err
			}
			return a.printFindings(args[0], found, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// printFindings prints findings, and fails when one of them is an error.
func (a *app) printFindings(name string, found []lint.Finding, asJSON bool) error {
	errs := 0
	for _, f := range found {
		if f.Severity == plan.SeverityError {
			errs++
		}
	}
	if asJSON {
		if found == nil {
			found = []lint.Finding{}
		}
		if err := a.printJSON(struct {
			Findings []lint.Finding `json:"findings"`
			Errors   int            `json:"errors"`
		}{found, errs}); err != nil {
			return err
		}
	} else {
		for _, f := range found {
			if err := a.printf("%s (%s)\n", display.Clean(string(f.Severity)+": "+f.String()), display.Clean(f.Code)); err != nil {
				return err
			}
		}
	}
	if errs > 0 {
		return fault.New(fault.CheckFailed, "skill %q has %d errors", name, errs)
	}
	return nil
}
