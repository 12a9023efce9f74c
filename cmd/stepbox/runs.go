package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"stepbox.dev/cmd/stepbox/internal/display"
	"stepbox.dev/host"
	"stepbox.dev/host/fault"
)

func newRuns(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:         "runs",
		Short:       "List, show, open and prune earlier runs",
		Example:     `  stepbox runs list`,
		Annotations: exitCodes(fault.Usage),
	}, newRunsList(a), newRunsShow(a), newRunsOpen(a), newRunsPrune(a))
}

func newRunsList(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:         "list",
		Short:       "List runs, newest first",
		Example:     `  stepbox runs list --json`,
		Args:        args(0, 0, "no arguments"),
		Annotations: exitCodes(fault.Usage),
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.host(cmd.Context())
			if err != nil {
				return err
			}
			runs, err := newestFirst(cmd.Context(), h)
			if err != nil {
				return err
			}
			return a.printRuns(runs, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// newestFirst lists runs by when they began; the IDs of two runs of one second
// say nothing about that.
func newestFirst(ctx context.Context, h *host.Host) ([]host.RunInfo, error) {
	runs, err := h.Runs(ctx)
	slices.SortStableFunc(runs, func(a, b host.RunInfo) int { return b.Began.Compare(a.Began) })
	return runs, err
}

func (a *app) printRuns(runs []host.RunInfo, asJSON bool) error {
	if asJSON {
		return a.printJSON(struct {
			Runs []host.RunInfo `json:"runs"`
		}{runs})
	}
	if len(runs) == 0 {
		return nil
	}
	rows := [][]string{{"ID", "WHEN", "STATUS", "SKILL", "SIZE", "REQUEST"}}
	for _, r := range runs {
		request := r.Request
		if request == "" {
			request = r.Verb
		}
		rows = append(rows, []string{r.ID, humanize.Time(r.Began), r.Status, r.Skill, display.Size(r.Bytes), display.Clip(request, 60)})
	}
	var b strings.Builder
	display.Table(&b, rows)
	return a.write([]byte(b.String()))
}

func newRunsShow(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "show ID",
		Short:             "Show one run: its request, plan, outcome and every change",
		Long:              "Show prints one run: its request, plan, outcome and every change. An ID may be\nshortened as long as it means one run.",
		Example:           `  stepbox runs show 20261129-193045-x7f3q`,
		Args:              args(1, 1, "the ID of a run"),
		Annotations:       exitCodes(fault.Usage),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.host(cmd.Context())
			if err != nil {
				return err
			}
			r, err := h.ShowRun(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(r)
			}
			return a.printRun(r)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func (a *app) printRun(r host.RunInfo) error {
	var b strings.Builder
	rows := [][]string{{"run", r.ID}}
	for _, row := range [][]string{
		{"request", r.Request}, {"skill", r.Skill}, {"sandbox", r.Sandbox},
		{"began", r.Began.Format(time.RFC3339)}, {"status", r.Status}, {"error", r.Error},
		{"digest", r.Digest}, {"keeps", display.Size(r.Bytes)},
	} {
		if row[1] != "" {
			rows = append(rows, row)
		}
	}
	display.Table(&b, rows)
	if len(r.Plan) > 0 {
		b.WriteString("plan\n")
		writeCalls(&b, r.Plan)
	}
	if len(r.Changes) > 0 {
		b.WriteString("changes: " + display.Count(r.Changes) + "\n")
		for _, c := range r.Changes {
			b.WriteString("  " + display.Describe(c) + "\n")
		}
	}
	switch r.Status {
	case "waiting":
		fmt.Fprintf(&b, "commit it with: stepbox commit %s\n", display.Clean(r.ID))
	case "failed", "interrupted":
		if r.Partial {
			fmt.Fprintf(&b, "commit what ended well with: stepbox commit %s --partial\n", display.Clean(r.ID))
		}
	case "committed":
		if len(r.Changes) > 0 {
			fmt.Fprintf(&b, "take it back with: stepbox undo %s\n", display.Clean(r.ID))
		}
	}
	return a.write([]byte(b.String()))
}

func newRunsPrune(a *app) *cobra.Command {
	var older, most string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove old runs; they can then be neither committed nor undone",
		Long: `Prune removes runs, and with them what a commit or an undo of them needs. Runs
that are under way are kept, and for their size alone those that wait for approval.

Once a day, when a run begins, stepbox does by itself what prune does with
--older-than 30d --keep 10GiB, but leaves the runs of the last day alone.`,
		Example:     `  stepbox runs prune --older-than 30d --keep 1GB`,
		Args:        args(0, 0, "no arguments"),
		Annotations: exitCodes(fault.Usage),
		RunE: func(cmd *cobra.Command, _ []string) error {
			age, err := days(older)
			if err != nil || age < 0 {
				return fault.New(fault.Usage, "--older-than %q is no time", older).Hint("give a time like 12h or 30d; 0 leaves the age out")
			}
			size := uint64(0)
			if most != "" {
				if size, err = humanize.ParseBytes(most); err != nil || size == 0 || size > 1<<62 {
					return fault.New(fault.Usage, "--keep %q is no size", most).Hint("give a size like 500MB or 2GB")
				}
			}
			h, err := a.host(cmd.Context())
			if err != nil {
				return err
			}
			gone, err := h.Prune(cmd.Context(), host.Retention{Age: age, Bytes: int64(size)})
			if perr := a.printRuns(gone, asJSON); perr != nil {
				return perr
			}
			return err
		},
	}
	cmd.Flags().StringVar(&older, "older-than", "30d", "remove runs older than `AGE`; 0 leaves the age out")
	cmd.Flags().StringVar(&most, "keep", "", "remove the oldest runs until at most `SIZE` is kept (default: no bound)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what was removed as one JSON object")
	return cmd
}
