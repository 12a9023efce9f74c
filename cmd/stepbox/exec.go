package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"stepbox.dev/host/fault"
)

// maxPlan is how many bytes of a plan are read; the host's own cap is lower.
const maxPlan = 4 << 20

func newExec(a *app) *cobra.Command {
	var r requestFlags
	cmd := &cobra.Command{
		Use:   "exec SKILL PLAN.json",
		Short: "Run a given plan",
		Long: `Exec runs a plan that is given as a file, or as standard input with -. Nothing is
asked about it: what is missing is an error. Everything else is as in run.`,
		Example:           `  echo '{"plan":[{"tool":"list_files","args":{"path":["inbox"]}}]}' | stepbox exec files -`,
		Args:              args(2, 2, "SKILL PLAN.json"),
		Annotations:       exitCodes(runCodes...),
		ValidArgsFunction: a.completeSkillThenFile,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			r.Skill = args[0]
			if r.Plan, err = readPlan(a.in, args[1]); err != nil {
				return err
			}
			return a.request(cmd, &r)
		},
	}
	r.add(cmd.Flags())
	return cmd
}

// readPlan reads a plan from a file, or from in for "-".
func readPlan(in io.Reader, name string) ([]byte, error) {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, fault.New(fault.Usage, "plan: %w", err).Hint("name a file, or - for standard input")
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxPlan+1))
	if err != nil {
		return nil, fault.New(fault.Usage, "plan %q: %w", name, err)
	}
	if len(b) > maxPlan {
		return nil, fault.New(fault.Usage, "plan %q is larger than %d bytes", name, maxPlan)
	}
	if len(b) == 0 {
		return nil, fault.New(fault.Usage, "plan %q is empty", name).Hint(`a plan is {"plan":[{"tool":…,"args":{…}}]}`)
	}
	return b, nil
}
