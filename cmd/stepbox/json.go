package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stepbox.dev/host"
	"stepbox.dev/host/event"
	"stepbox.dev/host/fault"
)

// eventStream annotates --json of the verbs that print events.
const eventStream = "events"

// addEvents adds --json to a verb that prints events.
func addEvents(f *pflag.FlagSet, on *bool) {
	f.BoolVar(on, "json", false, "print the events, one JSON object a line")
	f.Lookup("json").Annotations = map[string][]string{eventStream: nil}
}

// wantsJSON reports whether a command that failed was to print JSON, also when
// its flags could not be read to the end.
func wantsJSON(cmd *cobra.Command, args []string) bool {
	f := cmd.Flags().Lookup("json")
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return f != nil && (f.Value.String() == "true" || slices.Contains(args, "--json"))
}

// failure is all that stdout gets of a command that failed before it printed
// anything: the last event of a stream, or one object. A reader of --json never
// finds nothing.
func (a *app) failure(cmd *cobra.Command, err error) error {
	end := event.End{Outcome: host.Outcome(err), ExitCode: int(fault.Of(err)), Error: err.Error(), Next: fault.Next(err)}
	if _, stream := cmd.Flags().Lookup("json").Annotations[eventStream]; stream {
		return event.NewJSON(a.raw).Handle(end)
	}
	return a.printJSON(struct {
		Outcome  string `json:"outcome"`
		ExitCode int    `json:"exit_code"`
		Error    string `json:"error"`
		Next     string `json:"next,omitempty"`
	}{end.Outcome, end.ExitCode, end.Error, end.Next})
}
