package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"stepbox.dev/cmd/stepbox/internal/display"
	"stepbox.dev/host/config"
	"stepbox.dev/host/fault"
)

func newConfig(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:   "config",
		Short: "Show and change who plans, and which model may be asked",
		Long: `The configuration is a YAML file with one key a line. An environment variable
lies over each key: STEPBOX_MODEL over model. Flags lie over both. A server's key
is in none of them: key_variable names the environment variable that holds it.`,
		Example:     "  stepbox config show",
		Annotations: exitCodes(fault.Usage),
	}, newConfigShow(a), newConfigSet(), newConfigPath(a))
}

// configuration loads what is set.
func configuration() (config.Config, error) {
	path, err := config.Path(os.Getenv)
	if err != nil {
		path = "" // nobody's home: the environment alone configures
	}
	return config.Load(path, os.Getenv)
}

func newConfigShow(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "List every key, its value and where that is from",
		Long: `Show lists every key with its value and where the value is from: the default,
the file, or an environment variable.`,
		Example:     "  stepbox config show",
		Args:        args(0, 0, "no arguments"),
		Annotations: exitCodes(fault.Usage),
		RunE: func(*cobra.Command, []string) error {
			c, err := configuration()
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(c)
			}
			rows := make([][]string, 0, len(c.Values))
			for _, v := range c.Values {
				value := v.Value
				if value == "" {
					value = "-"
				}
				rows = append(rows, []string{v.Key, value, v.Source, v.Help})
			}
			var b strings.Builder
			display.Table(&b, rows)
			return a.write([]byte(b.String()))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func newConfigSet() *cobra.Command {
	return &cobra.Command{
		Use:   "set KEY VALUE",
		Short: "Write one key to the file",
		Long: `Set writes one key to the file and leaves all else in it as it is. An empty
value takes the key out, and its default holds again.`,
		Example:     "  stepbox config set timeout 90s",
		Args:        args(2, 2, "KEY VALUE"),
		Annotations: emptyAllowed(exitCodes(fault.Usage)),
		RunE: func(_ *cobra.Command, given []string) error {
			path, err := config.Path(os.Getenv)
			if err != nil {
				return err
			}
			return config.Set(path, given[0], given[1])
		},
		ValidArgsFunction: func(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if len(given) == 0 {
				for _, k := range config.Keys() {
					names = append(names, k.Name+"\t"+k.Help)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

func newConfigPath(a *app) *cobra.Command {
	return &cobra.Command{
		Use:         "path",
		Short:       "Say where the file is, or would be",
		Long:        "Path prints where the configuration file is, or would be.",
		Example:     "  stepbox config path",
		Args:        args(0, 0, "no arguments"),
		Annotations: exitCodes(fault.Usage),
		RunE: func(*cobra.Command, []string) error {
			path, err := config.Path(os.Getenv)
			if err != nil {
				return err
			}
			return a.write([]byte(path + "\n"))
		},
	}
}
