package main

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stepbox.dev/host"
	"stepbox.dev/host/fault"
)

// requestFlags are those of every verb that runs something.
type requestFlags struct {
	host.Request
	json bool
	open bool
}

func (r *requestFlags) add(f *pflag.FlagSet) {
	f.StringVar(&r.Sandbox, "sandbox", "", "the folder that the run may see, `DIR` (default: the working directory)")
	f.BoolVar(&r.DryRun, "dry-run", false, "show the changes and throw them away")
	f.BoolVarP(&r.Yes, "yes", "y", false, "approve the changes, all but protected ones")
	f.BoolVar(&r.Step, "step", false, "ask before each part of the plan")
	f.StringArrayVar(&r.AllowProtected, "allow-protected", nil, protectedHelp)
	f.DurationVar(&r.Timeout, "timeout", 0, "end the run after `D`, for example 90s or 10m; the time that a question waits for its answer does not count (default: no limit)")
	f.BoolVar(&r.open, "open", false, "name the files that were made and, on a terminal, open them")
	addEvents(f, &r.json)
}

const protectedHelp = "approve the protected change of `NAME`, or all below it when it is a protected folder like .git (may be repeated)"

func (r *requestFlags) addPlanner(f *pflag.FlagSet) {
	f.StringArrayVar(&r.Files, "file", nil, "offer the file `NAME` to the request (may be repeated)")
	f.StringVar(&r.Planner, "planner", "", "who plans: auto, embedded, openai, ollama or mock (default: the configuration's)")
	f.StringVar(&r.Model, "model", "", "the model that is asked, `NAME` (default: the configuration's)")
}

// check refuses what no run can mean.
func (r *requestFlags) check() error {
	switch {
	case r.Timeout < 0:
		return fault.New(fault.Usage, "--timeout %s is before now", r.Timeout).Hint("give a time like 90s or 10m")
	case r.open && (r.DryRun || r.json):
		return fault.New(fault.Usage, "--open goes with neither --dry-run nor --json").Hint("stepbox runs open ID opens what a run made, or would make")
	case r.DryRun && r.Yes:
		return fault.New(fault.Usage, "--dry-run and --yes exclude each other").Hint("a dry run changes nothing, so there is nothing to approve")
	case r.Replan < 0:
		return fault.New(fault.Usage, "--replan %d is fewer turns than none", r.Replan).Hint("give how often a model may plan on, for example 3")
	}
	return nil
}

// skillAndRequest reads [SKILL] REQUEST.
func skillAndRequest(args []string) (skill, request string) {
	if len(args) == 2 {
		skill = args[0]
	}
	return skill, args[len(args)-1]
}

func newRun(a *app) *cobra.Command {
	var r requestFlags
	cmd := &cobra.Command{
		Use:   "run [SKILL] REQUEST",
		Short: "Plan a request, run it, show what would change, ask, and commit",
		Long: `Run plans the request, runs the plan on a copy-on-write layer over the sandbox,
and shows exactly what would change. What only adds files is committed at once;
anything else after a yes. Without a terminal and without --yes the run ends
with exit code 5, and stepbox commit commits exactly what was shown.

SKILL is a name, or a path with a slash. Without it, all known skills compete.`,
		Example: `  stepbox run files "organize downloads by type" --dry-run`,
		Args:    args(1, 2, "[SKILL] REQUEST"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Skill, r.Utterance = skillAndRequest(args)
			return a.request(cmd, &r)
		},
		Annotations:       exitCodes(runCodes...),
		ValidArgsFunction: a.completeSkill,
	}
	r.add(cmd.Flags())
	r.addPlanner(cmd.Flags())
	cmd.Flags().IntVar(&r.Replan, "replan", 0, "let the model plan on from the results, up to `N` times; each turn's changes are approved by themselves")
	return cmd
}

// request runs a request or a given plan.
func (a *app) request(cmd *cobra.Command, r *requestFlags) error {
	if err := r.check(); err != nil {
		return err
	}
	h, err := a.host(cmd.Context())
	if err != nil {
		return err
	}
	f := a.front(r.json)
	res, err := h.Run(cmd.Context(), r.Request, f.person, f)
	if err != nil || !r.open || res.RunID == "" {
		return err
	}
	made, err := h.Made(cmd.Context(), res.RunID)
	if err != nil {
		return err
	}
	return a.open(cmd.Context(), made)
}

// days reads a duration that may also be given in days, "30d".
func days(s string) (time.Duration, error) {
	if n := len(s); n > 1 && s[n-1] == 'd' {
		d, err := time.ParseDuration(s[:n-1] + "h")
		return 24 * d, err
	}
	return time.ParseDuration(s)
}
