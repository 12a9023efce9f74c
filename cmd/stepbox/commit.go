package main

import (
	"github.com/spf13/cobra"

	"stepbox.dev/host"
	"stepbox.dev/host/fault"
)

func newCommit(a *app) *cobra.Command {
	var o host.CommitOptions
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "commit ID",
		Short: "Commit exactly what a run staged",
		Long: `Commit commits what a run that was not approved has staged; nothing is run again.
A sandbox that changed meanwhile is a conflict, and nothing is committed.
An ID may be shortened as long as it means one run.

With --partial it commits, of a run that failed, what the calls that ended well
had made; on a terminal it asks first.`,
		Example:           `  stepbox commit 20261129-193045-x7f3q`,
		Args:              args(1, 1, "the ID of a run"),
		Annotations:       exitCodes(fault.Usage, fault.NotApproved, fault.StepFailed, fault.CheckFailed, fault.Interrupted),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.host(cmd.Context())
			if err != nil {
				return err
			}
			f := a.front(asJSON)
			_, err = h.Commit(cmd.Context(), args[0], o, f.person, f)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Digest, "digest", "", "refuse anything but the changes with the digest `D`")
	f.BoolVar(&o.Partial, "partial", false, "of a run that failed, commit what the calls that ended well had made")
	f.StringArrayVar(&o.AllowProtected, "allow-protected", nil, protectedHelp)
	addEvents(f, &asJSON)
	return cmd
}
