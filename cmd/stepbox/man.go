package main

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"stepbox.dev/host/fault"
)

// newMan writes the manual pages.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages into a folder",
		Long: `Man writes a page for each command, for whoever packages stepbox, or to read:
man -l man1/stepbox-run.1`,
		Example:     `  stepbox man man1`,
		Args:        args(1, 1, "a folder"),
		Annotations: exitCodes(fault.Usage),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[0]
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return fault.New(fault.Usage, "the folder of the manual pages: %w", err)
			}
			return manual(cmd.Root(), dir)
		},
	}
}

// manual writes a page for a command and each one below it. The exit codes,
// which only the help texts show, become part of the description.
func manual(cmd *cobra.Command, dir string) error {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			if err := manual(c, dir); err != nil {
				return err
			}
		}
	}
	if cmd.Long == "" {
		cmd.Long = cmd.Short + "."
	}
	if exits := cmd.Annotations["exits"]; exits != "" {
		cmd.Long += "\n\nExit codes:\n\n" + indented(exits)
	}
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	f, err := os.Create(filepath.Join(dir, name+".1"))
	if err != nil {
		return fault.New(fault.Usage, "manual page: %w", err)
	}
	defer f.Close()
	cmd.DisableAutoGenTag = true // which has the day in it
	if err := doc.GenMan(cmd, &doc.GenManHeader{Title: strings.ToUpper(name), Section: "1", Source: "stepbox", Manual: "stepbox manual", Date: &epoch}, f); err != nil {
		return fault.New(fault.Internal, "manual page of %s: %w", name, err)
	}
	if err := f.Close(); err != nil {
		return fault.New(fault.Usage, "manual page of %s: %w", name, err)
	}
	return nil
}

// epoch stands where the day would be: the same commands make the same pages.
var epoch = time.Unix(0, 0).UTC()

// indented makes a text a block that is kept as it is.
func indented(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString("    " + strings.TrimPrefix(line, " "))
	}
	return b.String()
}
