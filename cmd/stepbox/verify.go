package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"stepbox.dev/cmd/stepbox/internal/display"
	"stepbox.dev/host"
	"stepbox.dev/host/fault"
)

func newVerify(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "verify [NAME|FILE.wasm]",
		ValidArgsFunction: a.completeInstalled,
		Short:             "Check what is installed, or the signature of a file",
		Long: `Verify reads every installed bundle and checks it against the lock file and the key
ring, or one of them, or the parts of a file and that a key signed it that is trusted for
it.`,
		Example:     `  stepbox verify`,
		Args:        args(0, 1, "a name or a file"),
		Annotations: exitCodes(fault.Usage, fault.Stopped, fault.CheckFailed),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := strings.Join(args, "")
			if strings.HasSuffix(name, ".wasm") {
				return a.verifyFile(cmd.Context(), name)
			}
			h, err := a.host(cmd.Context())
			if err != nil {
				return err
			}
			all, err := h.Verify(cmd.Context(), name)
			if err != nil {
				return err
			}
			return a.printVerified(all)
		},
	}
}

// verifyFile is an error unless a key that is trusted for it signed the file.
func (a *app) verifyFile(ctx context.Context, path string) error {
	_, c, i, err := a.examine(ctx, path)
	if err != nil {
		return err
	}
	if err := a.printf("%s %s: made by %s\n", display.Clean(i.Name), display.Clean(i.Version), display.Clean(i.maker())); err != nil {
		return err
	}
	switch {
	case c.Sound() != nil:
		return c.Sound()
	case i.Signed == "no":
		return fault.New(fault.CheckFailed, "nobody signed %q", path)
	case i.Signed == "elsewhere":
		return fault.New(fault.CheckFailed, "%q is signed by %s, who is trusted only for the %s", path, i.Signer.Name, i.pinnedFor).
			Hint("a person can agree to it for this one: stepbox install %s on a terminal", path)
	case i.Signed != "trusted":
		return fault.New(fault.CheckFailed, "%q is signed by a key that is not trusted", path).
			Hint("if it is who it should be: stepbox keys trust %s --name %s", c.Signer.Key, c.Signer.Name)
	}
	return nil
}

func (a *app) printVerified(all []host.Verified) error {
	var rows [][]string
	var bad []string
	for _, v := range all {
		state := "unsigned"
		if v.Signer != nil {
			state = "signed by " + v.Signer.Name
		}
		if v.Err != nil {
			state = "BROKEN: " + v.Err.Error()
			if next := fault.Next(v.Err); next != "" {
				state += ": " + next
			}
			bad = append(bad, v.Name)
		}
		rows = append(rows, []string{v.Kind, v.Name, v.Version, state})
	}
	if len(rows) == 0 {
		rows = [][]string{{"nothing is installed"}}
	}
	var b strings.Builder
	display.Table(&b, rows)
	if err := a.write([]byte(b.String())); err != nil {
		return err
	}
	if len(bad) > 0 {
		return fault.New(fault.CheckFailed, "not in order: %s", strings.Join(bad, ", "))
	}
	return nil
}
