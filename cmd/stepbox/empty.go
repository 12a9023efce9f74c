package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stepbox.dev/host/fault"
)

// takesEmpty annotates a verb to which an empty argument means something.
const takesEmpty = "empty"

func emptyAllowed(annotations map[string]string) map[string]string {
	annotations[takesEmpty] = "yes"
	return annotations
}

// nothingEmpty refuses empty arguments and empty values of flags. They come from
// variables that are not set, and would mean the default: the working directory
// for a sandbox, any changes for a digest.
func nothingEmpty(cmd *cobra.Command, args []string) error {
	if cmd.Name() == cobra.ShellCompRequestCmd || cmd.Name() == cobra.ShellCompNoDescRequestCmd {
		return nil // the word to complete may be empty
	}
	for i, arg := range args {
		if arg == "" && cmd.Annotations[takesEmpty] == "" {
			return fault.New(fault.Usage, "argument %d of %s is empty", i+1, cmd.CommandPath()).
				Hint("it may come from a variable that is not set; see: %s --help", cmd.CommandPath())
		}
	}
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		empty := f.Value.String() == ""
		if list, is := f.Value.(pflag.SliceValue); is {
			empty = false
			for _, v := range list.GetSlice() {
				empty = empty || v == ""
			}
		}
		if empty && err == nil {
			err = fault.New(fault.Usage, "--%s is empty", f.Name).
				Hint("it may come from a variable that is not set; leave --%s out for its default", f.Name)
		}
	})
	return err
}
