package main

import (
	"strings"

	"github.com/spf13/cobra"

	"stepbox.dev/cmd/stepbox/internal/display"
	"stepbox.dev/host/fault"
)

func newCompletion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print the completion script of a shell",
		Long: `Completion prints a script that completes verbs, flags, skills, run IDs, what is
installed and who is trusted.`,
		Example:     `  stepbox completion bash > stepbox.bash`,
		Args:        args(1, 1, "the name of a shell"),
		ValidArgs:   []string{"bash", "zsh", "fish", "powershell"},
		Annotations: exitCodes(fault.Usage),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.raw, true)
			case "zsh":
				return root.GenZshCompletion(a.raw)
			case "fish":
				return root.GenFishCompletion(a.raw, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.raw)
			}
			return fault.New(fault.Usage, "unknown shell %q", args[0]).Hint("one of: bash, zsh, fish, powershell")
		},
	}
}

// completeSkill completes the first argument with the names of skills.
func (a *app) completeSkill(cmd *cobra.Command, given []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(given) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if strings.Contains(typed, "/") || strings.HasPrefix(typed, ".") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	h, err := a.host(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	found, err := h.Skills(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []cobra.Completion
	for _, f := range found {
		about := ""
		if f.Skill != nil {
			about = f.Skill.Tagline()
		}
		names = append(names, cobra.CompletionWithDesc(display.Clean(f.Name), display.Clean(about)))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) completeSkillThenFile(cmd *cobra.Command, given []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(given) == 1 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return a.completeSkill(cmd, given, typed)
}

// completeInstalled completes with the names of what is installed, or files.
func (a *app) completeInstalled(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	h, err := a.host(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	entries, err := h.Store().Entries()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var names []cobra.Completion
	for _, e := range entries {
		if strings.HasPrefix(e.Name, typed) {
			names = append(names, cobra.CompletionWithDesc(e.Name, e.Kind+" "+e.Version))
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}

// completeSigner completes with the names of the key ring.
func (a *app) completeSigner(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	h, err := a.host(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ring, err := h.Store().Ring()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []cobra.Completion
	for _, t := range ring.Trusted {
		names = append(names, cobra.CompletionWithDesc(t.Name, string(t.Key)))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeRun completes the first argument with the IDs of runs, newest first.
func (a *app) completeRun(cmd *cobra.Command, given []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(given) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	h, err := a.host(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	runs, err := newestFirst(cmd.Context(), h)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []cobra.Completion
	for _, r := range runs {
		ids = append(ids, cobra.CompletionWithDesc(display.Clean(r.ID), display.Clean(r.Status)+": "+display.Clip(r.Request, 60)))
	}
	return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
