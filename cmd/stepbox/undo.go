package main

import (
	"github.com/spf13/cobra"

	"stepbox.dev/host/fault"
)

func newUndo(a *app) *cobra.Command {
	var dryRun, asJSON bool
	cmd := &cobra.Command{
		Use:   "undo ID",
		Short: "Take a committed run back",
		Long: `Undo takes back what a run committed, file by file. What changed since is kept as
it is and named; everything else is taken back, and the exit code is 8.
An ID may be shortened as long as it means one run.`,
		Example:           `  stepbox undo 20261129-193045-x7f3q`,
		Args:              args(1, 1, "the ID of a run"),
		Annotations:       exitCodes(fault.Usage, fault.CheckFailed, fault.Interrupted),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.host(cmd.Context())
			if err != nil {
				return err
			}
			_, err = h.Undo(cmd.Context(), args[0], dryRun, a.front(asJSON))
			return err
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would be taken back")
	addEvents(cmd.Flags(), &asJSON)
	return cmd
}
