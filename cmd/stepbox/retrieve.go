package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stepbox.dev/cmd/stepbox/internal/display"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/retrieval"
)

func newRetrieve(a *app) *cobra.Command {
	var k int
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "retrieve [SKILL] REQUEST",
		Short:             "Show the tools that match a request, with their scores",
		Example:           `  stepbox retrieve files "which photos do I have twice" -k 3`,
		Args:              args(1, 2, "[SKILL] REQUEST"),
		Annotations:       exitCodes(fault.Usage),
		ValidArgsFunction: a.completeSkill,
		RunE: func(cmd *cobra.Command, args []string) error {
			if k < 1 {
				return fault.New(fault.Usage, "-k %d is no number of tools", k).Hint("give 1 or more")
			}
			skill, request := skillAndRequest(args)
			h, err := a.host(cmd.Context())
			if err != nil {
				return err
			}
			hits, err := h.Retrieve(cmd.Context(), skill, request, k)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(struct {
					Tools []retrieval.Hit `json:"tools"`
				}{hits})
			}
			var rows [][]string
			for _, hit := range hits {
				rows = append(rows, []string{fmt.Sprintf("%.3f", hit.Score), hit.Skill, hit.Tool})
			}
			var b strings.Builder
			display.Table(&b, rows)
			return a.write([]byte(b.String()))
		},
	}
	cmd.Flags().IntVarP(&k, "count", "k", 5, "show the best `N`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
