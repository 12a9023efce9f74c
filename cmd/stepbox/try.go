package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"stepbox.dev/host/fault"
)

func newTry(a *app) *cobra.Command {
	var r requestFlags
	cmd := &cobra.Command{
		Use:   "try FILE.wasm REQUEST",
		Short: "Run a stranger's bundle once, without installing it",
		Long: `Try says what the bundle can do, runs the request with the strictest limits, shows
what would change, and asks whether to keep or to discard it, also when it only
adds files. Without a terminal the changes are kept aside, as in run.`,
		Example:     `  stepbox try files.wasm "list the pdf files in inbox"`,
		Args:        args(2, 2, "FILE.wasm REQUEST"),
		Annotations: exitCodes(runCodes...),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(a.overrides) > 0 {
				return fault.New(fault.Usage, "a bundle is tried as it is: --override is for skills that you know")
			}
			r.Utterance = args[1]
			if err := r.check(); err != nil {
				return err
			}
			h, c, i, err := a.examine(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintln(a.errs, i.text(true)); err != nil {
				return fault.New(fault.Internal, "cannot say what the bundle can do: %w", err)
			}
			f := a.front(r.json)
			_, err = h.Try(cmd.Context(), c, r.Request, f.person, f)
			return err
		},
	}
	r.add(cmd.Flags())
	r.addPlanner(cmd.Flags())
	return cmd
}
