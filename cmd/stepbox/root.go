package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stepbox.dev/host/fault"
)

// meanings says what an exit code means, for help texts.
var meanings = map[fault.Kind]string{
	0:                 "done",
	fault.Internal:    "an internal error",
	fault.Usage:       "the command, a plan or a contract file is wrong",
	fault.Question:    "a question has to be answered first",
	fault.Refused:     "refused: unsafe, out of scope, or outside the sandbox",
	fault.NotApproved: "not approved; the changes are kept for stepbox commit",
	fault.StepFailed:  "a step failed",
	fault.Stopped:     "the sandbox or a limit stopped a step, or a wall is missing",
	fault.CheckFailed: "a build, a check, a commit or an undo failed",
	fault.Timeout:     "out of time",
	fault.Interrupted: "interrupted",
}

// Every command's own codes come first; these can end any of them.
func exitCodes(kinds ...fault.Kind) map[string]string {
	var b strings.Builder
	for _, k := range append(append([]fault.Kind{0}, kinds...), fault.Internal) {
		fmt.Fprintf(&b, "  %3d  %s\n", int(k), meanings[k])
	}
	return map[string]string{"exits": b.String()}
}

// runCodes are the ways a run can end.
var runCodes = []fault.Kind{
	fault.Usage, fault.Question, fault.Refused, fault.NotApproved, fault.StepFailed,
	fault.Stopped, fault.CheckFailed, fault.Timeout, fault.Interrupted,
}

const usageText = `Usage:
  {{if .Runnable}}{{.UseLine}}{{else}}{{.CommandPath}} COMMAND{{end}}
{{if .HasAvailableSubCommands}}
Commands:
{{range .Commands}}{{if .IsAvailableCommand}}  {{rpad .Name .NamePadding}} {{.Short}}
{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}
Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}
{{end}}{{if .HasAvailableInheritedFlags}}
Flags of every command:
{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}
{{end}}{{with .Annotations.exits}}
Exit codes:
{{.}}{{end}}{{if .HasExample}}
Example:
{{.Example}}
{{end}}`

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "stepbox",
		Short: "Do what is asked in plain words, sandboxed, and change only what was approved",
		Long: `stepbox turns a request in plain words into a plan, runs every step of it as
WebAssembly that sees one folder and can change nothing, shows what would
change, and changes exactly that after a yes. What it did can be undone.`,
		Example:       `  stepbox run files "list the pdf files in inbox"`,
		Annotations:   exitCodes(runCodes...),
		Version:       versionText(),
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			a.began = true
			return nothingEmpty(cmd, args)
		},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetUsageTemplate(usageText)
	root.SetFlagErrorFunc(flagError)
	root.SetVersionTemplate("stepbox {{.Version}}\n")
	root.Flags().Bool("version", false, "say which stepbox this is")
	root.PersistentFlags().StringArrayVar(&a.skills, "skills", nil, "look for skills in `DIR` too (may be repeated)")
	root.PersistentFlags().StringArrayVar(&a.overrides, "override", nil, "lay the contract files in `DIR` over the skill (may be repeated)")
	root.AddCommand(
		newRun(a), newPlan(a), newExec(a), newCommit(a), newUndo(a), newRuns(a),
		newTry(a), newRetrieve(a), newPrompt(a), newEval(a), newSkills(a),
		newInstall(a), newUpdate(a), newRemove(a), newVerify(a), newKeys(a), newConfig(a), newDoctor(a), newCompletion(a), newMan(),
	)
	// The help command of cobra ends with 0 for an unknown topic.
	root.SetHelpCommand(&cobra.Command{Hidden: true, Use: "help [COMMAND]", RunE: help})
	return root
}

func help(cmd *cobra.Command, args []string) error {
	target, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return fault.New(fault.Usage, "no help for %q", strings.Join(args, " ")).Hint("see: stepbox --help")
	}
	return target.Help()
}

// group is a command that only holds others.
func group(cmd *cobra.Command, children ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(children...)
	cmd.Args = cobra.ArbitraryArgs
	cmd.SuggestionsMinimumDistance = 2
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fault.New(fault.Usage, "%s needs a command", cmd.CommandPath()).Hint("see: %s --help", cmd.CommandPath())
		}
		err := fault.New(fault.Usage, "unknown command %q for %q", args[0], cmd.CommandPath())
		if s := cmd.SuggestionsFor(args[0]); len(s) > 0 {
			return err.Hint("did you mean %s?", strings.Join(s, " or "))
		}
		return err.Hint("see: %s --help", cmd.CommandPath())
	}
	return cmd
}

// args checks how many arguments there are; form says what they are.
func args(least, most int, form string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fault.New(fault.Usage, "%s needs %s", cmd.CommandPath(), form).Hint("see: %s --help", cmd.CommandPath())
		case most >= 0 && len(args) > most:
			return fault.New(fault.Usage, "%s takes %s, and got %d arguments", cmd.CommandPath(), form, len(args)).
				Hint("put a request of several words in quotes")
		}
		return nil
	}
}

// flagError names the flag that was perhaps meant.
func flagError(cmd *cobra.Command, err error) error {
	f := fault.New(fault.Usage, "%w", err)
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return f.Hint("see: %s --help", cmd.CommandPath())
	}
	best, least := "", 3
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if d := distance(unknown.GetSpecifiedName(), flag.Name); d < least {
			best, least = flag.Name, d
		}
	})
	if best != "" {
		return f.Hint("did you mean --%s?", best)
	}
	return f.Hint("see: %s --help", cmd.CommandPath())
}

// distance is how many letters have to be added, dropped or replaced to make b
// of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			next := corner
			if a[i] != b[j] {
				next = 1 + min(corner, row[j], row[j+1])
			}
			corner, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
